# SPDX-License-Identifier: Apache-2.0
# What a user of the built or installed library meets.
set(scripts "${PROJECT_SOURCE_DIR}/packaging/tests")

function(nef_packaging_test name script)
  add_test(NAME packaging_${name} COMMAND bash "${scripts}/${script}" ${ARGN}
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties(packaging_${name} PROPERTIES LABELS "packaging" TIMEOUT 300)
endfunction()

nef_packaging_test(symbols symbols.sh "${NEF_ARCHIVE}" $<TARGET_FILE:nef_shared>)
nef_packaging_test(headers headers.sh "${PROJECT_SOURCE_DIR}/capi/include"
  "${CMAKE_C_COMPILER}" "${CMAKE_CXX_COMPILER}")
nef_packaging_test(install install.sh "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}"
  "${CMAKE_C_COMPILER}")

# The code and the transcripts of the pages. Go and the command come from ./dev; without them the
# test says so and counts as skipped.
function(nef_snippet_test kind)
  add_test(NAME packaging_snippets_${kind}
    COMMAND "${NEF_PYTHON}" -B "${scripts}/snippets.py" ${kind} ${ARGN}
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
  set_tests_properties(packaging_snippets_${kind} PROPERTIES LABELS "packaging" TIMEOUT 300
    SKIP_RETURN_CODE 77)
endfunction()

nef_snippet_test(self)
nef_snippet_test(c "${CMAKE_C_COMPILER}" "${PROJECT_SOURCE_DIR}/capi/include"
  $<TARGET_FILE:nef_shared>)
nef_snippet_test(go go)
nef_snippet_test(cli "${PROJECT_SOURCE_DIR}/build/bin/hydra")
add_test(NAME packaging_links COMMAND "${NEF_PYTHON}" -B "${scripts}/links.py")
set_tests_properties(packaging_links PROPERTIES LABELS "packaging" TIMEOUT 60)
