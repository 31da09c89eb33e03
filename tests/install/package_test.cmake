# Builds and runs the program against an installed tree, found by find_package and by pkg-config.
set(prefix ${PLACE}/prefix)
file(REMOVE_RECURSE ${prefix} ${PLACE}/by_cmake ${PLACE}/by_pkgconfig)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_plan text)
  if(NOT text MATCHES "plan ring all_reduce")
    message(FATAL_ERROR "the program printed no plan:\n${text}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(path bin/tutti include/tutti/plan.h include/tutti/version.h share/man/man1/tutti.1
             share/bash-completion/completions/tutti share/zsh/site-functions/_tutti
             share/fish/vendor_completions.d/tutti.fish share/tutti/topologies
             include/tutti-cudart/cuda_runtime.h ${LIBDIR}/tutti/cudart/libcudart.so)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "${path} was not installed")
  endif()
endforeach()
run(${prefix}/bin/tutti --version)

if(EXISTS ${prefix}/include/cudart OR EXISTS ${prefix}/include/cuda_runtime.h)
  message(FATAL_ERROR "the headers of the CUDA runtime lie where programs get them unasked")
endif()

run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${PLACE}/by_cmake -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${PLACE}/by_cmake)
run(${PLACE}/by_cmake/program)
expect_plan("${output}")

find_program(PKG_CONFIG NAMES pkg-config pkgconf)
if(NOT PKG_CONFIG)
  message(FATAL_ERROR "pkg-config is not installed")
endif()
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} --cflags --libs tutti)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
file(MAKE_DIRECTORY ${PLACE}/by_pkgconfig)
run(${COMPILER} -std=c++20 ${SOURCE}/program.cc ${flags} -o ${PLACE}/by_pkgconfig/program)
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIBDIR})
run(${PLACE}/by_pkgconfig/program)
expect_plan("${output}")

# As docs/guide/virtual-devices.md says.
set(ENV{LD_LIBRARY_PATH} "")
set(cudart ${prefix}/${LIBDIR}/tutti/cudart)
run(${COMPILER} -std=c++17 ${SOURCE}/../../cudart/program.cc -I${prefix}/include/tutti-cudart -L${cudart}
    -Wl,-rpath,${cudart} -lcudart -pthread -o ${PLACE}/by_pkgconfig/virtual_devices)
run(${PLACE}/by_pkgconfig/virtual_devices)
