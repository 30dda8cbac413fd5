# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=header -P commit.cmake: writes the commit of the sources into a header, when it is
# another one than before. A figure without its commit is worth nothing.
cmake_minimum_required(VERSION 3.25)
execute_process(
  COMMAND git describe --always --dirty
  WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR}
  OUTPUT_VARIABLE commit
  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "inline constexpr char kCommit[] = \"${commit}\";\n")
