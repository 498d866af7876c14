# SPDX-License-Identifier: Apache-2.0
# One object library per folder of the house, in the order data passes through. Which folder may
# include which is checked by packaging/check_includes.py.
set(NEF_ROOM_OBJECTS "")
set(NEF_ROOM_TARGETS "")

function(nef_room target dir)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${dir}/*.cc")
  if(NOT sources)
    return()
  endif()
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE nef_flags nef_hidden ${NEF_DEP_LIBS})
  set(NEF_ROOM_TARGETS ${NEF_ROOM_TARGETS} ${target} PARENT_SCOPE)
  set(NEF_ROOM_OBJECTS ${NEF_ROOM_OBJECTS} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
endfunction()

foreach(room ir build optimize plan compile runtime context io)
  nef_room(nef_${room} engine/${room})
endforeach()
foreach(backend shared reference cpu gpu cuda rocm)
  nef_room(nef_backend_${backend} backends/${backend})
endforeach()
nef_room(nef_capi capi)
