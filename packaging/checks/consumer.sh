#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses NEF as a Go dependency: go get of a tag, vendoring, -race, and what says why it cannot link.
#
# usage: ./dev check consumer
#
# The tag lies in a repository made here, like a release: what git tracks, and the archive. Nothing
# is asked of the network but the version control path of the module, which is rewritten to it.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
COLD_BUILD_BAR=30 # seconds for a first go build with an empty cache

ensure_cxx
ensure_go
fetch_sources
configure release
compile release nef_archive
stage_go_archive

module=$(cd "$NEF_ROOT" && go list -m)
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT

say "making a release of the working tree"
release="$work/release"
mkdir "$release"
(cd "$NEF_ROOT" && git ls-files -z && find "go/native/lib/$(platform)" -type f -print0) |
  (cd "$NEF_ROOT" && sort -zu | xargs -0 tar -cf - --ignore-failed-read) | tar -xf - -C "$release"
rm "$release/.gitignore"
git -C "$release" init -q
git -C "$release" add -A
git -C "$release" -c user.name=check -c user.email=check@invalid commit -qm release
git -C "$release" tag v0.1.0

export GOPROXY=direct GOPRIVATE="$module" GOFLAGS="-buildvcs=false -mod=mod"
export GOMODCACHE="$work/modules" GOCACHE="$work/cache" GOTOOLCHAIN="${GOTOOLCHAIN:-local}"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$release.insteadOf" \
  GIT_CONFIG_VALUE_0="https://$module"

app="$work/app"
mkdir "$app"
cd "$app"
cat >main.go <<EOF
package main

import (
	"fmt"

	"$module"
)

func main() {
	a := nef.Tensor([]float32{1, 2, 3, 4}, []int{2, 2})
	b := nef.Tensor([]float32{5, 6, 7, 8}, []int{2, 2})
	c := nef.MatMul(a, b)
	c.Execute()
	fmt.Println(c.Numpy())
}
EOF
checked=0
expect() { # expect WHAT WANT GOT
  [[ "$3" == *"$2"* ]] || die "$1: want '$2', got:" "$3"
  say "$1: ok"
  checked=$((checked + 1))
}

go mod init app 2>/dev/null
say "go get $module@v0.1.0"
go get "$module@v0.1.0" >"$work/log" 2>&1 || die "go get failed" "$(cat "$work/log")"
begin=$SECONDS
go build -o app .
cold=$((SECONDS - begin))
expect "product" "[[19 22] [43 50]]" "$(./app)"
expect "no shared C++ library is needed" none "$(ldd app | grep -E 'stdc\+\+|libgcc' || echo none)"
expect "with -race" "[[19 22] [43 50]]" "$(go run -race . 2>&1)"
go mod vendor
expect "vendored" "[[19 22] [43 50]]" "$(GOFLAGS=-mod=vendor go run . 2>&1)"
expect "without cgo" "set_CGO_ENABLED_1" "$(CGO_ENABLED=0 go build . 2>&1 || true)"
expect "on another system" "has_no_archive_for_this_platform" "$(GOOS=darwin CGO_ENABLED=1 go build "$module/go/native" 2>&1 || true)"
rm "vendor/$module/go/native/lib/$(platform)/nef_stamp.h"
expect "without the archive" "run ./dev build" "$(GOFLAGS=-mod=vendor go build . 2>&1 || true)"
[ "$cold" -le "$COLD_BUILD_BAR" ] || die "a cold go build took $cold s, over $COLD_BUILD_BAR s"
echo "$checked uses of the Go module, cold go build $cold s"
