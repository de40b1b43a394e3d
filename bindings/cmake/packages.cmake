# `cpack` makes an archive of what is installed and, where dpkg is, three Debian packages: libfastlbp0, which programs
# load, libfastlbp-dev, with which they are built, and fastlbp, the program. Where rpmbuild is, it makes the same three as
# fastlbp-libs, fastlbp-devel and fastlbp.
set(CPACK_PACKAGE_NAME fastlbp)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "The fastlbp developers")
# Who makes a package answers for it: an address at example.org reaches nobody.
set(FASTLBP_PACKAGE_CONTACT "The fastlbp developers <fastlbp@example.org>" CACHE STRING
    "Name and address of who makes packages")
set(CPACK_PACKAGE_CONTACT "${FASTLBP_PACKAGE_CONTACT}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE-APACHE")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
if(FASTLBP_BUILD_TOOL)
  list(APPEND CPACK_COMPONENTS_ALL tools)
endif()
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME "fastlbp-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")

set(summary "belief propagation on factor graphs")
# The first line of each is its summary, for dpkg as long as there is no CPACK_PACKAGE_DESCRIPTION_SUMMARY, which it would put
# above all of them.
set(about "Marginals and most probable states of large discrete factor graphs, such\n\
as those of probabilistic program analysis, by loopy belief propagation in\n\
any update order, on processors and CUDA devices, with the same bits.")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${summary} - shared library\n${about}\nPrograms load this library.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "${summary} - C and C++ development\n${about}\nThese are the headers, the static library, and files for CMake and\npkg-config.")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
    "${summary} - command line\n${about}\nThis is the program, which ranks alarms and locates faults, too.")

find_program(DPKG_DEB_EXECUTABLE dpkg-deb)
if(DPKG_DEB_EXECUTABLE)
  list(APPEND CPACK_GENERATOR DEB)
  set(CPACK_POST_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/correct-debs.cmake")
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "libfastlbp${PROJECT_VERSION_MAJOR}")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfastlbp-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME fastlbp)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
  find_program(DPKG_SHLIBDEPS_EXECUTABLE dpkg-shlibdeps)
  find_program(FILE_EXECUTABLE file)
  if(DPKG_SHLIBDEPS_EXECUTABLE AND FILE_EXECUTABLE)
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  else()
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "libc6, libgcc-s1")
    set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libc6, libgcc-s1")
  endif()

  # What Debian wants of each package beside its files.
  set(debian "${CMAKE_CURRENT_BINARY_DIR}/debian")
  # The dynamic linker learns of the library by dpkg's trigger.
  file(WRITE "${debian}/triggers" "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${debian}/triggers")
  set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  # (Each line is indented, and a blank one is a dot.)
  file(READ "${PROJECT_SOURCE_DIR}/LICENSE-MIT" mit)
  string(STRIP "${mit}" mit)
  string(REPLACE "\n" "\n " mit "${mit}")
  string(REPLACE "\n \n" "\n .\n" mit "${mit}")
  file(WRITE "${debian}/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: fastlbp

Files: *
Copyright: The fastlbp developers
License: Expat or Apache-2.0

License: Expat
 ${mit}

License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
")
  string(TIMESTAMP date "%a, %d %b %Y 00:00:00 +0000" UTC)
  file(WRITE "${debian}/changelog"
"fastlbp (${PROJECT_VERSION}) unstable; urgency=medium

  * Made by cpack; what has changed is in CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  find_program(GZIP_EXECUTABLE gzip)
  if(GZIP_EXECUTABLE)
    execute_process(COMMAND "${GZIP_EXECUTABLE}" -9nf "${debian}/changelog" COMMAND_ERROR_IS_FATAL ANY)
    foreach(pair "runtime libfastlbp${PROJECT_VERSION_MAJOR}" "development libfastlbp-dev" "tools fastlbp")
      separate_arguments(pair)
      list(GET pair 0 component)
      list(GET pair 1 package)
      # (Packages are made by component, and so have what is excluded from all; `cmake --install` and the archive do not.)
      install(FILES "${debian}/copyright" "${debian}/changelog.gz"
              DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT ${component} EXCLUDE_FROM_ALL)
    endforeach()
    # (After the pages, which are installed by the file that includes this one.)
    install(CODE "
      file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/fastlbp*.1\")
      foreach(page IN LISTS pages)
        execute_process(COMMAND \"${GZIP_EXECUTABLE}\" -9nf \"\${page}\" COMMAND_ERROR_IS_FATAL ANY)
      endforeach()" COMPONENT tools EXCLUDE_FROM_ALL)
  endif()
endif()

find_program(RPMBUILD_EXECUTABLE rpmbuild)
if(RPMBUILD_EXECUTABLE)
  list(APPEND CPACK_GENERATOR RPM)
  set(CPACK_RPM_COMPONENT_INSTALL ON)
  set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
  set(CPACK_RPM_PACKAGE_LICENSE "MIT OR Apache-2.0")
  set(CPACK_RPM_RUNTIME_PACKAGE_NAME fastlbp-libs)
  set(CPACK_RPM_DEVELOPMENT_PACKAGE_NAME fastlbp-devel)
  set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES "fastlbp-libs = ${PROJECT_VERSION}")
  set(CPACK_RPM_TOOLS_PACKAGE_NAME fastlbp)
  # Folders that belong to others.
  foreach(folder "${CMAKE_INSTALL_LIBDIR}" "${CMAKE_INSTALL_LIBDIR}/cmake" "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
                 "${CMAKE_INSTALL_MANDIR}" "${CMAKE_INSTALL_MANDIR}/man1" share/bash-completion share/bash-completion/completions
                 share/fish share/fish/vendor_completions.d share/zsh share/zsh/vendor-completions)
    list(APPEND CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION "${CMAKE_INSTALL_PREFIX}/${folder}")
  endforeach()
  # (rpm knows what the library and the program load by itself.)
  foreach(component RUNTIME DEVELOPMENT TOOLS)
    string(REGEX REPLACE "\n.*" "" CPACK_RPM_${component}_PACKAGE_SUMMARY "${CPACK_COMPONENT_${component}_DESCRIPTION}")
  endforeach()
endif()
include(CPack)
