// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and the global pools. One task is one plane of one sample.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "backends/cpu/conv.h"
#include "backends/cpu/conv_geometry.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/pool_direct.h"

namespace nef::cpu {
namespace {

struct PoolSpec {
  nef_op op = NEF_OP_INVALID;
  int32_t x = -1, y = -1, indices = -1;
  WindowAttrs window;
  std::vector<int64_t> kernel;
  bool include_pad = false;
  bool column_major = false;

  bool max() const { return op == NEF_OP_MAX_POOL || op == NEF_OP_GLOBAL_MAX_POOL; }
  bool global() const { return op == NEF_OP_GLOBAL_MAX_POOL || op == NEF_OP_GLOBAL_AVERAGE_POOL; }
};

template <typename T>
constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <typename T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

template <typename T, bool kMax>
void combine_row(const T* x, int64_t n, T* y) {
  if (kMax) {
    row_ops<T>().max_into(x, n, y);
  } else {
    row_ops<T>().add(x, y, n, y);
  }
}

// y (+)= or max= n elements of x, `step` apart.
template <typename T, bool kMax>
void combine(const T* x, int64_t step, int64_t n, T* y) {
  if constexpr (std::is_floating_point_v<T>) {
    if (step == 1) return combine_row<T, kMax>(x, n, y);
    if (step == 2) {
      constexpr int64_t kChunk = 256;
      T even[kChunk];
      for (int64_t j = 0; j < n; j += kChunk) {
        const int64_t part = std::min(kChunk, n - j);
        row_ops<T>().every_second(x + 2 * j, part, even);
        combine_row<T, kMax>(even, part, y + j);
      }
      return;
    }
  }
  for (int64_t j = 0; j < n; ++j, x += step) {
    if constexpr (kMax) {
      if (is_nan(*x) || *x > y[j]) y[j] = *x;
    } else {
      y[j] = static_cast<T>(y[j] + *x);
    }
  }
}

// Output positions along axis d that kernel position k serves with real input.
void inside_range(const Window& w, int d, int64_t k, int64_t* begin, int64_t* end) {
  const int64_t shift = k * w.dilation[d] - w.begin[d], s = w.stride[d];
  *begin = shift >= 0 ? 0 : (-shift + s - 1) / s;
  const int64_t last = w.in[d] - 1 - shift;
  *end = std::min(w.out[d], last < 0 ? 0 : last / s + 1);
}

// Combines a whole plane, row of the output by row.
template <typename T, bool kMax>
void pool_plane(const Window& w, const T* x, T* y) {
  const int last = w.rank - 1;
  const int64_t width = w.out[last];
  std::fill_n(y, w.out_count, kMax ? lowest<T>() : T(0));
  for (int64_t row = 0; row < w.out_count / std::max<int64_t>(1, width); ++row) {
    int64_t out[NEF_MAX_RANK];
    unflatten(row, w.out, last, out);
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      int64_t at[NEF_MAX_RANK];
      unflatten(k, w.kernel, w.rank, at);
      const int64_t base = w.flat_source(out, at, last);
      int64_t begin, end;
      inside_range(w, last, at[last], &begin, &end);
      if (base < 0 || begin >= end) continue;
      combine<T, kMax>(x + base * w.in[last] + w.source(last, begin, at[last]), w.stride[last],
                       end - begin, y + row * width + begin);
    }
  }
}

// Kernel positions along axis d that count for output o: those on the input, or with padding.
int64_t counted(const Window& w, int d, int64_t o, bool include_pad) {
  int64_t count = 0;
  for (int64_t k = 0; k < w.kernel[d]; ++k) {
    const int64_t i = w.source(d, o, k);
    count += include_pad ? i < w.in[d] + w.end[d] : i >= 0 && i < w.in[d];
  }
  return count;
}

template <typename T>
void divide_plane(const Window& w, bool include_pad, T* y) {
  const int last = w.rank - 1;
  const int64_t width = w.out[last];
  const auto is_whole = [&](int64_t j) {
    return counted(w, last, j, include_pad) == w.kernel[last];
  };
  int64_t begin = 0, end = width;  // windows that count in whole; the rest is at the edges
  while (begin < end && !is_whole(begin)) ++begin;
  while (end > begin && !is_whole(end - 1)) --end;
  for (int64_t row = 0; row < w.out_count / std::max<int64_t>(1, width); ++row) {
    int64_t out[NEF_MAX_RANK];
    unflatten(row, w.out, last, out);
    int64_t outer = 1;
    for (int d = 0; d < last; ++d) outer *= counted(w, d, out[d], include_pad);
    T* line = y + row * width;
    const auto divide = [&](int64_t j) {
      line[j] /= static_cast<T>(outer * counted(w, last, j, include_pad));
    };
    for (int64_t j = 0; j < begin; ++j) divide(j);
    for (int64_t j = end; j < width; ++j) divide(j);
    const T whole = static_cast<T>(outer * w.kernel[last]);
    for (int64_t j = begin; j < end; ++j) line[j] /= whole;
  }
}

int64_t flat_index(const Window& w, int64_t offset, bool column_major) {
  if (!column_major || w.rank < 2) return offset;
  const int64_t height = w.in[w.rank - 2], width = w.in[w.rank - 1];
  const int64_t slice = offset / (height * width);
  return slice * height * width + offset % width * height + offset / width % height;
}

// Where the largest element stands; the first of equals, a NaN before all. -1 for no input.
template <typename T>
void index_plane(const Window& w, bool column_major, const T* x, int64_t plane_base,
                 int64_t* indices) {
  for (int64_t o = 0; o < w.out_count; ++o) {
    int64_t out[NEF_MAX_RANK], best = -1;
    unflatten(o, w.out, w.rank, out);
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      int64_t at[NEF_MAX_RANK];
      unflatten(k, w.kernel, w.rank, at);
      const int64_t offset = w.flat_source(out, at, w.rank);
      if (offset < 0) continue;
      const bool better =
          best < 0 || (!is_nan(x[best]) && (is_nan(x[offset]) || x[offset] > x[best]));
      if (better) best = offset;
    }
    indices[o] = best < 0 ? -1 : plane_base + flat_index(w, best, column_major);
  }
}

