// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and RNN: the products with x of many steps at once, then step by step the products
// with the state, on weights packed once: as bytes where they are whole numbers times a scale.
#include "backends/cpu/rnn.h"

#include <algorithm>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/rnn_bytes.h"
#include "backends/cpu/rnn_cell.h"

namespace nef::cpu {
namespace {

using backends::RnnSpec;

constexpr int64_t kChunkElements = 256 * 1024;  // sums of x kept at a time
constexpr int64_t kCellWork = 16 * 1024;

struct RnnValues {
  int32_t x, w, r, b, lens, initial_h, initial_c, peepholes;
  int32_t y, y_h, y_c;
};
RnnValues values_of(const Node& node) {
  const auto in = [&](size_t i) { return node.has_input(i) ? node.inputs[i] : -1; };
  const auto out = [&](size_t i) { return node.has_output(i) ? node.outputs[i] : -1; };
  return {in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), out(0), out(1), out(2)};
}

struct RnnShape {
  int64_t steps, batch, width, hidden, rows;
  bool empty() const { return batch == 0 || hidden == 0; }
};

// Rows of the weights that multiply one state: GRU's candidate has a state of its own.
struct Part {
  int64_t first = 0, count = 0;
};

template <typename T>
class RnnPrepared final : public Prepared {
 public:
  RnnPrepared(const ValueTable& table, const RnnSpec& spec, const RnnValues& ids,
              const Tensor* constants)
      : table_(table), spec_(spec), ids_(ids), slots_(task_slots()) {
    native_ = table.dtype(ids.x) == kRnnDtype<T>;
    if (!table_.constant(ids.w) || !table_.constant(ids.r)) return;
    const RnnShape s = {0, 0, constants[ids.w].dims[2], constants[ids.r].dims[2],
                        constants[ids.r].dims[1]};
    if (s.hidden == 0) return;
    AlignedBuffer<T> wide(native_ ? 0 : wide_size(s));
    pack_bytes(s, constants, wide.data());
    packed_ = AlignedBuffer<T>(packed_size(s));
    pack(s, constants, wide.data(), packed_.data());
  }

  uint64_t packed_bytes() const override {
    uint64_t bytes = packed_.bytes();
    for (const ByteMatrix& m : bytes_) bytes += m.bytes();
    return bytes;
  }

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    const RnnShape s = shape(values);
    if (!s.empty()) carve(layout, s);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const RnnShape s = shape(values);
    check_lengths(values, s);
    if (s.empty()) return;
    ScratchLayout layout(scratch);
    Pieces p = carve(layout, s);
    const T* packed = packed_.data();
    if (packed == nullptr) {
      pack(s, values, p.wide, p.packed);
      packed = p.packed;
    }
    for (int d = 0; d < spec_.directions; ++d) run_direction(values, s, d, packed, p);
  }

 private:
  struct Pieces {
    T *packed, *wide, *x, *sums, *products, *h, *cell, *gated, *room, *bias, *peepholes, *a;
    T* scaled;  // states for weights in bytes
  };

  RnnShape shape(const Tensor* values) const {
    const int64_t* x = values[ids_.x].dims;
    const int64_t* r = values[ids_.r].dims;
    return {x[spec_.batch_first ? 1 : 0], x[spec_.batch_first ? 0 : 1], x[2], r[2], r[1]};
  }

  int parts(const RnnShape& s, Part* out) const {
    if (spec_.op != NEF_OP_GRU) {
      out[0] = {0, s.rows};
      return 1;
    }
    out[0] = {0, 2 * s.hidden};
    out[1] = {2 * s.hidden, s.hidden};
    return 2;
  }
  int64_t direction_size(const RnnShape& s) const {
    Part part[2];
    int64_t size = packed_b_size<T>(s.width, s.rows);
    if (!bytes_.empty()) return size;
    for (int i = parts(s, part); i-- > 0;) size += packed_b_size<T>(s.hidden, part[i].count);
    return size;
  }
  int64_t packed_size(const RnnShape& s) const { return spec_.directions * direction_size(s); }
  int64_t wide_size(const RnnShape& s) const {
    return spec_.directions * s.rows * std::max(s.width, s.hidden);
  }

  // Per direction: w, then the parts of r.
  void pack(const RnnShape& s, const Tensor* values, T* wide, T* out) const {
    Part part[2];
    const int n = parts(s, part);
    const int64_t size = direction_size(s);
    const T* w = load(values, ids_.w, spec_.directions * s.rows * s.width, wide);
    for (int d = 0; d < spec_.directions; ++d) {
      pack_b_parallel(w + d * s.rows * s.width, 1, s.width, s.width, s.rows, out + d * size);
    }
    if (!bytes_.empty()) return;
    const T* r = load(values, ids_.r, spec_.directions * s.rows * s.hidden, wide);
    for (int d = 0; d < spec_.directions; ++d) {
      T* next = out + d * size + packed_b_size<T>(s.width, s.rows);
      for (int i = 0; i < n; ++i) {
        pack_b_parallel(r + (d * s.rows + part[i].first) * s.hidden, 1, s.hidden, s.hidden,
                        part[i].count, next);
        next += packed_b_size<T>(s.hidden, part[i].count);
      }
    }
  }

