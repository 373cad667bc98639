# Read by cpack, once for each kind of package. The components are those of cmake/EverseenLibraries.cmake.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(libraries carried)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
else()
  set(libraries everything)
endif()
list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 tree)
set(CPACK_INSTALL_CMAKE_PROJECTS "${tree};everseen;Unspecified;/;${tree};everseen;${libraries};/")
