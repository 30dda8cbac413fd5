# SPDX-License-Identifier: Apache-2.0
# Everything that comes from outside, found once. Each is a Debian 12 package (cmake/packages.sh).
# GLOBAL: what libcrawlstore links must be visible to a parent project that adds this folder.

find_package(Threads REQUIRED GLOBAL)
find_package(PkgConfig REQUIRED)
find_package(FlatBuffers CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED GLOBAL)
find_package(uriparser CONFIG REQUIRED GLOBAL)
pkg_check_modules(crawlstore_lz4 REQUIRED IMPORTED_TARGET GLOBAL liblz4)
pkg_check_modules(crawlstore_xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
find_program(CRAWLSTORE_FLATC flatc REQUIRED)

if(CRAWLSTORE_CLI OR CRAWLSTORE_EXAMPLES OR CRAWLSTORE_BENCH)
  find_package(fmt CONFIG REQUIRED)
  find_package(nlohmann_json CONFIG REQUIRED)
endif()
if(CRAWLSTORE_CLI)
  find_package(CLI11 CONFIG REQUIRED)
endif()
if(CRAWLSTORE_EXAMPLES)
  pkg_check_modules(crawlstore_gumbo REQUIRED IMPORTED_TARGET gumbo)
endif()
if(CRAWLSTORE_TESTS)
  find_package(GTest CONFIG REQUIRED)
  # Debian's own python3: it has python3-flatbuffers, another one in PATH may not.
  find_program(CRAWLSTORE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
endif()
if(CRAWLSTORE_BENCH)
  find_package(benchmark CONFIG REQUIRED)
endif()
