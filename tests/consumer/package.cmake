# Makes the package PACKAGE (TGZ or DEB) of the build directory BUILD, checks its content and unpacks it;
# `result` is then the prefix that the package has unpacked.
function(unpack_package result)
  set(packages "${SCRATCH}/packages")
  file(MAKE_DIRECTORY "${packages}")
  run("${CMAKE_CPACK_COMMAND}" --config "${BUILD}/CPackConfig.cmake" -C "${CONFIG}" -G "${PACKAGE}"
      -B "${packages}")
  set(more share/man/man1/fastlbp.1 share/man/man1/fastlbp-infer.1 share/bash-completion/completions/fastlbp
      share/zsh/vendor-completions/_fastlbp share/fish/vendor_completions.d/fastlbp.fish)
  if(PACKAGE STREQUAL "DEB")
    set(content "")
    set(package "")
    # dpkg can install into a directory that is no system yet, but for root only.
    set(root "${SCRATCH}/unpacked")
    file(MAKE_DIRECTORY "${root}/var/lib/dpkg/info" "${root}/var/lib/dpkg/updates")
    file(TOUCH "${root}/var/lib/dpkg/status")
    execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
    foreach(name libfastlbp0 libfastlbp-dev fastlbp)
      file(GLOB file "${packages}/${name}_*.deb")
      run("${DPKG_DEB}" --info "${file}")
      foreach(field "Package: ${name}\n" "Architecture: " "Maintainer: ")
        if(NOT output MATCHES "${field}")
          message(FATAL_ERROR "${file} lacks '${field}':\n${output}")
        endif()
      endforeach()
      if(name STREQUAL "libfastlbp-dev")
        set(needed "libfastlbp0")
      else()
        set(needed "libc6")
      endif()
      if(NOT output MATCHES "Depends: [^\n]*${needed}")
        message(FATAL_ERROR "${file} does not depend on ${needed}:\n${output}")
      endif()
      run("${DPKG_DEB}" -c "${file}")
      string(APPEND content "${output}")
      list(APPEND package "${file}")
      list(APPEND more "share/doc/${name}/copyright" "share/doc/${name}/changelog.gz")
      if(NOT user STREQUAL "0")
        run("${DPKG_DEB}" -x "${file}" "${root}")
      endif()
    endforeach()
    if(user STREQUAL "0")
      # What they depend on is there, but not in this directory; nor is a shell for the script that runs ldconfig.
      run(dpkg "--root=${root}" --force-depends --force-script-chrootless -i ${package})
      run(dpkg "--root=${root}" --verify)
    endif()
    set(prefix "${root}/usr")
  else()
    file(GLOB package "${packages}/*.tar.gz")
    run("${CMAKE_COMMAND}" -E tar tzf "${package}")
    set(content "${output}")
    file(ARCHIVE_EXTRACT INPUT "${package}" DESTINATION "${SCRATCH}/unpacked")
    file(GLOB prefix "${SCRATCH}/unpacked/*")
    list(APPEND more share/doc/fastlbp/LICENSE-MIT)
  endif()

  foreach(file bin/fastlbp include/fastlbp.h include/fastlbp/fastlbp.hpp include/fastlbp/session.hpp
               include/fastlbp/libdai.hpp include/fastlbp-libdai/dai/alldai.h
               include/fastlbp-libdai/dai_ext/causal_bp.h
               ${LIBDIR}/libfastlbp.a ${LIBDIR}/libfastlbp.so ${LIBDIR}/libfastlbp.so.0
               ${LIBDIR}/pkgconfig/fastlbp.pc ${LIBDIR}/cmake/fastlbp/fastlbp-config.cmake
               ${LIBDIR}/cmake/fastlbp/fastlbp-config-version.cmake ${more})
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
