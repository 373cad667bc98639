# Read by cpack, once for each kind of package. The components are those of cmake/EverseenLibraries.cmake.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(components shared carried)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  # The carried libraries also find each other before those of the system. The path is one in the package.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS /usr/lib/everseen)
else()
  set(components alone)
endif()
list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 tree)
set(CPACK_INSTALL_CMAKE_PROJECTS "${tree};everseen;Unspecified;/")
foreach(component IN LISTS components)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${tree};everseen;${component};/")
endforeach()
