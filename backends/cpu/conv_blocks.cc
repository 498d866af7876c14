// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_blocks.h"

#include "backends/cpu/gemm_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/conv_blocks.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <utility>

#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_shape-inl.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/transpose_kernels.h"

#ifndef NEF_CPU_CONV_BLOCKS_ONCE
#define NEF_CPU_CONV_BLOCKS_ONCE
namespace nef::cpu {

constexpr int64_t kBlock = 16;  // channels

// Rows of the result of a block of channels: positions one after the other, kBlock elements each.
template <typename T>
struct BlockRows {
  Stage::Axis h, w;
  int64_t row = 0, rows = 0;
  const T* x = nullptr;
  int64_t x_row = 0;  // that x begins with
  const T* weights = nullptr;
  const T* bias = nullptr;
  T* y = nullptr;
};
template <typename T>
using BlockFn = void (*)(const BlockRows<T>& b);

}  // namespace nef::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace nef::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Kernel positions whose sums are taken: rows from `x`, where the first of them is read, on.
template <typename T>
struct Taps {
  const T* x;
  const T* weights;
  int64_t tall, wide;
  int64_t x_down, x_across, weights_down;  // from one to the next
};

// Positions that have the same taps: from one to the next, in x and in y.
struct Line {
  int64_t count, x_step, y_step;
};

