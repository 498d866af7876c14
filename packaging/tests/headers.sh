#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh INCLUDE_DIR CC CXX: every public header compiles alone and twice, as C11, C17, C++17.
set -euo pipefail
include="$1" cc="$2" cxx="$3"
strict=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I "$include")
count=0
for header in "$include"/nef/*.h; do
  name="nef/${header##*/}"
  text=$(printf '#include <%s>\n#include <%s>\n' "$name" "$name")
  for std in c11 c17; do
    "$cc" -x c -std=$std "${strict[@]}" - <<<"$text" || { echo "$name fails as $std"; exit 1; }
  done
  "$cxx" -x c++ -std=c++17 "${strict[@]}" - <<<"$text" || { echo "$name fails as c++17"; exit 1; }
  count=$((count + 1))
done
[ $count -gt 0 ] || { echo "no headers in $include/nef"; exit 1; }
echo "$count headers"
