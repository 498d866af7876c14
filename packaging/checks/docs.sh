#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation site, runs every snippet, and looks at every page in a browser.
#
# usage: ./dev check docs [--no-build]
#
#   --no-build   leave out the snippets, which need the library, hydra and the Go archive
#
# Pages must fit a desktop and a phone; pictures of them are left in build/site-pictures.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }

bash "$NEF_ROOT/packaging/dev/docs.sh"
install_packages chromium fonts-dejavu-core
python="/usr/bin/python3 -B"
$python "$NEF_ROOT/packaging/tests/links.py"
if [ "${1:-}" != --no-build ]; then
  ensure_cxx
  ensure_go
  bash "$NEF_ROOT/packaging/dev/build.sh"
  snippets="$NEF_ROOT/packaging/tests/snippets.py"
  $python "$snippets" c cc "$NEF_ROOT/capi/include" "$NEF_RELEASE/lib/libnef.so"
  $python "$snippets" go go
  $python "$snippets" cli "$NEF_BUILD/bin/hydra"
fi
$python "$NEF_ROOT/packaging/docs/look.py" "$NEF_BUILD/site" "$NEF_BUILD/site-pictures"
