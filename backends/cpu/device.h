// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

namespace nef::cpu {

// Chooses the instruction set: the best one found, or the one that NEF_CPU_TARGET names. Throws
// BackendError when that name is unknown or this CPU lacks it.
void choose_target();

// Is it best to leave all reading ahead to the processor? On AMD's Zen 3 and 4, where asking for
// lines of several streams ahead takes a fifth to twice the time; on Zen 5 it is the other way
// round.
bool reads_ahead_by_itself();

// The CPU as a device. Its strings live as long as the process.
void describe_device(nef_backend_device* out);

}  // namespace nef::cpu
