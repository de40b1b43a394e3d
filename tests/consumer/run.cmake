# Builds project/ with the library and runs it; see CMakeLists.txt. WAY says how the project gets the library:
#
#   add_subdirectory   as a directory of its own, from SOURCE
#   find_package       installed from the build directory BUILD
#   package            unpacked from what cpack makes of BUILD
#
# FLAGS are more flags for compiling and linking it.
cmake_minimum_required(VERSION 3.19)
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Runs a program that was built from the example of a header.
function(run_example)
  run(${ARGN})
  if(NOT output MATCHES "P\\(x1\\) = 1, P\\(x2\\) = 1, P\\(x3\\) = 1")
    message(FATAL_ERROR "not the example's output: ${output}")
  endif()
endfunction()

# Writes the example in the comment of a header to a file.
function(extract_example header file)
  file(STRINGS "${header}" lines)
  set(example "")
  set(inside OFF)
  foreach(line IN LISTS lines)
    if(line MATCHES "@endcode")
      break()
    elseif(inside)
      string(REGEX REPLACE "^ \\* ?" "" line "${line}")
      string(APPEND example "${line}\n")
    elseif(line MATCHES "@code")
      set(inside ON)
    endif()
  endforeach()
  file(WRITE "${file}" "${example}")
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
set(options "")
if(WAY STREQUAL "add_subdirectory")
  set(options "-DFASTLBP_SOURCE=${SOURCE}" "-DFASTLBP_CARGO_TARGET_DIR=${CARGO_TARGET_DIR}"
      "-DFASTLBP_SHARE_CARGO_TEST=${SHARE_CARGO_TEST}" "-DFASTLBP_BUILD_TOOL=${TOOL}"
      "-DFASTLBP_CUDA=${CUDA}" "-DFASTLBP_CARGO_FLAGS=${CARGO_FLAGS}")
  set(headers "${SOURCE}/include/fastlbp.h" "${SOURCE}/bindings/cpp/include/fastlbp/fastlbp.hpp")
else()
  if(WAY STREQUAL "find_package")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${SCRATCH}/first")
    # What only packages of Debian have is not installed by itself.
    if(EXISTS "${SCRATCH}/first/share/doc/libfastlbp0")
      message(FATAL_ERROR "cmake --install has installed the documents of Debian's packages")
    endif()
    # An installed tree can be moved.
    file(RENAME "${SCRATCH}/first" "${SCRATCH}/prefix")
    set(prefix "${SCRATCH}/prefix")
  else()
    unpack_package(prefix)
  endif()
  set(options "-DCMAKE_PREFIX_PATH=${prefix}")
  set(headers "${prefix}/include/fastlbp.h" "${prefix}/include/fastlbp/fastlbp.hpp")
endif()

list(GET headers 0 c_header)
list(GET headers 1 cpp_header)
extract_example("${c_header}" "${SCRATCH}/source/example.c")
extract_example("${cpp_header}" "${SCRATCH}/source/example.cpp")
set(libdai_example "${CMAKE_CURRENT_LIST_DIR}/../../examples/libdai/alarms")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/project/CMakeLists.txt" "${libdai_example}.cpp"
     DESTINATION "${SCRATCH}/source")

set(build "${SCRATCH}/build")
run("${CMAKE_COMMAND}" -S "${SCRATCH}/source" -B "${build}" -G "${GENERATOR}" ${options}
    "-DCMAKE_BUILD_TYPE=${CONFIG}" "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}"
    "-DCMAKE_C_FLAGS=${FLAGS}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("${CMAKE_COMMAND}" --build "${build}")
foreach(program c_fastlbp c_static cpp_fastlbp cpp_static)
  run_example("${build}/${program}")
endforeach()
run("${build}/libdai_fastlbp")
file(READ "${libdai_example}.txt" wanted)
if(NOT output STREQUAL wanted)
  message(FATAL_ERROR "not the example's output: ${output}")
endif()

# A second build has nothing to do.
if(WAY STREQUAL "add_subdirectory")
  set(built c_fastlbp c_static cpp_fastlbp cpp_static libdai_fastlbp
      fastlbp/lib/libfastlbp.so fastlbp/lib/libfastlbp.a)
  foreach(file IN LISTS built)
    file(TIMESTAMP "${build}/${file}" before_${file} "%s")
  endforeach()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1.1) # timestamps are of seconds
  run("${CMAKE_COMMAND}" --build "${build}")
  foreach(file IN LISTS built)
    file(TIMESTAMP "${build}/${file}" after "%s")
    if(NOT after STREQUAL before_${file})
      message(FATAL_ERROR "the second build made ${file} again:\n${output}")
    endif()
  endforeach()
  if(output MATCHES "Linking|Compiling|Building C")
    message(FATAL_ERROR "the second build did something again:\n${output}")
  endif()
endif()

if(TOOL)
  run("${CMAKE_COMMAND}" --build "${build}" --target run_tool)
  if(NOT output MATCHES "fastlbp [0-9]+\\.[0-9]+")
    message(FATAL_ERROR "the program does not say its version: ${output}")
  endif()
endif()

# Without CMake.
if(NOT WAY STREQUAL "add_subdirectory")
  if(PKG_CONFIG)
    run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig"
        "${PKG_CONFIG}" --cflags --libs fastlbp)
    string(STRIP "${output}" flags)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    set(strict -Wall -Wextra -Wpedantic -Werror)
    run("${C_COMPILER}" -std=c99 ${strict} "${SCRATCH}/source/example.c" ${flags}
        -o "${SCRATCH}/pkg_config_c")
    run("${CXX_COMPILER}" -std=c++11 ${strict} "${SCRATCH}/source/example.cpp" ${flags}
        -o "${SCRATCH}/pkg_config_cpp")
    foreach(language c cpp)
      run_example("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${prefix}/${LIBDIR}"
                  "${SCRATCH}/pkg_config_${language}")
    endforeach()

    # Without shared libraries, where the C library can be had so.
    file(WRITE "${SCRATCH}/source/empty.c" "int main(void) { return 0; }\n")
    execute_process(COMMAND "${C_COMPILER}" -static "${SCRATCH}/source/empty.c" -o "${SCRATCH}/empty"
                    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig"
          "${PKG_CONFIG}" --static --cflags --libs fastlbp)
      string(STRIP "${output}" flags)
      separate_arguments(flags UNIX_COMMAND "${flags}")
      run("${C_COMPILER}" -static "${SCRATCH}/source/example.c" ${flags} -o "${SCRATCH}/pkg_config_static")
      run_example("${SCRATCH}/pkg_config_static")
    endif()
  else()
    message("skipped: pkg-config is not installed")
  endif()
endif()

# Some hundred megabytes.
file(REMOVE_RECURSE "${SCRATCH}")
