// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

namespace nef::cpu {

// Chooses the instruction set: the best one found, or the one that NEF_CPU_TARGET names. Throws
// BackendError when that name is unknown or this CPU lacks it.
void choose_target();

// The CPU as a device. Its strings live as long as the process.
void describe_device(nef_backend_device* out);

}  // namespace nef::cpu
