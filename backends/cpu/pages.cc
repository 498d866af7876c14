// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace nef::cpu {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = 2u << 20;

}  // namespace

void* allocate_aligned(size_t bytes) {
  if (bytes > SIZE_MAX - kHugePage) throw std::bad_alloc();
  const size_t unit = bytes >= 2 * kHugePage ? kHugePage : kLine;
  const size_t rounded = (std::max<size_t>(bytes, 1) + unit - 1) / unit * unit;
  void* data = std::aligned_alloc(unit, rounded);
  if (data == nullptr) throw std::bad_alloc();
  if (unit == kHugePage) ::madvise(data, rounded, MADV_HUGEPAGE);  // a refusal costs only time
  return data;
}

}  // namespace nef::cpu
