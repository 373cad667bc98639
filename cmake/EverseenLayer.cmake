# everseen_layer(<name> [IN_LIBRARY] [COLD] [FILES <source>...] [DEPENDS <layer>...] [LIBRARIES <target>...])
#
# Makes the folder everseen/<name> the static library everseen_<name>, from every .cpp in it and below except main.cpp,
# which belongs to a program. A folder without sources becomes an interface library, so that others can depend on it
# already.
#   IN_LIBRARY  the layer's objects are part of the public library everseen::everseen
#   COLD        code that runs a few times a command, not once a key: compiled for a quick build rather than for speed
#   FILES       these sources instead, and only headers of this folder itself
#   DEPENDS     lower layers; scripts/check_layers.py holds the allowed arrows
#   LIBRARIES   third-party libraries that the layer's headers or sources use
#
# Sources are found by pattern, with a re-check at every build, so that adding a file touches no list.
function(everseen_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "IN_LIBRARY;COLD" "" "FILES;DEPENDS;LIBRARIES")
  set(target everseen_${name})
  if(layer_FILES)
    set(sources ${layer_FILES})
    file(GLOB headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp")
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.hpp")
  endif()
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  everseen_select_kernels(sources)

  if(sources)
    add_library(${target} STATIC ${sources})
    # The Redis module and language bindings link these objects into shared libraries.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE everseen_flags)
    set_property(GLOBAL APPEND PROPERTY EVERSEEN_LAYERS ${target})
    if(layer_COLD)
      everseen_compile_quickly(${target})
    endif()
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
  list(TRANSFORM layer_DEPENDS PREPEND everseen_ OUTPUT_VARIABLE lower_layers)
  target_link_libraries(${target} ${scope} ${lower_layers} ${layer_LIBRARIES})

  everseen_check_headers(${target} ${headers})
  if(layer_IN_LIBRARY)
    set_property(GLOBAL APPEND PROPERTY EVERSEEN_LIBRARY_DEPENDENCIES ${layer_LIBRARIES})
    if(sources)
      set_property(GLOBAL APPEND PROPERTY EVERSEEN_LIBRARY_OBJECTS $<TARGET_OBJECTS:${target}>)
    endif()
  endif()
endfunction()

# Gives *_avx2.cpp and *_avx512.cpp their instruction sets on x86-64; drops files for other processors from the list.
# NEON is a part of arm64, so *_neon.cpp needs no option.
#
# Such a file may define nothing but its kernel: an inline function of a shared header would be compiled with these
# instructions too, and the linker could keep that copy for the whole program, which an older CPU then executes.
function(everseen_select_kernels sources_variable)
  set(sources ${${sources_variable}})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(avx2 ${sources})
    list(FILTER avx2 INCLUDE REGEX "_avx2\\.cpp$")
    set_source_files_properties(${avx2} PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi;-mbmi2")
    set(avx512 ${sources})
    list(FILTER avx512 INCLUDE REGEX "_avx512\\.cpp$")
    # The intrinsics of GCC 12 read a variable that they leave unset on purpose, and GCC 12 warns about it (GCC bug
    # 105593).
    set_source_files_properties(${avx512} PROPERTIES COMPILE_OPTIONS
      "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mbmi;-mbmi2;-mprefer-vector-width=512;\
-Wno-uninitialized;-Wno-maybe-uninitialized")
  else()
    list(FILTER sources EXCLUDE REGEX "_avx(2|512)\\.cpp$")
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    list(FILTER sources EXCLUDE REGEX "_neon\\.cpp$")
  endif()
  set(${sources_variable} ${sources} PARENT_SCOPE)
endfunction()

# Compiles every header alone, as the only include of a source file, and twice, to check its guard.
option(EVERSEEN_CHECK_HEADERS "compile every header alone (target everseen_headers)" OFF)
function(everseen_check_headers target)
  if(NOT EVERSEEN_CHECK_HEADERS OR NOT ARGN)
    return()
  endif()
  foreach(header IN LISTS ARGN)
    file(RELATIVE_PATH include "${PROJECT_SOURCE_DIR}" "${header}")
    set(source "${PROJECT_BINARY_DIR}/headers/${include}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"${include}\"\n#include \"${include}\"\n")
    list(APPEND alone "${source}")
  endforeach()
  add_library(${target}_headers_alone OBJECT ${alone})
  target_link_libraries(${target}_headers_alone PRIVATE ${target} everseen_flags)
  if(NOT TARGET everseen_headers)
    add_custom_target(everseen_headers)
  endif()
  add_dependencies(everseen_headers ${target}_headers_alone)
endfunction()