// kCount positions of a line. Named sums, as arrays of vectors spill.
template <int kCount, typename T>
HWY_INLINE void positions(const Taps<T>& taps, const Line& line, const T* bias, T* y) {
  const GemmTag<T> d;
  const int64_t lanes = HWY_MIN(kBlock, static_cast<int64_t>(hn::Lanes(d)));
  const int64_t step = line.x_step;
#define NEF_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
  for (int64_t c = 0; c < kBlock; c += lanes) {
    const auto start = hn::LoadU(d, bias + c);
#define NEF_DECLARE(i) auto s##i = start;
    NEF_EACH(NEF_DECLARE)
#undef NEF_DECLARE
    for (int64_t i = 0; i < taps.tall; ++i) {
      const T* HWY_RESTRICT x = taps.x + i * taps.x_down + c;
      const T* HWY_RESTRICT weight = taps.weights + i * taps.weights_down + c;
      for (int64_t j = 0; j < taps.wide; ++j, x += taps.x_across, weight += kBlock) {
        const auto w = hn::LoadU(d, weight);
#define NEF_STEP(i) \
  if constexpr (i < kCount) s##i = hn::MulAdd(w, hn::LoadU(d, x + i * step), s##i);
        NEF_EACH(NEF_STEP)
#undef NEF_STEP
      }
    }
#define NEF_STORE(i) \
  if constexpr (i < kCount) hn::StoreU(s##i, d, y + i * line.y_step + c);
    NEF_EACH(NEF_STORE)
#undef NEF_STORE
  }
#undef NEF_EACH
}

// A line in groups, of which the last overlaps the one before.
template <int kCount, typename T>
HWY_NOINLINE void groups(const Taps<T>& taps, const Line& line, const T* bias, T* y) {
  for (int64_t i = 0; i < line.count; i += kCount) {
    const int64_t at = HWY_MIN(i, line.count - kCount);
    Taps<T> here = taps;
    here.x += at * line.x_step;
    positions<kCount>(here, line, bias, y + at * line.y_step);
  }
}

// Positions from `at` on, below `end`, whose windows lie inside the input, it among them, or else
// it alone.
inline int64_t alike(const Stage::Axis& a, int64_t at, int64_t end, const Stage::Range& taps) {
  if (taps.end - taps.begin < a.kernel) return 1;
  const int64_t last = (a.in - 1 - a.source(0, a.kernel - 1)) / a.stride;
  return HWY_MIN(end - 1, last) - at + 1;
}

// Runs of rows with the same taps by runs of columns with the same: lines along the longer side.
template <typename T>
void block_rows(const BlockRows<T>& b) {
  const int64_t end = b.row + b.rows;
  for (int64_t r = b.row, rows = 1; r < end; r += rows) {
    const Stage::Range tall = b.h.taps(r);
    rows = alike(b.h, r, end, tall);
    for (int64_t c = 0, columns = 1; c < b.w.out; c += columns) {
      const Stage::Range wide = b.w.taps(c);
      columns = alike(b.w, c, b.w.out, wide);
      Taps<T> t{b.x, b.weights, 0, 0, 0, 0, 0};
      if (tall.begin < tall.end && wide.begin < wide.end) {
        const int64_t from = b.h.source(r, tall.begin) - b.x_row;
        t.x += (from * b.w.in + b.w.source(c, wide.begin)) * kBlock;
        t.weights += (tall.begin * b.w.kernel + wide.begin) * kBlock;
        t.tall = tall.end - tall.begin;
        t.wide = wide.end - wide.begin;
        t.x_down = b.h.dilation * b.w.in * kBlock;
        t.x_across = b.w.dilation * kBlock;
        t.weights_down = b.w.kernel * kBlock;
      }
      Line across = {columns, b.w.stride * kBlock, kBlock};
      Line down = {rows, b.h.stride * b.w.in * kBlock, b.w.out * kBlock};
      if (columns < rows) std::swap(across, down);
      const auto run = across.count >= 8   ? groups<8, T>
                       : across.count >= 4 ? groups<4, T>
                                           : groups<1, T>;
      T* y = b.y + ((r - b.row) * b.w.out + c) * kBlock;
      for (int64_t i = 0; i < down.count; ++i, t.x += down.x_step, y += down.y_step) {
        run(t, across, b.bias, y);
      }
    }
  }
}

BlockFn<float> block_float() { return block_rows<float>; }
BlockFn<double> block_double() { return block_rows<double>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace nef::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nef::cpu {
HWY_EXPORT(block_float);
HWY_EXPORT(block_double);

namespace {

constexpr int64_t kBandElements = 32 * 1024;  // of both sides, turned

template <typename T>
BlockFn<T> block_fn() {
  if constexpr (sizeof(T) == 4) return HWY_DYNAMIC_DISPATCH(block_float)();
  else return HWY_DYNAMIC_DISPATCH(block_double)();
}

// dst[r][c] = src[c][r] as transpose_kernels.h has it. What is left of whole blocks of rows or
// columns is done again with those before it, as its edges go element by element.
template <typename T>
void turn(const T* src, int64_t src_step, T* dst, int64_t dst_step, int64_t rows, int64_t columns) {
  const TransposeFn transpose = find_transpose(sizeof(T));
  const int64_t whole_rows = rows < kBlock ? rows : rows - rows % kBlock;
  const int64_t whole_columns = columns < kBlock ? columns : columns - columns % kBlock;
  transpose(src, src_step, dst, dst_step, whole_rows, whole_columns, false);
  if (whole_rows < rows) {
    const int64_t r = rows - kBlock;
    transpose(src + r, src_step, dst + r * dst_step, dst_step, kBlock, columns, false);
  }
  if (whole_columns < columns) {
    const int64_t c = columns - kBlock;
    transpose(src + c * src_step, src_step, dst + c, dst_step, rows, kBlock, false);
  }
}

template <typename T>
class Blocks {
 public:
  Blocks(const DirectConv<T>& conv, int64_t slots) : conv_(conv), slots_(slots) {
    const Stage stage = make_stage(conv.window);
    h_ = stage.h;
    w_ = stage.w;
    blocks_ = ceil_div(conv.groups, kBlock);
    const int64_t row = h_.stride * w_.in + w_.out, edge = (span(h_) - 1) * w_.in;
    const int64_t most =
        std::max<int64_t>(1, (kBandElements / kBlock - edge) / std::max<int64_t>(1, row));
    const int64_t wanted =
        slots <= 1 ? 1 : ceil_div(4 * slots, std::max<int64_t>(1, conv.batch * blocks_));
    const int64_t share = std::max<int64_t>(kLeastRows, ceil_div(h_.out, wanted));
    const int64_t bands = std::max<int64_t>(1, ceil_div(h_.out, std::min(most, share)));
    rows_ = std::max<int64_t>(1, ceil_div(h_.out, bands));
    bands_ = ceil_div(h_.out, rows_);
    padded_ = w_.stride == 1 && narrow(w_) && narrow(h_) && conv.window.kernel_count > 1;
  }

  // Of a slot: x, that with padding, y, weights and biases.
  int64_t size() const {
    return x_size() + padded_size() + y_size() +
           (round_up(conv_.window.kernel_count, kBlock) + 1) * kBlock;
  }

  void run(T* scratch) const {
    run_tasks(slots_, conv_.batch * blocks_ * bands_, [&](int64_t slot, int64_t task) {
      const int64_t band = task % bands_, block = task / bands_ % blocks_;
      run_band(task / bands_ / blocks_, block * kBlock, band * rows_, scratch + slot * size());
    });
  }

 private:
  static constexpr int64_t kLeastRows = 4;  // of a band: more share what they read
  static constexpr int64_t kNarrow = 16;    // columns: padding costs less than sums of their own
  static int64_t span(const Stage::Axis& a) { return (a.kernel - 1) * a.dilation + 1; }
  static bool narrow(const Stage::Axis& a) { return a.out <= kNarrow && span(a) <= kNarrow; }
  // What `n` windows read, padding included.
  static int64_t reach(const Stage::Axis& a, int64_t n) { return (n - 1) * a.stride + span(a); }

  int64_t x_size() const { return std::min(h_.in, reach(h_, rows_)) * w_.in * kBlock; }
  int64_t padded_size() const {
    return padded_ ? reach(h_, rows_) * reach(w_, w_.out) * kBlock : 0;
  }
  int64_t y_size() const { return rows_ * w_.out * kBlock; }

  // The last block begins early and is computed whole; what the one before has done is left out.
  void run_band(int64_t sample, int64_t channel, int64_t row, T* room) const {
    const Window& w = conv_.window;
    const int64_t first = std::min(channel, conv_.groups - kBlock), done = channel - first;
    T *x = room, *padded = x + x_size(), *y = padded + padded_size(), *weights = y + y_size();
    T* bias = weights + round_up(w.kernel_count, kBlock) * kBlock;
    BlockRows<T> b;
    b.h = h_;
    b.w = w_;
    b.row = row;
    b.rows = std::min(rows_, h_.out - row);
    b.x_row = std::clamp<int64_t>(h_.source(row, 0), 0, h_.in);
    const int64_t x_end = std::clamp(h_.source(row, 0) + reach(h_, b.rows), b.x_row, h_.in);
    turn(conv_.x + (sample * conv_.groups + first) * w.in_count + b.x_row * w_.in, w.in_count, x,
         kBlock, (x_end - b.x_row) * w_.in, kBlock);
    b.x = x;
    if (padded_) pad(x_end, padded, &b);
    // Whole blocks are turned, where what lies behind the weights of a channel is still of them.
    const int64_t taps = w.kernel_count, whole = round_up(taps, kBlock);
    const bool inside = (first + kBlock - 1) * taps + whole <= conv_.groups * taps;
    turn(conv_.weights + first * taps, taps, weights, kBlock, inside ? whole : taps, kBlock);
    for (int64_t c = 0; c < kBlock; ++c) {
      bias[c] = conv_.bias == nullptr ? T(0) : conv_.bias[first + c];
    }
    b.weights = weights;
    b.bias = bias;
    b.y = y;
    block_fn<T>()(b);
    const int64_t line = sample * conv_.groups + channel, count = b.rows * w_.out;
    T* out = conv_.y + line * w.out_count + row * w_.out;
    turn(y + done, kBlock, out, w.out_count, kBlock - done, count);
    if (conv_.steps->count == 0) return;
    run_epilogue<T>(conv_.steps, line, row * w_.out, kBlock - done, count, out, w.out_count);
  }

  // All windows of the band inside: rows of x up to x_end with zeros around them.
  void pad(int64_t x_end, T* padded, BlockRows<T>* b) const {
    const int64_t top = h_.source(b->row, 0);
    const int64_t tall = reach(h_, b->rows), wide = reach(w_, w_.out);
    const int64_t begin = std::min(w_.begin, wide), count = std::min(wide - begin, w_.in);
    for (int64_t r = 0; r < tall; ++r) {
      T* to = padded + r * wide * kBlock;
      const bool inside = top + r >= b->x_row && top + r < x_end;
      const int64_t copied = inside ? count : 0;
      std::fill_n(to, begin * kBlock, T(0));
      if (inside) {
        std::copy_n(b->x + (top + r - b->x_row) * w_.in * kBlock, count * kBlock,
                    to + begin * kBlock);
      }
      std::fill_n(to + (begin + copied) * kBlock, (wide - begin - copied) * kBlock, T(0));
    }
    b->x = padded;
    b->row = b->x_row = b->h.begin = b->w.begin = 0;
    b->h.in = tall;
    b->w.in = wide;
  }

  const DirectConv<T>& conv_;
  int64_t slots_;
  Stage::Axis h_, w_;
  bool padded_ = false;
  int64_t blocks_ = 1, bands_ = 1, rows_ = 1;
};

}  // namespace

template <typename T>
bool wants_blocks(const DirectConv<T>& conv) {
  constexpr int64_t kMostTaps = 256, kWide = 48;
  if (conv.channels != 1 || conv.filters != 1 || conv.groups < kBlock) return false;
  if (conv.window.kernel_count > kMostTaps) return false;
  const Stage s = make_stage(conv.window);
  return s.w.stride > 1 || s.w.out <= kWide;
}
template <typename T>
int64_t blocks_scratch(const DirectConv<T>& conv, int64_t slots) {
  return slots * Blocks<T>(conv, slots).size();
}
template <typename T>
void run_blocks(const DirectConv<T>& conv, int64_t slots, T* scratch) {
  Blocks<T>(conv, slots).run(scratch);
}

template bool wants_blocks<float>(const DirectConv<float>&);
template bool wants_blocks<double>(const DirectConv<double>&);
template int64_t blocks_scratch<float>(const DirectConv<float>&, int64_t);
template int64_t blocks_scratch<double>(const DirectConv<double>&, int64_t);
template void run_blocks<float>(const DirectConv<float>&, int64_t, float*);
template void run_blocks<double>(const DirectConv<double>&, int64_t, double*);

}  // namespace nef::cpu
#endif
