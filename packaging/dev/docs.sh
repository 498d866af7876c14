#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the documentation as static pages into build/site.
#
# usage: ./dev docs
#
# The guides, the reference of the C headers and of the Go packages, the format, and the measured
# figures; open build/site/index.html. ./dev check docs also looks at the pages in a browser.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
[ $# -eq 0 ] || die "docs takes no argument, got '$1'"

ensure_go
install_packages python3 python3-markdown python3-pygments
cd "$NEF_ROOT"
# Written beside and moved, so that a page that went away does not stay.
rm -rf "$NEF_BUILD/site.part"
/usr/bin/python3 -B packaging/docs/site.py "$NEF_BUILD/site.part"
rm -rf "$NEF_BUILD/site" && mv "$NEF_BUILD/site.part" "$NEF_BUILD/site"
say "open build/site/index.html"
