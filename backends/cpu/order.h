// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nef::cpu {

// Ops along one axis: ArgMax, ArgMin, TopK, CumSum. Part of register_reductions.
void register_order();

}  // namespace nef::cpu
