// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm, FusedMatMul with their epilogues on AMX: bfloat16 tensors, float32 ones with
// precision `fast`.
#include <algorithm>

#include "backends/cpu/amx.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/norm_rows.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTaskRows = 256;  // most rows of A that a task packs
// Multiply-adds that outweigh handing out a task: on tiles, and by dot products of vectors.
constexpr int64_t kTaskWork = 2 * 1024 * 1024, kVectorTaskWork = 512 * 1024;
constexpr int64_t kTasksPerSlot = 2;
// Below this many rows a float32 B that is not constant is better read once in place.
constexpr int64_t kFewRows = 16;

class AmxMatmulPrepared final : public Prepared {
 public:
  AmxMatmulPrepared(const ValueTable& values, const MatmulSpec& spec, const Tensor* constants)
      : values_(values, spec),
        dtype_(values.dtype(spec.a)),
        slots_(task_slots()),
        ops_(amx_ops()),
        exact_(GemmBlocking(), slots_) {
    if (!values.constant(spec.b)) return;
    MatmulPlaces places;
    const MatmulShape s = places.s = values_.b_shape(constants);
    places.l = dense_layout(s, s.k * s.n);
    packed_ = AlignedBuffer<uint16_t>(s.b_matrices * amx_b_size(s.k, s.n));
    pack_b(places, values.data(constants, spec.b), packed_.data());
  }

  uint64_t packed_bytes() const override { return packed_.bytes(); }
  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values, values_.room_shape(values));
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const MatmulPlaces places = values_.places(values);
    const MatmulShape& s = places.s;
    values_.check_output(values, s);
    if (s.batches * s.m * s.n == 0) return;
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values, values_.room_shape(values));
    const EpilogueRun<float> steps = values_.epilogue(values, load_bias(values, p.bias));
    const TileFn<float> tile = steps.count == 0 ? nullptr : run_epilogue<float>;
    const auto* a = static_cast<const char*>(places.a);
    float* c = native() ? static_cast<float*>(values[spec().out].data) : p.pieces;
    if (reads_in_place(s)) {
      exact_.run(places.l, static_cast<const float*>(places.a), static_cast<const float*>(places.b),
                 false, c, tile, &steps, p.exact);
      return;
    }
    if (!prepacked()) pack_b(places, places.b, p.b);
    const uint16_t* packed = prepacked() ? packed_.data() : p.b;
    if (native()) return multiply(places, a, packed, c, tile, &steps, p.a);
    auto* out = static_cast<uint16_t*>(values[spec().out].data);
    if (tile == nullptr && ops_->rounds()) {
      return multiply(places, a, packed, nullptr, nullptr, nullptr, p.a, out);
    }
    const Narrowed narrowed = {tile, &steps, out, s.n, ops_};
    multiply(places, a, packed, c, Narrowed::finish, &narrowed, p.a);
  }

 private:
  // Blocks of C become elements of the output while they are in cache.
  struct Narrowed {
    TileFn<float> tile;
    const EpilogueRun<float>* steps;
    uint16_t* out;
    int64_t n;
    const AmxOps* ops;

    static void finish(const void* context, int64_t row, int64_t col, int64_t rows, int64_t cols,
                       float* c, int64_t ldc) {
      const auto& self = *static_cast<const Narrowed*>(context);
      if (self.tile != nullptr) self.tile(self.steps, row, col, rows, cols, c, ldc);
      self.ops->narrow(c, ldc, rows, cols, self.out + row * self.n + col, self.n);
    }
  };
  struct Pieces {
    uint16_t *a, *b;
    float *bias, *pieces;
    void* exact;
  };
  // Rows and columns of a task.
  struct Cut {
    int64_t rows, cols;
    int64_t tasks(const MatmulShape& s) const {
      return s.batches * ceil_div(s.m, rows) * ceil_div(s.n, cols);
    }
  };

  const MatmulSpec& spec() const { return values_.spec(); }
  bool native() const { return dtype_ == NEF_FLOAT32; }
  bool prepacked() const { return packed_.data() != nullptr; }
  bool reads_in_place(const MatmulShape& s) const {
    return native() && !prepacked() && s.m < kFewRows;
  }

  // Rows without depth would lie no step apart, which says that A is packed.
  bool a_in_place(const MatmulShape& s, const MatmulLayout& l) const {
    return !native() && !s.trans_a && l.a_k == 1 && l.a_row > 0 && s.k > 0 && s.k % 32 == 0 &&
           ops_->reads_rows(s.m, 2 * l.a_row);
  }

  static int64_t most_rows(const MatmulShape& s) {
    return std::min(round_up(s.m, kAmxPanel), kTaskRows);
  }
  // Rows are split first: each task packs its rows of A.
  Cut cut(const MatmulShape& s) const {
    Cut c{most_rows(s), s.n};
    const int64_t work = s.k * s.n, least = ops_->tiles ? kTaskWork : kVectorTaskWork;
    const auto wants_more = [&](int64_t task_work) {
      return c.tasks(s) < kTasksPerSlot * slots_ && task_work >= 2 * least;
    };
    while (c.rows > kAmxPanel && slots_ > 1 && wants_more(c.rows * work)) {
      c.rows = round_up(c.rows / 2, kAmxPanel);
    }
    while (c.cols > kAmxPanel && slots_ > 1 && wants_more(kAmxPanel * s.k * c.cols)) {
      c.cols = round_up(c.cols / 2, kAmxPanel);
    }
    return c;
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values, const MatmulShape& s) const {
    Pieces p{};
    if (spec().viewed() || !a_in_place(s, dense_layout(s, 0)))
      p.a = layout.take<uint16_t>(slots_ * amx_a_size(most_rows(s), s.k));
    if (!prepacked()) p.b = layout.take<uint16_t>(s.b_matrices * amx_b_size(s.k, s.n));
    if (!native()) {
      if (spec().bias >= 0) p.bias = layout.take<float>(values_.count(values, spec().bias));
      p.pieces = layout.take<float>(slots_ * kAmxPanel * kAmxPiece);
    } else if (!prepacked()) {
      p.exact = layout.take<char>(static_cast<int64_t>(exact_.scratch_bytes(s, false)));
    }
    return p;
  }

  const float* load_bias(const Tensor* values, float* piece) const {
    if (spec().bias < 0) return nullptr;
    const void* data = values_.table().data(values, spec().bias);
    if (native()) return static_cast<const float*>(data);
    load_floats_parallel(dtype_, data, values_.count(values, spec().bias), piece);
    return piece;
  }

  const char* at(const void* data, int64_t element) const {
    return static_cast<const char*>(data) +
           element * static_cast<int64_t>(backends::dtype_size(dtype_));
  }

  // All matrices B of a shape, one after the other, on the pool.
  void pack_b(const MatmulPlaces& p, const void* b, uint16_t* out) const {
    const MatmulShape& s = p.s;
    const int64_t panels = ceil_div(s.n, kAmxPanel), depth = amx_depth(s.k);
    const int64_t grain = std::max<int64_t>(1, 32 * 1024 / (depth * kAmxPanel));
    parallel_for(s.b_matrices * panels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / panels, col = i % panels * kAmxPanel;
        ops_->pack_b(dtype_, at(b, p.b_matrix(matrix) + col * p.l.b_col), p.l.b_row, p.l.b_col, s.k,
                     std::min(kAmxPanel, s.n - col), out + i * kAmxPanel * depth);
      }
    });
  }

  void multiply(const MatmulPlaces& p, const char* a, const uint16_t* b, float* c,
                TileFn<float> tile, const void* context, uint16_t* a_buffers,
                uint16_t* rounded = nullptr) const {
    const MatmulShape& s = p.s;
    const MatmulLayout& l = p.l;
    const Cut size = cut(s);
    const int64_t across = ceil_div(s.n, size.cols), down = ceil_div(s.m, size.rows);
    const int64_t depth = amx_depth(s.k);
    const bool in_place = a_in_place(s, l);
    run_tasks(slots_, size.tasks(s), [&](int64_t slot, int64_t task) {
      const int64_t batch = task / across / down;
      const int64_t row = task / across % down * size.rows, col = task % across * size.cols;
      AmxBlock g;
      g.m = std::min(size.rows, s.m - row);
      g.n = std::min(size.cols, s.n - col);
      g.k = s.k;
      const char* rows = at(a, l.at(batch, l.a_step) + row * l.a_row);
      if (in_place) {
        g.a = reinterpret_cast<const uint16_t*>(rows);
        g.a_row = l.a_row;
      } else {
        uint16_t* packed = a_buffers + slot * amx_a_size(most_rows(s), s.k);
        ops_->pack_a(dtype_, rows, l.a_row, l.a_k, g.m, s.k, packed);
        g.a = packed;
      }
      g.b = b + s.b_matrix(batch) * amx_b_size(s.k, s.n) + col * depth;
      g.piece = !native() && rounded == nullptr;
      g.ldc = g.piece ? kAmxPiece : s.n;
      const int64_t place = (batch * s.m + row) * s.n + col;
      if (rounded != nullptr) g.rounded = rounded + place;
      else g.c = c + (g.piece ? slot * kAmxPanel * kAmxPiece : place);
      g.row0 = batch * s.m + row;
      g.col0 = col;
      g.tile = tile;
      g.context = context;
      ops_->block(g);
    });
  }

  MatmulValues values_;
  nef_dtype dtype_;
  int64_t slots_;
  const AmxOps* ops_;
  BatchedGemm<float> exact_;
  AlignedBuffer<uint16_t> packed_;
};

