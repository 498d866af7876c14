# SPDX-License-Identifier: Apache-2.0
# Each bench/*.cc or *.c is one program in <build>/bench; it may use Google Benchmark or a plain
# main, and understands --json.
if(NOT TARGET nef_internal)
  return()
endif()
find_package(benchmark REQUIRED)
file(GLOB sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/bench/*.cc" "${PROJECT_SOURCE_DIR}/bench/*.c")
foreach(source ${sources})
  get_filename_component(stem "${source}" NAME_WE)
  add_executable(bench_${stem} "${source}")
  target_link_libraries(bench_${stem} PRIVATE nef_internal benchmark::benchmark)
  set_target_properties(bench_${stem} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
endforeach()
