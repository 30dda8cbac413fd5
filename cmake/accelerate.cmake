# SPDX-License-Identifier: Apache-2.0
# Faster builds of this tree when the tools are there; never required, never for a parent project.

find_program(CRAWLSTORE_CCACHE ccache)
if(CRAWLSTORE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A fresh clone elsewhere finds what an earlier one compiled; precompiled headers take part.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CRAWLSTORE_CCACHE})
endif()

find_program(CRAWLSTORE_MOLD mold)
if(CRAWLSTORE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
