# SPDX-License-Identifier: Apache-2.0
# Two Debian packages, by `cpack -G DEB` in a release build or ./quickstart --package:
# libcrawlstore-dev, the static library with its headers, as there is no stable binary interface
# before 1.0; and crawlstore, the command and the inspector.
if(BUILD_SHARED_LIBS OR NOT CRAWLSTORE_INSPECTOR)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL crawlstore_dev crawlstore_tools crawlstore_desktop)
set(CPACK_COMPONENT_CRAWLSTORE_DEV_GROUP dev)
set(CPACK_COMPONENT_CRAWLSTORE_TOOLS_GROUP tools)
set(CPACK_COMPONENT_CRAWLSTORE_DESKTOP_GROUP tools)
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
include(CPack)
