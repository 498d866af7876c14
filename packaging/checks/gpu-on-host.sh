#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conformance suite on the GPU kernels, compiled as C++ and run on the host, without a GPU.
#
# usage: ./dev check gpu-on-host [OP...]
#
# Slow (each thread of a grid is a coroutine): minutes, and Attention alone many of them, so that one
# only runs when it is named.
set -euo pipefail
. "$(dirname "$0")/../dev/lib.sh"
wants_help "$@" && { print_help "$0"; exit 0; }
ensure_cxx
fetch_sources
configure release >&2
compile release conformance gpu_on_host >&2
filter='All/Conformance.*:Regions.*-*/Attention'
if [ $# -gt 0 ]; then
  filter=""
  for op in "$@"; do filter="${filter:+$filter:}All/Conformance.Op/$op"; done
fi
NEF_CONFORMANCE_PLUGIN="$NEF_RELEASE/tests/plugins/gpu_on_host.so" NEF_CONFORMANCE_BACKEND=gpuhost \
  "$NEF_RELEASE/conformance" --gtest_brief=1 --gtest_filter="$filter" | grep -v ' 0/0,'
