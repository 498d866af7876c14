# SPDX-License-Identifier: Apache-2.0
# Highway and cJSON, linked statically and hidden. For each: a source folder given by the caller,
# else a static system package that is new enough, else the pinned source that ./dev fetches.
# (Debian ships both as shared libraries only, and an old Highway, so there it is the last way.)
set(NEF_DEP_LIBS "")      # what first-party code links against
set(NEF_DEP_OBJECTS "")   # object files that go into the products
set(NEF_DEP_ARCHIVES "")  # static system archives that go into the products

# Sets `out` to the source folder of dependency `name`, fetching the pinned one when none is given.
function(nef_dep_source name given out)
  if(given)
    set(dir "${given}")
  else()
    set(dir "${PROJECT_SOURCE_DIR}/build/deps/${name}")
    execute_process(
      COMMAND "${PROJECT_SOURCE_DIR}/packaging/dev/fetch-source.sh" ${name}
      RESULT_VARIABLE rc)
    if(rc)
      message(FATAL_ERROR "no ${name}: give its source folder with -D, see packaging/deps.lock")
    endif()
  endif()
  set(${out} "${dir}" PARENT_SCOPE)
endfunction()

function(nef_require_file path what)
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "${what}: expected file ${path}")
  endif()
endfunction()

# A system package counts only when it is a static library: a shared one can be neither hidden
# nor carried inside libnef.a.
function(nef_static_system_target target out)
  set(${out} "" PARENT_SCOPE)
  if(TARGET ${target})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      set(${out} ${target} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# ---- Highway >= 1.3
set(nef_hwy_system "")
if(NOT NEF_HWY_DIR)
  find_package(hwy 1.3 CONFIG QUIET)
  nef_static_system_target(hwy::hwy nef_hwy_system)
endif()
if(nef_hwy_system)
  message(STATUS "Highway: system package ${hwy_VERSION}")
  list(APPEND NEF_DEP_LIBS hwy::hwy)
  list(APPEND NEF_DEP_ARCHIVES $<TARGET_FILE:hwy::hwy>)
else()
  nef_dep_source(highway "${NEF_HWY_DIR}" hwy_dir)
  nef_require_file("${hwy_dir}/hwy/per_target.cc" "NEF_HWY_DIR is not a Highway 1.3 source folder")
  message(STATUS "Highway: sources in ${hwy_dir}")
  nef_path_as("${hwy_dir}" highway)
  # Only what dispatch and aligned allocation need; the rest of Highway is headers.
  add_library(nef_dep_hwy OBJECT
    "${hwy_dir}/hwy/targets.cc" "${hwy_dir}/hwy/abort.cc"
    "${hwy_dir}/hwy/per_target.cc" "${hwy_dir}/hwy/aligned_allocator.cc")
  target_link_libraries(nef_dep_hwy PRIVATE nef_hidden)
  target_include_directories(nef_dep_hwy SYSTEM PUBLIC "${hwy_dir}")
  target_compile_definitions(nef_dep_hwy PUBLIC HWY_STATIC_DEFINE)
  add_library(nef_hwy INTERFACE)
  target_include_directories(nef_hwy SYSTEM INTERFACE "${hwy_dir}")
  target_compile_definitions(nef_hwy INTERFACE HWY_STATIC_DEFINE)
  list(APPEND NEF_DEP_LIBS nef_hwy)
  list(APPEND NEF_DEP_OBJECTS $<TARGET_OBJECTS:nef_dep_hwy>)
endif()

# ---- cJSON
# A folder of its own holds a copy of the header, so that it is found as <cjson/cJSON.h>, as installed.
set(nef_cjson_system "")
if(NOT NEF_CJSON_DIR)
  find_package(cJSON 1.7.19 CONFIG QUIET)
  nef_static_system_target(cjson nef_cjson_system)
endif()
if(nef_cjson_system)
  message(STATUS "cJSON: system package ${cJSON_VERSION}")
  list(APPEND NEF_DEP_LIBS cjson)
  list(APPEND NEF_DEP_ARCHIVES $<TARGET_FILE:cjson>)
else()
  nef_dep_source(cjson "${NEF_CJSON_DIR}" cjson_dir)
  nef_require_file("${cjson_dir}/cJSON.c" "NEF_CJSON_DIR is not a cJSON source folder")
  message(STATUS "cJSON: sources in ${cjson_dir}")
  nef_path_as("${cjson_dir}" cjson)
  configure_file("${cjson_dir}/cJSON.h" "${PROJECT_BINARY_DIR}/deps-include/cjson/cJSON.h" COPYONLY)
  add_library(nef_dep_cjson OBJECT "${cjson_dir}/cJSON.c")
  target_link_libraries(nef_dep_cjson PRIVATE nef_hidden)
  target_compile_definitions(nef_dep_cjson PUBLIC CJSON_HIDE_SYMBOLS)
  add_library(nef_cjson INTERFACE)
  target_include_directories(nef_cjson SYSTEM INTERFACE "${PROJECT_BINARY_DIR}/deps-include")
  target_compile_definitions(nef_cjson INTERFACE CJSON_HIDE_SYMBOLS)
  list(APPEND NEF_DEP_LIBS nef_cjson)
  list(APPEND NEF_DEP_OBJECTS $<TARGET_OBJECTS:nef_dep_cjson>)
endif()
