// SPDX-License-Identifier: Apache-2.0
// MatMulNBits: a few columns of weights at a time become floats in cache, then a product.
#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/matmul_nbits.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/quant.h"
#include "backends/shared/float8.h"

namespace nef::cpu {
namespace {

constexpr int64_t kFewRows = 8;
constexpr int64_t kColumnWork = 64 * 1024;  // weights of a task

// q[8 * i + ...]: the fields of `bytes` bytes, lowest bits first.
void unpack(const uint8_t* src, int64_t bits, int64_t count, uint8_t* q) {
  if (bits == 8) {
    std::memcpy(q, src, static_cast<size_t>(count));
  } else if (bits == 4) {
    for (int64_t i = 0; i < count / 2; ++i) {
      q[2 * i] = src[i] & 15;
      q[2 * i + 1] = src[i] >> 4;
    }
  } else {
    for (int64_t i = 0; i < count; ++i) q[i] = src[i / 4] >> i % 4 * 2 & 3;
  }
}

template <typename T>
class NBitsPrepared final : public Prepared {
 public:
  NBitsPrepared(const ValueTable& table, const NBitsSpec& spec)
      : table_(table), spec_(spec), slots_(task_slots()) {
    native_ = table.dtype(spec.a) == (sizeof(T) == 8 ? NEF_FLOAT64 : NEF_FLOAT32);
    const int64_t wanted = std::max<int64_t>(1, kColumnWork / std::max<int64_t>(1, spec.k));
    columns_ = std::min(round_up(std::min(wanted, spec.n), gemm_ops<T>().nr), int64_t{256});
  }

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, rows(values));
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const int64_t m = rows(values);
    if (m == 0) return;
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, m);
    const T* a = static_cast<const T*>(table_.data(values, spec_.a));
    T* c = static_cast<T*>(values[spec_.y].data);
    if (!native_) {
      load_row(table_.dtype(spec_.a), table_.data(values, spec_.a), 0, m * spec_.k, p.a);
      a = p.a;
      c = p.c;
    }
    const int64_t tasks = ceil_div(spec_.n, columns_);
    run_tasks(slots_, tasks, [&](int64_t slot, int64_t task) {
      const int64_t first = task * columns_, n = std::min(columns_, spec_.n - first);
      T* weights = p.weights + slot * columns_ * spec_.k;
      for (int64_t j = 0; j < n; ++j) {
        fill_column(values, first + j, weights + j * spec_.k, p.q + slot * spec_.block);
      }
      multiply(a, m, weights, n, c + first, p, slot);
      add_bias(values, first, n, m, c + first);
    });
    if (!native_) store_row(table_.dtype(spec_.y), c, m * spec_.n, values[spec_.y].data, 0);
  }

 private:
  struct Pieces {
    T *a, *c, *weights, *packed, *a_buffer;
    uint8_t* q;
  };

  int64_t rows(const Tensor* values) const {
    return backends::element_count(values[spec_.a].dims, table_.rank(spec_.a) - 1);
  }
  Pieces carve(ScratchLayout& layout, int64_t m) const {
    Pieces p{};
    if (!native_) {
      p.a = layout.take<T>(m * spec_.k);
      p.c = layout.take<T>(m * spec_.n);
    }
    p.weights = layout.take<T>(slots_ * columns_ * spec_.k);
    p.q = layout.take<uint8_t>(slots_ * spec_.block);
    if (m <= kFewRows) return p;
    p.packed = layout.take<T>(slots_ * packed_b_size<T>(spec_.k, columns_));
    if (packs_a(m)) p.a_buffer = layout.take<T>(slots_ * gemm_a_buffer<T>(blocking_, m, spec_.k));
    return p;
  }
  bool packs_a(int64_t m) const { return wants_packed_a<T>(m, columns_, spec_.k, 1); }

  void fill_column(const Tensor* values, int64_t column, T* out, uint8_t* q) const {
    const auto* b = static_cast<const uint8_t*>(table_.data(values, spec_.b));
    b += column * spec_.row_bytes();
    if (backends::is_float8(table_.dtype(spec_.b))) return fill_float8(values, column, b, out);
    for (int64_t at = 0; at < spec_.blocks(); ++at) {
      unpack(b + at * spec_.block * spec_.bits / 8, spec_.bits, spec_.block, q);
      const T s = nbits_scale<T>(table_, spec_, values, column, at);
      const T z = nbits_zero<T>(table_, spec_, values, column, at);
      const int64_t n = std::min(spec_.block, spec_.k - at * spec_.block);
      T* w = out + at * spec_.block;
      int64_t i = 0;
      for (; i + 8 <= n; i += 8) {
        for (int64_t l = 0; l < 8; ++l) w[i + l] = (static_cast<T>(q[i + l]) - z) * s;
      }
      for (; i < n; ++i) w[i] = (static_cast<T>(q[i]) - z) * s;
    }
  }

  // Of weights that are floats already.
  void fill_float8(const Tensor* values, int64_t column, const uint8_t* codes, T* out) const {
    load_row(table_.dtype(spec_.b), codes, 0, spec_.k, out);
    for (int64_t at = 0; at < spec_.blocks(); ++at) {
      const T s = nbits_scale<T>(table_, spec_, values, column, at);
      const int64_t end = std::min((at + 1) * spec_.block, spec_.k);
      for (int64_t k = at * spec_.block; k < end; ++k) out[k] *= s;
    }
  }

  void multiply(const T* a, int64_t m, const T* weights, int64_t n, T* c, const Pieces& p,
                int64_t slot) const {
    const auto& ops = gemm_ops<T>();
    if (m <= kFewRows) {
      ops.dots(a, spec_.k, weights, spec_.k, m, n, spec_.k, c, spec_.n);
      return;
    }
    T* packed = p.packed + slot * packed_b_size<T>(spec_.k, columns_);
    ops.pack_b(weights, 1, spec_.k, spec_.k, n, packed);
    GemmBlock<T> g;
    g.m = m;
    g.n = n;
    g.k = spec_.k;
    g.a = a;
    g.a_row = spec_.k;
    if (packs_a(m)) g.a_buffer = p.a_buffer + slot * gemm_a_buffer<T>(blocking_, m, spec_.k);
    g.b = packed;
    g.c = c;
    g.ldc = spec_.n;
    g.blocking = blocking_;
    ops.block(g);
  }

  void add_bias(const Tensor* values, int64_t first, int64_t n, int64_t m, T* c) const {
    if (spec_.bias < 0) return;
    for (int64_t j = 0; j < n; ++j) {
      T bias;
      load_row(table_.dtype(spec_.bias), table_.data(values, spec_.bias), first + j, 1, &bias);
      for (int64_t i = 0; i < m; ++i) c[i * spec_.n + j] += bias;
    }
  }

  ValueTable table_;
  NBitsSpec spec_;
  int64_t slots_, columns_ = 0;
  GemmBlocking blocking_;
  bool native_ = true;
};

