// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/float_mode.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace nef::runtime {

namespace {

#if defined(__x86_64__) || defined(__i386__)
constexpr uint64_t kFlush = 0x8040;  // MXCSR: results to zero, operands are zeros
uint64_t control() { return _mm_getcsr(); }
void set_control(uint64_t bits) { _mm_setcsr(static_cast<uint32_t>(bits)); }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;  // FPCR.FZ
uint64_t control() {
  uint64_t bits;
  __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
  return bits;
}
void set_control(uint64_t bits) { __asm__ volatile("msr fpcr, %0" : : "r"(bits)); }
#else
constexpr uint64_t kFlush = 0;
uint64_t control() { return 0; }
void set_control(uint64_t) {}
#endif

}  // namespace

bool flushes_subnormals() { return (control() & kFlush) != 0; }

FlushSubnormals::FlushSubnormals(bool on)
    : before_(control()), now_(on ? before_ | kFlush : before_ & ~kFlush) {
  if (now_ != before_) set_control(now_);
}
// Only the switch goes back: flags that were raised meanwhile stay.
FlushSubnormals::~FlushSubnormals() {
  if (now_ != before_) set_control((control() & ~kFlush) | (before_ & kFlush));
}

}  // namespace nef::runtime
