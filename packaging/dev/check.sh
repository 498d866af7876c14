#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one of the long or special checks; without a name it lists them.
#
# usage: ./dev check NAME [options of that check]
#
# Each prints what it looked at and its figure last, and fails when its bar is missed.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
checks="$NEF_ROOT/packaging/checks"

list_checks() {
  local file
  for file in "$checks"/*.sh; do
    printf '  %-12s %s\n' "$(basename "$file" .sh)" "$(print_help "$file" | head -n 1)"
  done
}

if [ $# -eq 0 ]; then
  echo "usage: ./dev check NAME"
  list_checks
  exit 2
fi
name="$1"
shift
# The name is a file name, nothing else.
case "$name" in *[!a-z0-9-]*) die "'$name' is not a check" "$(list_checks)" ;; esac
[ -f "$checks/$name.sh" ] || die "there is no check '$name', there are:" "$(list_checks)"
exec bash "$checks/$name.sh" "$@"
