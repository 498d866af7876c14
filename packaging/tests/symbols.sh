#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh libnef.a libnef.so: both show nef_* and nothing else.
set -euo pipefail
archive="$1" shared="$2" bad=0

check() {  # check WHAT: symbol names on stdin
  local names foreign
  names=$(sort -u)
  foreign=$(grep -v '^nef_' <<<"$names" | grep -vx 'NEF_0' || true)
  if [ -n "$foreign" ]; then
    echo "$1 shows symbols of others:" && head -20 <<<"$foreign"
    bad=1
  fi
  if ! grep -q '^nef_' <<<"$names"; then
    echo "$1 shows no nef_* symbol at all" && bad=1
  fi
  echo "$1: $(grep -c '^nef_' <<<"$names") nef_* symbols"
}

nm --defined-only --extern-only --format=posix "$archive" | awk 'NF > 1 {print $1}' | check libnef.a
nm --dynamic --defined-only --format=posix "$shared" | awk '{sub(/@.*/, "", $1); print $1}' |
  check libnef.so

# Weak or unique symbols would be merged with the user's own.
unique=$(nm --format=posix "$archive" | awk '$2 == "u"' | head -5)
[ -z "$unique" ] || { echo "unique symbols in libnef.a: $unique"; bad=1; }

# The two doors must offer the same functions.
diff <(nm --defined-only --extern-only --format=posix "$archive" | awk 'NF > 1 {print $1}' | sort -u) \
  <(nm --dynamic --defined-only --format=posix "$shared" | awk '{sub(/@.*/, "", $1); print $1}' |
    grep -vx NEF_0 | sort -u) || { echo "libnef.a and libnef.so differ"; bad=1; }
case "$(readelf -d "$shared")" in
  *"SONAME"*"[libnef.so.0]"*) ;;
  *) echo "SONAME is not libnef.so.0" && bad=1 ;;
esac
exit $bad
