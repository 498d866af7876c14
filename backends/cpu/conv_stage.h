// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "backends/cpu/conv_geometry.h"

// Staging: rows of a plane copied once, padding included, so that every kernel position reads a
// contiguous run of them. Neighbouring output columns lie next to each other, output rows `width`
// apart; the padding in front of a row is also that behind the row before. With a stride s, what a
// kernel position reads is one of s interleaved planes ("phases"), each staged by itself.
namespace nef::cpu {

struct Stage {
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;
    // How far the last kernel position reads behind the first, in positions of its phase.
    int64_t reach() const { return (kernel - 1) * dilation / stride; }
    int64_t phases() const {
      const int64_t span = (kernel - 1) * dilation + 1;
      return span < stride ? span : stride;
    }
  };
  Axis h, w;
  int64_t width = 0;   // from one row to the next
  int64_t behind = 0;  // zeros that must follow the last row
  int64_t rows = 0;    // output rows that are staged at a time

  int64_t phase_rows() const { return rows + h.reach(); }
  int64_t phase() const { return phase_rows() * width; }
  int64_t plane() const;  // elements of one channel
  // Columns from the first output position to the last of `count` rows.
  int64_t columns(int64_t count) const { return (count - 1) * width + w.out; }
};

// Up to two spatial axes without negative padding.
bool can_stage(const Window& window);
Stage make_stage(const Window& window);  // rows are left to the caller

// Where each of `channels` x kernel positions is read, from the first output position on.
void stage_offsets(const Stage& stage, int64_t channels, int64_t* out);

// Copies what output rows [first, first + count) of a plane read.
template <typename T>
void stage_plane(const Stage& stage, const T* x, int64_t first, int64_t count, T* out);

// Copies n elements, mostly few.
template <typename T>
inline void copy_run(const T* src, int64_t n, T* dst) {
  constexpr int64_t kChunk = 32 / sizeof(T);  // of a fixed size, so that no call is made
  int64_t i = 0;
  for (; i + kChunk <= n; i += kChunk) std::memcpy(dst + i, src + i, 32);
  if (i == n) return;
  if (n >= kChunk) {  // the last chunk again overlaps the one before
    std::memcpy(dst + n - kChunk, src + n - kChunk, 32);
    return;
  }
  for (; i < n; ++i) dst[i] = src[i];
}

}  // namespace nef::cpu
