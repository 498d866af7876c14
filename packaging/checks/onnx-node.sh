#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ONNX's published node cases through the importer and the Go package.
#
# usage: ./dev check onnx-node [--device reference] [-only REGEX] [-v]
#
# The 932 cases of Debian's libonnx-testdata are imported, run on the cpu backend and compared.
# Lists what fails and what does not apply, with reasons; fails unless all that apply pass.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
install_packages libonnx-testdata
bash "$NEF_ROOT/packaging/dev/build.sh"
ensure_go
cd "$NEF_ROOT/go/hydra"
go run ./internal/onnxcheck "$@" /usr/share/libonnx-testdata/data/node
