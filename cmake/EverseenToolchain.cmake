# Compiler, linker and flags, the same for every target of this project.
# No -march=native: a binary must run on every CPU of its architecture; kernels choose at run time.

option(EVERSEEN_WERROR "a warning is an error" OFF)
option(EVERSEEN_ASSERTS "EVERSEEN_ASSERT checks" OFF)
set(EVERSEEN_SANITIZE "" CACHE STRING "argument of -fsanitize=, for the whole build")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Usage: target_link_libraries(<own target> PRIVATE everseen_flags). Never part of the installation.
add_library(everseen_flags INTERFACE)
target_compile_options(everseen_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  # After inlining at -O3, GCC warns without cause about the inside of std::string and std::vector. The preset dev has
  # these warnings.
  target_compile_options(everseen_flags INTERFACE
    -Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
if(CMAKE_UNITY_BUILD)
  # They compare names of one file with those of another that is compiled with it. The preset dev has these warnings.
  target_compile_options(everseen_flags INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(EVERSEEN_WERROR)
  target_compile_options(everseen_flags INTERFACE -Werror)
endif()

# A third-party library (hiredis) requires it; the same everywhere, so that off_t has one size.
target_compile_definitions(everseen_flags INTERFACE _FILE_OFFSET_BITS=64)

if(EVERSEEN_ASSERTS)
  target_compile_definitions(everseen_flags INTERFACE EVERSEEN_ASSERTS)
endif()

# What makes an error in memory harder to exploit: programs, the module and the libraries face networks and files of
# others. Sanitizers find such errors by themselves, and do not go together with all of this.
add_library(everseen_hardening INTERFACE)
if(NOT EVERSEEN_SANITIZE)
  target_compile_options(everseen_hardening INTERFACE -fstack-protector-strong -fstack-clash-protection
    $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>:-fcf-protection=full>
    $<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},aarch64>:-mbranch-protection=standard>)
  # The C library's checks of buffers need optimization.
  target_compile_options(everseen_hardening INTERFACE
    $<$<CONFIG:Release,RelWithDebInfo>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release,RelWithDebInfo>:-D_FORTIFY_SOURCE=3>)
  target_link_options(everseen_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
target_link_libraries(everseen_flags INTERFACE everseen_hardening)

if(EVERSEEN_SANITIZE)
  target_compile_options(everseen_flags INTERFACE
    -fsanitize=${EVERSEEN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(everseen_flags INTERFACE -fsanitize=${EVERSEEN_SANITIZE})
  if(EVERSEEN_SANITIZE MATCHES "thread")
    # ThreadSanitizer does not understand the fences around Asio's handlers. Its queues have locks as well.
    target_compile_definitions(everseen_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
    # Nor does it see the threads of librdkafka.
    add_library(everseen_c11_threads SHARED ${CMAKE_CURRENT_LIST_DIR}/c11_threads.cpp)
    target_compile_features(everseen_c11_threads PRIVATE cxx_std_20)
    target_link_options(everseen_c11_threads PRIVATE -fsanitize=thread)
    target_link_libraries(everseen_flags INTERFACE
      -Wl,--no-as-needed -Wl,-rpath,$<TARGET_FILE_DIR:everseen_c11_threads> everseen_c11_threads)
  endif()
endif()

# Optimizes a target for which speed does not matter, in builds that optimize at all: for verbs and tests -O1 takes half
# of the time of -O3.
function(everseen_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

# Affects only the speed of the build, so never a requirement, and not imposed on a project that includes this one.
if(PROJECT_IS_TOP_LEVEL)
  find_program(EVERSEEN_CCACHE ccache)
  if(EVERSEEN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # One cache for every checkout: paths below the checkout count relative to the build folder.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      "${EVERSEEN_CCACHE}")
  endif()
  # What is built does not depend on where the checkout is.
  add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
  # A cross compiler looks for a linker of another name.
  find_program(EVERSEEN_LLD ld.lld)
  if(EVERSEEN_LLD AND NOT CMAKE_CROSSCOMPILING)
    target_link_options(everseen_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
