# Gives INPUT to PROGRAM, run on GRAPH, and compares what it answers with WANTED.
execute_process(COMMAND "${PROGRAM}" "${GRAPH}" INPUT_FILE "${INPUT}" RESULT_VARIABLE result OUTPUT_VARIABLE output)
file(READ "${WANTED}" wanted)
if(NOT result EQUAL 0 OR NOT output STREQUAL wanted)
  message(FATAL_ERROR "exit code ${result}, and not the transcript ${WANTED} but\n${output}")
endif()
