// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// Asks the factories registered for this region; null when none serves it, with the reason.
std::unique_ptr<Kernel> make_kernel(const Region& region, std::string* why);

// Forgets every factory, so that a backend shut down can be initialised again.
void clear_registry();

void set_host(const nef_backend_host* host);

}  // namespace nef::cpu
