# SPDX-License-Identifier: Apache-2.0
# Each tests/fuzz/*.cc is one libFuzzer program in <build>/fuzz, with address and undefined checks.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "NEF_FUZZ needs clang++, the compiler is ${CMAKE_CXX_COMPILER_ID}")
endif()
if(NOT TARGET nef_internal)
  return()
endif()
# Coverage is needed in the engine too, not only in the fuzz targets.
foreach(target ${NEF_ROOM_TARGETS} nef_dep_cjson)
  if(TARGET ${target})
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endforeach()
# The readers need no kernel: minutes of compiling less. What makes whole graphs runs them too.
set(fuzz_libs_default nef_io nef_build nef_ir)
set(fuzz_libs_graph_fuzz nef_context nef_runtime nef_compile nef_plan nef_optimize
  nef_backend_cpu nef_backend_reference nef_backend_shared ${fuzz_libs_default})
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/*.cc")
file(GLOB graph_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/graph/*.cc")
foreach(source ${sources})
  get_filename_component(stem "${source}" NAME_WE)
  add_executable(fuzz_${stem} "${source}")
  set(libs ${fuzz_libs_default})
  if(DEFINED fuzz_libs_${stem})
    set(libs ${fuzz_libs_${stem}})
    target_sources(fuzz_${stem} PRIVATE ${graph_sources})
  endif()
  target_compile_options(fuzz_${stem} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${stem} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${stem} PRIVATE ${libs} nef_dep_cjson nef_flags)
  set_target_properties(fuzz_${stem} PROPERTIES OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
endforeach()
