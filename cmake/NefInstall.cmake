# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, libnef.a, libnef.so, pkg-config files, CMake package, licences.
if(NOT TARGET nef_shared)
  return()
endif()
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/capi/include/nef" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(FILES "${NEF_ARCHIVE}" DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS nef_shared EXPORT nefTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES LICENSE THIRD_PARTY_NOTICES.md
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/nef OPTIONAL)

# A relative prefix lets the installed tree be moved.
file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" up "${up}")
set(NEF_PC_PREFIX "\${pcfiledir}/${up}")
# A name of its own for libnef.a: where libnef.so lies beside it, linkers take that for -lnef.
foreach(name nef nef-static)
  configure_file(packaging/${name}.pc.in "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nef)
set_target_properties(nef_shared PROPERTIES EXPORT_NAME nef)
install(EXPORT nefTargets NAMESPACE nef:: DESTINATION ${cmake_dir})
configure_package_config_file(packaging/nefConfig.cmake.in "${PROJECT_BINARY_DIR}/nefConfig.cmake"
  INSTALL_DESTINATION ${cmake_dir}
  PATH_VARS CMAKE_INSTALL_FULL_LIBDIR CMAKE_INSTALL_FULL_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/nefConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/nefConfig.cmake"
  "${PROJECT_BINARY_DIR}/nefConfigVersion.cmake" DESTINATION ${cmake_dir})
