// SPDX-License-Identifier: Apache-2.0
// Products of float16 and bfloat16 by a constant matrix, which stays as narrow in memory as it is:
// a piece of a panel at a time becomes float32 in L1, where all rows of a block use it.
#include <algorithm>
#include <string>

#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/shared_weights.h"

namespace nef::cpu {
namespace {

constexpr int64_t kDepth = 512;  // of a piece
constexpr int64_t kRows = GemmBlocking::kRows;
constexpr int64_t kTasksPerSlot = 4;
constexpr int64_t kPackGrain = 32 * 1024;

bool is_narrow(nef_dtype dtype) { return dtype == NEF_FLOAT16 || dtype == NEF_BFLOAT16; }

// Panels of `nr` columns, each [k][nr], padded with zeros.
void pack_panel(const uint16_t* b, int64_t row, int64_t col, int64_t k, int64_t cols, int64_t nr,
                uint16_t* out) {
  for (int64_t p = 0; p < k; ++p, out += nr) {
    const uint16_t* from = b + p * row;
    for (int64_t j = 0; j < cols; ++j) out[j] = from[j * col];
    std::fill(out + cols, out + nr, uint16_t{0});
  }
}

class NarrowMatmulPrepared final : public Prepared {
 public:
  NarrowMatmulPrepared(const ValueTable& values, const MatmulSpec& spec, const Tensor* constants)
      : values_(values, spec),
        slots_(task_slots()),
        nr_(gemm_ops<float>().nr),
        dtype_(values.dtype(spec.a)) {
    pack(constants);
  }

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values, values_.shape(values));
    return layout.used();
  }
  uint64_t packed_bytes() const override { return packed_.bytes(); }

  void launch(const Tensor* values, void* scratch) const override {
    const MatmulShape s = values_.shape(values);
    values_.check_output(values, s);
    ScratchLayout layout(scratch);
    const Pieces pieces = carve(layout, values, s);
    if (s.batches * s.m * s.n == 0) return;
    load_a(s, values[spec().a].data, pieces.a);
    if (pieces.bias != nullptr) load(values, spec().bias, pieces.bias);
    const EpilogueRun<float> steps = values_.epilogue<float>(values, pieces.bias);
    const int64_t row_blocks = ceil_div(s.m, kRows), panels = ceil_div(s.n, nr_);
    const int64_t blocks = s.batches * row_blocks;
    const int64_t wanted = slots_ == 1 ? 1 : ceil_div(slots_ * kTasksPerSlot, blocks);
    const int64_t parts = std::min(panels, wanted);
    run_tasks(slots_, blocks * parts, [&](int64_t slot, int64_t task) {
      const int64_t block = task / parts, part = task % parts;
      Rows rows;
      rows.batch = block / row_blocks;
      rows.first = s.m * (block % row_blocks) / row_blocks;
      rows.count = s.m * (block % row_blocks + 1) / row_blocks - rows.first;
      float* room = pieces.rooms + slot * room_size();
      for (int64_t j = panels * part / parts; j < panels * (part + 1) / parts; ++j) {
        multiply_panel(s, pieces.a, rows, j, steps, room, values[spec().out].data);
      }
    });
  }

 private:
  struct Pieces {
    float *a = nullptr, *bias = nullptr, *rooms = nullptr;
  };
  struct Rows {
    int64_t batch, first, count;
  };

  const MatmulSpec& spec() const { return values_.spec(); }
  int64_t room_size() const { return (kDepth + kRows + 1) * nr_; }

  // Rows of whole pages would share one set of the cache.
  static int64_t pitch(const MatmulShape& s) {
    if (s.trans_a) return s.m;
    return s.k % 1024 == 0 ? s.k + 16 : s.k;
  }
  static int64_t a_rows(const MatmulShape& s) { return s.trans_a ? s.k : s.m; }
  int64_t a_matrices(const Tensor* values, const MatmulShape& s) const {
    return values_.count(values, spec().a) / std::max<int64_t>(1, s.m * s.k);
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values, const MatmulShape& s) const {
    Pieces p;
    // With 16 more a row, whether they are needed or not, it grows with the dims.
    p.a = layout.take<float>(a_matrices(values, s) * a_rows(s) * (pitch(s) + 16));
    if (spec().bias >= 0) p.bias = layout.take<float>(values_.count(values, spec().bias));
    p.rooms = layout.take<float>(slots_ * room_size());
    return p;
  }

