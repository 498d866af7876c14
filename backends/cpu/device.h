// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

namespace nef::cpu {

// Chooses the instruction set: the best one found, or the one that NEF_CPU_TARGET names. Throws
// BackendError when that name is unknown or this CPU lacks it.
void choose_target();

// Is it best to leave all reading ahead to the processor? On AMD's family 25: on a Zen 4, asking
// for lines of several streams ahead takes a fifth more to twice the time (Zen 3, of the same
// family, was not measured). On Zen 5 it is the other way round.
bool reads_ahead_by_itself();

// The CPU as a device. Its strings live as long as the process.
void describe_device(nef_backend_device* out);

}  // namespace nef::cpu
