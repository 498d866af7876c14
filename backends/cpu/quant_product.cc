// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul. On AMX or VNNI bytes are multiplied as they are, and what the
// zero points bring is taken off the sums. Elsewhere both operands become int16 less their zero
// points. A constant b is packed once.
#include <algorithm>
#include <cstring>

#include "backends/cpu/amx.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/int_dot.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/quant.h"
#include "backends/cpu/quant_round.h"
#include "backends/cpu/transpose_kernels.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTaskRows = 32;
constexpr int64_t kAmxColumns = 8;  // fewer leave most of a tile empty
constexpr int64_t kAmxRows = 256;   // of a task
constexpr int64_t kAmxWork = 1024 * 1024;
constexpr int64_t kScales = 256;  // of columns, that are float64 at a time

struct ProductIds {
  bool quantized = false;  // QLinearMatMul
  int32_t a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, y;

  // What the operands of the product itself are, as they lie.
  MatmulSpec spec() const {
    MatmulSpec out;
    out.a = a;
    out.b = b;
    out.out = y;
    return out;
  }
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
  ProductPrepared(const MatmulValues& matmul, const ProductIds& ids, const Tensor* constants)
      : table_(matmul.table()), matmul_(matmul), ids_(ids), slots_(task_slots()) {
    const ValueTable& table = table_;
    const bool fixed_zero = ids.b_zero < 0 || table.constant(ids.b_zero);
    const bool constant = table.constant(ids.b) && fixed_zero;
    const Sizes s = constant ? b_sizes(constants) : Sizes{};
    if (!constant || !worth_keeping(s)) {
      amx_ = amx_byte_ops();
      return;
    }
    if (s.n >= kAmxColumns) amx_ = amx_byte_ops();
    if (amx_ != nullptr) {
      pack_for_amx(constants, s);
      return;
    }
    packed_ = AlignedBuffer<int16_t>(s.matrices * s.n * s.depth);
    for (int64_t i = 0; i < s.matrices * s.n; ++i) {
      const int64_t matrix = i / s.n, j = i % s.n;
      pack_column(constants, s, i, table.data(constants, ids.b), matrix * s.k * s.n + j, s.n,
                  packed_.data());
    }
  }