  void load(const Tensor* values, int32_t id, float* out) const {
    load_floats_parallel(dtype_, values_.table().data(values, id), values_.count(values, id), out);
  }
  void load_a(const MatmulShape& s, const void* data, float* out) const {
    const int64_t length = s.trans_a ? s.m : s.k, rows = a_rows(s);
    int64_t matrices = 1;
    for (int i = 0; i < s.batch_rank; ++i) matrices *= s.a_stride[i] > 0 ? s.batch_dims[i] : 1;
    parallel_for(matrices * rows, std::max<int64_t>(1, kPackGrain / std::max<int64_t>(1, length)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     load_floats(dtype_, data, i * length, length, out + i * pitch(s));
                   }
                 });
  }

  void multiply_panel(const MatmulShape& s, const float* a, const Rows& rows, int64_t panel,
                      const EpilogueRun<float>& steps, float* room, void* out) const {
    const int64_t col = panel * nr_, cols = std::min(nr_, s.n - col);
    float* piece = room;
    float* c = room + kDepth * nr_;
    GemmBlock<float> g;
    g.m = rows.count;
    g.n = cols;
    g.a_row = s.trans_a ? 1 : pitch(s);
    g.a_k = s.trans_a ? pitch(s) : 1;
    g.b = piece;
    g.c = c;
    g.ldc = nr_;
    const float* first = a + s.a_matrix(rows.batch) * a_rows(s) * pitch(s) + rows.first * g.a_row;
    const bool few = rows.count <= narrow_ops().most_rows;
    if (few) {
      narrow_ops().multiply(dtype_, rows.count, first, g.a_row, g.a_k,
                            packed_.data() + panel * s.k * nr_, s.k, c, nr_);
    }
    for (int64_t k0 = 0; !few && (k0 == 0 || k0 < s.k); k0 += kDepth) {
      g.k = std::min(kDepth, s.k - k0);
      load_floats(dtype_, packed_.data(), (panel * s.k + k0) * nr_, g.k * nr_, piece);
      g.a = first + k0 * g.a_k;
      g.accumulate = k0 > 0;
      gemm_ops<float>().block(g);
    }
    const int64_t row = rows.batch * s.m + rows.first;
    if (steps.count > 0) run_epilogue<float>(&steps, row, col, rows.count, cols, c, nr_);
    store_block(dtype_, c, nr_, rows.count, cols, out, row * s.n + col, s.n);
  }

  void pack(const Tensor* constants) {
    const MatmulShape s = values_.b_shape(constants);
    const auto* b = static_cast<const uint16_t*>(constants[spec().b].data);
    const std::string how = "gemm b narrow " + std::to_string(s.k) + " " + std::to_string(s.n) +
                            (spec().trans_b ? " t" : "");
    packed_ = SharedWeights<uint16_t>(b, how, [&] {
      AlignedBuffer<uint16_t> packed(round_up(s.n, nr_) * s.k);
      const int64_t grain = std::max<int64_t>(1, kPackGrain / std::max<int64_t>(1, s.k * nr_));
      parallel_for(ceil_div(s.n, nr_), grain, [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) {
          pack_panel(b + j * nr_ * s.b_col(), s.b_row(), s.b_col(), s.k,
                     std::min(nr_, s.n - j * nr_), nr_, packed.data() + j * nr_ * s.k);
        }
      });
      return packed;
    });
  }

  MatmulValues values_;
  int64_t slots_, nr_;
  nef_dtype dtype_;
  SharedWeights<uint16_t> packed_;
};

class NarrowMatmulKernel final : public Kernel {
 public:
  NarrowMatmulKernel(const Region& region, const MatmulSpec& spec) : values_(region), spec_(spec) {
    const auto& ops = gemm_ops<float>();
    name_ = "gemm " + std::to_string(ops.mr) + "x" + std::to_string(ops.nr) + " " +
            backends::dtype_name(values_.dtype(spec_.b)) + " packed";
  }
  const char* name() const override { return name_.c_str(); }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<NarrowMatmulPrepared>(values_, spec_, values);
  }

 private:
  ValueTable values_;
  MatmulSpec spec_;
  std::string name_;
};

// One matrix, whatever dims of 1 stand before it?
bool is_one_matrix(const Value& b) {
  for (int i = 0; i + 2 < b.rank(); ++i) {
    if (b.dims[static_cast<size_t>(i)] != 1) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<Kernel> make_narrow_matmul(const Region& region, const MatmulSpec& spec) {
  const Value& b = region.values[spec.b];
  if (b.kind != NEF_VALUE_CONSTANT || !is_narrow(b.dtype) || !is_one_matrix(b)) return nullptr;
  if (!spec.epilogue.empty()) return nullptr;
  return std::make_unique<NarrowMatmulKernel>(region, spec);
}

}  // namespace nef::cpu