  // The parts of r of each direction, if all of them are such weights.
  void pack_bytes(const RnnShape& s, const Tensor* constants, T* wide) {
    if constexpr (sizeof(T) == sizeof(float)) {
      Part part[2];
      const int n = parts(s, part);
      const T* r = load(constants, ids_.r, spec_.directions * s.rows * s.hidden, wide);
      bytes_.resize(static_cast<size_t>(spec_.directions * n));
      for (size_t i = 0; i < bytes_.size(); ++i) {
        const auto d = static_cast<int64_t>(i) / n;
        const Part& p = part[i % static_cast<size_t>(n)];
        if (bytes_[i].pack(r + (d * s.rows + p.first) * s.hidden, p.count, s.hidden)) continue;
        bytes_.clear();
        return;
      }
    }
  }

  const T* load(const Tensor* values, int32_t id, int64_t n, T* wide) const {
    if (native_) return static_cast<const T*>(table_.data(values, id));
    load_row(table_.dtype(id), table_.data(values, id), 0, n, wide);
    return wide;
  }

  static int64_t chunk_steps(const RnnShape& s) {
    return std::clamp<int64_t>(kChunkElements / (s.batch * s.rows), 1,
                               std::max<int64_t>(s.steps, 1));
  }

  Pieces carve(ScratchLayout& layout, const RnnShape& s) const {
    Pieces p{};
    const int64_t chunk = chunk_steps(s);
    if (packed_.data() == nullptr) {
      p.packed = layout.take<T>(packed_size(s));
      if (!native_) p.wide = layout.take<T>(wide_size(s));
    }
    if (!native_) p.x = layout.take<T>(chunk * s.batch * s.width);
    p.sums = layout.take<T>(chunk * s.batch * s.rows);
    p.products = layout.take<T>(s.batch * s.rows);
    p.h = layout.take<T>(s.batch * s.hidden);
    p.cell = layout.take<T>(s.batch * s.hidden);
    p.gated = layout.take<T>(s.batch * s.hidden);
    p.room = layout.take<T>(s.batch * s.hidden);
    if (!bytes_.empty()) p.scaled = layout.take<T>(s.batch * s.hidden);
    p.bias = layout.take<T>(2 * s.rows);
    p.peepholes = layout.take<T>(3 * s.hidden);
    const bool pack_x = wants_packed_a<T>(chunk * s.batch, s.rows, s.width, 1);
    const bool pack_h = wants_packed_a<T>(s.batch, s.rows, s.hidden, 1);
    if (pack_x || pack_h) {
      const int64_t rows = chunk * s.batch, depth = std::max(s.width, s.hidden);
      p.a = layout.take<T>(slots_ * gemm_a_buffer<T>(blocking_, rows, depth));
    }
    return p;
  }

  void check_lengths(const Tensor* values, const RnnShape& s) const {
    for (int64_t b = 0; ids_.lens >= 0 && b < s.batch; ++b) {
      const int64_t length = sequence_length(values, s, b);
      if (length >= 0 && length <= s.steps) continue;
      throw BackendError(NEF_OUT_OF_RANGE, "a sequence length is " + std::to_string(length) +
                                               ", x has " + std::to_string(s.steps) + " steps");
    }
  }
  int64_t sequence_length(const Tensor* values, const RnnShape& s, int64_t b) const {
    if (ids_.lens < 0) return s.steps;
    return static_cast<const int32_t*>(table_.data(values, ids_.lens))[b];
  }

  int64_t state_at(const RnnShape& s, int d, int64_t b) const {
    return (spec_.batch_first ? b * spec_.directions + d : d * s.batch + b) * s.hidden;
  }
  int64_t output_at(const RnnShape& s, int d, int64_t t, int64_t b) const {
    return (spec_.batch_first ? (b * s.steps + t) * spec_.directions + d
                              : (t * spec_.directions + d) * s.batch + b) *
           s.hidden;
  }