template <typename T>
class PoolPrepared final : public Prepared {
 public:
  PoolPrepared(const ValueTable& values, const PoolSpec& spec)
      : values_(values),
        spec_(spec),
        slots_(task_slots()),
        narrow_(values.dtype(spec.x) == NEF_FLOAT16 || values.dtype(spec.x) == NEF_BFLOAT16) {}

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values);
    const int32_t shaped = spec_.y >= 0 ? spec_.y : spec_.indices;
    const Window w = window(values, shaped);
    const int64_t planes = values[spec_.x].dims[0] * values[spec_.x].dims[1];
    const T* x = static_cast<const T*>(values_.data(values, spec_.x));
    T* y = spec_.y < 0 ? nullptr : static_cast<T*>(values[spec_.y].data);
    if constexpr (std::is_same_v<T, float>) {
      if (narrow_) {
        load_floats_parallel(values_.dtype(spec_.x), x, values_.count(values, spec_.x), p.x);
        x = p.x;
        if (y != nullptr) y = p.y;
      }
    }
    if (y != nullptr && direct(w) && w.out_count > 0) {
      DirectPool<T> pool = direct_pool(values, w);
      pool.x = x;
      pool.y = y;
      run_direct_pool(pool, slots_, p.lines);
    }
    auto* indices = spec_.indices < 0 ? nullptr : static_cast<int64_t*>(values[spec_.indices].data);
    const int64_t work = std::max<int64_t>(1, std::max(w.out_count * w.kernel_count, w.in_count));
    parallel_for(planes, std::max<int64_t>(1, kPlaneWork / work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* plane = x + i * w.in_count;
        if (y != nullptr) pool(w, plane, y + i * w.out_count);
        if (indices != nullptr) {
          index_plane(w, spec_.column_major, plane, i * w.in_count, indices + i * w.out_count);
        }
      }
    });
    if constexpr (std::is_same_v<T, float>) {
      if (narrow_ && y != nullptr) {
        store_floats_parallel(values_.dtype(spec_.y), y, values_.count(values, spec_.y),
                              values[spec_.y].data);
      }
    }
  }

 private:
  static constexpr int64_t kPlaneWork = 32 * 1024;
  struct Pieces {
    T *x = nullptr, *y = nullptr, *lines = nullptr;
  };

  bool direct(const Window& w) const { return !spec_.global() && can_stage(w); }
  DirectPool<T> direct_pool(const Tensor* values, const Window& w) const {
    DirectPool<T> pool;
    pool.planes = values[spec_.x].dims[0] * values[spec_.x].dims[1];
    pool.window = w;
    pool.row = spec_.max() ? pool_ops<T>().largest : pool_ops<T>().sum;
    return pool;
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values) const {
    Pieces p;
    const Window w = window(values, spec_.y >= 0 ? spec_.y : spec_.indices);
    if (spec_.y >= 0 && direct(w)) {
      p.lines = layout.take<T>(direct_pool_scratch<T>(w, slots_));
    }
    if (!narrow_) return p;
    p.x = layout.take<T>(values_.count(values, spec_.x));
    if (spec_.y >= 0) p.y = layout.take<T>(values_.count(values, spec_.y));
    return p;
  }

  Window window(const Tensor* values, int32_t shaped) const {
    const int64_t* kernel = spec_.global() ? values[spec_.x].dims + 2 : spec_.kernel.data();
    return make_window(spec_.window, values[spec_.x].dims, values[shaped].dims,
                       values_.rank(spec_.x), kernel, false);
  }

  void pool(const Window& w, const T* x, T* y) const {
    if (spec_.global()) return pool_all(w.in_count, x, y);
    const bool summed = direct(w);  // before
    if (spec_.max()) return summed ? void() : pool_plane<T, true>(w, x, y);
    if constexpr (std::is_floating_point_v<T>) {
      if (!summed) pool_plane<T, false>(w, x, y);
      divide_plane(w, spec_.include_pad, y);
    }
  }
  void pool_all(int64_t n, const T* x, T* y) const {
    if constexpr (std::is_floating_point_v<T>) {
      const auto& ops = row_ops<T>();
      *y = spec_.max() ? ops.max(x, n) : ops.sum(x, n) / static_cast<T>(n);
    }
  }

  ValueTable values_;
  PoolSpec spec_;
  int64_t slots_;
  bool narrow_;
};

