#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Regenerates what is made from the op table: enums, C entries, Go methods, op reference.
#
# usage: ./dev gen
#
# Run it after editing the op table and commit what it writes; ./dev lint checks that.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "gen takes no argument, got '$1'"

install_packages python3
cd "$NEF_ROOT"
say "python3 engine/ir/gen_ops.py"
/usr/bin/python3 engine/ir/gen_ops.py