  void load_state(const Tensor* values, const RnnShape& s, int d, int32_t id, T* state) const {
    for (int64_t b = 0; b < s.batch; ++b) {
      T* row = state + b * s.hidden;
      if (id < 0) std::fill_n(row, s.hidden, T(0));
      else load_row(table_.dtype(id), table_.data(values, id), state_at(s, d, b), s.hidden, row);
    }
  }
  void store_state(const Tensor* values, const RnnShape& s, int d, int32_t id,
                   const T* state) const {
    for (int64_t b = 0; id >= 0 && b < s.batch; ++b) {
      store_row(table_.dtype(id), state + b * s.hidden, s.hidden, values[id].data,
                state_at(s, d, b));
    }
  }

  // The bias that goes with x, then that of the state where it stays apart.
  void load_bias(const Tensor* values, const RnnShape& s, int d, T* bias) const {
    std::fill_n(bias, 2 * s.rows, T(0));
    if (ids_.b < 0) return;
    load_row(table_.dtype(ids_.b), table_.data(values, ids_.b), d * 2 * s.rows, 2 * s.rows, bias);
    T* behind = bias + s.rows;
    const int64_t joined = spec_.reset_behind ? 2 * s.hidden : s.rows;
    for (int64_t j = 0; j < joined; ++j) {
      bias[j] += behind[j];
      behind[j] = 0;
    }
  }

  void run_direction(const Tensor* values, const RnnShape& s, int d, const T* packed,
                     const Pieces& p) const {
    const RnnCell<T> cell(spec_, d, s.hidden);
    load_state(values, s, d, ids_.initial_h, p.h);
    load_state(values, s, d, ids_.initial_c, p.cell);
    load_bias(values, s, d, p.bias);
    if (ids_.peepholes >= 0) {
      load_row(table_.dtype(ids_.peepholes), table_.data(values, ids_.peepholes), d * 3 * s.hidden,
               3 * s.hidden, p.peepholes);
    }
    packed += d * direction_size(s);
    const int64_t chunk = chunk_steps(s);
    const bool backwards = spec_.backwards(d);
    const int64_t chunks = (s.steps + chunk - 1) / chunk;
    for (int64_t i = 0; i < chunks; ++i) {
      const int64_t first = (backwards ? chunks - 1 - i : i) * chunk;
      const int64_t steps = std::min(chunk, s.steps - first);
      multiply_x(values, s, first, steps, packed, p);
      for (int64_t k = 0; k < steps; ++k) {
        const int64_t t = backwards ? steps - 1 - k : k;
        step(values, s, d, first + t, p.sums + t * s.batch * s.rows, packed, cell, p);
      }
    }
    store_state(values, s, d, ids_.y_h, p.h);
    store_state(values, s, d, ids_.y_c, p.cell);
  }

