// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/targets.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace nef::cpu_test {

// Runs the body once for every instruction set that is compiled and that this CPU has.
template <typename Body>
void for_each_target(Body body) {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  for (int64_t left = targets; left != 0; left &= left - 1) {
    SCOPED_TRACE(hwy::TargetName(left & -left));
    hwy::SetSupportedTargetsForTest(left & -left);
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace nef::cpu_test
