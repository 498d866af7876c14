// SPDX-License-Identifier: Apache-2.0
// Ops that read where their indices say. Every index is checked before it is used.
#include <cstring>

#include "backends/cpu/call.h"
#include "backends/cpu/copy.h"
#include "backends/cpu/dtypes.h"
#include "backends/cpu/index_fault.h"
#include "backends/cpu/index_tuples.h"
#include "backends/cpu/movement.h"
#include "backends/shared/float16.h"

namespace nef::cpu {
namespace {

// Blocks of `inner` elements picked along the axis.
void run_gather(const Call& c) {
  const View x = c.in(0), indices = c.in(1), y = c.out();
  if (y.count == 0 && indices.count == 0) return;
  const int axis = normal_axis(c.attr_int(NEF_GATHER_AXIS), x.rank);
  const int64_t n = x.dims[axis], m = indices.count;
  const int64_t outer = x.span(0, axis);
  const size_t block = static_cast<size_t>(x.span(axis + 1, x.rank)) * x.element_size();
  // Also where nothing is copied a bad index is an error.
  for (int64_t k = 0; y.count == 0 && k < m; ++k) {
    checked_index("Gather", int_at(indices, k), axis, n);
  }
  if (y.count == 0) return;
  IndexFault fault("Gather", axis, n);
  const auto copy_all = [&](auto copy_one) {
    with_int_type(indices.dtype, [&]<class I>(I) {
      const auto* index = reinterpret_cast<const I*>(indices.data);
      parallel_for(outer * m, copy_grain(block), [&](int64_t begin, int64_t end) {
        int64_t row = begin / m * n, k = begin % m;
        for (int64_t u = begin; u < end; ++u) {
          const int64_t i = fault.check(static_cast<int64_t>(index[k]));
          if (i >= 0) copy_one(u, row + i);
          if (++k == m) row += n, k = 0;
        }
      });
    });
  };
  if (block == x.element_size()) {
    with_bits_type(block, [&]<class T>(T) {
      auto* to = reinterpret_cast<T*>(y.data);
      const auto* from = reinterpret_cast<const T*>(x.data);
      copy_all([=](int64_t u, int64_t i) { to[u] = from[i]; });
    });
  } else {
    copy_all([&](int64_t u, int64_t i) {
      std::memcpy(y.data + static_cast<size_t>(u) * block, x.data + static_cast<size_t>(i) * block,
                  block);
    });
  }
  fault.rethrow();
}

void run_gather_elements(const Call& c) {
  const View x = c.in(0), indices = c.in(1), y = c.out();
  if (indices.count == 0) return;
  const int axis = normal_axis(c.attr_int(NEF_GATHER_ELEMENTS_AXIS), x.rank);
  const ElementIndices at("GatherElements", x, indices, axis);
  IndexFault fault("GatherElements", axis, x.dims[axis]);
  with_bits_type(x.element_size(), [&]<class T>(T) {
    auto* to = reinterpret_cast<T*>(y.data);
    const auto* from = reinterpret_cast<const T*>(x.data);
    parallel_for(indices.count, 8192, [&](int64_t begin, int64_t end) {
      at.visit(begin, end, fault, [=](int64_t k, int64_t i) { to[k] = from[i]; });
    });
  });
  fault.rethrow();
}

void run_gather_nd(const Call& c) {
  const View x = c.in(0), indices = c.in(1), y = c.out();
  const int batch_dims = static_cast<int>(c.attr_int(NEF_GATHER_ND_BATCH_DIMS));
  const IndexTuples tuples(x, indices, batch_dims);
  const int64_t batches = x.span(0, batch_dims);
  const int64_t per_batch = batches == 0 ? 0 : tuples.count() / batches;
  const int64_t batch_size = x.span(batch_dims, x.rank);
  const size_t size = x.element_size(), block = static_cast<size_t>(tuples.block()) * size;
  IndexFault fault("GatherND", 0, 0);
  parallel_for(batches * per_batch, copy_grain(block), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t offset = tuples.offset(t, fault);
      if (offset < 0 || block == 0) continue;
      const auto from = static_cast<size_t>(t / per_batch * batch_size + offset) * size;
      std::memcpy(y.data + static_cast<size_t>(t) * block, x.data + from, block);
    }
  });
  fault.rethrow();
}

