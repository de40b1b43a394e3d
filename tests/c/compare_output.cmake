# Runs PROGRAM with ARGUMENTS, a list, and compares what it prints with the file WANTED.
execute_process(COMMAND "${PROGRAM}" ${ARGUMENTS} RESULT_VARIABLE result OUTPUT_VARIABLE output)
file(READ "${WANTED}" wanted)
if(NOT result EQUAL 0 OR NOT output STREQUAL wanted)
  message(FATAL_ERROR "${PROGRAM}: ${result}\n${output}instead of\n${wanted}")
endif()
