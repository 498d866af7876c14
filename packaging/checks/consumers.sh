#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Uses a release as strangers do: go get, vendoring, C and C++, pkg-config, CMake, a bare image.
#
# usage: ./dev check consumers [--dist DIR]
#
#   --dist DIR   a release made by packaging/release (default: one is made of the files as they lie);
#                what it has no arm64 part of is not tried
#
# The module comes from a local repository that stands in for the forge, with the release's tags;
# the libraries come from the Debian packages, unpacked into a folder. Prints figures last.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
COLD_BUILD_BAR=30     # seconds for a first go build with an empty cache
ARCHIVE_BAR=12000000  # bytes of libnef.a
START_BAR=30          # milliseconds until hydra has done nothing

dist=""
while [ $# -gt 0 ]; do
  case "$1" in
    --dist) dist=$(cd "${2:?--dist needs a folder}" && pwd) && shift 2 ;;
    *) die "consumers does not know '$1'" ;;
  esac
done
ensure_cxx
ensure_go
install_packages clang musl-tools g++-aarch64-linux-gnu qemu-user-static
if [ -z "$dist" ]; then
  dist="$NEF_BUILD/consumers"
  bash "$NEF_ROOT/packaging/release" --dirty --draft --out "$dist" >/dev/null
fi
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || die "the release does not have its sums"
version=$(basename "$dist"/nef-*.spdx.json .spdx.json) version=${version#nef-}
tag="v$version"

module=$(cd "$NEF_ROOT" && go list -m)
work=$(mktemp -d)
servers=()
leave() {
  local pid
  for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
  chmod -R u+w "$work" && rm -rf "$work"
}
trap leave EXIT
checked=0
expect() { # expect WHAT WANT GOT
  [[ "$3" == *"$2"* ]] || die "$1: want '$2', got:" "$3"
  say "$1: ok"
  checked=$((checked + 1))
}
started=$SECONDS

# ---- Go

say "the release's tags in a repository of their own"
remote="$work/remote.git"
git init -q --bare "$remote"
bundle="$dist/nef-$version-go.bundle"
# The commit that was released is this checkout's; the bundle adds what stands on top of it.
(cd "$NEF_ROOT" && cd "$(git rev-parse --git-common-dir)/objects" && pwd) >"$remote/objects/info/alternates"
git -C "$remote" update-ref refs/heads/main "$(sed -n 's/^-\([0-9a-f]*\).*/\1/p;/^$/q' "$bundle")"
git -C "$remote" fetch -q "$bundle" 'refs/tags/*:refs/tags/*'

# Go modules of others, which hydra needs, are served from what this machine has fetched already.
others="file://$(go env GOMODCACHE)/cache/download"
(cd "$NEF_ROOT/go/hydra" && go mod download) && (cd "$NEF_ROOT/examples/go" && go mod download)
export GOPROXY=direct GOPRIVATE="$module" GOSUMDB=off GOFLAGS="-buildvcs=false -mod=mod -modcacherw"
toolchain=$(cd "$NEF_ROOT" && go env GOROOT)
export PATH="$toolchain/bin:$PATH" GOTOOLCHAIN=local
export GOMODCACHE="$work/modules" GOCACHE="$work/cache"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.file://$remote.insteadOf" \
  GIT_CONFIG_VALUE_0="https://$module"

app="$work/app"
mkdir "$app" && cd "$app"
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
product="[[19 22] [43 50]]"
go mod init app 2>/dev/null
say "go get $module@$tag"
go get "$module@$tag" >"$work/log" 2>&1 || die "go get failed" "$(cat "$work/log")"
expect "one module is needed, no other" "$module $tag" "$(go list -m all | tail -n +2)"
TIMEFORMAT='%R %U %S'
cold=$({ time go build -o app . 2>&3; } 3>&2 2>&1) || die "go build failed" "$cold"
expect "product" "$product" "$(./app)"
expect "no shared C++ library is needed" none "$(ldd app | grep -E 'stdc\+\+|libgcc' || echo none)"
expect "go vet" clean "$(go vet ./... 2>&1 && echo clean)"
expect "with -race" "$product" "$(go run -race . 2>&1)"
[ ! -f "$dist/nef-$version-linux-arm64.tar.gz" ] || expect "for arm64, under qemu" "$product" "$(CC=aarch64-linux-gnu-gcc CGO_ENABLED=1 GOARCH=arm64 \
  go build -o app-arm64 . 2>&1 && qemu-aarch64-static -L /usr/aarch64-linux-gnu ./app-arm64)"
go mod vendor
expect "vendored" "$product" "$(GOFLAGS=-mod=vendor go run . 2>&1)"
expect "without cgo" "set_CGO_ENABLED_1" "$(CGO_ENABLED=0 go build . 2>&1 || true)"
expect "on another system" "has_no_archive_for_this_platform" \
  "$(GOOS=darwin CGO_ENABLED=1 go build "$module/go/native" 2>&1 || true)"
expect "with musl" "build with -tags nef_system" "$(CC=musl-gcc go build . 2>&1 || true)"
rm "vendor/$module/go/native/lib/linux_amd64/nef_stamp.h"
expect "without the archive" "run ./dev build" "$(GOFLAGS=-mod=vendor go build . 2>&1 || true)"
rm -r vendor

say "go install of hydra"
(cd "$work" && GOPROXY="$others" GOBIN="$work/bin" \
  go install "$module/go/hydra/cmd/hydra@$tag" >"$work/log" 2>&1) || die "go install failed" "$(cat "$work/log")"
expect "hydra tells its version" "hydra $tag, engine $version" "$("$work/bin/hydra" version)"

mkdir "$work/plain" && cd "$work/plain"
printf 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n' >main.go
go mod init plain 2>/dev/null
for flags in "" "-s -w"; do
  go build -ldflags "$flags" -o plain .
  (cd "$app" && go build -ldflags "$flags" -o app .)
  growth+=("$(stat -c %s "$app/app") against $(stat -c %s plain) bytes ${flags:+stripped}")
done

# ---- C and C++

say "the Debian packages, unpacked"
root="$work/root"
for package in libnef0 libnef-dev hydra; do dpkg-deb -x "$dist/${package}_${version}_amd64.deb" "$root"; done
expect "hydra of the package" "hydra $tag" "$("$root/usr/bin/hydra" version)"
PKG_CONFIG_PATH="$root/usr/lib/x86_64-linux-gnu/pkgconfig"
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir nef)
say "development packages of what is inside: $(dpkg-query -W -f '${Package} ' 'libhwy-dev' 'libcjson-dev' \
  'cuda-cudart-dev*' 2>/dev/null || true)"
