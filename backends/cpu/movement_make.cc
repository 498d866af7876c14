// SPDX-License-Identifier: Apache-2.0
// Ops whose output is made from a shape or a mask: fills, ranges, triangles, positions.
#include <algorithm>
#include <cstring>

#include "backends/cpu/call.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/movement.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

void run_constant_of_shape(const Call& c) {
  const View y = c.out();
  if (!c.has(1)) return fill_zero(y.data, y.bytes());
  fill(y.data, c.in(1).data, y.element_size(), y.count);
}

void run_eye_like(const Call& c) {
  const View y = c.out();
  fill_zero(y.data, y.bytes());
  const int64_t k = c.attr_int(NEF_EYE_LIKE_K);
  const int64_t rows = y.dims[0], columns = y.dims[1];
  if (k <= -rows || k >= columns) return;
  with_element_type(y.dtype, [&]<class T>(T) {
    auto* out = reinterpret_cast<T*>(y.data);
    const T one = narrow<T>(Compute<T>{1});
    for (int64_t r = std::max<int64_t>(0, -k); r < rows && r + k < columns; ++r) {
      out[r * columns + r + k] = one;
    }
  });
}

// Floats: start + i delta in float64, rounded once.
void run_range(const Call& c) {
  const View y = c.out();
  with_element_type(y.dtype, [&]<class T>(T) {
    auto* out = reinterpret_cast<T*>(y.data);
    const Compute<T> start = widen(*reinterpret_cast<const T*>(c.in(0).data));
    const Compute<T> delta = widen(*reinterpret_cast<const T*>(c.in(2).data));
    parallel_for(y.count, 16384, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_floating_point_v<Compute<T>>) {
          const double value =
              static_cast<double>(start) + static_cast<double>(i) * static_cast<double>(delta);
          out[i] = narrow<T>(static_cast<Compute<T>>(value));
        } else {
          out[i] = wrapping_add(start, wrapping_multiply(static_cast<T>(i), delta));
        }
      }
    });
  });
}

void run_shape(const Call& c) {
  const View x = c.in(0), y = c.out();
  int64_t start = c.attr_int(NEF_SHAPE_START);
  if (start < 0) start += x.rank;
  start = std::clamp<int64_t>(start, 0, x.rank);
  if (y.count > 0) std::copy_n(x.dims + start, y.count, reinterpret_cast<int64_t*>(y.data));
}

void run_size(const Call& c) { *reinterpret_cast<int64_t*>(c.out().data) = c.in(0).count; }

// Row by row: what lies outside the triangle is one run at either end.
void run_trilu(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const bool upper = c.attr_int(NEF_TRILU_UPPER, 1) != 0;
  const int64_t rows = y.dims[y.rank - 2], columns = y.dims[y.rank - 1];
  // Far diagonals are all the same; clamping keeps the sums below in range.
  const int64_t k = std::clamp(c.has(1) ? int_at(c.in(1), 0) : 0, -rows - 1, columns + 1);
  const size_t size = y.element_size(), row_bytes = static_cast<size_t>(columns) * size;
  parallel_for(y.count / columns, copy_grain(row_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      // The first column on (upper) or after (lower) the diagonal.
      const int64_t edge = std::clamp<int64_t>(r % rows + k + (upper ? 0 : 1), 0, columns);
      const int64_t from = upper ? edge : 0, to = upper ? columns : edge;
      const char* source = x.data + static_cast<size_t>(r) * row_bytes;
      char* out = y.data + static_cast<size_t>(r) * row_bytes;
      std::memset(out, 0, static_cast<size_t>(from) * size);
      std::memmove(out + static_cast<size_t>(from) * size,
                   source + static_cast<size_t>(from) * size,
                   static_cast<size_t>(to - from) * size);
      std::memset(out + static_cast<size_t>(to) * size, 0,
                  static_cast<size_t>(columns - to) * size);
    }
  });
}

void size_nonzero(const Call& c, int64_t* const* dims) {
  const View x = c.in(0);
  int64_t found = 0;
  with_element_type(x.dtype, [&]<class T>(T) {
    const auto* in = reinterpret_cast<const T*>(x.data);
    for (int64_t i = 0; i < x.count; ++i) found += widen(in[i]) == Compute<T>{0} ? 0 : 1;
  });
  dims[0][0] = x.rank;
  dims[0][1] = found;
}

// The caller has asked for the count; it must still be right.
void run_nonzero(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t room = y.dims[1];
  auto* out = reinterpret_cast<int64_t*>(y.data);
  int64_t found = 0;
  with_element_type(x.dtype, [&]<class T>(T) {
    const auto* in = reinterpret_cast<const T*>(x.data);
    for (int64_t i = 0; i < x.count; ++i) {
      if (widen(in[i]) == Compute<T>{0}) continue;
      int64_t left = i;
      for (int d = x.rank - 1; d >= 0 && found < room; --d) {
        out[d * room + found] = left % x.dims[d];
        left /= x.dims[d];
      }
      ++found;
    }
  });
  if (found == room) return;
  throw BackendError(NEF_SHAPE_MISMATCH, "NonZero: " + std::to_string(found) +
                                             " elements are not zero, the output has room for " +
                                             std::to_string(room));
}

}  // namespace

void register_generators() {
  register_call(NEF_OP_CONSTANT_OF_SHAPE, {"fill", run_constant_of_shape});
  register_call(NEF_OP_EYE_LIKE, {"eye", run_eye_like});
  register_call(NEF_OP_RANGE, {"range", run_range});
  register_call(NEF_OP_SHAPE, {"shape", run_shape});
  register_call(NEF_OP_SIZE, {"size", run_size});
  register_call(NEF_OP_TRILU, {"triangle", run_trilu, nullptr, true});
  register_call(NEF_OP_NONZERO, {"nonzero", run_nonzero, nullptr, false, nullptr, size_nonzero});
}

}  // namespace nef::cpu
