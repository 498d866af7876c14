# SPDX-License-Identifier: Apache-2.0
# Every folder below tests/ with *_test.cc files is one GoogleTest program, named after its path
# (tests/unit/ir -> unit_ir) and labelled with each part of it. Other .cc files in such a folder
# are helpers of that program; tests/support is linked into all of them.
set(tests "${PROJECT_SOURCE_DIR}/tests")
# A hang ends a test; a sanitizer on a busy machine is slow, not hung.
set(NEF_TEST_SECONDS 300)
if(NEF_SANITIZE)
  set(NEF_TEST_SECONDS 2400)
endif()
# The system's Python: project scripts need only the standard library, whatever PATH offers.
find_program(NEF_PYTHON python3 HINTS /usr/bin NO_DEFAULT_PATH)
find_program(NEF_PYTHON python3 REQUIRED)

add_test(NAME includes_go_one_way
  COMMAND "${NEF_PYTHON}" "${PROJECT_SOURCE_DIR}/packaging/check_includes.py")
add_test(NAME ops_table_generated
  COMMAND "${NEF_PYTHON}" -B "${PROJECT_SOURCE_DIR}/engine/ir/gen_ops.py" --check)
add_test(NAME ops_table_generator
  COMMAND "${NEF_PYTHON}" -B "${PROJECT_SOURCE_DIR}/engine/ir/gen_ops_test.py")
set_tests_properties(includes_go_one_way ops_table_generated ops_table_generator
  PROPERTIES LABELS "lint")

if(NOT TARGET nef_internal)
  return()
endif()

if(CMAKE_CROSSCOMPILING)
  # The system's GoogleTest is for the system's own processor; Debian keeps its sources beside it.
  nef_require_file(/usr/src/googletest/CMakeLists.txt "GoogleTest's sources (package googletest)")
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(/usr/src/googletest "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
else()
  find_package(GTest REQUIRED)
endif()
include(GoogleTest)

set(support "")
file(GLOB support_sources CONFIGURE_DEPENDS "${tests}/support/*.cc")
if(support_sources)
  add_library(nef_test_support STATIC ${support_sources})
  target_link_libraries(nef_test_support PUBLIC nef_internal GTest::gtest)
  set(support nef_test_support)
endif()

# Plugin backends for fault tests: each file is one library that the engine opens at run time.
set(NEF_TEST_PLUGIN_DIR "${PROJECT_BINARY_DIR}/tests/plugins")
file(GLOB plugin_sources CONFIGURE_DEPENDS "${tests}/plugins/*.c" "${tests}/plugins/*.cc")
set(plugins "")
foreach(source ${plugin_sources})
  get_filename_component(name "${source}" NAME_WE)
  add_library(${name} MODULE "${source}")
  target_link_libraries(${name} PRIVATE nef_flags m)
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY "${NEF_TEST_PLUGIN_DIR}")
  list(APPEND plugins ${name})
endforeach()
# One of them is made of first-party code.
target_link_libraries(gpu_on_host PRIVATE nef_internal)

# Where tests find their data and plugins.
function(nef_test_paths target)
  target_compile_definitions(${target} PRIVATE
    NEF_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    NEF_TEST_DATA_DIR="${tests}/data"
    NEF_TEST_PLUGIN_DIR="${NEF_TEST_PLUGIN_DIR}")
  if(plugins)
    add_dependencies(${target} ${plugins})
  endif()
endfunction()

# ---- C++ tests
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS "${tests}/*_test.cc")
set(folders "")
foreach(source ${test_sources})
  get_filename_component(folder "${source}" DIRECTORY)
  list(APPEND folders "${folder}")
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(folder ${folders})
  file(RELATIVE_PATH relative "${tests}" "${folder}")
  string(REPLACE "/" "_" name "${relative}")
  string(REPLACE "/" ";" labels "${relative}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc")
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${support} nef_internal GTest::gtest_main)
  nef_test_paths(${name})
  # Listed when ctest runs, so that a program that cannot start does not break the build.
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES LABELS "${labels}" TIMEOUT ${NEF_TEST_SECONDS})
endforeach()

# ---- C tests and examples: C11, against the hidden archive exactly as a user links it
if(TARGET nef_static)
  set(c_library nef_static)
else()
  set(c_library nef_internal)  # sanitizer builds
endif()
function(nef_c_programs prefix dir label)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${dir}/*.c")
  foreach(source ${sources})
    get_filename_component(stem "${source}" NAME_WE)
    set(name ${prefix}_${stem})
    add_executable(${name} "${source}")
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic)
    target_link_libraries(${name} PRIVATE ${c_library})
    if(c_library STREQUAL "nef_internal")
      set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    else()
      set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
    endif()
    nef_test_paths(${name})
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${NEF_TEST_SECONDS})
  endforeach()
endfunction()
nef_c_programs(capi tests/capi "capi")
nef_c_programs(example examples/c "example")

# ---- the products themselves
if(TARGET nef_static)
  include(NefPackagingTests)
endif()

# ---- GPUs: our declarations against a toolkit's, where there is one
find_path(NEF_CUDA_INCLUDE cuda.h HINTS /usr/local/cuda/include ENV CUDA_HOME PATH_SUFFIXES include)
if(NEF_CUDA_INCLUDE AND TARGET unit_cuda)
  target_include_directories(unit_cuda SYSTEM PRIVATE "${NEF_CUDA_INCLUDE}")
endif()

# Ops of each family of the GPU kernels, compiled as C++ and run on the host
# (./dev check gpu-on-host runs all). Coroutines and sanitizers do not go together.
if(TARGET conformance AND NOT NEF_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  string(JOIN ":" ops "*Op/Add" "*Op/Where" "*Op/Softmax" "*Op/LayerNormalization" "*Op/Slice"
    "*Op/ReduceLogSumExp" "*Op/Concat" "*Op/Gather" "*Op/MatMul" "*Op/Hardmax" "*Op/TensorScatter"
    "*Op/DynamicQuantizeLinear" "*Op/Col2Im" "Regions.*-Regions.Chains")
  # Side by side, as each kernel is a run of the compiler. Without cases that are for how a card's many
  # blocks share the rows of weights: they take minutes here and reach no other kernel.
  foreach(part ops chains)
    set(filter "Regions.Chains")
    if("${part}" STREQUAL "ops")
      set(filter "${ops}")
    endif()
    add_test(NAME conformance_gpu_on_host_${part} COMMAND conformance "--gtest_filter=${filter}")
    set_tests_properties(conformance_gpu_on_host_${part} PROPERTIES LABELS "conformance;gpu"
      TIMEOUT 1200 ENVIRONMENT
      "NEF_CONFORMANCE_PLUGIN=${NEF_TEST_PLUGIN_DIR}/gpu_on_host.so;NEF_CONFORMANCE_BACKEND=gpuhost;NEF_CONFORMANCE_WITHOUT=_by_;NEF_TEST_CXX=${CMAKE_CXX_COMPILER}")
  endforeach()
endif()
