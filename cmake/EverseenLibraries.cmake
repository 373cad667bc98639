# Which third-party libraries are linked in, which a package contains, and which the system provides.
#
#   linked in      sodium, hiredis. Debian has archives of them. Their shared libraries change their names between
#                  releases (hiredis), or are missing where the module is loaded: a container with Redis has no sodium.
#   carried along  fmt, spdlog, simdjson, toml++, prometheus-cpp, civetweb, in lib/everseen. Debian has no archives of
#                  them, and their shared libraries change their names between releases. A package with these runs on
#                  Debian 12 and later.
#   the system's   OpenSSL and librdkafka, with their dependencies (lz4, zstd, sasl2, zlib), although Debian has
#                  archives of the first two: they read untrusted input, so the system must be able to patch them
#                  without us. Their names are stable. The C++ run-time libraries, because the others need them as
#                  shared ones.
#
# The .tar.gz can rely on nothing in the system but the C library, so it contains the third group, too.

# everseen_find_archive(<name> <pkg-config module>): the target PkgConfig::<name>, as an archive where there is one.
macro(everseen_find_archive name module)
  set(everseen_suffixes ${CMAKE_FIND_LIBRARY_SUFFIXES})
  if(PROJECT_IS_TOP_LEVEL)
    list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
  endif()
  # An older build folder remembers the shared library.
  unset(pkgcfg_lib_${name}_${name} CACHE)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${everseen_suffixes})
endmacro()

# everseen_carry_libraries(<program>): installs a program that looks for libraries in lib/everseen first, and defines
# two components for packages: `carried` and `everything` (see above). A plain installation has neither, and uses the
# system's.
function(everseen_carry_libraries program)
  set_target_properties(${program} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../lib/everseen" INSTALL_RPATH_USE_LINK_PATH ON
    # One path, in the build folder as well: CMake pads a path that it will replace with empty entries, and an empty
    # entry is the current directory.
    BUILD_WITH_INSTALL_RPATH ON)
  # As DT_RPATH, which also applies to libraries of libraries: librdkafka finds the carried OpenSSL.
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)

  install(TARGETS ${program} RUNTIME_DEPENDENCY_SET everseen_needed RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(RUNTIME_DEPENDENCY_SET everseen_needed
    PRE_INCLUDE_REGEXES "^lib(fmt|spdlog|simdjson|tomlplusplus|prometheus-cpp-core|civetweb|civetweb-cpp)\\.so"
    PRE_EXCLUDE_REGEXES "."
    LIBRARY DESTINATION lib/everseen COMPONENT carried EXCLUDE_FROM_ALL)
  install(RUNTIME_DEPENDENCY_SET everseen_needed
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv)\\.so"
    LIBRARY DESTINATION lib/everseen COMPONENT everything EXCLUDE_FROM_ALL)
endfunction()
