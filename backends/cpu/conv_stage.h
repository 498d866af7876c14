// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/conv_geometry.h"

// Staging: rows of a plane copied once, padding included, so that every kernel position reads a
// contiguous run of them. Neighbouring output columns lie next to each other, output rows `width`
// apart; the padding in front of a row is also that behind the row before. With a stride s, what a
// kernel position reads is one of s interleaved planes ("phases"), each staged by itself.
namespace nef::cpu {

struct Stage {
  struct Range {
    int64_t begin, end;
  };
  struct Axis {
    int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;
    // How far the last kernel position reads behind the first, in positions of its phase.
    int64_t reach() const { return (kernel - 1) * dilation / stride; }
    int64_t phases() const {
      const int64_t span = (kernel - 1) * dilation + 1;
      return span < stride ? span : stride;
    }
    int64_t source(int64_t o, int64_t k) const { return o * stride - begin + k * dilation; }
    // Kernel positions that read input for an output position.
    Range taps(int64_t o) const {
      const int64_t first = steps(-source(o, 0)), last = steps(in - source(o, 0));
      const int64_t from = first < kernel ? first : kernel;
      return {from, last < from ? from : last < kernel ? last : kernel};
    }

   private:
    // Of the kernel to get so far.
    int64_t steps(int64_t n) const {
      if (n <= 0) return 0;
      return dilation == 1 ? n : (n + dilation - 1) / dilation;
    }
  };
  Axis h, w;
  int64_t width = 0;   // from one row to the next
  int64_t behind = 0;  // zeros that must follow the last row
  int64_t rows = 0;    // output rows that are staged at a time
  double pad = 0;
  bool pad_rows = true;  // false: rows outside the input are left as they are

  int64_t phase_rows() const { return rows + h.reach(); }
  int64_t phase() const { return phase_rows() * width; }
  int64_t plane() const;  // elements of one channel
  // Columns from the first output position to the last of `count` rows.
  int64_t columns(int64_t count) const { return (count - 1) * width + w.out; }
  // How many output positions lie before a column.
  int64_t position(int64_t column) const {
    const int64_t col = column % width;
    return column / width * w.out + (col < w.out ? col : w.out);
  }
};

// Up to two spatial axes without negative padding.
bool can_stage(const Window& window);
Stage make_stage(const Window& window);  // rows are left to the caller

// Rows of a band, more than half of `most`: those with the lowest sum of cost(columns) over all
// bands.
template <typename Cost>
int64_t choose_rows(const Stage& s, int64_t most, const Cost& cost) {
  int64_t best = most, least = INT64_MAX;
  for (int64_t rows = most; rows > 0 && 2 * rows > most; --rows) {
    const int64_t rest = s.h.out % rows;
    const int64_t sum =
        s.h.out / rows * cost(s.columns(rows)) + (rest == 0 ? 0 : cost(s.columns(rest)));
    if (sum >= least) continue;
    least = sum;
    best = rows;
  }
  return best;
}

// Where each of `channels` x kernel positions is read, from the first output position on.
void stage_offsets(const Stage& stage, int64_t channels, int64_t* out);

// Which columns of a staged band are output positions: a word for each vector of `lanes` of them.
void stage_keep(const Stage& stage, int64_t lanes, uint64_t* out);

// Copies what output rows [first, first + count) of `channels` planes read, each to Stage::plane()
// elements behind the one before. A few vectors behind the last one are written too.
template <typename T>
void stage_planes(const Stage& stage, const T* x, int64_t channels, int64_t first, int64_t count,
                  T* out);

}  // namespace nef::cpu
