// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/call.h"

namespace nef::cpu {

// DFT and STFT.
void register_signal();
// Ops of backends/shared: the reference's code on the pool.
void register_shared();

}  // namespace nef::cpu
