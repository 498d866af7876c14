# SPDX-License-Identifier: Apache-2.0
# nef_flags: what every first-party C and C++ file is compiled with.
find_package(Threads REQUIRED)

add_library(nef_flags INTERFACE)
target_compile_options(nef_flags INTERFACE -Wall -Wextra -Wpedantic)
target_include_directories(nef_flags INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/capi/include")
target_link_libraries(nef_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
if(NEF_WERROR)
  target_compile_options(nef_flags INTERFACE -Werror)
endif()
if(NEF_VERIFY)
  target_compile_definitions(nef_flags INTERFACE NEF_VERIFY=1)
endif()

# nef_hidden: what goes into the products. Nothing but nef_* may be visible, and unique symbols
# (STB_GNU_UNIQUE) would escape hiding and pin a dlclosed library.
add_library(nef_hidden INTERFACE)
target_compile_options(nef_hidden INTERFACE -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-fno-gnu-unique>)
target_compile_definitions(nef_hidden INTERFACE NEF_BUILDING_LIBRARY=1)
# With NEF_REPRODUCIBLE the same bytes from any folder and with or without ccache: nef_path_as(DIR
# NAME) spells the files of a folder as NAME/... in messages and line tables, whether the compiler is
# given their full path or, by ccache, one relative to the build folder.
function(nef_path_as dir name)
  if(NOT NEF_REPRODUCIBLE)
    return()
  endif()
  cmake_path(RELATIVE_PATH dir BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE relative)
  target_compile_options(nef_hidden INTERFACE
    "-ffile-prefix-map=${dir}=${name}" "-ffile-prefix-map=${relative}=${name}")
endfunction()
nef_path_as("${PROJECT_SOURCE_DIR}" nef)
# Debug information tells where the compiler ran and how it was told of a file; the products are
# stripped of it, but the linker's build id is a hash of it too.
if(NEF_REPRODUCIBLE)
  target_compile_options(nef_hidden INTERFACE -g0)
endif()

# Sanitizers apply to everything, third-party sources included.
if(NEF_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(NEF_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(NEF_SANITIZE)
  message(FATAL_ERROR "NEF_SANITIZE is '${NEF_SANITIZE}', expected 'address' or 'thread'")
endif()
