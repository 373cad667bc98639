# The toolchain of the preset arm64: Debian's cross compiler, the libraries of scripts/sysroot.sh, and qemu-user to run
# what is built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
cmake_path(SET CMAKE_SYSROOT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-arm64")

# Not the C library that comes with the cross compiler: that of the sysroot has Debian's fixes.
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_FLAGS_INIT "-B${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu")
endforeach()

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
# CMake asks the interpreter of this machine for Python's headers, and not when it compiles for another one.
file(GLOB Python3_INCLUDE_DIR "${CMAKE_SYSROOT}/usr/include/python3.*")

# Tests, and the program that writes its own manual pages.
find_program(EVERSEEN_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(EVERSEEN_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${EVERSEEN_QEMU};-L;${CMAKE_SYSROOT}")
endif()
