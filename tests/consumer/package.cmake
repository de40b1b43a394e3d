# Makes the package PACKAGE (TGZ or DEB) of the build directory BUILD, checks its content and unpacks it;
# `result` is then the prefix that the package has unpacked.
function(unpack_package result)
  set(packages "${SCRATCH}/packages")
  file(MAKE_DIRECTORY "${packages}")
  run("${CMAKE_CPACK_COMMAND}" --config "${BUILD}/CPackConfig.cmake" -C "${CONFIG}" -G "${PACKAGE}"
      -B "${packages}")
  if(PACKAGE STREQUAL "DEB")
    file(GLOB package "${packages}/*.deb")
    run("${DPKG_DEB}" --info "${package}")
    foreach(field "Package: fastlbp" "Architecture: " "Depends: .*libc6" "Maintainer: ")
      if(NOT output MATCHES "${field}")
        message(FATAL_ERROR "${package} lacks '${field}':\n${output}")
      endif()
    endforeach()
    run("${DPKG_DEB}" -c "${package}")
    set(content "${output}")
    run("${DPKG_DEB}" -x "${package}" "${SCRATCH}/unpacked")
    set(prefix "${SCRATCH}/unpacked/usr")
  else()
    file(GLOB package "${packages}/*.tar.gz")
    run("${CMAKE_COMMAND}" -E tar tzf "${package}")
    set(content "${output}")
    file(ARCHIVE_EXTRACT INPUT "${package}" DESTINATION "${SCRATCH}/unpacked")
    file(GLOB prefix "${SCRATCH}/unpacked/*")
  endif()

  foreach(file bin/fastlbp include/fastlbp.h include/fastlbp/fastlbp.hpp include/fastlbp/session.hpp
               include/fastlbp/libdai.hpp include/fastlbp-libdai/dai/alldai.h
               include/fastlbp-libdai/dai_ext/causal_bp.h
               ${LIBDIR}/libfastlbp.a ${LIBDIR}/libfastlbp.so ${LIBDIR}/libfastlbp.so.0
               ${LIBDIR}/pkgconfig/fastlbp.pc ${LIBDIR}/cmake/fastlbp/fastlbp-config.cmake
               ${LIBDIR}/cmake/fastlbp/fastlbp-config-version.cmake share/doc/fastlbp/LICENSE-MIT)
    string(FIND "${content}" "/${file}" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "${package} lacks ${file}:\n${content}")
    endif()
  endforeach()
  # Its headers are not those of libDAI.
  if(content MATCHES "/include/dai/")
    message(FATAL_ERROR "${package} has headers in the place of libDAI's:\n${content}")
  endif()

  run("${prefix}/bin/fastlbp" infer "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../data/chain.causal_fg"
      --schedule TREE --iterations 1)
  if(NOT output MATCHES "\n3 0.25\n")
    message(FATAL_ERROR "the packaged program does not compute what it should: ${output}")
  endif()
  set(${result} "${prefix}" PARENT_SCOPE)
endfunction()
