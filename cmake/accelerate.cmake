# SPDX-License-Identifier: Apache-2.0
# Faster builds of this tree when the tools are there; never required, never for a parent project.

find_program(CRAWLSTORE_CCACHE ccache)
if(CRAWLSTORE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A fresh clone elsewhere finds what an earlier one compiled; precompiled headers take part. The
  # option left out says where the clone is, which its effect keeps out of what is compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_IGNOREOPTIONS=-ffile-prefix-map=*
      ${CRAWLSTORE_CCACHE})
endif()

find_program(CRAWLSTORE_MOLD mold)
if(CRAWLSTORE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# The standard headers that nearly every source includes are parsed once for each target, for the
# quick start: with other flags GCC 12 sees errors in them, inlined, that are none.
function(crawlstore_precompile)
  foreach(target IN ITEMS crawlstore_format crawlstore crawlstore_model crawlstore_inspector_parts)
    if(TARGET ${target})
      target_precompile_headers(
        ${target} PRIVATE <algorithm> <array> <atomic> <cstddef> <cstdint> <filesystem> <functional>
        <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <utility> <vector>
        <tl/expected.hpp>)
    endif()
  endforeach()
endfunction()
if(CMAKE_UNITY_BUILD)
  cmake_language(DEFER CALL crawlstore_precompile)
endif()
