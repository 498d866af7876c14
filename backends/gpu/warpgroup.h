// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// Text for Hopper's tensor cores, which a warpgroup (four warps) feeds: tiles that the copy engine
// brings, and products of them. It comes behind kBulkText.
namespace nef::gpu {

extern const char* const kWarpgroupText;

// A function `name`(sums, a, b, more): 64 rows of a, 16 numbers deep, times `columns` columns of b;
// both lie in shared memory by rows of the sum's axis. Without `more` the sums begin anew.
std::string warpgroup_product(const char* name, const char* type, int64_t columns);
// The same with a in registers.
std::string warpgroup_sum_of_registers(const char* name, const char* type, int64_t columns);
// a in registers, and b by rows of the result; it always adds.
std::string warpgroup_product_of_registers(const char* name, const char* type, int64_t columns);

}  // namespace nef::gpu
