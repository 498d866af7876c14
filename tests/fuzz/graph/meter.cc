// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/graph/meter.h"

#include <sanitizer/allocator_interface.h>
#include <time.h>

#include <atomic>
#include <cstddef>

namespace nef::fuzz {
namespace {

std::atomic<int64_t> live{0}, peak{0};

void on_malloc(const volatile void* p, size_t) {
  const auto bytes =
      static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(p)));
  const int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t most = peak.load(std::memory_order_relaxed);
  while (now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

void on_free(const volatile void* p) {
  if (p == nullptr) return;
  live.fetch_sub(static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(p))),
                 std::memory_order_relaxed);
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

void Meter::install() { __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free); }

Meter::Meter() : began_(processor_seconds()), held_(live.load(std::memory_order_relaxed)) {
  peak.store(held_, std::memory_order_relaxed);
}
double Meter::seconds() const { return processor_seconds() - began_; }
int64_t Meter::peak_bytes() const { return peak.load(std::memory_order_relaxed) - held_; }

}  // namespace nef::fuzz
