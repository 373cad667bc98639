# Which third-party libraries are linked in, which a package contains, and which the system provides.
#
# In the build folder, in an installation and in the .deb:
#
#   linked in      sodium, hiredis, utf8proc. Debian has archives of them. Their shared libraries change their names between
#                  releases (hiredis), or are missing where the module is loaded: a container with Redis has no sodium.
#   carried along  fmt, spdlog, simdjson, toml++, prometheus-cpp, in lib/everseen. Debian has no archives of
#                  them, and their shared libraries change their names between releases. A package with these runs on
#                  Debian 12 and later.
#   the system's   OpenSSL and librdkafka, with their dependencies (lz4, zstd, sasl2, zlib), although Debian has
#                  archives of the first two: they read untrusted input, so the system must be able to patch them
#                  without us. Their names are stable. The C++ run-time libraries, because the others need them as
#                  shared ones.
#
# The .tar.gz can rely on nothing in the system. Its program is static (everseen/static), and its libeverseen.so, like the
# wheel's module, needs the C library alone: all others are linked in.

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

# The components of an installation, beside the unnamed one:
#
#   shared   the program and libeverseen.so, linked to shared libraries
#   carried  the second group, for the .deb
#   alone    the program and libeverseen.so of the .tar.gz, in place of `shared`
#   wheel    the wheel's content
#
# A plain installation has the first of these.

# everseen_carry_libraries(<program>): installs a program that looks for libraries in lib/everseen first, and defines
# the component `carried`.
function(everseen_carry_libraries program)
  set_target_properties(${program} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../lib/everseen" INSTALL_RPATH_USE_LINK_PATH ON
    # One path, in the build folder as well: CMake pads a path that it will replace with empty entries, and an empty
    # entry is the current directory.
    BUILD_WITH_INSTALL_RPATH ON)
  # As DT_RPATH, which also applies to libraries of libraries: librdkafka finds the carried OpenSSL.
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)

  install(TARGETS ${program} RUNTIME_DEPENDENCY_SET everseen_needed
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT shared)
  install(RUNTIME_DEPENDENCY_SET everseen_needed
    PRE_INCLUDE_REGEXES "^lib(fmt|spdlog|simdjson|tomlplusplus|prometheus-cpp-core)\\.so"
    PRE_EXCLUDE_REGEXES "."
    LIBRARY DESTINATION lib/everseen COMPONENT carried EXCLUDE_FROM_ALL)
endfunction()

# everseen_find_archives(<variable> <name>...): the files lib<name>.a of the system, or an empty list if one is missing.
function(everseen_find_archives variable)
  foreach(name IN LISTS ARGN)
    find_library(everseen_${name}_archive lib${name}.a)
    mark_as_advanced(everseen_${name}_archive)
    if(NOT everseen_${name}_archive)
      set(${variable} "" PARENT_SCOPE)
      return()
    endif()
    list(APPEND found "${everseen_${name}_archive}")
  endforeach()
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# everseen_link_whole(<target> <exports>): a shared library or module of the C interface that needs the C library alone,
# of version 2.34 or later, and shows the symbols of the file <exports>. Archives as files, without the shared libraries
# that the targets would bring. OpenSSL's own configuration says which others its archive needs: in Debian 13 zlib and zstd.
pkg_check_modules(everseen_crypto REQUIRED libcrypto)
everseen_find_archives(EVERSEEN_WHOLE_ARCHIVES hiredis sodium ssl ${everseen_crypto_STATIC_LIBRARIES})
# The packages whose licences go with it.
set(EVERSEEN_WHOLE_PACKAGES libxxhash-dev libsodium-dev libexpected-dev libhiredis-dev libssl-dev libstdc++6 libgcc-s1)
if("zstd" IN_LIST everseen_crypto_STATIC_LIBRARIES)
  list(APPEND EVERSEEN_WHOLE_PACKAGES libzstd-dev zlib1g-dev)
endif()
function(everseen_link_whole target exports)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/everseen/static/older_glibc.cpp")
  target_link_libraries(${target} PRIVATE everseen_hardening $<TARGET_OBJECTS:everseen_shared> "$<TARGET_FILE:everseen_library>"
    ${EVERSEEN_WHOLE_ARCHIVES})
  add_dependencies(${target} everseen_library)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS "${exports}")
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed "-Wl,--version-script=${exports}")
endfunction()
