#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Conformance and kernel tests on every instruction set that this processor has and NEF is built for.
#
# usage: ./dev check targets [TARGET...]
#
# Targets are AVX3_SPR, AVX3_DL, AVX3, AVX2, SSE4, SSE2, SVE2, SVE, NEON; the default is all that can run here.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
ensure_cxx
fetch_sources
configure release >&2
compile release conformance unit_cpu example_devices >&2
find_program() { find "$NEF_RELEASE" -maxdepth 2 -type f -name "$1" -perm -u+x | head -n 1; }
listed() { NEF_CPU_TARGET="$1" "$(find_program example_devices)" 2>&1 || true; }
chosen=$#
if [ $# -eq 0 ]; then
  # An unknown name is refused with the list of those there are.
  IFS=', ' read -r -a names <<<"$(listed none | sed -n "s/.*expected one of \([A-Z0-9_, ]*\).*/\1/p" | head -n 1)"
  [ "${#names[@]}" -gt 0 ] || die "the cpu backend does not list its targets:" "$(listed none)"
  set -- "${names[@]}"
fi
failed=0
for target in "$@"; do
  case "$(listed "$target")" in
    *"this CPU has only"*)
      [ "$chosen" -eq 0 ] || die "$target cannot run here:" "$(listed "$target")"
      echo "$target: not on this CPU"
      continue
      ;;
    *"$target"*) ;;
    *) die "$target cannot run here:" "$(listed "$target")" ;;
  esac
  line="$target:"
  for program in unit_cpu conformance; do
    log=$(log_file "targets-$target-$program")
    if (cd "$NEF_ROOT" && NEF_CPU_TARGET="$target" "$(find_program "$program")" --gtest_brief=1) >"$log" 2>&1; then
      line+=" $program $(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*.*/\1/p' "$log") passed"
    else
      line+=" $program FAILED ($log)"
      failed=1
    fi
  done
  echo "$line"
done
exit $failed
