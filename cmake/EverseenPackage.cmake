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

# For who runs everseen serve: a unit that knows where the program was installed, and examples.
set(unit "${PROJECT_BINARY_DIR}/everseen.service")
install(CODE "
  file(READ \"${PROJECT_SOURCE_DIR}/packaging/everseen.service\" text)
  string(REPLACE /usr/bin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" text \"\${text}\")
  file(WRITE \"${unit}\" \"\${text}\")")
install(FILES "${unit}" DESTINATION lib/systemd/system)
install(FILES packaging/everseen.toml packaging/compose.yaml DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")

include(CPack)
