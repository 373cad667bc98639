# The Debian package: everything that is installed, in one. `./dev package` makes it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME everseen)
set(CPACK_PACKAGE_CONTACT "everseen maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Has this key ever been seen? Bloom filters for streams")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For programs that are built with the library; and the server that can load the module.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "redis-server, libxxhash-dev, libsodium-dev, libhiredis-dev, libexpected-dev, libssl-dev")
include(CPack)