class NBitsKernel final : public Kernel {
 public:
  explicit NBitsKernel(const Region& region) : table_(region) {
    const Node& node = region.nodes[0];
    const int64_t* attrs = node.attrs();
    const auto in = [&](size_t i) { return node.has_input(i) ? node.inputs[i] : -1; };
    spec_ = {in(0),
             in(1),
             in(2),
             in(3),
             in(4),
             node.outputs[0],
             nef_attr_int(attrs, NEF_MATMUL_NBITS_K, 0),
             nef_attr_int(attrs, NEF_MATMUL_NBITS_N, 0),
             nef_attr_int(attrs, NEF_MATMUL_NBITS_BITS, 4),
             nef_attr_int(attrs, NEF_MATMUL_NBITS_BLOCK_SIZE, 32)};
    packs_ = packs_nbits(table_, spec_);
    bytes_ =
        packs_ && region.precision == NEF_PRECISION_FAST && table_.dtype(spec_.a) == NEF_FLOAT32;
  }
  const char* name() const override {
    return bytes_ ? "matmul of packed weights by bytes" : "matmul of packed weights";
  }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    if (packs_) return make_packed_nbits(table_, spec_, bytes_, values);
    if (table_.dtype(spec_.a) == NEF_FLOAT64) {
      return std::make_unique<NBitsPrepared<double>>(table_, spec_);
    }
    return std::make_unique<NBitsPrepared<float>>(table_, spec_);
  }

 private:
  ValueTable table_;
  NBitsSpec spec_{};
  bool packs_ = false, bytes_ = false;
};

std::unique_ptr<Kernel> make_nbits(const Region& region, std::string*) {
  return std::make_unique<NBitsKernel>(region);
}

}  // namespace

template <typename T>
T nbits_scale(const ValueTable& table, const NBitsSpec& spec, const Tensor* values, int64_t column,
              int64_t at) {
  T out;
  load_row(table.dtype(spec.scales), table.data(values, spec.scales), column * spec.blocks() + at,
           1, &out);
  return out;
}
template float nbits_scale<float>(const ValueTable&, const NBitsSpec&, const Tensor*, int64_t,
                                  int64_t);

template <typename T>
T nbits_zero(const ValueTable& table, const NBitsSpec& spec, const Tensor* values, int64_t column,
             int64_t at) {
  if (spec.zeros < 0) return static_cast<T>(1 << (spec.bits - 1));
  const void* data = table.data(values, spec.zeros);
  if (table.dtype(spec.zeros) != NEF_UINT8) {
    T out;
    load_row(table.dtype(spec.zeros), data, column * spec.blocks() + at, 1, &out);
    return out;
  }
  const int64_t row_bytes = (spec.blocks() * spec.bits + 7) / 8, bit = at * spec.bits;
  const uint8_t byte = static_cast<const uint8_t*>(data)[column * row_bytes + bit / 8];
  return static_cast<T>(byte >> bit % 8 & ((1 << spec.bits) - 1));
}
template float nbits_zero<float>(const ValueTable&, const NBitsSpec&, const Tensor*, int64_t,
                                 int64_t);

void register_matmul_nbits() { register_op(NEF_OP_MATMUL_NBITS, make_nbits); }

}  // namespace nef::cpu
