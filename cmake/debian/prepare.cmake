# SPDX-License-Identifier: Apache-2.0
# Run by CPack for what it has staged: adds what Debian wants in each package, and takes from the
# library what a linker does not need.
cmake_minimum_required(VERSION 3.25)
foreach(package IN LISTS CPACK_CRAWLSTORE_PACKAGES)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 group)
  list(GET package 1 name)
  set(doc ${CPACK_TEMPORARY_DIRECTORY}/${group}/usr/share/doc/${name})
  file(MAKE_DIRECTORY ${doc})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright ${doc}/copyright COPYONLY)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.in ${doc}/changelog @ONLY)
  execute_process(COMMAND gzip --best --no-name ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB manuals ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man)
execute_process(COMMAND gzip --best --no-name --recursive ${manuals} COMMAND_ERROR_IS_FATAL ANY)
# Debian 12 has units outside of /usr.
file(GLOB units ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib/systemd)
foreach(unit IN LISTS units)
  string(REPLACE /usr/lib/systemd /lib target ${unit})
  file(MAKE_DIRECTORY ${target})
  file(RENAME ${unit} ${target}/systemd)
endforeach()
file(GLOB_RECURSE archives ${CPACK_TEMPORARY_DIRECTORY}/dev/*.a)
execute_process(COMMAND ${CPACK_CRAWLSTORE_STRIP} --strip-debug --remove-section=.comment
                        --enable-deterministic-archives ${archives} COMMAND_ERROR_IS_FATAL ANY)
