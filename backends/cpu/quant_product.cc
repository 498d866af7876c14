// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul. On AMX or VNNI, with a constant b, bytes are multiplied as they
// are, and what the zero points bring is taken off the sums. Elsewhere both operands become int16
// less their zero points, b column by column (once, when it is constant).
#include <algorithm>
#include <cstring>

#include "backends/cpu/amx.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/int_dot.h"
#include "backends/cpu/matmul_batched.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/quant.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTaskRows = 32;
constexpr int64_t kTaskWork = 128 * 1024;
constexpr int64_t kAmxColumns = 8;  // fewer leave most of a tile empty
constexpr int64_t kAmxRows = 256;   // of a task
constexpr int64_t kAmxWork = 1024 * 1024;

struct ProductIds {
  bool quantized = false;  // QLinearMatMul
  int32_t a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, y;
};
ProductIds ids_of(const Node& node) {
  const auto in = [&](size_t i) { return node.has_input(i) ? node.inputs[i] : -1; };
  const int32_t y = node.outputs[0];
  if (node.op == NEF_OP_MATMUL_INTEGER) {
    return {false, in(0), -1, in(2), in(1), -1, in(3), -1, -1, y};
  }
  return {true, in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), y};
}

class ProductPrepared final : public Prepared {
 public:
  ProductPrepared(const ValueTable& table, const ProductIds& ids, const Tensor* constants)
      : table_(table), ids_(ids), slots_(task_slots()) {
    const bool fixed_zero = ids.b_zero < 0 || table.constant(ids.b_zero);
    if (!table.constant(ids.b) || !fixed_zero) return;
    const Sizes s = b_sizes(constants);
    if (s.n >= kAmxColumns) amx_ = amx_byte_ops();
    if (amx_ != nullptr) {
      pack_for_amx(constants, s);
      return;
    }
    packed_ = AlignedBuffer<int16_t>(s.matrices * s.n * s.depth);
    for (int64_t i = 0; i < s.matrices * s.n; ++i) pack_column(constants, s, i, packed_.data());
  }

