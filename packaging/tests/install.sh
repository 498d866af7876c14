#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh BUILD_DIR SOURCE_DIR CC: installs into a fresh prefix, then builds and runs every
# examples/c/*.c from there: static by pkg-config, shared by pkg-config, and through find_package.
set -euo pipefail
build="$1" source="$2" cc="$3"
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix/usr" >/dev/null

# The tree must work from wherever it is put.
mv "$prefix/usr" "$prefix/moved"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix/moved" -name nef.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir nef)

examples=("$source"/examples/c/*.c)
if [ ! -e "${examples[0]}" ]; then
  echo "no C examples" && exit 1
fi
mkdir "$prefix/run" && cd "$prefix/run"
for example in "${examples[@]}"; do
  name=$(basename "$example" .c)
  # shellcheck disable=SC2046
  "$cc" -std=c11 -Wall -Wextra -Werror "$example" -o "$name-static" \
    $(pkg-config --cflags --libs nef-static)
  case "$(ldd "$name-static")" in *libnef*) echo "$name-static is not static" && exit 1 ;; esac
  # shellcheck disable=SC2046
  "$cc" -std=c11 -Wall -Wextra -Werror "$example" -o "$name-shared" \
    $(pkg-config --cflags --libs nef) -Wl,-rpath,"$libdir"
  case "$(ldd "$name-shared")" in
    *libnef.so.0*) ;;
    *) echo "$name-shared does not use libnef.so.0" && exit 1 ;;
  esac
  "./$name-static" >static.out
  "./$name-shared" >shared.out
  echo "$name: static and shared ran"
done

cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(nef 0.1 REQUIRED)
foreach(kind nef static)
  add_executable(with_${kind} ${EXAMPLE})
  target_link_libraries(with_${kind} nef::${kind})
endforeach()
CMAKE
cmake -G Ninja -S . -B b -DCMAKE_PREFIX_PATH="$prefix/moved" -DEXAMPLE="${examples[0]}" -DCMAKE_C_COMPILER="$cc" >/dev/null
cmake --build b >/dev/null
./b/with_nef >/dev/null && ./b/with_static >/dev/null
echo "find_package: nef::nef and nef::static ran"