  uint64_t packed_bytes() const override {
    return packed_.bytes() + amx_b_.bytes() +
           (column_sums_.size() + column_zeros_.size()) * sizeof(int32_t);
  }
  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, matmul_.shape(values).m, b_sizes(values));
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const MatmulPlaces places = matmul_.places(values);
    const MatmulShape& shape = places.s;
    if (shape.batches * shape.m * shape.n == 0) return;
    const Sizes s = b_sizes(values);
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, shape.m, s);
    if (amx_ != nullptr) {
      if (amx_b_.data() != nullptr) return run_on_amx(values, places, s, p, amx_fixed_);
      return run_on_amx(values, places, s, p, pack_for_amx(values, places, s, p));
    }
    const int16_t* b = packed_.data();
    if (b == nullptr) {
      const int64_t across = ceil_div(s.n, kTaskRows);
      run_tasks(slots_, s.matrices * across, [&](int64_t slot, int64_t task) {
        const int64_t first = task % across * kTaskRows;
        pack_columns(values, places, s, task / across, first, std::min(kTaskRows, s.n - first),
                     p.lines + slot * kTaskRows * s.k, p.b);
      });
      b = p.b;
    }
    const int64_t blocks = (shape.m + kTaskRows - 1) / kTaskRows;
    run_tasks(slots_, shape.batches * blocks, [&](int64_t slot, int64_t task) {
      const int64_t first = task % blocks * kTaskRows;
      run_rows(values, places, s, task / blocks, first, std::min(kTaskRows, shape.m - first), b,
               p.a + slot * kTaskRows * s.depth, p.lines + slot * kTaskRows * s.k,
               p.sums + slot * kTaskRows * s.n);
    });
  }

 private:
  struct Sizes {
    int64_t k, n, matrices, depth;
  };
  struct Pieces {
    int16_t *b, *a;
    uint8_t *amx_a, *amx_b, *lines;
    int32_t *sums, *column_sums, *column_zeros;
  };
  // Packed matrices, and of each of their columns the sum and the zero point.
  struct AmxB {
    const uint8_t* packed = nullptr;
    const int32_t *sums = nullptr, *zeros = nullptr;
    bool moved = false;  // is a zero point not 0?
  };

  bool viewed() const { return matmul_.spec().viewed(); }
  static bool worth_keeping(const Sizes& s) {
    const int64_t on_amx = s.matrices * amx_b_bytes(s.k, s.n),
                  widened = s.matrices * s.n * s.depth * 2;
    return worth_keeping_packed<uint8_t>(std::max(on_amx, widened), 4 * s.matrices * s.n * s.k);
  }
  Sizes b_sizes(const Tensor* values) const {
    const int64_t* dims = values[ids_.b].dims;
    const int rank = table_.rank(ids_.b);
    const int64_t k = rank == 1 ? dims[0] : dims[rank - 2], n = rank == 1 ? 1 : dims[rank - 1];
    return {k, n, backends::element_count(dims, std::max(rank - 2, 0)),
            std::max<int64_t>(int_dot_depth(k), kIntDotPad)};
  }

  // Rows of A that do not lie densely are always packed: how far apart they are, a run knows. So
  // are rows of nothing, as kernels read at least one step of them.
  bool packs_a(int64_t m, const Sizes& s) const {
    return s.k == 0 || viewed() || !amx_->reads_rows(m, s.k);
  }

  // Of a slot's room for rows of A, or a panel of B, that do not lie as they are wanted.
  int64_t line_bytes(const Sizes& s) const {
    if (viewed()) return s.k * kAmxRows;
    return amx_b_.data() == nullptr ? s.k * kAmxPanel : 0;
  }

  Pieces carve(ScratchLayout& layout, int64_t m, const Sizes& s) const {
    Pieces p{};
    if (amx_ != nullptr) {
      if (packs_a(m, s)) p.amx_a = layout.take<uint8_t>(slots_ * amx_a_bytes(kAmxRows, s.k));
      p.lines = layout.take<uint8_t>(slots_ * line_bytes(s));
      if (amx_b_.data() == nullptr) {
        p.amx_b = layout.take<uint8_t>(s.matrices * amx_b_bytes(s.k, s.n));
        p.column_sums = layout.take<int32_t>(s.matrices * s.n);
        p.column_zeros = layout.take<int32_t>(s.matrices * s.n);
      }
      if (ids_.quantized) p.sums = layout.take<int32_t>(slots_ * kAmxRows * s.n);
      return p;
    }
    if (packed_.data() == nullptr) p.b = layout.take<int16_t>(s.matrices * s.n * s.depth);
    p.a = layout.take<int16_t>(slots_ * kTaskRows * s.depth);
    p.lines = layout.take<uint8_t>(slots_ * kTaskRows * s.k);
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

  // Column `column` of all matrices, whose elements begin at b[first] and lie `step` apart.
  void pack_column(const Tensor* values, const Sizes& s, int64_t column, const void* b,
                   int64_t first, int64_t step, int16_t* out) const {
    const int64_t matrix = column / s.n, j = column % s.n;
    int16_t* row = out + column * s.depth;
    widen_to_int16(table_.dtype(ids_.b), b, first, step, s.k,
                   zero_at(values, ids_.b_zero, matrix, j, s.n), row);
    std::fill(row + s.k, row + s.depth, int16_t{0});
  }

  // `n` columns of a matrix from `first` on.
  void pack_columns(const Tensor* values, const MatmulPlaces& places, const Sizes& s,
                    int64_t matrix, int64_t first, int64_t n, uint8_t* lines, int16_t* out) const {
    const uint8_t* src =
        static_cast<const uint8_t*>(places.b) + places.b_matrix(matrix) + first * places.l.b_col;
    const Lines x = dense_lines({src, places.l.b_col}, places.l.b_row, n, s.k, lines);
    for (int64_t i = 0; i < n; ++i) {
      pack_column(values, s, matrix * s.n + first + i, x.at, i * x.apart, 1, out);
    }
  }

  // Lines of k bytes.
  struct Lines {
    const uint8_t* at;
    int64_t apart;
  };
  // The same `n` lines, whose bytes are `step` apart, as they are where these are neighbours, else
  // in `room`.
  static Lines dense_lines(Lines x, int64_t step, int64_t n, int64_t k, uint8_t* room) {
    if (step == 1) return x;
    if (x.apart == 1) {
      find_transpose(1)(x.at, step, room, k, n, k, false);
      return {room, k};
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < k; ++j) room[i * k + j] = x.at[i * x.apart + j * step];
    }
    return {room, k};
  }

  void run_rows(const Tensor* values, const MatmulPlaces& places, const Sizes& s, int64_t batch,
                int64_t first, int64_t rows, const int16_t* b, int16_t* a, uint8_t* lines,
                int32_t* sums) const {
    const MatmulShape& shape = places.s;
    const uint8_t* src = static_cast<const uint8_t*>(places.a) +
                         places.l.at(batch, places.l.a_step) + first * places.l.a_row;
    const Lines x = dense_lines({src, places.l.a_row}, places.l.a_k, rows, s.k, lines);
    const int64_t ma = shape.a_matrix(batch), mb = shape.b_matrix(batch);
    for (int64_t i = 0; i < rows; ++i) {
      int16_t* row = a + i * s.depth;
      widen_to_int16(table_.dtype(ids_.a), x.at, i * x.apart, 1, s.k,
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
    const bool same = table_.count(values, ids_.b_scale) == 1;
    double b[kScales];
    Requantization r;
    r.b = b;
    r.each = !same;
    r.y = scale_at(values, ids_.y_scale, 0, 0, 1);
    r.zero = static_cast<double>(zero_at(values, ids_.y_zero, 0, 0, 1));
    for (int64_t j = 0; j < n; j += kScales) {
      const int64_t some = std::min(kScales, n - j);
      load_row(table_.dtype(ids_.b_scale), table_.data(values, ids_.b_scale),
               place(values, ids_.b_scale, mb, col + j, s.n), same ? 1 : some, b);
      for (int64_t i = 0; i < rows; ++i) {
        r.a = scale_at(values, ids_.a_scale, 0, line + i, row_count(values));
        quant_round_ops().requantize(table_.dtype(ids_.y), sums + i * n + j, some, r,
                                     static_cast<uint8_t*>(values[ids_.y].data) + at + i * s.n + j);
      }
    }
  }

  // ---- AMX

  bool is_signed(int32_t id) const { return table_.dtype(id) == NEF_INT8; }
  // Wraps.
  static uint32_t add_bytes(const uint8_t* x, int64_t n, bool is_signed) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<uint32_t>(is_signed ? static_cast<int8_t>(x[i]) : x[i]);
    }
    return sum;
  }

  // Where a matrix b lies: its elements are `row` apart along k and `col` along n.
  struct Matrix {
    const uint8_t* at;
    int64_t row, col;
  };
  // A panel of B, n columns from `first` on: packed, by way of `room`, and summed up.
  void pack_panel(const Matrix& b, int64_t first, int64_t n, int64_t k, uint8_t* room,
                  uint8_t* packed, int32_t* sums) const {
    const uint8_t* src = b.at + first * b.col;
    std::memset(room, 0, static_cast<size_t>(k * kAmxPanel));
    if (b.row == 1) {
      find_transpose(1)(src, b.col, room, kAmxPanel, k, n, false);
    } else {
      for (int64_t p = 0; p < k; ++p) {
        for (int64_t j = 0; j < n; ++j) room[p * kAmxPanel + j] = src[p * b.row + j * b.col];
      }
    }
    int32_t all[kAmxPanel];
    amx_->add_columns(room, k, is_signed(ids_.b), all);
    std::copy_n(all, n, sums + first);
    amx_->pack_b_bytes(room, kAmxPanel, k, n, packed + first * amx_byte_depth(k));
  }
  // The zero points of all columns; is one not 0?
  bool column_zeros(const Tensor* values, const Sizes& s, int32_t* zeros) const {
    bool moved = false;
    for (int64_t i = 0; i < s.matrices * s.n; ++i) {
      zeros[i] = static_cast<int32_t>(zero_at(values, ids_.b_zero, i / s.n, i % s.n, s.n));
      moved = moved || zeros[i] != 0;
    }
    return moved;
  }

  void pack_for_amx(const Tensor* constants, const Sizes& s) {
    amx_b_ = AlignedBuffer<uint8_t>(s.matrices * amx_b_bytes(s.k, s.n));
    column_sums_.resize(static_cast<size_t>(s.matrices * s.n));
    column_zeros_.resize(column_sums_.size());
    std::vector<uint8_t> room(static_cast<size_t>(std::max<int64_t>(s.k, 1) * kAmxPanel));
    const auto* b = static_cast<const uint8_t*>(table_.data(constants, ids_.b));
    for (int64_t i = 0; i < s.matrices; ++i) {
      for (int64_t j = 0; j < s.n; j += kAmxPanel) {
        pack_panel({b + i * s.k * s.n, s.n, 1}, j, std::min(kAmxPanel, s.n - j), s.k, room.data(),
                   amx_b_.data() + i * amx_b_bytes(s.k, s.n), column_sums_.data() + i * s.n);
      }
    }
    amx_fixed_ = {amx_b_.data(), column_sums_.data(), column_zeros_.data(),
                  column_zeros(constants, s, column_zeros_.data())};
  }
  AmxB pack_for_amx(const Tensor* values, const MatmulPlaces& places, const Sizes& s,
                    const Pieces& p) const {
    const int64_t across = ceil_div(s.n, kAmxPanel);
    run_tasks(slots_, s.matrices * across, [&](int64_t slot, int64_t task) {
      const int64_t i = task / across, j = task % across * kAmxPanel;
      const auto* b = static_cast<const uint8_t*>(places.b) + places.b_matrix(i);
      pack_panel({b, places.l.b_row, places.l.b_col}, j, std::min(kAmxPanel, s.n - j), s.k,
                 p.lines + slot * line_bytes(s), p.amx_b + i * amx_b_bytes(s.k, s.n),
                 p.column_sums + i * s.n);
    });
    return {p.amx_b, p.column_sums, p.column_zeros, column_zeros(values, s, p.column_zeros)};
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

  void run_on_amx(const Tensor* values, const MatmulPlaces& places, const Sizes& s, const Pieces& p,
                  const AmxB& b) const {
    const MatmulShape& shape = places.s;
    const Cut size = cut(shape, s);
    const int64_t down = ceil_div(shape.m, size.rows), across = ceil_div(s.n, size.cols);
    run_tasks(slots_, shape.batches * down * across, [&](int64_t slot, int64_t task) {
      const int64_t batch = task / across / down;
      const int64_t row = task / across % down * size.rows, col = task % across * size.cols;
      AmxByteBlock g;
      g.m = std::min(size.rows, shape.m - row);
      g.n = std::min(size.cols, s.n - col);
      const uint8_t* src = static_cast<const uint8_t*>(places.a) +
                           places.l.at(batch, places.l.a_step) + row * places.l.a_row;
      const Lines x = dense_lines({src, places.l.a_row}, places.l.a_k, g.m, s.k,
                                  p.lines + slot * line_bytes(s));
      run_block_on_amx(values, shape, s, b, batch, row, col, g, x,
                       p.amx_a == nullptr ? nullptr : p.amx_a + slot * amx_a_bytes(kAmxRows, s.k),
                       ids_.quantized ? p.sums + slot * kAmxRows * s.n : nullptr);
    });
  }

  // The rows `x` of A, g.m of them, and g.n columns of a batch's product.
  void run_block_on_amx(const Tensor* values, const MatmulShape& shape, const Sizes& s,
                        const AmxB& b, int64_t batch, int64_t row, int64_t col, AmxByteBlock g,
                        const Lines& x, uint8_t* a, int32_t* sums) const {
    const int64_t line = shape.a_matrix(batch) * shape.m + row, mb = shape.b_matrix(batch);
    const int64_t at = (batch * shape.m + row) * s.n + col;
    g.k = s.k;
    if (packs_a(shape.m, s)) {
      amx_->pack_a_bytes(x.at, x.apart, g.m, s.k, a);
      g.a = a;
    } else {
      g.a = x.at;
      g.a_row = x.apart;
    }
    g.b = b.packed + mb * amx_b_bytes(s.k, s.n) + col * amx_byte_depth(s.k);
    g.a_signed = is_signed(ids_.a);
    g.b_signed = is_signed(ids_.b);
    g.c = ids_.quantized ? sums : static_cast<int32_t*>(values[ids_.y].data) + at;
    g.ldc = ids_.quantized ? g.n : s.n;
    amx_->block_bytes(g);
    for (int64_t i = 0; (b.moved || ids_.a_zero >= 0) && i < g.m; ++i) {
      take_zeros_off(s, b, a_zero_at(values, line + i), x.at + i * x.apart, mb * s.n + col, g.n,
                     g.c + i * g.ldc);
    }
    if (ids_.quantized) quantize_rows(values, s, line, mb, g.m, col, g.n, sums, at);
  }

  // (a - za)(b - zb) = a b - za b - zb (a - za), summed along k; wraps. `first` counts the columns
  // of all matrices b.
  void take_zeros_off(const Sizes& s, const AmxB& b, int64_t a_zero, const uint8_t* row,
                      int64_t first, int64_t n, int32_t* c) const {
    if (a_zero == 0 && !b.moved) return;
    uint32_t part = 0;
    if (b.moved) {
      part = add_bytes(row, s.k, is_signed(ids_.a)) -
             static_cast<uint32_t>(a_zero) * static_cast<uint32_t>(s.k);
    }
    amx_->take_zeros_off(n, static_cast<int32_t>(a_zero), b.sums + first,
                         static_cast<int32_t>(part), b.moved ? b.zeros + first : nullptr, c);
  }

  ValueTable table_;
  MatmulValues matmul_;
  ProductIds ids_;
  int64_t slots_;
  AlignedBuffer<int16_t> packed_;
  const AmxOps* amx_ = nullptr;
  AlignedBuffer<uint8_t> amx_b_;
  std::vector<int32_t> column_sums_, column_zeros_;
  AmxB amx_fixed_;  // of a constant b: the three above
};

