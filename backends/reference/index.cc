// SPDX-License-Identifier: Apache-2.0
// Ops that read or write where their indices say. Every index is checked before it is used.
#include "backends/reference/call.h"

namespace nef::reference {
namespace {

void copy_block(const View& y, int64_t o, const View& x, int64_t i, int64_t count) {
  const size_t size = y.element_size();
  if (count == 0) return;
  std::memcpy(y.data + static_cast<size_t>(o) * size, x.data + static_cast<size_t>(i) * size,
              static_cast<size_t>(count) * size);
}

void run_gather(const Call& c) {
  const View x = c.in(0), indices = c.in(1), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_GATHER_AXIS), x.rank);
  const int64_t n = x.dims[axis], inner = span_count(x, axis + 1, x.rank);
  const int64_t outer = span_count(x, 0, axis);
  for (int64_t k = 0; k < indices.count; ++k) {
    const int64_t i = checked_index("Gather", load_int(indices, k), axis, n);
    for (int64_t o = 0; o < outer; ++o) {
      copy_block(y, (o * indices.count + k) * inner, x, (o * n + i) * inner, inner);
    }
  }
}

// f(index of an element of `indices`, matching index into data) for Gather- and ScatterElements.
template <typename F>
void for_element_indices(const char* op, const View& data, const View& indices, int axis, F f) {
  if (indices.count == 0) return;
  for (int d = 0; d < data.rank; ++d) {
    if (d == axis || indices.dims[d] <= data.dims[d]) continue;
    throw BackendError(NEF_SHAPE_MISMATCH, std::string(op) + ": indices have size " +
                                               std::to_string(indices.dims[d]) + " on axis " +
                                               std::to_string(d) + ", the data only " +
                                               std::to_string(data.dims[d]));
  }
  const Strides dense = dense_strides(data.dims, data.rank);
  Coords at(indices.dims, indices.rank);
  for (int64_t k = 0; k < indices.count; ++k, at.next()) {
    const int64_t i = checked_index(op, load_int(indices, k), axis, data.dims[axis]);
    f(k, dense.offset(at) + (i - at.at[axis]) * dense.by[axis]);
  }
}

void run_gather_elements(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_GATHER_ELEMENTS_AXIS), x.rank);
  for_element_indices("GatherElements", x, c.in(1), axis,
                      [&](int64_t k, int64_t i) { copy_element(y, k, x, i); });
}

// Index tuples along the last axis of `indices`, for the axes of data from `first` on.
class Tuples {
 public:
  Tuples(const char* op, const View& data, const View& indices, int first)
      : op_(op),
        data_(data),
        indices_(indices),
        first_(first),
        length_(indices.dims[indices.rank - 1]),
        dense_(dense_strides(data.dims, data.rank)),
        block_(span_count(data, first + static_cast<int>(length_), data.rank)) {}
  int64_t count() const { return span_count(indices_, 0, indices_.rank - 1); }
  int64_t block() const { return block_; }  // elements that one tuple addresses
  int64_t offset(int64_t tuple) const {
    int64_t sum = 0;
    for (int64_t k = 0; k < length_; ++k) {
      const int axis = first_ + static_cast<int>(k);
      const int64_t i = load_int(indices_, tuple * length_ + k);
      sum += checked_index(op_, i, axis, data_.dims[axis]) * dense_.by[axis];
    }
    return sum;
  }

 private:
  const char* op_;
  View data_, indices_;
  int first_;
  int64_t length_;
  Strides dense_;
  int64_t block_;
};

void run_gather_nd(const Call& c) {
  const View x = c.in(0), indices = c.in(1), y = c.out();
  const int batch_dims = static_cast<int>(c.attr_int(NEF_GATHER_ND_BATCH_DIMS));
  const Tuples tuples("GatherND", x, indices, batch_dims);
  const int64_t batches = span_count(x, 0, batch_dims);
  const int64_t per_batch = batches == 0 ? 0 : tuples.count() / batches;
  const int64_t batch_size = span_count(x, batch_dims, x.rank);
  for (int64_t t = 0; t < batches * per_batch; ++t) {
    copy_block(y, t * tuples.block(), x, t / per_batch * batch_size + tuples.offset(t),
               tuples.block());
  }
}

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

Reduction reduction(std::string_view name) {
  if (name == "add") return Reduction::kAdd;
  if (name == "mul") return Reduction::kMul;
  if (name == "max") return Reduction::kMax;
  return name == "min" ? Reduction::kMin : Reduction::kNone;
}

