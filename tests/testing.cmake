# What the tests of C and C++ share.
include(CheckCSourceCompiles)
include("${CMAKE_CURRENT_LIST_DIR}/c/skipped_test.cmake")

set(warnings -Wall -Wextra -Wpedantic -Werror)
set(FASTLBP_REFERENCE_VALUES "${PROJECT_SOURCE_DIR}/tests/data/golden" CACHE PATH "Directory of the reference values")
set(compare_output "${CMAKE_CURRENT_LIST_DIR}/c/compare_output.cmake")
# What the examples that rank a real session get.
set(example_session "${PROJECT_SOURCE_DIR}/examples/data/weblech.causal_fg.gz"
    "${PROJECT_SOURCE_DIR}/examples/data/weblech.alarms")

set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=address,undefined")
check_c_source_compiles("int main(void) { return 0; }" FASTLBP_HAVE_SANITIZERS)
unset(CMAKE_REQUIRED_FLAGS)

# What runs a program under valgrind, or nothing and why not.
find_program(VALGRIND_EXECUTABLE valgrind)
set(valgrind "")
if(NOT VALGRIND_EXECUTABLE)
  set(no_valgrind "valgrind is not installed")
elseif("${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize=")
  set(no_valgrind "programs with sanitizers do not run under valgrind")
else()
  set(valgrind "${VALGRIND_EXECUTABLE}" --quiet --error-exitcode=9 --leak-check=full
      --errors-for-leak-kinds=definite,indirect --fair-sched=yes)
endif()

# C++ programs are built by single calls of compilers, since a build directory of CMake has one for C++ only.
#
# cpp_test_program(<name> COMPILER <compiler> STANDARD <standard> LIBRARY <shared|static> SOURCES <file...>
#                  [HEADERS <file...>] [OPTIONS <option...>] [ARGUMENTS <argument...>])
#
# makes a program (OPTIONS are those for compiling and linking it; HEADERS are what it is made anew for, beside
# those of the C++ interface) and the test <name>, which runs it. Where <compiler>, g++ or clang++, is missing or
# cannot link with these OPTIONS, the test is skipped. `cpp_program_<name>` is then empty, else the program.
set(cpp_warnings ${warnings} -Wundef -Wshadow -Wconversion)
foreach(compiler g++ clang++)
  find_program(FASTLBP_TEST_${compiler} ${compiler})
endforeach()

function(cpp_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "COMPILER;STANDARD;LIBRARY" "SOURCES;HEADERS;OPTIONS;ARGUMENTS")
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/programs")
  set(program "${directory}/${name}")
  set(compiler "${FASTLBP_TEST_${test_COMPILER}}")
  set(cpp_program_${name} "" PARENT_SCOPE)
  if(NOT compiler)
    skipped_test(${name} "${test_COMPILER} is not installed")
    return()
  endif()
  # The sanitizers' libraries may be missing where the compiler is there.
  file(WRITE "${directory}/empty.cpp" "int main() {}\n")
  execute_process(COMMAND "${compiler}" ${test_OPTIONS} "${directory}/empty.cpp" -o "${directory}/empty"
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    list(JOIN test_OPTIONS " " options)
    skipped_test(${name} "${test_COMPILER} cannot link with ${options}")
    return()
  endif()

  separate_arguments(project_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  list(TRANSFORM test_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(TRANSFORM test_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  file(GLOB inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bindings/cpp/include/*/*.h*")
  if(test_LIBRARY STREQUAL "static")
    set(library "${fastlbp_library_directory}/libfastlbp.a" ${fastlbp_static_libraries})
    list(APPEND inputs "${fastlbp_library_directory}/libfastlbp.a")
  else()
    set(library "-L${fastlbp_library_directory}" "-Wl,-rpath,${fastlbp_library_directory}" -lfastlbp)
  endif()
  add_custom_command(OUTPUT "${program}"
    COMMAND "${compiler}" "-std=${test_STANDARD}" ${project_flags} ${cpp_warnings} -g ${test_OPTIONS}
            "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/bindings/cpp/include"
            ${test_SOURCES} -o "${program}" ${library} -pthread
    DEPENDS ${test_SOURCES} ${test_HEADERS} ${inputs} "${PROJECT_SOURCE_DIR}/include/fastlbp.h" fastlbp_cargo
    COMMENT "Building ${name}"
    VERBATIM)
  add_custom_target(${name}.program ALL DEPENDS "${program}")
  add_test(NAME ${name} COMMAND "${program}" ${test_ARGUMENTS})
  set(cpp_program_${name} "${program}" PARENT_SCOPE)
endfunction()
