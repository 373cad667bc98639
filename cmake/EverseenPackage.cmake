# The packages: the whole installation, and libraries beside it. `./dev package` makes them. A .deb for Debian 12 and
# later, and a .tar.gz that runs where it is unpacked, if there is a static program to put in it.
# cmake/EverseenPackageKind.cmake has the differences. There is no .deb of a cross build: the tool that finds what it
# depends on looks at the packages of this machine.
set(CPACK_GENERATOR)
if(NOT CMAKE_CROSSCOMPILING)
  list(APPEND CPACK_GENERATOR DEB)
endif()
if(TARGET everseen_static)
  list(APPEND CPACK_GENERATOR TGZ)
endif()
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/EverseenPackageKind.cmake")
set(CPACK_PACKAGE_NAME everseen)
set(CPACK_PACKAGE_CONTACT "everseen maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Has this key ever been seen? Bloom filters for streams")
set(CPACK_PACKAGE_FILE_NAME "everseen-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For programs that are built with the library; and the server that can load the module. They decompress input.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bzip2, xz-utils, zstd")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "lz4, redis-server, libxxhash-dev, libsodium-dev, libhiredis-dev, libexpected-dev, libssl-dev, python3 (>= 3.9), python3-numpy")

# For users of everseen serve: a unit with the path of the program, and examples. CPack puts the archive into a folder
# of its own, which is unpacked or linked to as /opt/everseen.
set(unit "${PROJECT_BINARY_DIR}/everseen.service")
install(CODE "
  file(READ \"${PROJECT_SOURCE_DIR}/packaging/everseen.service\" text)
  string(REGEX REPLACE \".*/_CPack_Packages/.*\" /opt/everseen prefix \"\${CMAKE_INSTALL_PREFIX}\")
  string(REPLACE /usr/bin/ \"\${prefix}/${CMAKE_INSTALL_BINDIR}/\" text \"\${text}\")
  file(WRITE \"${unit}\" \"\${text}\")")
install(FILES "${unit}" DESTINATION lib/systemd/system)
install(FILES packaging/everseen.toml packaging/alerts.yaml packaging/grafana.json packaging/compose.yaml
  packaging/kubernetes.yaml packaging/Containerfile
  DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")

# The licences of linked or carried libraries must be included. Boost's need not.
foreach(package IN ITEMS libxxhash-dev libsodium-dev libexpected-dev libhiredis-dev libcli11-dev
    libfmt-dev nlohmann-json3-dev libsimdjson-dev libutf8proc-dev libtomlplusplus-dev libspdlog-dev prometheus-cpp-dev
    librdkafka1 libssl-dev liblz4-1 libzstd1 zlib1g libstdc++6 libgcc-s1 libc6)
  if(EXISTS "${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright")
    install(FILES "${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}/licences"
      RENAME "${package}" COMPONENT carried EXCLUDE_FROM_ALL)
    install(FILES "${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}/licences"
      RENAME "${package}" COMPONENT alone EXCLUDE_FROM_ALL)
  endif()
endforeach()

include(CPack)