class AmxMatmulKernel final : public Kernel {
 public:
  AmxMatmulKernel(const Region& region, const MatmulSpec& spec) : values_(region), spec_(spec) {
    name_ = std::string("gemm ") + amx_ops()->name + " bf16";
    if (!spec_.epilogue.empty()) name_ += "+" + std::to_string(spec_.epilogue.size());
    if (values_.constant(spec_.b)) name_ += " packed";
  }
  const char* name() const override { return name_.c_str(); }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<AmxMatmulPrepared>(values_, spec_, values);
  }

 private:
  ValueTable values_;
  MatmulSpec spec_;
  std::string name_;
};

// So few columns or so little depth leave most of a tile empty.
bool fills_tiles(const Region& region, const MatmulSpec& spec) {
  const std::vector<int64_t>& b = region.values[spec.b].dims;
  if (b.size() < 2) return false;
  const int64_t rows = b[b.size() - 2], cols = b[b.size() - 1];
  const auto enough = [](int64_t dim) { return dim < 0 || dim >= kAmxTile; };
  return enough(rows) && enough(cols);
}

}  // namespace

std::unique_ptr<Kernel> make_amx_matmul(const Region& region, const MatmulSpec& spec) {
  const nef_dtype dtype = region.values[spec.a].dtype;
  const bool fast = region.precision == NEF_PRECISION_FAST && dtype == NEF_FLOAT32;
  if (!fast && dtype != NEF_BFLOAT16) return nullptr;
  if (amx_ops() == nullptr || !fills_tiles(region, spec)) return nullptr;
  return std::make_unique<AmxMatmulKernel>(region, spec);
}

}  // namespace nef::cpu
