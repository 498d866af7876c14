// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// A convolution followed by an elementwise chain.
std::unique_ptr<Kernel> make_conv_epilogue(const Region& region, std::string* why);

void register_pools();
void register_norm_pool();

}  // namespace nef::cpu
