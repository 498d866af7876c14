#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Memory of importing a model of 1 GB.
#
# usage: ./dev check onnx-1g
#
# A model of 16 layers is made, once with its weights inside and once with them in another file, and
# imported with hydra. Fails when the peak of resident memory is over 1.2 times the largest tensor
# and 200 MB.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
install_packages python3
bash "$NEF_ROOT/packaging/dev/build.sh"
folder=$(mktemp -d "$NEF_BUILD/onnx-1g.XXXXXX")
trap 'rm -rf "$folder"' EXIT
python3 "$NEF_ROOT/packaging/checks/onnx_1g.py" "$NEF_BUILD/bin/hydra" "$folder"
