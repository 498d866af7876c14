# SPDX-License-Identifier: Apache-2.0
# nef_internal: ordinary archive with everything visible, for C++ tests and benchmarks.
# nef_static  : libnef.a, one partially linked object in which only nef_* is global.
# nef_shared  : libnef.so.0, exports nef_* under a version script.
if(NOT NEF_ROOM_TARGETS)
  message(STATUS "no engine sources yet: nothing to build")
  return()
endif()

add_library(nef_internal STATIC ${NEF_ROOM_OBJECTS} ${NEF_DEP_OBJECTS})
target_link_libraries(nef_internal PUBLIC nef_flags ${NEF_DEP_LIBS})
set_target_properties(nef_internal PROPERTIES LINKER_LANGUAGE CXX)

# Sanitizer runtimes need their own symbols and sections, so the hidden products are release only.
if(NOT TARGET nef_capi OR NEF_SANITIZE OR NEF_FUZZ)
  return()
endif()

# Hiding by visibility alone would leave weak std:: symbols global and let them clash with, or be
# replaced by, the user's own. Group allocation must come first: it drops the COMDAT groups whose
# symbols are then made local. Line tables are six times the code here, so they stay in libnef.so;
# symbol names stay in both.
set(NEF_ARCHIVE "${PROJECT_BINARY_DIR}/lib/libnef.a")
set(object "${PROJECT_BINARY_DIR}/lib/nef.o")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(archives "")
if(NEF_DEP_ARCHIVES)
  set(archives --whole-archive ${NEF_DEP_ARCHIVES} --no-whole-archive)
endif()
add_custom_command(
  OUTPUT "${NEF_ARCHIVE}"
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o "${object}"
          ${NEF_ROOM_OBJECTS} ${NEF_DEP_OBJECTS} ${archives}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden "${object}"
  COMMAND ${CMAKE_OBJCOPY} -w "--keep-global-symbol=nef_*" --localize-hidden --strip-debug "${object}"
  COMMAND ${CMAKE_COMMAND} -E rm -f "${NEF_ARCHIVE}"
  COMMAND ${CMAKE_AR} rcsD "${NEF_ARCHIVE}" "${object}"
  COMMAND ${CMAKE_COMMAND} -E rm -f "${object}"
  DEPENDS ${NEF_ROOM_TARGETS} ${NEF_ROOM_OBJECTS} ${NEF_DEP_OBJECTS}
  COMMENT "Linking lib/libnef.a (only nef_* visible)"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(nef_archive ALL DEPENDS "${NEF_ARCHIVE}")
add_library(nef_static STATIC IMPORTED GLOBAL)
add_dependencies(nef_static nef_archive)
set_target_properties(nef_static PROPERTIES
  IMPORTED_LOCATION "${NEF_ARCHIVE}"
  INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/capi/include"
  INTERFACE_LINK_LIBRARIES "stdc++;m;pthread;dl")

# What the library is made of, for packaging/abi.
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/objects.txt"
  CONTENT "$<JOIN:${NEF_ROOM_OBJECTS};${NEF_DEP_OBJECTS},\n>\n")

set(map "${PROJECT_SOURCE_DIR}/capi/nef.map")
add_library(nef_shared SHARED ${NEF_ROOM_OBJECTS} ${NEF_DEP_OBJECTS})
target_link_libraries(nef_shared PRIVATE nef_flags ${NEF_DEP_LIBS})
target_include_directories(nef_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/capi/include> $<INSTALL_INTERFACE:include>)
target_link_options(nef_shared PRIVATE "LINKER:--version-script=${map}" LINKER:--no-undefined)
set_target_properties(nef_shared PROPERTIES
  OUTPUT_NAME nef VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS "${map}" LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
