# SPDX-License-Identifier: Apache-2.0
# The documentation as HTML pages in site/ of the build folder, by `cmake --build build/release
# --target site`. It needs crawlstore_site_packages of packages.sh, and nothing else needs it.
find_program(CRAWLSTORE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
add_custom_target(
  site
  COMMAND ${CRAWLSTORE_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/site/site.py ${PROJECT_BINARY_DIR}/site
          $<TARGET_FILE:crawlstore_cli>
  DEPENDS crawlstore_cli
  VERBATIM)
