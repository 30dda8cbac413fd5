# SPDX-License-Identifier: Apache-2.0
# How tests are declared: one ctest per program, whose GoogleTest cases are counted from the report
# that it leaves in <build>/reports/. A process per case would cost more than most cases do.
#
# Labels: short threads crash fuzz-replay golden cli tidy install spin house; and some that say
# where a test runs: `release` = in the release preset only, `tsan` = in the tsan preset only,
# `heavy` = under sanitizers in the long run only, `long` = in the long run only. CMakePresets.json
# chooses by them.

# crawlstore_register_test(NAME ctest-name LABELS label... COMMAND command...
#                          [PROPERTIES property value...])
function(crawlstore_register_test)
  cmake_parse_arguments(arg "" NAME "LABELS;COMMAND;PROPERTIES" ${ARGN})
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(
    ${arg_NAME}
    PROPERTIES
      LABELS "${arg_LABELS}" TIMEOUT 600 ENVIRONMENT
      "CRAWLSTORE_SOURCE_DIR=${PROJECT_SOURCE_DIR};CRAWLSTORE_BUILD_DIR=${PROJECT_BINARY_DIR};\
TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.suppressions")
  if(arg_PROPERTIES)
    set_tests_properties(${arg_NAME} PROPERTIES ${arg_PROPERTIES})
  endif()
endfunction()

# `--target label_L` builds the programs whose tests carry label L.
set(crawlstore_labels short threads tsan crash fuzz-replay golden cli heavy)
foreach(label IN LISTS crawlstore_labels)
  add_custom_target(label_${label})
endforeach()
function(crawlstore_label_target target)
  foreach(label IN LISTS ARGN)
    add_dependencies(label_${label} ${target})
  endforeach()
endfunction()

# crawlstore_test(name LABELS label... SOURCES file... [LIBRARIES target...] [SHARDS n] [LONG]
#                 [PROPERTIES property value...])
# A GoogleTest program bin/tests_<name>. SHARDS: its cases are dealt out to n ctest entries that run
# side by side. LONG: also registered as tests_<name>.long, with CRAWLSTORE_LONG=1 in its
# environment.
function(crawlstore_test name)
  cmake_parse_arguments(arg LONG SHARDS "LABELS;SOURCES;LIBRARIES;PROPERTIES" ${ARGN})
  set(target tests_${name})
  add_executable(${target} ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)  # each source is a world of its own
  target_link_libraries(${target} PRIVATE crawlstore_tests_support ${arg_LIBRARIES})
  target_precompile_headers(${target} REUSE_FROM crawlstore_tests_support)
  crawlstore_label_target(${target} ${arg_LABELS})

  set(report --gtest_output=xml:${PROJECT_BINARY_DIR}/reports)
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(test ${target})
    if(arg_SHARDS GREATER 1)
      set(test ${target}.${shard}of${arg_SHARDS})
    endif()
    crawlstore_register_test(
      NAME ${test} LABELS ${arg_LABELS} PROPERTIES ${arg_PROPERTIES} COMMAND ${target}
      ${report}/${test}.xml)
    if(arg_SHARDS GREATER 1)
      math(EXPR index "${shard} - 1")
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS}"
                                                "GTEST_SHARD_INDEX=${index}")
    endif()
  endforeach()
  if(arg_LONG)
    crawlstore_register_test(
      NAME ${target}.long LABELS long COMMAND ${target} ${report}/${target}.long.xml
      PROPERTIES TIMEOUT 14400)
    set_property(TEST ${target}.long APPEND PROPERTY ENVIRONMENT CRAWLSTORE_LONG=1)
  endif()
endfunction()

# crawlstore_python_test(name LABELS label... SCRIPT file [ARGUMENTS argument...] [LONG]
#                        [PROPERTIES property value...])
# One ctest; exit code 0 = passed, 77 = skipped. LONG as above.
function(crawlstore_python_test name)
  cmake_parse_arguments(arg LONG SCRIPT "LABELS;ARGUMENTS;PROPERTIES" ${ARGN})
  cmake_path(ABSOLUTE_PATH arg_SCRIPT)
  crawlstore_register_test(
    NAME ${name} LABELS ${arg_LABELS} COMMAND ${CRAWLSTORE_PYTHON} -B ${arg_SCRIPT} ${arg_ARGUMENTS}
    PROPERTIES SKIP_RETURN_CODE 77 ${arg_PROPERTIES})
  if(arg_LONG)
    crawlstore_register_test(
      NAME ${name}.long LABELS long COMMAND ${CRAWLSTORE_PYTHON} -B ${arg_SCRIPT} ${arg_ARGUMENTS}
      PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 14400)
    set_property(TEST ${name}.long APPEND PROPERTY ENVIRONMENT CRAWLSTORE_LONG=1)
  endif()
endfunction()
