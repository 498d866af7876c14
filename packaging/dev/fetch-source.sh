#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches one pinned third-party source (a name in packaging/deps.lock) into build/deps/.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
fetch_source "${1:?usage: fetch-source.sh NAME}"
