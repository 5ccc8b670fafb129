# What `cmake --install` lays down, and the package that find_package(Coil) reads.
# Components: `runtime` (library, header, CMake package), `tools`, `examples`.

include(CMakePackageConfigHelpers)
set(coil_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Coil")
install(EXPORT CoilTargets NAMESPACE Coil:: DESTINATION ${coil_package_dir} COMPONENT runtime)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/CoilConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/CoilConfig.cmake" INSTALL_DESTINATION ${coil_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/CoilConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/CoilConfig.cmake" "${PROJECT_BINARY_DIR}/CoilConfigVersion.cmake"
  DESTINATION ${coil_package_dir} COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
# In the build tree imports find the library where they do when it is installed.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/coil")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/examples" "${PROJECT_BINARY_DIR}/share/coil/examples"
  SYMBOLIC)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DATADIR}/coil"
  COMPONENT examples FILES_MATCHING PATTERN "*.coil")
