// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <vector>

#include "tests/conformance/runner.h"

namespace nef::conformance {

// The backends under test, started: the built-in ones, and the plugin named by
// NEF_CONFORMANCE_PLUGIN (a shared library that exports nef_backend_entry).
const std::vector<const nef_backend*>& backends();

// What the environment leaves of each list of cases: NEF_CONFORMANCE_CASES and
// NEF_CONFORMANCE_WITHOUT, regular expressions for names that run and that do not, and
// NEF_CONFORMANCE_FEWEST, how many of each dtype.
const Bounds& bounds();

}  // namespace nef::conformance
