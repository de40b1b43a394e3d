# Configures SOURCE with absolute directories: what pkg-config reads, and what strips the library, names them as they are.
cmake_minimum_required(VERSION 3.19)

set(directory "${SCRATCH}/of its own")
file(REMOVE_RECURSE "${SCRATCH}")
execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${SCRATCH}/build" "-DCMAKE_INSTALL_PREFIX=${SCRATCH}/prefix"
                        "-DCMAKE_INSTALL_LIBDIR=${directory}/lib" "-DCMAKE_INSTALL_INCLUDEDIR=${directory}/include"
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${output}")
endif()

function(check file)
  file(READ "${SCRATCH}/build/${file}" text)
  foreach(wanted IN LISTS ARGN)
    string(FIND "${text}" "${wanted}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "${file} lacks '${wanted}':\n${text}")
    endif()
  endforeach()
endfunction()

check(fastlbp.pc "prefix=${SCRATCH}/prefix\n" "libdir=${directory}/lib\n" "includedir=${directory}/include\n")
check(cmake_install.cmake "\"\$ENV{DESTDIR}${directory}/lib/libfastlbp.a\"")
file(REMOVE_RECURSE "${SCRATCH}")
