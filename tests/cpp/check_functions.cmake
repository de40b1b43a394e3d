# Fails unless the C++ interface uses every function, status and constant of fastlbp.h, and the C++ tests every
# function: a call of the wrapper, which has the name of the C function without its prefix, or one of those
# below.
#
#   cmake -DROOT=PROJECT -P check_functions.cmake

cmake_minimum_required(VERSION 3.19)

# What has another name in C++, and what needs none: handles are made and freed by objects.
set(renamed
  fastlbp_last_error=what fastlbp_status_string=status_name fastlbp_set_log_callback=Log
  fastlbp_graph_new=Graph fastlbp_graph_free=Graph fastlbp_bp_new=BeliefPropagation
  fastlbp_bp_free=BeliefPropagation fastlbp_bp_get_property=property fastlbp_graph_count=variable_count
  fastlbp_bp_report_u64=iterations fastlbp_bp_report_f64=max_diff)
# What says something of the header itself.
set(exempt FASTLBP_API FASTLBP_H FASTLBP_VERSION_MAJOR FASTLBP_VERSION_MINOR FASTLBP_VERSION_PATCH)

# Sets `result` to the words of some files, without their comments.
function(words result)
  set(all "")
  foreach(file IN LISTS ARGN)
    file(READ "${file}" text)
    string(REPLACE ";" " " text "${text}")
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "/\\*([^*]|\\*[^/])*\\*/" "" text "${text}")
    string(REGEX MATCHALL "[A-Za-z_][A-Za-z_0-9]*" found "${text}")
    list(APPEND all ${found})
  endforeach()
  list(REMOVE_DUPLICATES all)
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

file(GLOB headers "${ROOT}/bindings/cpp/include/fastlbp/*.hpp")
list(FILTER headers EXCLUDE REGEX "/libdai[a-z_]*\\.hpp$") # belief propagation for libDAI, not this interface
file(GLOB tests "${ROOT}/tests/cpp/*.hpp" "${ROOT}/tests/cpp/*.cpp")
words(declared "${ROOT}/include/fastlbp.h")
words(used ${headers})
words(tested ${tests})

set(functions ${declared})
list(FILTER functions INCLUDE REGEX "^fastlbp_")
list(FILTER functions EXCLUDE REGEX "^fastlbp_(bp|graph|status|log_callback|progress_callback)$")
set(constants ${declared})
list(FILTER constants INCLUDE REGEX "^FASTLBP_")
list(REMOVE_ITEM constants ${exempt})
list(LENGTH functions count)
if(count LESS 85)
  message(FATAL_ERROR "only ${count} functions found in fastlbp.h")
endif()

set(problems "")
foreach(name IN LISTS functions constants)
  if(NOT name IN_LIST used)
    string(APPEND problems "  ${name} is not used in bindings/cpp/include/fastlbp\n")
  endif()
endforeach()
foreach(name IN LISTS functions)
  string(REGEX REPLACE "^fastlbp_(bp_|graph_)?" "" wrapper "${name}")
  set(other ${renamed})
  list(FILTER other INCLUDE REGEX "^${name}=")
  if(other)
    string(REGEX REPLACE "^.*=" "" wrapper "${other}")
  endif()
  if(NOT wrapper IN_LIST tested)
    string(APPEND problems "  no test in tests/cpp calls ${wrapper} (${name})\n")
  endif()
endforeach()
if(problems)
  message(FATAL_ERROR "The C++ interface lacks something:\n${problems}")
endif()
list(LENGTH constants more)
message("${count} functions and ${more} constants are there")