class ProductKernel final : public Kernel {
 public:
  ProductKernel(const Region& region, const ProductIds& ids, const MatmulSpec& spec)
      : matmul_(ValueTable(region), spec), ids_(ids) {}
  const char* name() const override { return "quantised matmul"; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<ProductPrepared>(matmul_, ids_, values);
  }

 private:
  MatmulValues matmul_;
  ProductIds ids_;
};

std::unique_ptr<Kernel> make_product(const Region& region, std::string*) {
  const ProductIds ids = ids_of(region.nodes[0]);
  return std::make_unique<ProductKernel>(region, ids, ids.spec());
}

}  // namespace

std::unique_ptr<Kernel> make_viewed_quant_product(const Region& region, size_t head,
                                                  std::string* why) {
  if (head + 1 < region.nodes.size()) {
    *why = "quantised product: nothing is computed behind it";
    return nullptr;
  }
  const ProductIds ids = ids_of(region.nodes[head]);
  MatmulSpec spec = ids.spec();
  if (!parse_view(region, head, spec.a, &spec.a_view, why) ||
      !parse_view(region, head, spec.b, &spec.b_view, why)) {
    return nullptr;
  }
  return std::make_unique<ProductKernel>(region, ids, spec);
}

void register_quant_products() {
  for (nef_op op : {NEF_OP_MATMUL_INTEGER, NEF_OP_QLINEAR_MATMUL}) register_op(op, make_product);
}

}  // namespace nef::cpu
