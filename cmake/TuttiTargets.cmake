# How the folders of src/ become libraries and their *_test.cc files tests.

add_library(tutti_options INTERFACE)
target_include_directories(tutti_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
# No contraction: a multiply and an add round twice on every machine, so that a plan gives the same bits everywhere.
target_compile_options(tutti_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Werror=return-type
                                               -Werror=switch -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 and 13 warn falsely about std::string and std::variant under optimisation.
  target_compile_options(tutti_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow)
endif()
if(TUTTI_SANITIZE)
  add_compile_options(-fsanitize=${TUTTI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -O1 -g1)
  add_link_options(-fsanitize=${TUTTI_SANITIZE})
  if(TUTTI_SANITIZE MATCHES "thread")
    add_compile_definitions(TUTTI_HAS_THREAD_SANITIZER)  # it cannot follow a process that shares its parent's memory
  endif()
  add_compile_definitions(TUTTI_HAS_SANITIZER)  # tests draw fewer random cases: instrumented code is slow
endif()
if(TUTTI_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# What nearly every file includes, compiled once: a third of what instrumented files take. Not where a cache of
# compilations does more, and not in the release, which shows that every file includes what it uses.
function(tutti_precompile target)
  if(NOT TUTTI_SANITIZE OR CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  string(TOLOWER tutti_precompiled_${type} common)
  if(NOT TARGET ${common})
    set(source ${PROJECT_BINARY_DIR}/generated/${common}.cc)
    set(headers <fmt/format.h> <algorithm> <chrono> <functional> <map> <memory> <mutex> <optional> <span> <string>
                <thread> <unordered_map> <variant> <vector>)
    if(type STREQUAL "EXECUTABLE")
      file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
      add_executable(${common} ${source})
      target_link_libraries(${common} PRIVATE GTest::gtest)
      list(APPEND headers <gtest/gtest.h>)
    else()
      file(CONFIGURE OUTPUT ${source} CONTENT "")
      add_library(${common} STATIC ${source})
    endif()
    target_link_libraries(${common} PRIVATE tutti_options fmt::fmt)
    target_precompile_headers(${common} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${common})
endfunction()

set(TUTTI_FOLDERS "" CACHE INTERNAL "")

# tutti_library(plan USES base PRIVATE_LINKS ...): src/plan and its tests, but for folders that TUTTI_ABSENT names.
function(tutti_library name)
  cmake_parse_arguments(ARG "" "" "USES;PRIVATE_LINKS" ${ARGN})
  file(GLOB_RECURSE all CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  foreach(absent IN LISTS TUTTI_ABSENT)
    list(FILTER all EXCLUDE REGEX "/src/${absent}/")
  endforeach()
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(NOT sources)  # a folder that is still empty
    return()
  endif()
  add_library(tutti_${name} STATIC ${sources})
  tutti_precompile(tutti_${name})
  target_link_libraries(tutti_${name} PUBLIC tutti_options PRIVATE fmt::fmt ${ARG_PRIVATE_LINKS})
  foreach(used IN LISTS ARG_USES)
    if(TARGET tutti_${used})
      target_link_libraries(tutti_${name} PUBLIC tutti_${used})
    endif()
  endforeach()
  set(TUTTI_FOLDERS ${TUTTI_FOLDERS} ${name} CACHE INTERNAL "")
  # Folders without threads have nothing to show the thread sanitizer.
  if(TUTTI_SANITIZE MATCHES "thread" AND name MATCHES "^(base|plan|topology|planner)$")
    set(tests "")
  endif()
  if(TUTTI_TESTS AND tests)
    tutti_test(${name}_test SOURCES ${tests} LINKS tutti_${name} ${ARG_PRIVATE_LINKS})
  endif()
endfunction()

# tutti_test(plan_test SOURCES a_test.cc LINKS tutti_plan): a GoogleTest program, its cases known to ctest.
function(tutti_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_SOURCES})
  tutti_precompile(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} tutti_options GTest::gtest_main fmt::fmt Threads::Threads)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE TUTTI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # The commit decides the seeds of the tests that draw random cases; they print them when they fail.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 600 LABELS ${name})
endfunction()

# tutti_facade(cudart SOVERSION 13 EXPORTS cuda* USES base os device): src/cudart as a shared library of its own, linked
# to libtutti, because programs that link libtutti must not get its C names. It lies in a folder of its own, lib/cudart,
# so that it is used only by choice, and shows the named symbols alone. HEADERS is the folder that its users include,
# VERSION_NAME the version of symbols that programs linked to the original ask for. The same objects make the static
# library tutti_cudart, which the tests link.
set(TUTTI_FACADES "" CACHE INTERNAL "")
function(tutti_facade name)
  cmake_parse_arguments(ARG "" "SOVERSION;HEADERS;VERSION_NAME" "EXPORTS;USES;PRIVATE_LINKS" ${ARGN})
  set(folders ${TUTTI_FOLDERS})
  tutti_library(${name} USES ${ARG_USES} PRIVATE_LINKS ${ARG_PRIVATE_LINKS})
  set(TUTTI_FOLDERS ${folders} CACHE INTERNAL "")  # no part of libtutti
  if(NOT TARGET tutti_${name})
    return()
  endif()
  set(TUTTI_FACADES ${TUTTI_FACADES} ${name} CACHE INTERNAL "")
  if(TUTTI_SANITIZE MATCHES "undefined")
    # Programs in C may pass any number for an enumeration: the functions look at it before they use it.
    target_compile_options(tutti_${name} PUBLIC -fno-sanitize=enum)
  endif()
  if(ARG_HEADERS)
    target_include_directories(tutti_${name} PUBLIC ${ARG_HEADERS})
  endif()

  string(JOIN "; " names ${ARG_EXPORTS})
  set(script ${PROJECT_BINARY_DIR}/generated/${name}.exports)
  file(CONFIGURE OUTPUT ${script} CONTENT "${ARG_VERSION_NAME} { global: ${names}; local: *; };\n")
  add_library(${name} SHARED $<TARGET_OBJECTS:tutti_${name}>)
  target_link_libraries(${name} PRIVATE tutti fmt::fmt ${ARG_PRIVATE_LINKS})
  target_link_options(${name} PRIVATE -Wl,--version-script=${script})
  target_include_directories(${name} INTERFACE ${ARG_HEADERS})
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX VERSION ${ARG_SOVERSION} SOVERSION ${ARG_SOVERSION} LINK_DEPENDS ${script}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/${name}
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "\$ORIGIN/../..")
endfunction()

# libtutti: all folders in one shared library, for programs that find_package(Tutti).
function(tutti_combined_library)
  add_library(tutti SHARED ${PROJECT_SOURCE_DIR}/src/tutti.cc)
  foreach(folder IN LISTS TUTTI_FOLDERS)
    if(folder MATCHES "^(sim|launch)$")  # linked by tests only, and by the command only
      continue()
    endif()
    target_sources(tutti PRIVATE $<TARGET_OBJECTS:tutti_${folder}>)
  endforeach()
  target_link_libraries(tutti PRIVATE fmt::fmt Threads::Threads OpenSSL::SSL OpenSSL::Crypto
                        ${TUTTI_HWY} ${TUTTI_HWLOC} ${TUTTI_LIBDW} ${CMAKE_DL_LIBS})
  target_include_directories(tutti PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tutti PUBLIC cxx_std_20)
  set_target_properties(tutti PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
endfunction()
