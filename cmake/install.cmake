# SPDX-License-Identifier: Apache-2.0
# find_package(crawlstore) and pkg-config for whoever uses the installed library.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME crawlstore_dev)

set(crawlstore_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/crawlstore)
install(
  TARGETS crawlstore
  EXPORT crawlstore-targets
  FILE_SET HEADERS)
install(
  EXPORT crawlstore-targets
  NAMESPACE crawlstore::
  DESTINATION ${crawlstore_config_dir})

configure_package_config_file(
  cmake/crawlstore-config.cmake.in ${PROJECT_BINARY_DIR}/crawlstore-config.cmake
  INSTALL_DESTINATION ${crawlstore_config_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/crawlstore-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/crawlstore-config.cmake
              ${PROJECT_BINARY_DIR}/crawlstore-config-version.cmake
        DESTINATION ${crawlstore_config_dir})

# The documentation, where the target `site` has made it.
install(DIRECTORY ${PROJECT_BINARY_DIR}/site/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/crawlstore/html OPTIONAL)

# For whoever exchanges crawl events with a store.
install(FILES spec/crawl_event.capnp DESTINATION ${CMAKE_INSTALL_DATADIR}/crawlstore)

# A static library hands its own dependencies on to whoever links it.
if(BUILD_SHARED_LIBS)
  set(crawlstore_pc_requires Requires.private)
else()
  set(crawlstore_pc_requires Requires)
endif()
if(CRAWLSTORE_MUTANTS)
  set(crawlstore_pc_cflags -DCRAWLSTORE_MUTANTS=1)
endif()
# From the folder of crawlstore.pc up to the prefix, so that the installation can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
           ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE crawlstore_pc_up)
configure_file(cmake/crawlstore.pc.in ${PROJECT_BINARY_DIR}/crawlstore.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/crawlstore.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The C interface, which holds all of the library: a program needs no other file of ours.
if(CRAWLSTORE_C)
  install(
    TARGETS crawlstore_c
    LIBRARY COMPONENT crawlstore_c NAMELINK_COMPONENT crawlstore_c_dev
    FILE_SET HEADERS COMPONENT crawlstore_c_dev)
  configure_file(cmake/crawlstore-c.pc.in ${PROJECT_BINARY_DIR}/crawlstore-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/crawlstore-c.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT crawlstore_c_dev)
endif()