  // sums[step][batch][rows] = x w' + bias for steps [first, first + steps).
  void multiply_x(const Tensor* values, const RnnShape& s, int64_t first, int64_t steps,
                  const T* packed, const Pieces& p) const {
    const void* x = table_.data(values, ids_.x);
    // With the batch first, one product per sequence.
    const bool apart = spec_.batch_first && s.batch > 1;
    for (int64_t b = 0; b < (apart ? s.batch : 1); ++b) {
      const int64_t rows = apart ? steps : steps * s.batch;
      const int64_t at = (apart ? b * s.steps + first : first * s.batch) * s.width;
      const T* a = static_cast<const T*>(x) + at;
      if (!native_) {
        load_row(table_.dtype(ids_.x), x, at, rows * s.width, p.x);
        a = p.x;
      }
      T* sums = p.sums + (apart ? b * s.rows : 0);
      const int64_t ldc = apart ? s.batch * s.rows : s.rows;
      product(a, s.width, packed, rows, s.rows, s.width, sums, ldc, p.a);
    }
    const auto& math = math_;
    parallel_for(steps * s.batch, std::max<int64_t>(1, kCellWork / s.rows),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     T* row = p.sums + i * s.rows;
                     math.add(row, p.bias, s.rows, row);
                   }
                 });
  }

  void product(const T* a, int64_t a_row, const T* b, int64_t m, int64_t n, int64_t k, T* c,
               int64_t ldc, T* a_buffer) const {
    if (k == 0) {
      for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, T(0));
      return;
    }
    GemmBlock<T> g;
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = a;
    g.a_row = a_row;
    g.b = b;
    g.c = c;
    g.ldc = ldc;
    g.blocking = blocking_;
    gemm_parallel(g, slots_, a_buffer);
  }

  // states r' of one part, into its columns of the products.
  void multiply_state(const RnnShape& s, int d, int which, const T* state, const T* packed,
                      const Pieces& p) const {
    Part part[2];
    const int n = parts(s, part);
    T* c = p.products + part[which].first;
    if (!bytes_.empty()) {
      if constexpr (sizeof(T) == sizeof(float)) {
        const ByteMatrix& r = bytes_[static_cast<size_t>(d * n + which)];
        for (int64_t i = 0; i < s.batch * s.hidden; ++i) p.scaled[i] = state[i] * r.state_scale();
        r.multiply(p.scaled, s.hidden, s.batch, c, s.rows);
      }
      return;
    }
    const T* r = packed + packed_b_size<T>(s.width, s.rows);
    if (which > 0) r += packed_b_size<T>(s.hidden, part[0].count);
    product(state, s.hidden, r, s.batch, part[which].count, s.hidden, c, s.rows, p.a);
  }

  // One step of all sequences that reach it; the others keep their state and give 0.
  void step(const Tensor* values, const RnnShape& s, int d, int64_t t, T* sums, const T* packed,
            const RnnCell<T>& cell, const Pieces& p) const {
    multiply_state(s, d, 0, p.h, packed, p);
    if (spec_.op == NEF_OP_GRU) {
      const T* state = p.h;
      if (!spec_.reset_behind) {
        for_batch(s, [&](int64_t b) { gate_state(s, cell, sums, p, b); });
        state = p.gated;
      }
      multiply_state(s, d, 1, state, packed, p);
    }
    for_batch(s, [&](int64_t b) {
      const bool live = t < sequence_length(values, s, b);
      if (live) update(s, cell, sums + b * s.rows, p, b);
      if (ids_.y < 0) return;
      T* row = p.h + b * s.hidden;
      T* zeros = p.room + b * s.hidden;
      if (!live) std::fill_n(zeros, s.hidden, T(0));
      store_row(table_.dtype(ids_.y), live ? row : zeros, s.hidden, values[ids_.y].data,
                output_at(s, d, t, b));
    });
  }

  template <typename Body>
  void for_batch(const RnnShape& s, const Body& body) const {
    parallel_for(s.batch, std::max<int64_t>(1, kCellWork / s.rows),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t b = begin; b < end; ++b) body(b);
                 });
  }

  // GRU: both gates, and the state that the reset gate lets through.
  void gate_state(const RnnShape& s, const RnnCell<T>& cell, T* sums, const Pieces& p,
                  int64_t b) const {
    T* row = sums + b * s.rows;
    math_.add(row, p.products + b * s.rows, 2 * s.hidden, row);
    cell.gru_gates(row);
    math_.mul(row + s.hidden, p.h + b * s.hidden, s.hidden, p.gated + b * s.hidden);
  }

  void update(const RnnShape& s, const RnnCell<T>& cell, T* row, const Pieces& p, int64_t b) const {
    T *products = p.products + b * s.rows, *h = p.h + b * s.hidden;
    T* room = p.room + b * s.hidden;
    if (spec_.op != NEF_OP_GRU) {
      math_.add(row, products, s.rows, row);
      if (spec_.op == NEF_OP_RNN) return cell.rnn(row, h);
      return cell.lstm(row, ids_.peepholes < 0 ? nullptr : p.peepholes, p.cell + b * s.hidden, h,
                       room);
    }
    T *candidate = row + 2 * s.hidden, *behind = products + 2 * s.hidden;
    if (spec_.reset_behind) {
      math_.add(row, products, 2 * s.hidden, row);
      cell.gru_gates(row);
      math_.add(behind, p.bias + s.rows + 2 * s.hidden, s.hidden, behind);
      math_.mul(row + s.hidden, behind, s.hidden, behind);
    }
    math_.add(candidate, behind, s.hidden, candidate);
    cell.gru(row, candidate, h, room);
  }

  ValueTable table_;
  RnnSpec spec_;
  RnnValues ids_;
  int64_t slots_;
  GemmBlocking blocking_;
  RnnMath<T> math_;
  bool native_ = true;
  AlignedBuffer<T> packed_;
  std::vector<ByteMatrix> bytes_;  // [directions][parts], or empty
};

class RnnKernel final : public Kernel {
 public:
  explicit RnnKernel(const Region& region)
      : table_(region),
        spec_(backends::read_rnn(region.nodes[0])),
        ids_(values_of(region.nodes[0])) {}
  const char* name() const override { return "recurrent layer"; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    if (table_.dtype(ids_.x) == NEF_FLOAT64) {
      return std::make_unique<RnnPrepared<double>>(table_, spec_, ids_, values);
    }
    return std::make_unique<RnnPrepared<float>>(table_, spec_, ids_, values);
  }

 private:
  ValueTable table_;
  RnnSpec spec_;
  RnnValues ids_;
};

std::unique_ptr<Kernel> make_rnn(const Region& region, std::string*) {
  return std::make_unique<RnnKernel>(region);
}

}  // namespace

void register_rnn() {
  for (nef_op op : {NEF_OP_LSTM, NEF_OP_GRU, NEF_OP_RNN}) register_op(op, make_rnn);
}

}  // namespace nef::cpu
