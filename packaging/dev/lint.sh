#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks formatting, generated files, include order, shell scripts and go vet; changes nothing.
#
# usage: ./dev lint
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "lint takes no argument, got '$1'"

ensure_cxx
ensure_go
install_packages clang-format shellcheck
cd "$NEF_ROOT"
faults=0
check() {  # check WHAT COMMAND...: shows the output only when the command fails
  local what="$1" out
  shift
  say "$what"
  out=$("$@" 2>&1) || { printf '%s\n' "$out" >&2 && faults=$((faults + 1)); }
}
files() { git ls-files --cached --others --exclude-standard -- "$@"; }

clang_format() { files '*.h' '*.cc' '*.c' | xargs -r clang-format --dry-run -Werror; }
go_format() {
  local bad
  bad=$(files '*.go' | xargs -r gofmt -l)
  [ -z "$bad" ] || { echo "not formatted (./dev fmt): $bad" && return 1; }
}
shell_scripts() { files dev '*.sh' .ci/run packaging/release | xargs -r shellcheck -x -S warning; }
spdx() {
  local bad
  bad=$(files '*.h' '*.cc' '*.c' '*.go' '*.py' '*.sh' '*.cmake' |
    xargs -r grep -L 'SPDX-License-Identifier: Apache-2.0' || true)
  [ -z "$bad" ] || { printf 'no SPDX line in:\n%s\n' "$bad" && return 1; }
}
# Whatever the generator writes must be what is there already.
tree_state() { { git diff HEAD 2>/dev/null; files . | xargs -r -d '\n' sha256sum; } | sha256sum; }
generated() {
  local before
  before=$(tree_state)
  bash packaging/dev/gen.sh || return 1
  [ "$before" = "$(tree_state)" ] ||
    { echo "generated files were stale and have been renewed: git diff shows them" && return 1; }
}
go_vet() {
  local module
  for module in $(go_modules); do (cd "$module" && go vet ./...) || return 1; done
}

check "generated files are fresh" generated
check "includes go one way" /usr/bin/python3 packaging/check_includes.py
check "SPDX lines" spdx
check "clang-format" clang_format
check "gofmt" go_format
check "shellcheck" shell_scripts
[ -z "$(go_modules)" ] || {
  fetch_sources && configure release && compile release nef_archive && stage_go_archive
  check "go vet" go_vet
}
[ $faults -eq 0 ] || die "$faults checks failed"
say "clean"
