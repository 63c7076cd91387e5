# cmake --install: the program with its module for videos, presets, trained agents, completion and
# manual (component `program`), headers and libraries (component `development`). cpack makes a Debian
# package of each.
set(share ${CMAKE_INSTALL_DATADIR}/saccade)
install(TARGETS saccade RUNTIME COMPONENT program)
if(SACCADE_MP4)
  install(TARGETS saccade_mp4 LIBRARY COMPONENT program DESTINATION ${saccade_modules_folder})
endif()
file(GLOB presets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/experiments/*.yaml)
install(FILES ${presets} DESTINATION ${share}/experiments COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${share} COMPONENT program)
# Where `make web` was run before.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/web/page DESTINATION ${share}/web COMPONENT program OPTIONAL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)

# The program writes these itself.
set(shell ${PROJECT_BINARY_DIR}/shell)
file(MAKE_DIRECTORY ${shell})
install(CODE "
  foreach(written \"completion bash;saccade\" \"completion zsh;_saccade\"
      \"completion fish;saccade.fish\" \"man;saccade.1\")
    list(GET written 0 words)
    list(GET written 1 file)
    separate_arguments(words)
    execute_process(COMMAND $<TARGET_FILE:saccade> \${words} OUTPUT_FILE ${shell}/\${file}
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()" COMPONENT program)
install(FILES ${shell}/saccade COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${shell}/_saccade COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${shell}/saccade.fish COMPONENT program
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${shell}/saccade.1 COMPONENT program DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# find_package(saccade): the headers lie as the sources include them.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/saccade)
install(TARGETS saccade_flags EXPORT saccade-base COMPONENT development)
install(TARGETS saccade_version EXPORT saccade-experiments COMPONENT development)
foreach(folder ${saccade_components})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} COMPONENT development
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/saccade FILES_MATCHING PATTERN "*.h")
  install(EXPORT saccade-${folder} NAMESPACE saccade:: DESTINATION ${package} COMPONENT development)
endforeach()
include(CMakePackageConfigHelpers)
if(with_mpi)
  set(installed_mpi ON)
else()
  set(installed_mpi OFF)
endif()
set(installed_modules ${saccade_modules_folder})
configure_package_config_file(cmake/saccadeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/saccadeConfig.cmake INSTALL_DESTINATION ${package}
  PATH_VARS installed_modules)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/saccadeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES cmake/dependencies.cmake ${PROJECT_BINARY_DIR}/saccadeConfig.cmake
  ${PROJECT_BINARY_DIR}/saccadeConfigVersion.cmake DESTINATION ${package} COMPONENT development)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Saccade maintainers")
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME saccade)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsaccade-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libxtensor-dev, libxsimd-dev, libdnnl-dev, libtbb-dev, libyaml-cpp-dev, libcli11-dev, nlohmann-json3-dev, libfmt-dev, librandom123-dev, zlib1g-dev, libzip-dev, libgif-dev, libopencv-core-dev, libopencv-imgproc-dev, libpng-dev, libjpeg-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "saccade (= ${PROJECT_VERSION})")  # the module
include(CPack)
