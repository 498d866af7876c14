#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our declarations of NVIDIA's and AMD's libraries against the vendors' own headers.
#
# usage: ./dev check gpu-headers [cuda-12] [cuda-13] [hip]      default: all
#
#   cuda-12, cuda-13   cuda.h, nvrtc.h, cublasLt.h and cudnn.h of NVIDIA's packages of PyPI, of which
#                      nothing else is used (about 1 GB is fetched, the headers stay in build/gpu-headers)
#   hip                HIP's, hiprtc's and hipBLASLt's, from Debian unstable
#
# Everything is a static assertion: a declaration that differs does not compile.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
[ $# -gt 0 ] || set -- cuda-12 cuda-13 hip
for what in "$@"; do
  case "$what" in cuda-12 | cuda-13 | hip) ;; *) die "gpu-headers does not know '$what'" "./dev check gpu-headers --help" ;; esac
done
ensure_cxx
install_packages python3-pip ca-certificates

from_pypi() {  # from_pypi FOLDER PACKAGE...
  local folder="$1" package
  shift
  for package in "$@"; do
    say "fetching $package"
    /usr/bin/python3 -m pip --disable-pip-version-check download -q --no-deps --only-binary=:all: \
      --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 --platform manylinux1_x86_64 \
      -d "$folder/packages" "$package" >&2 || die "cannot fetch $package"
  done
  /usr/bin/python3 - "$folder" <<'PY'
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
for wheel in sorted((folder / "packages").glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inside = pathlib.PurePosixPath(name).parts
            if "include" not in inside or ".." in inside or name.endswith("/"):
                continue
            target = folder.joinpath("include", *inside[inside.index("include") + 1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archive.read(name))
    with (folder / "versions").open("a") as versions:
        versions.write(" ".join(wheel.name.split("-")[:2]) + "\n")
PY
  rm -r "$folder/packages"
  # CUDA 13 keeps these one folder further down.
  [ ! -d "$folder/include/cccl" ] || cp -r "$folder/include/cccl/." "$folder/include/"
}

from_debian() {  # from_debian FOLDER PACKAGE...
  unpack_from_sid "$@"
  mv "$1/tree/usr/include" "$1/include"
  rm -rf "$1/tree"
}

for what in "$@"; do
  folder="$NEF_BUILD/gpu-headers/$what"
  if [ ! -f "$folder/.ready" ]; then
    rm -rf "$folder" && mkdir -p "$folder"
    case "$what" in
      cuda-12) from_pypi "$folder" nvidia-{cuda-runtime,cuda-nvrtc,cuda-nvcc,cublas,cuda-cccl,cudnn}-cu12 ;;
      cuda-13) from_pypi "$folder" nvidia-{cuda-runtime,cuda-nvrtc,cuda-crt,cublas,cuda-cccl} nvidia-cudnn-cu13 ;;
      hip) from_debian "$folder" libamdhip64-dev libhipblaslt-dev libhipblas-common-dev libhipblas-dev ;;
    esac
    touch "$folder/.ready"
  fi
  headers=(cuda nvrtc cublasLt cudnn) room=cuda
  [ "$what" != hip ] || headers=(hip/hip_runtime_api hip/hiprtc hipblaslt/hipblaslt) room=rocm
  for header in "${headers[@]}"; do
    # A test leaves out what it finds no header of.
    [ -f "$folder/include/$header.h" ] || die "the packages of $what have no $header.h"
  done
  c++ -std=c++20 -fsyntax-only -I "$NEF_ROOT" -I "$NEF_ROOT/capi/include" -isystem "$folder/include" \
    "$NEF_ROOT/tests/unit/$room/headers_test.cc" || die "a declaration in backends/$room/api.h is not the vendor's"
  echo "$what: declarations agree with $(tr '\n' ';' <"$folder/versions" | sed 's/ *;/, /g; s/, $//')"
done