mkdir "$work/c" && cd "$work/c"
cp "$NEF_ROOT"/examples/c/*.c .
for source in *.c; do
  sed 's/\r$//' "$source" >"${source%.c}.cc"
done
foreign() { tr ' \\' '\n\n' | grep -iE 'hwy|cjson|cuda|hip/' || echo none; }
for source in *.c; do
  name=${source%.c}
  for compiler in gcc clang; do
    # shellcheck disable=SC2046
    expect "$name, headers seen by $compiler" none "$($compiler -M "$source" $(pkg-config --cflags nef) | foreign)"
    # shellcheck disable=SC2046
    $compiler -std=c11 -Wall -Wextra -Werror "$source" -o "$name-static" \
      $(pkg-config --cflags --libs nef-static)
    # shellcheck disable=SC2046
    $compiler -std=c11 -Wall -Wextra -Werror "$source" -o "$name-shared" \
      $(pkg-config --cflags --libs nef) -Wl,-rpath,"$libdir"
    expect "$name by $compiler, static" none "$(ldd "$name-static" | grep -E 'nef|hwy|cjson|cuda' || echo none)"
    expect "$name by $compiler, shared" libnef.so.0 "$(ldd "$name-shared")"
    expect "$name by $compiler, what they print" "$("./$name-static")" "$("./$name-shared")"
  done
done
cat >app.cc <<'EOF'
#include <nef/nef.h>

#include <cstdio>
#include <memory>
#include <vector>

struct Release {
  void operator()(nef_tensor* t) const { nef_tensor_release(t); }
};

int main() {
  const std::vector<int64_t> shape{3};
  const std::vector<float> data{1, 2, 3};
  nef_tensor* raw = nullptr;
  if (nef_tensor_create(NEF_FLOAT32, 1, shape.data(), data.data(), &raw) != nullptr) return 1;
  const std::unique_ptr<nef_tensor, Release> x(raw);
  if (nef_add(x.get(), x.get(), &raw) != nullptr) return 2;
  const std::unique_ptr<nef_tensor, Release> y(raw);
  std::vector<float> sum(3);
  if (nef_tensor_read(y.get(), sum.data(), sum.size() * sizeof(float)) != nullptr) return 3;
  std::printf("%g %g %g\n", sum[0], sum[1], sum[2]);
}
EOF
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(nef 0.1 REQUIRED)
foreach(kind nef static)
  add_executable(c_${kind} matmul.c)
  add_executable(cxx_${kind} app.cc)
  target_link_libraries(c_${kind} nef::${kind})
  target_link_libraries(cxx_${kind} nef::${kind})
endforeach()
EOF
tar -xzf "$dist/nef-$version-linux-amd64.tar.gz" -C "$work"
for prefix in "$root/usr" "$work/nef-$version-linux-amd64"; do
  for compilers in "gcc g++" "clang clang++"; do
    read -r cc cxx <<<"$compilers"
    rm -rf cmake && cmake -G Ninja -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
      -DCMAKE_CXX_COMPILER="$cxx" >"$work/log" && cmake --build cmake >>"$work/log" || die "CMake failed" "$(cat "$work/log")"
    for kind in nef static; do
      expect "C++ by $cxx, nef::$kind of $(basename "$prefix")" "2 4 6" "$("./cmake/cxx_$kind")"
      expect "C by $cc, nef::$kind of $(basename "$prefix")" "$("./matmul-static")" "$("./cmake/c_$kind")"
    done
  done
done

# ---- a header newer than the library

say "a Go program on an older shared library"
new="$work/newer"
cp -r "$root/usr" "$new"
sed -i 's/^#define NEF_ABI_VERSION .*/#define NEF_ABI_VERSION 99u/' "$new/include/nef/nef.h"
cd "$app"
cat >main.go <<EOF
package main