void combine_element(Reduction how, const View& y, int64_t o, const View& updates, int64_t i) {
  if (how == Reduction::kNone) return copy_element(y, o, updates, i);
  with_domain(y.dtype, [&]<typename D>(D) {
    const D old = load<D>(y, o), update = load<D>(updates, i);
    switch (how) {
      case Reduction::kAdd: return store<D>(y, o, add(old, update));
      case Reduction::kMul: return store<D>(y, o, multiply(old, update));
      case Reduction::kMax: return store<D>(y, o, larger(old, update));
      default: return store<D>(y, o, smaller(old, update));
    }
  });
}

void run_scatter_elements(const Call& c) {
  const View x = c.in(0), updates = c.in(2), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_SCATTER_ELEMENTS_AXIS), x.rank);
  const Reduction how = reduction(c.attr_string(NEF_SCATTER_ELEMENTS_REDUCTION));
  copy_block(y, 0, x, 0, x.count);
  for_element_indices("ScatterElements", x, c.in(1), axis,
                      [&](int64_t k, int64_t i) { combine_element(how, y, i, updates, k); });
}

void run_scatter_nd(const Call& c) {
  const View x = c.in(0), indices = c.in(1), updates = c.in(2), y = c.out();
  const Reduction how = reduction(c.attr_string(NEF_SCATTER_ND_REDUCTION));
  copy_block(y, 0, x, 0, x.count);
  const Tuples tuples("ScatterND", x, indices, 0);
  for (int64_t t = 0; t < tuples.count(); ++t) {
    const int64_t base = tuples.offset(t);
    for (int64_t k = 0; k < tuples.block(); ++k) {
      combine_element(how, y, base + k, updates, t * tuples.block() + k);
    }
  }
}

// Unlike elsewhere an index out of range is legal: it selects nothing.
void run_one_hot(const Call& c) {
  const View indices = c.in(0), values = c.in(2), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_ONE_HOT_AXIS, -1), y.rank);
  const int64_t depth = y.dims[axis], inner = span_count(y, axis + 1, y.rank);
  for (int64_t o = 0; o < y.count; ++o) {
    const int64_t position = o / inner % depth;
    const int64_t k = o / inner / depth * inner + o % inner;
    int64_t index = is_float(indices.dtype) ? saturate(load_float(indices, k), NEF_INT64)
                                            : load_int(indices, k);
    // A uint64 past INT64_MAX looks negative here, and is out of range.
    const bool huge = indices.dtype == NEF_UINT64 && index < 0;
    if (index < 0) index += depth;
    copy_element(y, o, values, !huge && index == position ? 1 : 0);
  }
}

bool is_zero(const View& x, int64_t i) {
  return is_float(x.dtype) ? load_float(x, i) == 0 : load_int(x, i) == 0;
}

void size_nonzero(const Call& c, int64_t* const* dims) {
  const View x = c.in(0);
  int64_t found = 0;
  for (int64_t i = 0; i < x.count; ++i) found += is_zero(x, i) ? 0 : 1;
  dims[0][0] = x.rank;
  dims[0][1] = found;
}

// The caller has asked for the count; it must still be right.
void run_nonzero(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t room = y.dims[1];
  int64_t found = 0;
  Coords at(x.dims, x.rank);
  for (int64_t i = 0; i < x.count; ++i, at.next()) {
    if (is_zero(x, i)) continue;
    for (int d = 0; d < x.rank && found < room; ++d) store_int(y, d * room + found, at.at[d]);
    ++found;
  }
  if (found == room) return;
  throw BackendError(NEF_SHAPE_MISMATCH, "NonZero: " + std::to_string(found) +
                                             " elements are not zero, the output has room for " +
                                             std::to_string(room));
}

constexpr Kernel kKernels[] = {
    {NEF_OP_GATHER, run_gather},
    {NEF_OP_GATHER_ELEMENTS, run_gather_elements},
    {NEF_OP_GATHER_ND, run_gather_nd},
    {NEF_OP_SCATTER_ELEMENTS, run_scatter_elements},
    {NEF_OP_SCATTER_ND, run_scatter_nd},
    {NEF_OP_ONE_HOT, run_one_hot},
    {NEF_OP_NONZERO, run_nonzero, nullptr, size_nonzero},
};

}  // namespace

std::span<const Kernel> index_kernels() { return kKernels; }

}  // namespace nef::reference
