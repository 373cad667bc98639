# Read by cpack, once for each kind of package. The components are those of cmake/EverseenLibraries.cmake.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(libraries carried)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  # What the carried libraries need of each other is not to be taken from the system.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CPACK_PACKAGE_DIRECTORY}/_CPack_Packages/\
${CPACK_TOPLEVEL_TAG}/DEB/${CPACK_PACKAGE_FILE_NAME}/usr/lib/everseen")
else()
  set(libraries everything)
endif()
list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 tree)
set(CPACK_INSTALL_CMAKE_PROJECTS "${tree};everseen;Unspecified;/;${tree};everseen;${libraries};/")
