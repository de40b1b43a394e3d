# Installs the build directory BUILD into SCRATCH and uses what is there; see tests/c/CMakeLists.txt.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(check_output)
  if(NOT output MATCHES "P\\(x1\\) = 1, P\\(x2\\) = 1, P\\(x3\\) = 1")
    message(FATAL_ERROR "not the example's output: ${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${SCRATCH}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --config "${CONFIG}" --prefix "${SCRATCH}/first")
# An installed tree can be moved.
file(RENAME "${SCRATCH}/first" "${SCRATCH}/prefix")

# The example of the header.
file(STRINGS "${SCRATCH}/prefix/include/fastlbp.h" lines)
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
file(WRITE "${SCRATCH}/source/consumer.c" "${example}")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt" DESTINATION "${SCRATCH}/source")

run("${CMAKE_COMMAND}" -S "${SCRATCH}/source" -B "${SCRATCH}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix" "-DCMAKE_C_COMPILER=${C_COMPILER}")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")
run("${SCRATCH}/build/consumer_fastlbp")
check_output()
run("${SCRATCH}/build/consumer_static")
check_output()

if(PKG_CONFIG)
  run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${SCRATCH}/prefix/${LIBDIR}/pkgconfig"
      "${PKG_CONFIG}" --cflags --libs fastlbp)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run("${C_COMPILER}" -std=c99 -Wall -Wextra -Werror "${SCRATCH}/source/consumer.c" ${flags}
      -o "${SCRATCH}/consumer_pkg_config")
  run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${SCRATCH}/prefix/${LIBDIR}"
      "${SCRATCH}/consumer_pkg_config")
  check_output()
else()
  message("skipped: pkg-config is not installed")
endif()
