// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include "backends/shared/quant.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/quant.h"
#include "backends/cpu/quant_round.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

using backends::quant_layout;
using backends::QuantLayout;

constexpr int64_t kChunk = 256;  // fixed trip counts become vector code
constexpr int64_t kGrain = 16 * 1024;

double number_at(const View& v, int64_t i) {
  if (backends::is_float8(v.dtype)) {
    return backends::float_from_float8(v.dtype, static_cast<uint8_t>(v.data[i]));
  }
  double out = 0;
  with_element_type(v.dtype, [&]<class T>(T) {
    T x;
    std::memcpy(&x, v.data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    out = static_cast<double>(widen(x));
  });
  return out;
}

// Calls f(first element, count, first scale, step of the scales, 0 or 1) for runs along memory of
// at most `most` elements.
template <typename F>
void for_runs(const QuantLayout& q, int64_t begin, int64_t end, const F& f, int64_t most = kChunk) {
  for (int64_t at = begin; at < end;) {
    const int64_t j = at % q.inner, i = at / q.inner % q.length, o = at / q.inner / q.length;
    int64_t n = q.inner - j, step = q.block > 0 ? 1 : 0;
    if (q.inner == 1 && q.block > 0) {
      n = std::min(q.block - i % q.block, q.length - i);
      step = 0;
    } else if (q.inner == 1) {
      n = q.length - i;
      step = q.per_axis ? 1 : 0;
    }
    n = std::min({n, end - at, most});
    f(at, n, q.scale_index(o, i, j), step);
    at += n;
  }
}

// Whether every run has one scale.
bool one_scale_a_run(const QuantLayout& q) {
  return q.inner == 1 ? q.block > 0 || !q.per_axis : q.block == 0;
}

// `n` elements from `offset`, one after the other or the same one; the rest of the chunk is `fill`.
void load_chunk(const View& v, int64_t offset, int64_t step, int64_t n, float fill, float* out) {
  if (step == 1) {
    const auto* from = v.data + static_cast<size_t>(offset) * v.element_size();
    find_cast_fn(v.dtype, NEF_FLOAT32)({out, {from}, static_cast<size_t>(n), 0, 0});
  } else {
    fill = static_cast<float>(number_at(v, offset));
    n = 0;
  }
  for (int64_t i = n; i < kChunk; ++i) out[i] = fill;
}

template <typename T>
void quantize_fast(const View& x, const View& scale, const View* zero, nef_dtype precision,
                   const QuantLayout& q, int64_t begin, int64_t end, T* y) {
  const QuantRound<T>& round = quant_round_ops().to<T>();
  if (one_scale_a_run(q)) {
    const auto run = [&](int64_t at, int64_t n, int64_t s, int64_t) {
      const auto by = static_cast<float>(number_at(scale, s));
      const auto centre = zero == nullptr ? 0 : static_cast<float>(number_at(*zero, s));
      round.by_one(x.dtype, x.data, at, n, {&by, &centre, precision}, y + at);
    };
    return for_runs(q, begin, end, run, kGrain);
  }
  float xs[kChunk], scales[kChunk], zeros[kChunk] = {};
  for_runs(q, begin, end, [&](int64_t at, int64_t n, int64_t s, int64_t step) {
    load_chunk(x, at, 1, n, 0, xs);
    load_chunk(scale, s, step, n, 1, scales);
    if (zero != nullptr) load_chunk(*zero, s, step, n, 0, zeros);
    round.by_each(xs, n, {scales, zeros, precision}, y + at);
  });
}

template <typename T>
void quantize_exact(const View& x, const View& scale, const View* zero, nef_dtype precision,
                    const QuantLayout& q, int64_t begin, int64_t end, T* y) {
  for_runs(q, begin, end, [&](int64_t at, int64_t n, int64_t s, int64_t step) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = s + i * step;
      const double quotient =
          backends::rounded_to(precision, number_at(x, at + i) / number_at(scale, from));
      y[at + i] = quantize_one<T>(quotient, zero == nullptr ? 0 : int_at(*zero, from));
    }
  });
}

template <typename Format>
void quantize_float8(const View& x, const View& scale, const View* zero, nef_dtype precision,
                     bool saturate, const QuantLayout& q, int64_t begin, int64_t end, uint8_t* y) {
  for_runs(q, begin, end, [&](int64_t at, int64_t n, int64_t s, int64_t step) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = s + i * step;
      const double quotient =
          backends::rounded_to(precision, number_at(x, at + i) / number_at(scale, from));
      y[at + i] = backends::float8_from_double<Format>(
          quotient + (zero == nullptr ? 0 : number_at(*zero, from)), saturate);
    }
  });
}