  uint64_t packed_bytes() const override {
    return packed_.bytes() + amx_b_.bytes() + column_sums_.size() * sizeof(int32_t);
  }
  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, product_shape(values), b_sizes(values));
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const MatmulShape shape = product_shape(values);
    if (shape.batches * shape.m * shape.n == 0) return;
    const Sizes s = b_sizes(values);
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, shape, s);
    if (amx_ != nullptr) return run_on_amx(values, shape, s, p);
    const int16_t* b = packed_.data();
    if (b == nullptr) {
      parallel_for(s.matrices * s.n, std::max<int64_t>(1, kTaskWork / s.depth),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) pack_column(values, s, i, p.b);
                   });
      b = p.b;
    }
    const int64_t blocks = (shape.m + kTaskRows - 1) / kTaskRows;
    run_tasks(slots_, shape.batches * blocks, [&](int64_t slot, int64_t task) {
      const int64_t first = task % blocks * kTaskRows;
      run_rows(values, shape, s, task / blocks, first, std::min(kTaskRows, shape.m - first), b,
               p.a + slot * kTaskRows * s.depth, p.sums + slot * kTaskRows * s.n);
    });
  }

 private:
  struct Sizes {
    int64_t k, n, matrices, depth;
  };
  struct Pieces {
    int16_t *b, *a;
    uint8_t* amx_a;
    int32_t* sums;
  };

  MatmulShape product_shape(const Tensor* values) const {
    return matmul_shape(values[ids_.a].dims, table_.rank(ids_.a), values[ids_.b].dims,
                        table_.rank(ids_.b), false, false);
  }
  Sizes b_sizes(const Tensor* values) const {
    const int64_t* dims = values[ids_.b].dims;
    const int rank = table_.rank(ids_.b);
    const int64_t k = rank == 1 ? dims[0] : dims[rank - 2], n = rank == 1 ? 1 : dims[rank - 1];
    return {k, n, backends::element_count(dims, std::max(rank - 2, 0)),
            std::max<int64_t>(int_dot_depth(k), kIntDotPad)};
  }

  Pieces carve(ScratchLayout& layout, const MatmulShape& shape, const Sizes& s) const {
    Pieces p{};
    if (amx_ != nullptr) {
      if (!amx_->reads_rows(shape.m, s.k)) {
        p.amx_a = layout.take<uint8_t>(slots_ * amx_a_bytes(kAmxRows, s.k));
      }
      if (ids_.quantized) p.sums = layout.take<int32_t>(slots_ * kAmxRows * s.n);
      return p;
    }
    if (packed_.data() == nullptr) p.b = layout.take<int16_t>(s.matrices * s.n * s.depth);
    p.a = layout.take<int16_t>(slots_ * kTaskRows * s.depth);
    p.sums = layout.take<int32_t>(slots_ * kTaskRows * s.n);
    return p;
  }

  View view(const Tensor* values, int32_t id) const {
    const int64_t* dims = values[id].dims;
    return {table_.dtype(id), table_.rank(id), dims,
            const_cast<char*>(static_cast<const char*>(table_.data(values, id))),
            table_.count(values, id)};
  }
  // The place in a scale or zero point of line `line` of matrix `matrix`, of `lines`. A batch of a
  // against one matrix b is a single tall matrix here, so `line` may go on into the next one.
  int64_t place(const Tensor* values, int32_t id, int64_t matrix, int64_t line,
                int64_t lines) const {
    if (table_.count(values, id) == 1) return 0;
    return table_.rank(id) == 1 ? line % lines : matrix * lines + line;
  }
  int64_t zero_at(const Tensor* values, int32_t id, int64_t matrix, int64_t line,
                  int64_t lines) const {
    return id < 0 ? 0 : int_at(view(values, id), place(values, id, matrix, line, lines));
  }
  double scale_at(const Tensor* values, int32_t id, int64_t matrix, int64_t line,
                  int64_t lines) const {
    double out = 0;
    load_row(table_.dtype(id), table_.data(values, id), place(values, id, matrix, line, lines), 1,
             &out);
    return out;
  }

  int64_t row_count(const Tensor* values) const {
    const int rank = table_.rank(ids_.a);
    return rank == 1 ? 1 : values[ids_.a].dims[rank - 2];
  }
  int64_t a_zero_at(const Tensor* values, int64_t row) const {
    return zero_at(values, ids_.a_zero, 0, row, row_count(values));
  }

  void pack_column(const Tensor* values, const Sizes& s, int64_t column, int16_t* out) const {
    const int64_t matrix = column / s.n, j = column % s.n;
    int16_t* row = out + column * s.depth;
    widen_to_int16(table_.dtype(ids_.b), table_.data(values, ids_.b), matrix * s.k * s.n + j, s.n,
                   s.k, zero_at(values, ids_.b_zero, matrix, j, s.n), row);
    std::fill(row + s.k, row + s.depth, int16_t{0});
  }

  void run_rows(const Tensor* values, const MatmulShape& shape, const Sizes& s, int64_t batch,
                int64_t first, int64_t rows, const int16_t* b, int16_t* a, int32_t* sums) const {
    const int64_t ma = shape.a_matrix(batch), mb = shape.b_matrix(batch);
    for (int64_t i = 0; i < rows; ++i) {
      int16_t* row = a + i * s.depth;
      widen_to_int16(table_.dtype(ids_.a), table_.data(values, ids_.a),
                     (ma * shape.m + first + i) * s.k, 1, s.k,
                     a_zero_at(values, ma * shape.m + first + i), row);
      std::fill(row + s.k, row + s.depth, int16_t{0});
    }
    const int64_t at = (batch * shape.m + first) * s.n;
    if (!ids_.quantized) {
      auto* out = static_cast<int32_t*>(values[ids_.y].data) + at;
      int_dot()(a, b + mb * s.n * s.depth, rows, s.n, s.depth, out, s.n);
      return;
    }
    int_dot()(a, b + mb * s.n * s.depth, rows, s.n, s.depth, sums, s.n);
    quantize_rows(values, s, ma * shape.m + first, mb, rows, 0, s.n, sums, at);
  }

  // Rows of sums, `n` columns from `col` on, to elements of y from `at` on; `line` is the first
  // row's number among all of a.
  void quantize_rows(const Tensor* values, const Sizes& s, int64_t line, int64_t mb, int64_t rows,
                     int64_t col, int64_t n, const int32_t* sums, int64_t at) const {
    const double y_scale = scale_at(values, ids_.y_scale, 0, 0, 1);
    const int64_t zero = zero_at(values, ids_.y_zero, 0, 0, 1);
    const bool same = table_.count(values, ids_.b_scale) == 1;
    for (int64_t i = 0; i < rows; ++i) {
      const double sa = scale_at(values, ids_.a_scale, 0, line + i, row_count(values));
      // Row by row with one factor, or element by element with one per column.
      for (int64_t j = 0; j < n; j += same ? n : 1) {
        const double factor = sa * scale_at(values, ids_.b_scale, mb, col + j, s.n) / y_scale;
        store_quantized(table_.dtype(ids_.y), sums + i * n + j, same ? n : 1, factor, zero,
                        values[ids_.y].data, at + i * s.n + j);
      }
    }
  }

  // ---- AMX

  const uint8_t* bytes(const Tensor* values, int32_t id) const {
    return static_cast<const uint8_t*>(table_.data(values, id));
  }
  bool is_signed(int32_t id) const { return table_.dtype(id) == NEF_INT8; }
  static int32_t add_bytes(const uint8_t* x, int64_t step, int64_t n, bool is_signed) {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += is_signed ? static_cast<int8_t>(x[i * step]) : x[i * step];
    }
    return sum;
  }

  void pack_for_amx(const Tensor* constants, const Sizes& s) {
    amx_b_ = AlignedBuffer<uint8_t>(s.matrices * amx_b_bytes(s.k, s.n));
    for (int64_t i = 0; i < s.matrices; ++i) {
      const uint8_t* b = bytes(constants, ids_.b) + i * s.k * s.n;
      amx_->pack_b_bytes(b, s.n, s.k, s.n, amx_b_.data() + i * amx_b_bytes(s.k, s.n));
      for (int64_t j = 0; j < s.n; ++j) {
        column_sums_.push_back(add_bytes(b + j, s.n, s.k, is_signed(ids_.b)));
        column_zeros_.push_back(static_cast<int32_t>(zero_at(constants, ids_.b_zero, i, j, s.n)));
        b_moved_ = b_moved_ || column_zeros_.back() != 0;
      }
    }
  }

  // Rows and columns of a task: rows are split first, as each task packs its rows of a.
  struct Cut {
    int64_t rows, cols;
  };
  Cut cut(const MatmulShape& shape, const Sizes& s) const {
    Cut c{std::min(round_up(shape.m, kAmxTile), kAmxRows), s.n};
    const auto wants_more = [&] {
      const int64_t tasks = shape.batches * ceil_div(shape.m, c.rows) * ceil_div(s.n, c.cols);
      return slots_ > 1 && tasks < 2 * slots_ && c.rows * c.cols * s.k >= 2 * kAmxWork;
    };
    while (c.rows > kAmxPanel && wants_more()) c.rows = round_up(c.rows / 2, kAmxPanel);
    while (c.cols > kAmxPanel && wants_more()) c.cols = round_up(c.cols / 2, kAmxPanel);
    return c;
  }

  void run_on_amx(const Tensor* values, const MatmulShape& shape, const Sizes& s,
                  const Pieces& p) const {
    const Cut size = cut(shape, s);
    const int64_t down = ceil_div(shape.m, size.rows), across = ceil_div(s.n, size.cols);
    run_tasks(slots_, shape.batches * down * across, [&](int64_t slot, int64_t task) {
      const int64_t batch = task / across / down;
      const int64_t row = task / across % down * size.rows, col = task % across * size.cols;
      AmxByteBlock g;
      g.m = std::min(size.rows, shape.m - row);
      g.n = std::min(size.cols, s.n - col);
      run_block_on_amx(values, shape, s, batch, row, col, g,
                       p.amx_a == nullptr ? nullptr : p.amx_a + slot * amx_a_bytes(kAmxRows, s.k),
                       ids_.quantized ? p.sums + slot * kAmxRows * s.n : nullptr);
    });
  }

  // g.m rows and g.n columns of a batch's product.
  void run_block_on_amx(const Tensor* values, const MatmulShape& shape, const Sizes& s,
                        int64_t batch, int64_t row, int64_t col, AmxByteBlock g, uint8_t* a,
                        int32_t* sums) const {
    const int64_t line = shape.a_matrix(batch) * shape.m + row, mb = shape.b_matrix(batch);
    const int64_t at = (batch * shape.m + row) * s.n + col;
    const uint8_t* src = bytes(values, ids_.a) + line * s.k;
    g.k = s.k;
    if (amx_->reads_rows(shape.m, s.k)) {
      g.a = src;
      g.a_row = s.k;
    } else {
      amx_->pack_a_bytes(src, s.k, g.m, s.k, a);
      g.a = a;
    }
    g.b = amx_b_.data() + mb * amx_b_bytes(s.k, s.n) + col * amx_byte_depth(s.k);
    g.a_signed = is_signed(ids_.a);
    g.b_signed = is_signed(ids_.b);
    g.c = ids_.quantized ? sums : static_cast<int32_t*>(values[ids_.y].data) + at;
    g.ldc = ids_.quantized ? g.n : s.n;
    amx_->block_bytes(g);
    for (int64_t i = 0; (b_moved_ || ids_.a_zero >= 0) && i < g.m; ++i) {
      take_zeros_off(s, a_zero_at(values, line + i), src + i * s.k, mb * s.n + col, g.n,
                     g.c + i * g.ldc);
    }
    if (ids_.quantized) quantize_rows(values, s, line, mb, g.m, col, g.n, sums, at);
  }

  // (a - za)(b - zb) = a b - za b - zb (a - za), summed along k; wraps. `first` counts the columns
  // of all matrices b.
  void take_zeros_off(const Sizes& s, int64_t a_zero, const uint8_t* row, int64_t first, int64_t n,
                      int32_t* c) const {
    if (a_zero == 0 && !b_moved_) return;
    uint32_t part = 0;
    if (b_moved_) {
      part = static_cast<uint32_t>(add_bytes(row, 1, s.k, is_signed(ids_.a))) -
             static_cast<uint32_t>(a_zero) * static_cast<uint32_t>(s.k);
    }
    amx_->take_zeros_off(n, static_cast<int32_t>(a_zero), column_sums_.data() + first,
                         static_cast<int32_t>(part),
                         b_moved_ ? column_zeros_.data() + first : nullptr, c);
  }

  ValueTable table_;
  ProductIds ids_;
  int64_t slots_;
  AlignedBuffer<int16_t> packed_;
  const AmxOps* amx_ = nullptr;
  AlignedBuffer<uint8_t> amx_b_;
  std::vector<int32_t> column_sums_, column_zeros_;  // of every matrix b
  bool b_moved_ = false;                             // is a zero of b not 0?
};