import (
	"errors"
	"fmt"

	"$module"
)

func main() {
	v := nef.Tensor([]float32{1}, []int{1})
	fmt.Println(errors.Is(v.Err(), nef.ErrABIMismatch), v.Err())
}
EOF
go mod vendor # with its own headers for these tags, not those of the archive
rm -r "vendor/$module/go/native/lib"/linux_*/include/nef/*.h
PKG_CONFIG_PATH="$new/lib/x86_64-linux-gnu/pkgconfig" GOFLAGS=-mod=vendor go build -tags nef_system -o skewed .
expect "skew is a typed error" "true nef: link: the NEF library has ABI version" \
  "$(LD_LIBRARY_PATH="$libdir" ./skewed)"

# ---- a service in a bare root

say "a service in an image root"
service="$work/service" image="$work/image"
mkdir "$service" && cd "$service"
cp "$NEF_ROOT"/examples/go/service/{main.go,image-root.sh} .
go mod init service 2>/dev/null
export GOPROXY="$others"
mkdir registry
cat >registry/main.go <<'EOF'
package main

import (
	"fmt"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	panic(http.Serve(l, registry.New()))
}
EOF
go get "$module@$tag" "$module/go/hydra/registry@$tag" \
  github.com/google/go-containerregistry/pkg/registry@v0.20.6 >"$work/log" 2>&1 ||
  die "go get failed" "$(cat "$work/log")"
go build -trimpath -ldflags='-s -w' -o service . && go build -o registry-server ./registry
sh image-root.sh service "$image"
expect "the root holds the program and the C library only" \
  "libc.so.6 libm.so.6 service" "$(find "$image" -type f -printf '%f\n' | sort | grep -v '^ld-\|resolv' | tr '\n' ' ')"
./registry-server >"$work/address" 2>"$work/registry.log" & servers+=($!)
for _ in $(seq 100); do [ -s "$work/address" ] && break || sleep 0.1; done
reference="$(cat "$work/address")/models/demo:v1"
DOCKER_CONFIG="$work" ./service --plain-http --publish "$reference" 2>"$work/log" || die "publish failed" "$(cat "$work/log")"
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
as_root env -i /usr/sbin/chroot "$image" /service --plain-http --model "oci://$reference" --listen "127.0.0.1:$port" \
  2>"$work/service.log" & servers+=($!)
answer=$(/usr/bin/python3 - "$port" <<'EOF' || cat "$work/service.log"
import json, sys, time, urllib.error, urllib.request
body = json.dumps({"x": {"shape": [1, 64], "data": [0.5] * 64}}).encode()
for left in range(300, 0, -1):
    try:
        print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/run", body, timeout=30).read().decode())
        break
    except urllib.error.URLError:  # it is not there yet
        if left == 1:
            raise
        time.sleep(0.1)
EOF
)
expect "the service answers from the bare root" '"shape":[1,32]' "$answer"

# ---- figures

best=1000000
for _ in $(seq 20); do
  begin=$(date +%s%N)
  "$root/usr/bin/hydra" version >/dev/null
  took=$(($(date +%s%N) - begin))
  [ "$took" -ge "$((best * 1000))" ] || best=$((took / 1000))
done
read -r wall user system <<<"$cold"
cpu=$(awk -v u="$user" -v s="$system" -v n="$(nproc)" 'BEGIN {printf "%.0f", (u + s) / n}')
for arch in amd64 arm64; do
  [ -f "$dist/nef-$version-linux-$arch.tar.gz" ] || { echo "$arch: not in this release" && continue; }
  size=$(tar -xzOf "$dist/nef-$version-linux-$arch.tar.gz" "nef-$version-linux-$arch/lib/libnef.a" | wc -c)
  echo "libnef.a $arch: $size bytes (bar $ARCHIVE_BAR)"
  [ "$size" -le "$ARCHIVE_BAR" ] || die "the archive is too large"
done
printf 'Go program: %s\n' "${growth[@]}"
echo "hydra version: $((best / 1000)).$((best / 100 % 10)) ms, the best of 20 (bar $START_BAR)"
[ "$best" -le "$((START_BAR * 1000))" ] || die "hydra starts too slowly"
# On a busy machine the clock says little; what the processors spent, shared out, bounds it from below.
[ "${wall%.*}" -le "$COLD_BUILD_BAR" ] || [ "$cpu" -le "$COLD_BUILD_BAR" ] ||
  die "a cold go build took $wall s, over $COLD_BUILD_BAR s"
echo "$checked uses of a release in $((SECONDS - started)) s, cold go build $wall s" \
  "($cpu s of $(nproc) processors)"