// Without a zero point.
template <typename Format>
void quantize_float8_fast(const View& x, const View& scale, nef_dtype precision, bool saturate,
                          const QuantLayout& q, int64_t begin, int64_t end, uint8_t* y) {
  float xs[kChunk], scales[kChunk];
  uint16_t halves[kChunk];
  const TileFn narrow = find_cast_fn(NEF_FLOAT32, Format::kDtype);
  for_runs(q, begin, end, [&](int64_t at, int64_t n, int64_t s, int64_t step) {
    load_chunk(x, at, 1, n, 0, xs);
    load_chunk(scale, s, step, n, 1, scales);
    for (int64_t i = 0; i < kChunk; ++i) xs[i] /= scales[i];
    if (precision != NEF_FLOAT32) {
      store_floats(precision, xs, n, halves, 0);
      load_floats(precision, halves, 0, n, xs);
    }
    narrow({y + at, {xs}, static_cast<size_t>(n), saturate ? 1.0 : 0.0, 0});
  });
}

// Whether quotients of float32 may be rounded once more. To a float of 16 bits they may where the
// scale is one: a midpoint has 12 bits at most and a scale 11, and what x differs by from their
// product, which float32 holds, is too much for the quotient to round to that midpoint.
bool quotients_in_float32(nef_dtype x, nef_dtype scale, nef_dtype precision) {
  const auto is_narrow = [](nef_dtype t) { return t == NEF_FLOAT16 || t == NEF_BFLOAT16; };
  if (!is_narrow(x) && x != NEF_FLOAT32) return false;
  if (precision == NEF_FLOAT32) return is_narrow(scale) || scale == NEF_FLOAT32;
  return is_narrow(precision) && is_narrow(scale);
}

void run_quantize(const Call& c) {
  const View x = c.in(0), scale = c.in(1), y = c.out();
  const QuantLayout q =
      quant_layout(x.dims, x.rank, scale.count, c.attr_int(NEF_QUANTIZE_LINEAR_AXIS, 1),
                   c.attr_int(NEF_QUANTIZE_LINEAR_BLOCK_SIZE));
  const View zero_view = c.has(2) ? c.in(2) : View{};
  const View* zero = c.has(2) ? &zero_view : nullptr;
  const auto fallback = is_float_dtype(scale.dtype) ? scale.dtype : NEF_FLOAT32;
  const auto precision =
      static_cast<nef_dtype>(c.attr_int(NEF_QUANTIZE_LINEAR_PRECISION, fallback));
  const bool fast = quotients_in_float32(x.dtype, scale.dtype, precision);
  if (backends::is_float8(y.dtype)) {
    const bool saturate = c.attr_int(NEF_QUANTIZE_LINEAR_SATURATE, 1) != 0;
    auto* out = reinterpret_cast<uint8_t*>(y.data);
    return backends::with_float8(y.dtype, [&]<class Format>(Format) {
      parallel_for(x.count, kGrain, [&](int64_t begin, int64_t end) {
        if (fast && zero == nullptr) {
          quantize_float8_fast<Format>(x, scale, precision, saturate, q, begin, end, out);
        } else {
          quantize_float8<Format>(x, scale, zero, precision, saturate, q, begin, end, out);
        }
      });
    });
  }
  with_int_type(y.dtype, [&]<class T>(T) {
    T* out = reinterpret_cast<T*>(y.data);
    parallel_for(x.count, kGrain, [&](int64_t begin, int64_t end) {
      if constexpr (sizeof(T) <= 2) {
        if (fast) return quantize_fast<T>(x, scale, zero, precision, q, begin, end, out);
      }
      quantize_exact<T>(x, scale, zero, precision, q, begin, end, out);
    });
  });
}

void dequantize_exact(const View& x, const View& scale, const View* zero, const QuantLayout& q,
                      int64_t begin, int64_t end, const View& y) {
  with_element_type(y.dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) return;
    else {
      T* out = reinterpret_cast<T*>(y.data);
      for_runs(q, begin, end, [&](int64_t at, int64_t n, int64_t s, int64_t step) {
        for (int64_t i = 0; i < n; ++i) {
          const int64_t from = s + i * step;
          const double centred =
              number_at(x, at + i) - (zero == nullptr ? 0 : number_at(*zero, from));
          const double value = centred * number_at(scale, from);
          out[at + i] = narrow<T>(static_cast<Compute<T>>(value));
        }
      });
    }
  });
}

