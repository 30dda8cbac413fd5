# SPDX-License-Identifier: Apache-2.0
# Debian packages, by `cpack -G DEB` in a release build or ./quickstart --package:
# libcrawlstore-dev, the static library with its headers, as C++ has no stable binary interface
# before 1.0; crawlstore, the command and the inspector; of the C interface, where it is built,
# libcrawlstore-c0, the shared library, and libcrawlstore-c-dev, its headers; and crawlstored, the
# service, where it is built.
if(BUILD_SHARED_LIBS OR NOT CRAWLSTORE_INSPECTOR)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL crawlstore_dev crawlstore_tools crawlstore_desktop)
set(CPACK_COMPONENT_CRAWLSTORE_DEV_GROUP dev)
set(CPACK_COMPONENT_CRAWLSTORE_TOOLS_GROUP tools)
set(CPACK_COMPONENT_CRAWLSTORE_DESKTOP_GROUP tools)
set(CPACK_CRAWLSTORE_PACKAGES dev:libcrawlstore-dev tools:crawlstore)
if(CRAWLSTORE_C)
  list(APPEND CPACK_COMPONENTS_ALL crawlstore_c crawlstore_c_dev)
  set(CPACK_COMPONENT_CRAWLSTORE_C_GROUP c)
  set(CPACK_COMPONENT_CRAWLSTORE_C_DEV_GROUP c_dev)
  list(APPEND CPACK_CRAWLSTORE_PACKAGES c:libcrawlstore-c0 c_dev:libcrawlstore-c-dev)
endif()
if(CRAWLSTORE_SERVICE)
  list(APPEND CPACK_COMPONENTS_ALL crawlstored)
  set(CPACK_COMPONENT_CRAWLSTORED_GROUP service)
  list(APPEND CPACK_CRAWLSTORE_PACKAGES service:crawlstored)
endif()
if(CRAWLSTORE_MPI)
  list(APPEND CPACK_COMPONENTS_ALL crawlstore_mpi)
  set(CPACK_COMPONENT_CRAWLSTORE_MPI_GROUP mpi)
  list(APPEND CPACK_CRAWLSTORE_PACKAGES mpi:crawlstore-mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/prepare.cmake)
set(CPACK_CRAWLSTORE_STRIP ${CMAKE_STRIP})

set(CPACK_PACKAGE_CONTACT "The crawlstore authors <maintainers@crawlstore.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "one crash-safe file for everything a web crawler must remember")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libcrawlstore-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
string(
  CONCAT CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
         "libcapnp-dev, libexpected-dev, libicu-dev, liblz4-dev, libpsl-dev, libxxhash-dev, "
         "libzstd-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS pkg-config)
set(CPACK_DEBIAN_DEV_DESCRIPTION
    "A C++20 library for one memory-mapped file that holds what a crawler must
remember: which URLs it has seen, pages and the links between them, their
scores, and queues of what to fetch next. This package has the static library,
its headers, and what CMake and pkg-config need to find them.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME crawlstore)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION web)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS fonts-dejavu-core)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS
    "fonts-droid-fallback, libgl1-mesa-dri, publicsuffix")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS fonts-noto-core)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION
    "A crawl file holds which URLs a crawler has seen, pages and the links between
them, their scores, and queues of what to fetch next. This package has the
command that makes, reads, checks and changes such files, and a graphical
inspector that shows one, down to the byte.")

set(CPACK_DEBIAN_C_PACKAGE_NAME libcrawlstore-c0)
set(CPACK_DEBIAN_C_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_C_PACKAGE_SHLIBDEPS ON)
# CPack has no rule for the versions of one component's library, and would call ldconfig in scripts:
# these are named and do not exist, so there are none, and dpkg's trigger does it.
set(crawlstore_control ${PROJECT_BINARY_DIR}/debian)
file(WRITE ${crawlstore_control}/shlibs
     "libcrawlstore_c 0 libcrawlstore-c0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${crawlstore_control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_C_PACKAGE_CONTROL_EXTRA
    ${crawlstore_control}/shlibs ${crawlstore_control}/triggers
    ${crawlstore_control}/postinst ${crawlstore_control}/postrm)
set(CPACK_DEBIAN_C_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_C_PACKAGE_RECOMMENDS publicsuffix)
set(CPACK_DEBIAN_C_DESCRIPTION
    "A crawl file holds which URLs a crawler has seen, pages and the links between
them, their scores, and queues of what to fetch next. This package has the
shared library by which programs in C, and in languages that call C, make,
read and change such files.")

set(CPACK_DEBIAN_C_DEV_PACKAGE_NAME libcrawlstore-c-dev)
set(CPACK_DEBIAN_C_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_C_DEV_PACKAGE_DEPENDS "libcrawlstore-c0 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_C_DEV_PACKAGE_RECOMMENDS pkg-config)
set(CPACK_DEBIAN_C_DEV_DESCRIPTION
    "A crawl file holds which URLs a crawler has seen, pages and the links between
them, their scores, and queues of what to fetch next. This package has what
programs in C need to be compiled for libcrawlstore-c0.")

set(CPACK_DEBIAN_SERVICE_PACKAGE_NAME crawlstored)
set(CPACK_DEBIAN_SERVICE_PACKAGE_SECTION web)
set(CPACK_DEBIAN_SERVICE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SERVICE_PACKAGE_RECOMMENDS crawlstore)
foreach(script postinst prerm postrm)
  list(APPEND CPACK_DEBIAN_SERVICE_PACKAGE_CONTROL_EXTRA
       ${PROJECT_SOURCE_DIR}/cmake/debian/service/${script})
endforeach()
set(CPACK_DEBIAN_SERVICE_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_SERVICE_DESCRIPTION
    "A service that tells StormCrawler, and other crawlers that speak URLFrontier,
what to fetch next. All that it knows is in one crash-safe file: URLs with
their dates and metadata, leases, delays, blocks and limits are there after a
restart. The package does not start the service.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME crawlstore-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION web)
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS openmpi-bin)
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS crawlstore)
set(CPACK_DEBIAN_MPI_DESCRIPTION
    "A crawl on many machines has a crawl file on each. By MPI this tells each of
them which of its pages the others have found, and computes PageRank and HITS
over all of them.")
include(CPack)
