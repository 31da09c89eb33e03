# What `cmake --install` puts in place, and how other builds find it: find_package(Tutti) or pkg-config tutti.
include(CMakePackageConfigHelpers)

install(TARGETS tutti EXPORT TuttiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tutti_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The perf tools find the libraries of their choice from where they lie: LD_LIBRARY_PATH may name others.
install(TARGETS all_reduce_perf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/ DESTINATION ${CMAKE_INSTALL_BINDIR} FILES_MATCHING REGEX
        "/(all_gather|broadcast|reduce_scatter|reduce|alltoall|alltoallv|scatter|gather|sendrecv|hypercube)_perf$"
        REGEX "/(horovodrun|torchrun)$" PATTERN nvidia EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
        PATTERN cudart EXCLUDE)
# Who wants a facade names its folders: no program gets it unasked.
foreach(facade IN LISTS TUTTI_FACADES)
  install(TARGETS ${facade} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tutti/${facade})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cudart/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti-cudart)
install(FILES ${PROJECT_BINARY_DIR}/generated/tutti/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tutti)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/topologies DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti
        FILES_MATCHING PATTERN "*.topo")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/tutti
        FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The manual page and the completions that tools/tutti writes.
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})

set(TUTTI_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${TUTTI_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TuttiConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/generated/TuttiConfig.cmake INSTALL_DESTINATION ${TUTTI_CMAKE_DIR})
# Before 1.0 a minor version may change interfaces.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/TuttiConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/TuttiConfig.cmake ${PROJECT_BINARY_DIR}/generated/TuttiConfigVersion.cmake
        DESTINATION ${TUTTI_CMAKE_DIR})

# The prefix is found from the place of tutti.pc, so that an installed tree can be moved.
set(TUTTI_PKGCONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH TUTTI_PKGCONFIG_TO_PREFIX /${TUTTI_PKGCONFIG_DIR} /)
string(REGEX REPLACE "/$" "" TUTTI_PKGCONFIG_TO_PREFIX "${TUTTI_PKGCONFIG_TO_PREFIX}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/tutti.pc.in ${PROJECT_BINARY_DIR}/generated/tutti.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/tutti.pc DESTINATION ${TUTTI_PKGCONFIG_DIR})