// `load` gives the n elements of x from `at` on, exactly.
template <typename Load>
void dequantize_fast(const Load& load, const View& scale, const View* zero, const QuantLayout& q,
                     int64_t begin, int64_t end, const View& y) {
  float xs[kChunk] = {}, scales[kChunk], zeros[kChunk] = {};
  for_runs(q, begin, end, [&](int64_t at, int64_t n, int64_t s, int64_t step) {
    load(at, n, xs);
    if (step == 0) {
      const auto by = static_cast<float>(number_at(scale, s));
      const auto centre = zero == nullptr ? 0 : static_cast<float>(number_at(*zero, s));
      for (int64_t i = 0; i < kChunk; ++i) xs[i] = (xs[i] - centre) * by;
    } else {
      load_chunk(scale, s, step, n, 1, scales);
      if (zero != nullptr) load_chunk(*zero, s, step, n, 0, zeros);
      for (int64_t i = 0; i < kChunk; ++i) xs[i] = (xs[i] - zeros[i]) * scales[i];
    }
    store_floats(y.dtype, xs, n, y.data, at);
  });
}

void run_dequantize(const Call& c) {
  const View x = c.in(0), scale = c.in(1), y = c.out();
  const QuantLayout q =
      quant_layout(x.dims, x.rank, scale.count, c.attr_int(NEF_DEQUANTIZE_LINEAR_AXIS, 1),
                   c.attr_int(NEF_DEQUANTIZE_LINEAR_BLOCK_SIZE));
  const View zero_view = c.has(2) ? c.in(2) : View{};
  const View* zero = c.has(2) ? &zero_view : nullptr;
  // The difference of narrow integers is exact in float32.
  const bool fast = x.dtype != NEF_INT32 && scale.dtype != NEF_FLOAT64 && y.dtype != NEF_FLOAT64;
  const auto apply = [&](bool as_floats, const auto& load) {
    parallel_for(x.count, kGrain, [&](int64_t begin, int64_t end) {
      if (as_floats) dequantize_fast(load, scale, zero, q, begin, end, y);
      else dequantize_exact(x, scale, zero, q, begin, end, y);
    });
  };
  if (backends::is_float8(x.dtype)) {
    return apply(fast && zero == nullptr, [&](int64_t at, int64_t n, float* out) {
      load_floats(x.dtype, x.data, at, n, out);
    });
  }
  with_int_type(x.dtype, [&]<class X>(X) {
    const auto* numbers = reinterpret_cast<const X*>(x.data);
    const TileFn widen = find_cast_fn(x.dtype, NEF_FLOAT32);
    apply(fast, [=](int64_t at, int64_t n, float* out) {
      widen({out, {numbers + at}, static_cast<size_t>(n), 0, 0});
    });
  });
}

void run_dynamic(const Call& c) {
  const View x = c.in(0), y = c.out();
  const auto* data = reinterpret_cast<const float*>(x.data);
  float low = 0, high = 0;
  quant_round_ops().range(data, x.count, &low, &high);
  const auto s = backends::dynamic_scale(low, high);
  const auto zero = static_cast<float>(s.zero_point);
  const QuantStep step{&s.scale, &zero};
  auto* out = reinterpret_cast<uint8_t*>(y.data);
  parallel_for(x.count, kGrain, [&](int64_t begin, int64_t end) {
    quant_round_ops().to_uint8.by_one(NEF_FLOAT32, data, begin, end - begin, step, out + begin);
  });
  if (c.wants(1)) std::memcpy(c.out(1).data, &s.scale, sizeof(float));
  if (c.wants(2)) *c.out(2).data = static_cast<char>(s.zero_point);
}

}  // namespace

void register_quant_convert() {
  register_call(NEF_OP_QUANTIZE_LINEAR, {"quantize", run_quantize});
  register_call(NEF_OP_DEQUANTIZE_LINEAR, {"dequantize", run_dequantize});
  register_call(NEF_OP_DYNAMIC_QUANTIZE_LINEAR, {"dynamic quantize", run_dynamic});
}

}  // namespace nef::cpu
