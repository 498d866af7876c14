#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lists every op and dtype that the cpu backend leaves to the reference backend.
#
# usage: ./dev check ops
#
# For float32 and int64 the list has to be empty. Also checks that every op of the table has its
# reference kernel, C entry, Go function, shape test and docs row.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
ensure_cxx
fetch_sources
configure release >&2
compile release conformance unit_ir >&2
find_program() { find "$NEF_RELEASE" -maxdepth 2 -type f -name "$1" -perm -u+x | head -n 1; }
"$(find_program unit_ir)" --gtest_brief=1 --gtest_filter='OpsTable.*:Infer.EveryOpHasAShapeTest' >&2
python3 "$NEF_ROOT/engine/ir/gen_ops.py" --check >&2
"$(find_program conformance)" --gtest_brief=1 --gtest_filter='Coverage.*:Served.*'
