# What the tests of C and C++ share.
include(CheckCSourceCompiles)

set(warnings -Wall -Wextra -Wpedantic -Werror)
set(FASTLBP_GOLDEN "${PROJECT_SOURCE_DIR}/../shared/golden/tiny" CACHE PATH
    "Directory with golden values, if there is one")
set(compare_output "${CMAKE_CURRENT_LIST_DIR}/compare_output.cmake")

# A test that cannot be run here is listed as skipped.
function(skipped_test name reason)
  add_test(NAME "${name}" COMMAND "${CMAKE_COMMAND}" -E echo "skipped: ${reason}")
  set_tests_properties("${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endfunction()

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
