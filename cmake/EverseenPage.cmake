# everseen_embed_page(<target>)
#
# Builds web/ with npm and compiles its files into <target>, which implements everseen/serve/api/page.hpp. All files
# that npm needs and makes are in the build folder, so that the source folder stays unchanged. npm ci installs exactly the
# versions of package-lock.json, and runs none of their scripts; it runs again when that list changes, and the bundler
# when a source changes.
option(EVERSEEN_BUILD_PAGE "the page of everseen serve; needs Node.js 18 or later, and npm" ${PROJECT_IS_TOP_LEVEL})

set(EVERSEEN_PAGE_DIRECTORY "${PROJECT_BINARY_DIR}/web")

function(everseen_embed_page target)
  set(assets "${EVERSEEN_PAGE_DIRECTORY}/page_assets.cpp")
  if(EVERSEEN_BUILD_PAGE)
    everseen_find_node()
    everseen_install_page_packages()
    everseen_build_page("${assets}")
  else()
    # Under a separate name: otherwise it would pass for an up-to-date page once the option is turned on.
    set(assets "${EVERSEEN_PAGE_DIRECTORY}/no_page.cpp")
    file(CONFIGURE OUTPUT "${assets}" CONTENT [[
#include "everseen/serve/api/page.hpp"

std::span<const everseen::serve::asset> everseen::serve::assets() noexcept {
  return {};
}
]])
  endif()
  # A separate target, so that the page's tests can wait for it without waiting for C++.
  add_custom_target(everseen_page DEPENDS "${assets}")
  add_dependencies(${target} everseen_page)
  target_sources(${target} PRIVATE "${assets}")
  # So that a change of the page compiles nothing else.
  set_source_files_properties("${assets}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

function(everseen_find_node)
  find_program(EVERSEEN_NODE NAMES node nodejs)
  find_program(EVERSEEN_NPM npm)
  if(NOT EVERSEEN_NODE OR NOT EVERSEEN_NPM)
    message(FATAL_ERROR "The page of everseen serve is built with Node.js and npm, and one of them is missing. "
      "./dev setup installs them; -DEVERSEEN_BUILD_PAGE=OFF builds a program without the page.")
  endif()
  execute_process(COMMAND "${EVERSEEN_NODE}" --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS 18)
    message(FATAL_ERROR "The page of everseen serve needs Node.js 18 or later, and ${EVERSEEN_NODE} is ${version}. "
      "-DEVERSEEN_BUILD_PAGE=OFF builds a program without the page.")
  endif()
endfunction()

function(everseen_install_page_packages)
  set(source "${PROJECT_SOURCE_DIR}/web")
  set(omit)
  if(NOT EVERSEEN_BUILD_TESTS)
    set(omit --omit=dev)
  endif()
  add_custom_command(OUTPUT "${EVERSEEN_PAGE_DIRECTORY}/packages.stamp"
    COMMAND "${CMAKE_COMMAND}" -E copy "${source}/package.json" "${source}/package-lock.json"
      "${EVERSEEN_PAGE_DIRECTORY}"
    COMMAND "${EVERSEEN_NPM}" ci ${omit} --ignore-scripts --no-audit --no-fund --loglevel=error
    COMMAND "${CMAKE_COMMAND}" -E touch "${EVERSEEN_PAGE_DIRECTORY}/packages.stamp"
    DEPENDS "${source}/package.json" "${source}/package-lock.json"
    WORKING_DIRECTORY "${EVERSEEN_PAGE_DIRECTORY}"
    COMMENT "Installing the packages of the page"
    VERBATIM)
  file(MAKE_DIRECTORY "${EVERSEEN_PAGE_DIRECTORY}")
endfunction()

function(everseen_build_page assets)
  set(source "${PROJECT_SOURCE_DIR}/web")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${source}/src/*")
  file(GLOB tools CONFIGURE_DEPENDS "${source}/*.mjs" "${source}/tsconfig*.json")
  add_custom_command(OUTPUT "${assets}"
    COMMAND "${CMAKE_COMMAND}" -E rm -rf src
    COMMAND "${CMAKE_COMMAND}" -E copy_directory "${source}/src" src
    COMMAND "${CMAKE_COMMAND}" -E copy ${tools} .
    COMMAND "${EVERSEEN_NODE}" node_modules/typescript/bin/tsc --noEmit
    COMMAND "${EVERSEEN_NODE}" build.mjs --out dist
    COMMAND "${EVERSEEN_NODE}" embed.mjs dist "${assets}"
    DEPENDS ${sources} ${tools} "${EVERSEEN_PAGE_DIRECTORY}/packages.stamp"
    WORKING_DIRECTORY "${EVERSEEN_PAGE_DIRECTORY}"
    COMMENT "Building the page"
    VERBATIM)
endfunction()