// Index k of OneHot as a position in [0, depth), or -1: out of range selects nothing.
int64_t hot_position(const View& indices, int64_t k, int64_t depth) {
  int64_t index = -1;
  with_number_type(indices.dtype, [&]<class T>(T) {
    const T value = reinterpret_cast<const T*>(indices.data)[k];
    if constexpr (std::is_floating_point_v<T>) {
      index = saturate<int64_t>(value);
    } else {
      index = static_cast<int64_t>(value);
      if (std::is_same_v<T, uint64_t> && index < 0) index = INT64_MAX;
    }
  });
  return index == INT64_MIN ? -1 : wrap_index(index, depth);
}

template <class Widen>
int64_t hot_position_16(const View& indices, int64_t k, int64_t depth, Widen widen) {
  const float value = widen(reinterpret_cast<const uint16_t*>(indices.data)[k]);
  return wrap_index(saturate<int64_t>(value), depth);
}

int64_t hot_position_of(const View& indices, int64_t k, int64_t depth) {
  if (indices.dtype == NEF_FLOAT16) {
    return hot_position_16(indices, k, depth, backends::float_from_float16);
  }
  if (indices.dtype == NEF_BFLOAT16) {
    return hot_position_16(indices, k, depth, backends::float_from_bfloat16);
  }
  return hot_position(indices, k, depth);
}

void run_one_hot(const Call& c) {
  const View indices = c.in(0), values = c.in(2), y = c.out();
  if (y.count == 0) return;
  const int axis = normal_axis(c.attr_int(NEF_ONE_HOT_AXIS, -1), y.rank);
  const int64_t depth = y.dims[axis], inner = y.span(axis + 1, y.rank);
  const size_t size = y.element_size();
  fill(y.data, values.data, size, y.count);
  for (int64_t k = 0; k < indices.count; ++k) {
    const int64_t position = hot_position_of(indices, k, depth);
    if (position < 0) continue;
    const int64_t o = (k / inner * depth + position) * inner + k % inner;
    std::memcpy(y.data + static_cast<size_t>(o) * size, values.data + size, size);
  }
}

void run_reverse_sequence(const Call& c) {
  const View x = c.in(0), lengths = c.in(1), y = c.out();
  const int64_t time_axis = c.attr_int(NEF_REVERSE_SEQUENCE_TIME_AXIS, 0);
  const int64_t limit = x.dims[time_axis], batch = x.dims[1 - time_axis];
  for (int64_t i = 0; i < lengths.count; ++i) {
    const int64_t n = int_at(lengths, i);
    if (n >= 0 && n <= limit) continue;
    throw BackendError(NEF_OUT_OF_RANGE, "ReverseSequence: length " + std::to_string(n) +
                                             " is outside 0 to " + std::to_string(limit));
  }
  const size_t block = static_cast<size_t>(x.span(2, x.rank)) * x.element_size();
  if (block == 0) return;
  const int64_t time_step = time_axis == 0 ? batch : 1, batch_step = time_axis == 0 ? 1 : limit;
  parallel_for(batch * limit, copy_grain(block), [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) {
      const int64_t b = u / limit, time = u % limit, n = int_at(lengths, b);
      const int64_t from = time < n ? n - 1 - time : time;
      std::memcpy(y.data + static_cast<size_t>(b * batch_step + time * time_step) * block,
                  x.data + static_cast<size_t>(b * batch_step + from * time_step) * block, block);
    }
  });
}

}  // namespace

void register_indexing() {
  register_call(NEF_OP_GATHER, {"gather", run_gather});
  register_call(NEF_OP_GATHER_ELEMENTS, {"gather elements", run_gather_elements});
  register_call(NEF_OP_GATHER_ND, {"gather nd", run_gather_nd});
  register_call(NEF_OP_ONE_HOT, {"one hot", run_one_hot});
  register_call(NEF_OP_REVERSE_SEQUENCE, {"reverse sequence", run_reverse_sequence});
}

}  // namespace nef::cpu
