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
if(EVERSEEN_WERROR)
  target_compile_options(everseen_flags INTERFACE -Werror)
endif()

# A third-party library (hiredis) requires it, and files that share a precompiled header must agree.
target_compile_definitions(everseen_flags INTERFACE _FILE_OFFSET_BITS=64)

if(EVERSEEN_ASSERTS)
  target_compile_definitions(everseen_flags INTERFACE EVERSEEN_ASSERTS)
endif()

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

# everseen_precompile(<target> <family> [<header>...])
#
# Reads the headers of the standard library that nearly every file includes, and the named ones, once a family of
# targets instead of once a file. The first target of a family makes them for the others: their compile options must be
# the same. Sources nevertheless include what they use: the preset `dev` compiles them without this.
function(everseen_precompile target family)
  get_property(first GLOBAL PROPERTY EVERSEEN_PRECOMPILED_${family})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  set_property(GLOBAL PROPERTY EVERSEEN_PRECOMPILED_${family} ${target})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <charconv> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <span>
    <string> <string_view> <thread> <utility> <vector> ${ARGN})
endfunction()

# Affects only the speed of the build, so never a requirement, and not imposed on a project that includes this one.
if(PROJECT_IS_TOP_LEVEL)
  find_program(EVERSEEN_CCACHE ccache)
  if(EVERSEEN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # One cache for every checkout: paths below the checkout count relative to the build folder. The first two
    # variables are for files that use precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${EVERSEEN_CCACHE}")
    add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>")
  endif()
  # Objects do not depend on where the checkout is.
  add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  find_program(EVERSEEN_LLD ld.lld)
  if(EVERSEEN_LLD)
    target_link_options(everseen_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
