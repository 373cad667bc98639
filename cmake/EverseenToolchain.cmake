# Compiler, linker and flags, the same for every target of this project.
# No -march=native: a binary must run on every CPU of its architecture; kernels choose at run time.

option(EVERSEEN_WERROR "a warning is an error" OFF)
option(EVERSEEN_ASSERTS "EVERSEEN_ASSERT checks" OFF)
set(EVERSEEN_SANITIZE "" CACHE STRING "argument of -fsanitize=, for the whole build")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Usage: target_link_libraries(<own target> PRIVATE everseen_flags). Never part of what is installed.
add_library(everseen_flags INTERFACE)
target_compile_options(everseen_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(EVERSEEN_WERROR)
  target_compile_options(everseen_flags INTERFACE -Werror)
endif()

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
  endif()
endif()

# Speed of the build only, so never a requirement, and not imposed on a project that includes this one.
if(PROJECT_IS_TOP_LEVEL)
  find_program(EVERSEEN_CCACHE ccache)
  if(EVERSEEN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${EVERSEEN_CCACHE}")
  endif()
  find_program(EVERSEEN_LLD ld.lld)
  if(EVERSEEN_LLD)
    target_link_options(everseen_flags INTERFACE -fuse-ld=lld)
  endif()
endif()