class ProductKernel final : public Kernel {
 public:
  explicit ProductKernel(const Region& region) : table_(region), ids_(ids_of(region.nodes[0])) {}
  const char* name() const override { return "quantised matmul"; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<ProductPrepared>(table_, ids_, values);
  }

 private:
  ValueTable table_;
  ProductIds ids_;
};

std::unique_ptr<Kernel> make_product(const Region& region, std::string*) {
  return std::make_unique<ProductKernel>(region);
}

}  // namespace

void store_quantized(nef_dtype dtype, const int32_t* sums, int64_t n, double factor, int64_t zero,
                     void* dst, int64_t offset) {
  if (dtype == NEF_INT8) {
    auto* y = static_cast<int8_t*>(dst) + offset;
    for (int64_t i = 0; i < n; ++i) y[i] = quantize_one<int8_t>(sums[i] * factor, zero);
    return;
  }
  auto* y = static_cast<uint8_t*>(dst) + offset;
  for (int64_t i = 0; i < n; ++i) y[i] = quantize_one<uint8_t>(sums[i] * factor, zero);
}

void widen_to_int16(nef_dtype dtype, const void* src, int64_t offset, int64_t step, int64_t n,
                    int64_t zero, int16_t* out) {
  const auto z = static_cast<int16_t>(zero);
  if (dtype == NEF_INT8) {
    const auto* x = static_cast<const int8_t*>(src) + offset;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(x[i * step] - z);
    return;
  }
  const auto* x = static_cast<const uint8_t*>(src) + offset;
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(x[i * step] - z);
}

void register_quant_products() {
  for (nef_op op : {NEF_OP_MATMUL_INTEGER, NEF_OP_QLINEAR_MATMUL}) register_op(op, make_product);
}

void register_quant() {
  register_quant_convert();
  register_quant_products();
  register_quant_conv();
  register_matmul_nbits();
}

}  // namespace nef::cpu