class PoolKernel final : public Kernel {
 public:
  PoolKernel(const Region& region, PoolSpec spec) : values_(region), spec_(std::move(spec)) {}
  const char* name() const override { return spec_.global() ? "global pool" : "pool"; }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    switch (values_.dtype(spec_.x)) {
      case NEF_FLOAT64: return std::make_unique<PoolPrepared<double>>(values_, spec_);
      case NEF_INT8: return std::make_unique<PoolPrepared<int8_t>>(values_, spec_);
      case NEF_UINT8: return std::make_unique<PoolPrepared<uint8_t>>(values_, spec_);
      default: return std::make_unique<PoolPrepared<float>>(values_, spec_);
    }
  }

 private:
  ValueTable values_;
  PoolSpec spec_;
};

std::unique_ptr<Kernel> make_pool(const Region& region, std::string*) {
  const Node& node = region.nodes[0];
  const int64_t* attrs = node.attrs();
  PoolSpec spec;
  spec.op = node.op;
  spec.x = node.inputs[0];
  spec.y = node.outputs[0];
  if (node.op == NEF_OP_MAX_POOL) {
    if (node.has_output(1)) spec.indices = node.outputs[1];
    spec.window = WindowAttrs::read(attrs, NEF_MAX_POOL_AUTO_PAD, NEF_MAX_POOL_PADS,
                                    NEF_MAX_POOL_STRIDES, NEF_MAX_POOL_DILATIONS);
    spec.kernel = attr_ints(attrs, NEF_MAX_POOL_KERNEL_SHAPE);
    spec.column_major = nef_attr_int(attrs, NEF_MAX_POOL_STORAGE_ORDER, 0) != 0;
  } else if (node.op == NEF_OP_AVERAGE_POOL) {
    spec.window = WindowAttrs::read(attrs, NEF_AVERAGE_POOL_AUTO_PAD, NEF_AVERAGE_POOL_PADS,
                                    NEF_AVERAGE_POOL_STRIDES, NEF_AVERAGE_POOL_DILATIONS);
    spec.kernel = attr_ints(attrs, NEF_AVERAGE_POOL_KERNEL_SHAPE);
    spec.include_pad = nef_attr_int(attrs, NEF_AVERAGE_POOL_COUNT_INCLUDE_PAD, 0) != 0;
  }
  return std::make_unique<PoolKernel>(region, std::move(spec));
}

}  // namespace

void register_pools() {
  for (nef_op op :
       {NEF_OP_MAX_POOL, NEF_OP_AVERAGE_POOL, NEF_OP_GLOBAL_MAX_POOL, NEF_OP_GLOBAL_AVERAGE_POOL}) {
    register_op(op, make_pool);
  }
}

}  // namespace nef::cpu
