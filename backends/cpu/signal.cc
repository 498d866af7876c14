// SPDX-License-Identifier: Apache-2.0
// DFT and STFT on fast transforms.
#include <algorithm>

#include "backends/cpu/fft.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/signal.h"
#include "backends/shared/elements.h"

namespace nef::cpu {
namespace {

using backends::dims_product;
using backends::integer;
using backends::number;
using backends::put_number;

// Tables and per-slot memory of transforms of length n.
struct Pieces {
  Complex *tables, *lines, *work;
};
Pieces carve(ScratchLayout& layout, int64_t n, int64_t slots) {
  Pieces p{};
  p.tables = layout.take<Complex>(Fft::table_size(n));
  p.lines = layout.take<Complex>(slots * n);
  p.work = layout.take<Complex>(slots * Fft::work_size(n));
  return p;
}
size_t pieces_size(int64_t n) {
  ScratchLayout layout;
  carve(layout, n, task_slots());
  return layout.used();
}

// ---- DFT

struct DftPlan {
  int axis;
  int64_t length;  // of the transform
  bool inverse, onesided;
};
DftPlan dft_plan(const Call& c) {
  const View x = c.in(0), y = c.out();
  DftPlan p{};
  p.inverse = c.attr_int(NEF_DFT_INVERSE) != 0;
  p.onesided = c.attr_int(NEF_DFT_ONESIDED) != 0;
  p.axis = backends::axis_from_front(c.has(2) ? integer(c.in(2), 0) : -2, x.rank);
  if (p.axis < 0 || p.axis >= x.rank - 1) {
    throw BackendError(NEF_OUT_OF_RANGE, "DFT: the axis is outside the signal's");
  }
  p.length = y.dims[p.axis];
  if (p.onesided && !p.inverse) p.length = c.has(1) ? integer(c.in(1), 0) : x.dims[p.axis];
  const int64_t bins = p.onesided && !p.inverse ? p.length / 2 + 1 : p.length;
  if (p.length < 1 || bins != y.dims[p.axis]) {
    throw BackendError(NEF_SHAPE_MISMATCH, "DFT: the length does not fit the result");
  }
  return p;
}

size_t dft_scratch(const Call& c) {
  if (c.out().count == 0) return 0;
  const bool half = c.attr_int(NEF_DFT_ONESIDED) != 0 && c.attr_int(NEF_DFT_INVERSE) == 0;
  // Of all lengths that the shapes allow, the one that takes most: every axis, odd and even.
  size_t most = 0;
  const View y = c.out();
  for (int d = 0; d + 1 < y.rank; ++d) {
    if (!half) most = std::max(most, pieces_size(y.dims[d]));
    if (half && y.dims[d] > 1) most = std::max(most, pieces_size(2 * (y.dims[d] - 1)));
    if (half) most = std::max(most, pieces_size(2 * (y.dims[d] - 1) + 1));
  }
  return most;
}

void run_dft(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const DftPlan plan = dft_plan(c);
  const int64_t slots = task_slots(), n = plan.length;
  ScratchLayout layout(c.scratch<char>());
  const Pieces p = carve(layout, n, slots);
  const Fft fft(n, p.tables);
  const int64_t inner = dims_product(x, plan.axis + 1, x.rank - 1);
  const int64_t given = x.dims[plan.axis], parts = x.dims[x.rank - 1];
  const int64_t wanted = y.dims[plan.axis], out_parts = y.dims[y.rank - 1];
  const bool mirrored = plan.onesided && plan.inverse;
  run_tasks(slots, dims_product(x, 0, plan.axis) * inner, [&](int64_t slot, int64_t line) {
    Complex* values = p.lines + slot * n;
    const int64_t o = line / inner, j = line % inner;
    const auto at = [&](int64_t i) {
      if (i >= given) return Complex{};
      const int64_t from = ((o * given + i) * inner + j) * parts;
      return Complex(number(x, from), parts == 2 ? number(x, from + 1) : 0);
    };
    if (mirrored) {
      for (int64_t i = 0; i <= n / 2; ++i) {
        values[i] = at(i);
        const bool real = i == 0 || 2 * i == n;
        if (real) values[i] = values[i].real();
        else values[n - i] = std::conj(values[i]);
      }
    } else {
      for (int64_t i = 0; i < n; ++i) values[i] = at(i);
    }
    Complex* work = p.work + slot * Fft::work_size(n);
    if (plan.inverse) fft.inverse(values, work);
    else fft.forward(values, work);
    for (int64_t i = 0; i < wanted; ++i) {
      const int64_t to = ((o * wanted + i) * inner + j) * out_parts;
      put_number(y, to, values[i].real());
      if (out_parts == 2) put_number(y, to + 1, values[i].imag());
    }
  });
}

// ---- STFT

// The frame's length: that of window, frame_length or the signal.
int64_t frame_length(const Call& c) {
  if (c.has(2)) return c.in(2).dims[0];
  if (c.has(3)) return integer(c.in(3), 0);
  return c.in(0).dims[1];
}
size_t stft_scratch(const Call& c) {
  const View y = c.out();
  if (y.count == 0) return 0;
  if (c.has(2)) return pieces_size(c.in(2).dims[0]);
  const int64_t bins = y.dims[2];
  if (c.attr_int(NEF_STFT_ONESIDED, 1) == 0) return pieces_size(bins);
  return std::max(pieces_size(std::max<int64_t>(2 * (bins - 1), 1)), pieces_size(2 * bins - 1));
}

void run_stft(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const int64_t slots = task_slots(), n = frame_length(c), step = integer(c.in(1), 0);
  const int64_t frames = y.dims[1], bins = y.dims[2], parts = x.dims[2];
  const bool onesided = c.attr_int(NEF_STFT_ONESIDED, 1) != 0;
  if (n < 1 || step < 1 || bins != (onesided ? n / 2 + 1 : n) || n > x.dims[1] ||
      frames > (x.dims[1] - n) / step + 1) {
    throw BackendError(NEF_SHAPE_MISMATCH, "STFT: frame_step and frame_length do not fit");
  }
  ScratchLayout layout(c.scratch<char>());
  const Pieces p = carve(layout, n, slots);
  const Fft fft(n, p.tables);
  run_tasks(slots, x.dims[0] * frames, [&](int64_t slot, int64_t frame) {
    Complex* values = p.lines + slot * n;
    const int64_t first = frame / frames * x.dims[1] + frame % frames * step;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = (first + i) * parts;
      const double weight = c.has(2) ? number(c.in(2), i) : 1;
      values[i] = {weight * number(x, from), parts == 2 ? weight * number(x, from + 1) : 0};
    }
    fft.forward(values, p.work + slot * Fft::work_size(n));
    for (int64_t i = 0; i < bins; ++i) {
      put_number(y, (frame * bins + i) * 2, values[i].real());
      put_number(y, (frame * bins + i) * 2 + 1, values[i].imag());
    }
  });
}

}  // namespace

void register_signal() {
  register_call(NEF_OP_DFT, {"dft", run_dft, dft_scratch});
  register_call(NEF_OP_STFT, {"stft", run_stft, stft_scratch});
}

}  // namespace nef::cpu
