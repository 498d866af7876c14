// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <vector>

namespace nef::conformance {

// The backends under test, started: the built-in ones, and the plugin named by
// NEF_CONFORMANCE_PLUGIN (a shared library that exports nef_backend_entry).
const std::vector<const nef_backend*>& backends();

}  // namespace nef::conformance
