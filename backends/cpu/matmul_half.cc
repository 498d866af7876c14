// SPDX-License-Identifier: Apache-2.0
// Products of float16 and bfloat16 in float32. Both operands become float32 on their way into the
// caches, a piece at a time, and results leave them narrow: nothing is converted whole.
#include <algorithm>
#include <string>

#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/shared_weights.h"

namespace nef::cpu {
namespace {

constexpr int64_t kRows = GemmBlocking::kRows;  // most rows of a task
constexpr int64_t kPanels = 16;                 // whose sums stay from pass to pass
constexpr int64_t kTasksPerSlot = 4;
constexpr double kTaskWork = 256 * 1024;         // multiply-adds that outweigh handing out a task
constexpr double kWakingWork = 2 * 1024 * 1024;  // and waking a thread
constexpr int64_t kPackWork = 32 * 1024;         // elements
// Few rows: lines of B that are widened at a time, columns of a task, and its work.
constexpr int64_t kLines = 16, kWidth = 512, kLineWork = 64 * 1024;

int64_t passes(int64_t k) {
  const int64_t deepest = GemmBlocking().kc;
  return k <= deepest + deepest / 2 ? 1 : ceil_div(k, deepest);
}
int64_t pass_depth(int64_t k) { return std::max<int64_t>(1, ceil_div(k, passes(k))); }
// Grows with k, unlike that.
int64_t most_depth(int64_t k) { return std::min(k, GemmBlocking().kc * 3 / 2); }

// Lines of so many bytes would share a set of the cache.
int64_t pitch(int64_t length) { return length % 64 == 0 ? length + 16 : length; }

// Reads matrices of float16 or bfloat16 at strides, as float32.
class HalfReader {
 public:
  explicit HalfReader(nef_dtype dtype) : dtype_(dtype), nr_(gemm_ops<float>().nr) {}

  // out[rows][ldo], element (i, p) from x[i * row + p * col].
  void widen(const uint16_t* x, int64_t row, int64_t col, int64_t rows, int64_t cols, float* out,
             int64_t ldo) const {
    if (col == 1) return load_block(dtype_, x, 0, row, rows, cols, out, ldo);
    uint16_t line[kRun];
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t p = 0; p < cols; p += kRun) {
        const int64_t count = std::min(kRun, cols - p);
        for (int64_t q = 0; q < count; ++q) line[q] = x[i * row + (p + q) * col];
        load_floats(dtype_, line, 0, count, out + i * ldo + p);
      }
    }
  }

  // A panel of B as gemm.h has it, of `cols` columns that are there; `turned` is scratch.
  void pack(const uint16_t* b, int64_t row, int64_t col, int64_t k, int64_t cols, float* out,
            float* turned) const {
    if (row == 1 && col != 1) {
      for (int64_t p = 0; p < k; p += kRun) {
        const int64_t run = std::min(kRun, k - p);
        load_block(dtype_, b + p, 0, col, cols, run, turned, kRun);
        gemm_ops<float>().pack_b(turned, 1, kRun, run, cols, out + p * nr_);
      }
      return;
    }
    widen(b, row, col, k, cols, out, nr_);
    for (int64_t p = 0; cols < nr_ && p < k; ++p) {
      std::fill_n(out + p * nr_ + cols, nr_ - cols, 0.0f);
    }
  }
  int64_t turned_size() const { return nr_ * kRun; }

 private:
  static constexpr int64_t kRun = 64;  // of lines that are turned

  nef_dtype dtype_;
  int64_t nr_;
};

class HalfMatmulPrepared final : public Prepared {
 public:
  HalfMatmulPrepared(const ValueTable& values, const MatmulSpec& spec, const Tensor* constants)
      : values_(values, spec),
        slots_(task_slots()),
        nr_(gemm_ops<float>().nr),
        dtype_(values.dtype(spec.a)),
        reader_(dtype_) {
    if (values.constant(spec.b)) pack_constant(constants);
  }

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values, values_.room_shape(values));
    return layout.used();
  }
  uint64_t packed_bytes() const override { return packed_.bytes(); }

  void launch(const Tensor* values, void* scratch) const override {
    const MatmulPlaces places = values_.places(values);
    const MatmulShape& s = places.s;
    values_.check_output(values, s);
    if (s.batches * s.m * s.n == 0) return;
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values, values_.room_shape(values));
    if (p.bias != nullptr) {
      load_floats_parallel(dtype_, values_.table().data(values, spec().bias),
                           values_.count(values, spec().bias), p.bias);
    }
    const EpilogueRun<float> steps = values_.epilogue<float>(values, p.bias);
    Job job;
    job.l = places.l;
    job.packed_l = places.packed(packed_b_size<float>(s.k, s.n));
    job.a = static_cast<const uint16_t*>(places.a);
    job.b = static_cast<const uint16_t*>(places.b);
    job.packed = packed_.data();
    job.steps = &steps;
    job.out = values[spec().out].data;
    job.rooms = p.rooms;
    if (job.packed == nullptr && reads_in_place(job.l)) return run_lines(job);
    const int64_t row_blocks = ceil_div(s.m, kRows);
    if (job.packed == nullptr && row_blocks > 1) {
      pack_all(places, job.b, p.b, p.rooms);
      job.packed = p.b;
    }
    run_blocks(job, row_blocks);
  }

 private:
  struct Pieces {
    float *b = nullptr, *bias = nullptr, *rooms = nullptr;
  };
  struct Job {
    MatmulLayout l, packed_l;
    const uint16_t *a, *b;
    const float* packed;  // of all matrices B; null where tasks pack what they need
    const EpilogueRun<float>* steps;
    void* out;
    float* rooms;
  };
  // Part of a result: rows of a batch, columns from `col` on.
  struct Part {
    int64_t batch, row, rows, col, cols;
  };

  const MatmulSpec& spec() const { return values_.spec(); }
  const uint16_t* bits(const Tensor* values, int32_t id) const {
    return static_cast<const uint16_t*>(values_.table().data(values, id));
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values, const MatmulShape& s) const {
    Pieces p;
    if (spec().bias >= 0) p.bias = layout.take<float>(values_.count(values, spec().bias));
    // Rows of all batches may turn out to be those of one: that hangs on exact dims, and the answer
    // shall grow with them.
    if (packed_.data() == nullptr && s.batches * s.m > kRows) {
      p.b = layout.take<float>(s.b_matrices * packed_b_size<float>(s.k, s.n));
    }
    p.rooms = layout.take<float>(slots_ * room_size(s.k));
    return p;
  }
  // Of a task: its rows of A, a panel of B and lines on their way there, blocks of C.
  int64_t room_size(int64_t k) const {
    const int64_t lines = 5 * (k + 16) + (kLines + 4) * kWidth;
    return std::max(a_size(k) + most_depth(k) * nr_ + reader_.turned_size() + c_size(k), lines);
  }
  static int64_t a_size(int64_t k) { return kRows * (most_depth(k) + 16); }
  int64_t c_size(int64_t k) const { return (passes(k) > 1 ? kPanels : 1) * kRows * nr_; }

  void pack_constant(const Tensor* constants) {
    MatmulPlaces places;
    const MatmulShape s = places.s = values_.b_shape(constants);
    places.l = dense_layout(s, s.k * s.n);
    const std::string how = "gemm b " + std::to_string(dtype_) + " " +
                            std::to_string(s.b_matrices) + " " + std::to_string(s.k) + " " +
                            std::to_string(s.n) + (spec().trans_b ? " t" : "");
    packed_ = SharedWeights<float>(constants[spec().b].data, how, [&] {
      AlignedBuffer<float> packed(s.b_matrices * packed_b_size<float>(s.k, s.n));
      AlignedBuffer<float> rooms(slots_ * room_size(s.k));
      pack_all(places, bits(constants, spec().b), packed.data(), rooms.data());
      return packed;
    });
  }
  void pack_all(const MatmulPlaces& p, const uint16_t* b, float* out, float* rooms) const {
    const MatmulShape& s = p.s;
    const int64_t panels = ceil_div(s.n, nr_), size = packed_b_size<float>(s.k, s.n);
    const int64_t group = std::max<int64_t>(1, kPackWork / std::max<int64_t>(1, s.k * nr_));
    const int64_t groups = ceil_div(panels, group);
    run_tasks(slots_, s.b_matrices * groups, [&](int64_t slot, int64_t task) {
      const int64_t matrix = task / groups, first = task % groups * group;
      for (int64_t j = first; j < std::min(panels, first + group); ++j) {
        reader_.pack(b + p.b_matrix(matrix) + j * nr_ * p.l.b_col, p.l.b_row, p.l.b_col, s.k,
                     std::min(nr_, s.n - j * nr_), out + matrix * size + j * nr_ * s.k,
                     rooms + slot * room_size(s.k));
      }
    });
  }

  void finish(const Job& job, const Part& part, float* c, int64_t ldc) const {
    const int64_t row = part.batch * job.l.m + part.row;
    if (job.steps->count > 0) {
      run_epilogue<float>(job.steps, row, part.col, part.rows, part.cols, c, ldc);
    }
    const int64_t at = job.l.at(part.batch, job.l.c_step) + part.row * job.l.c_row + part.col;
    store_block(dtype_, c, ldc, part.rows, part.cols, job.out, at, job.l.c_row);
  }

  // ---- Few rows read B once, in lines of K or of N, as BatchedGemm does.

  void run_lines(const Job& job) const {
    const MatmulLayout& l = job.l;
    const bool dots = l.b_col != 1;
    const int64_t least = kLineWork / std::max<int64_t>(1, l.m * l.k);
    const int64_t width = dots ? std::clamp(round_up(least, nr_), nr_, kWidth) : kWidth;
    const int64_t parts = ceil_div(l.n, width);
    run_tasks(slots_, l.batches * parts, [&](int64_t slot, int64_t task) {
      Part part{task / parts, 0, l.m, task % parts * width, 0};
      part.cols = std::min(width, l.n - part.col);
      float* a = job.rooms + slot * room_size(l.k);
      float* c = a + l.m * (l.k + 16);
      float* lines = c + l.m * kWidth;
      reader_.widen(job.a + l.at(part.batch, l.a_step), l.a_row, l.a_k, l.m, l.k, a, l.k);
      const uint16_t* b = job.b + l.at(part.batch, l.b_step) + part.col * l.b_col;
      if (dots) dot_lines(l, a, b, part.cols, lines, c);
      else add_lines(l, a, b, part.cols, lines, c);
      finish(job, part, c, kWidth);
    });
  }
  void dot_lines(const MatmulLayout& l, const float* a, const uint16_t* b, int64_t cols,
                 float* lines, float* c) const {
    const int64_t most = std::clamp<int64_t>(kLines * kWidth / std::max<int64_t>(1, l.k), 1, cols);
    for (int64_t j = 0; j < cols; j += most) {
      const int64_t count = std::min(most, cols - j);
      load_block(dtype_, b + j * l.b_col, 0, l.b_col, count, l.k, lines, l.k);
      gemm_ops<float>().dots(a, l.k, lines, l.k, l.m, count, l.k, c + j, kWidth);
    }
  }
  void add_lines(const MatmulLayout& l, const float* a, const uint16_t* b, int64_t cols,
                 float* lines, float* c) const {
    for (int64_t p = 0; p == 0 || p < l.k; p += kLines) {
      const int64_t depth = std::min(kLines, l.k - p);
      load_block(dtype_, b + p * l.b_row, 0, l.b_row, depth, cols, lines, kWidth);
      gemm_ops<float>().rows(a + p, l.k, 1, lines, kWidth, l.m, cols, depth, c, kWidth, p > 0);
    }
  }

  // ---- More rows: blocks of them by panels of B.

  void run_blocks(const Job& job, int64_t row_blocks) const {
    const MatmulLayout& l = job.l;
    const int64_t blocks = l.batches * row_blocks, panels = ceil_div(l.n, nr_);
    const double work = static_cast<double>(l.m) * static_cast<double>(l.n) *
                        static_cast<double>(l.k) / static_cast<double>(row_blocks);
    const auto most = static_cast<int64_t>(
        std::min(work / kTaskWork + 1, static_cast<double>(slots_ * kTasksPerSlot)));
    const int64_t parts =
        slots_ == 1 ? 1 : std::min({panels, most, ceil_div(slots_ * kTasksPerSlot, blocks)});
    const auto run = [&](int64_t slot, int64_t task) {
      const int64_t block = task / parts, i = block % row_blocks;
      Part part{block / row_blocks, l.m * i / row_blocks, 0, 0, 0};
      part.rows = l.m * (i + 1) / row_blocks - part.row;
      float* room = job.rooms + slot * room_size(l.k);
      const int64_t first = panels * (task % parts) / parts;
      const int64_t end = panels * (task % parts + 1) / parts;
      const int64_t group = passes(l.k) > 1 ? kPanels : end - first;
      for (int64_t j = first; j < end; j += group) {
        multiply(job, part, j, std::min(end, j + group), room);
      }
    };
    run_tasks(slots_, blocks * parts, run, work * static_cast<double>(blocks) >= kWakingWork);
  }

  // Rows of A by panels of B; with several passes, all of these wait for the last one.
  void multiply(const Job& job, Part part, int64_t first, int64_t end, float* room) const {
    const MatmulLayout& l = job.l;
    float* const a = room;
    float* const panel = a + a_size(l.k);
    float* const turned = panel + most_depth(l.k) * nr_;
    float* const c = turned + reader_.turned_size();
    const uint16_t* a_bits = job.a + l.at(part.batch, l.a_step) + part.row * l.a_row;
    const uint16_t* b_bits = job.b + l.at(part.batch, l.b_step);
    const bool one_pass = passes(l.k) == 1;
    const int64_t step = pass_depth(l.k);
    GemmBlock<float> g;
    g.m = part.rows;
    g.ldc = nr_;
    for (int64_t k0 = 0; k0 == 0 || k0 < l.k; k0 += step) {
      g.k = std::min(step, l.k - k0);
      g.accumulate = k0 > 0;
      g.a = a;
      widen_a(l, a_bits + k0 * l.a_k, a, g);
      for (int64_t j = first; j < end; ++j) {
        part.col = j * nr_;
        part.cols = std::min(nr_, l.n - part.col);
        g.n = part.cols;
        g.c = c + (one_pass ? 0 : (j - first) * kRows * nr_);
        if (job.packed != nullptr) {
          g.b = job.packed + l.at(part.batch, job.packed_l.b_step) + part.col * l.k + k0 * nr_;
        } else {
          reader_.pack(b_bits + k0 * l.b_row + part.col * l.b_col, l.b_row, l.b_col, g.k, g.n,
                       panel, turned);
          g.b = panel;
        }
        gemm_ops<float>().block(g);
        if (k0 + g.k >= l.k) finish(job, part, g.c, nr_);
      }
    }
  }
  // g.m rows by g.k, as lines of A have it.
  void widen_a(const MatmulLayout& l, const uint16_t* from, float* a, GemmBlock<float>& g) const {
    const bool by_columns = l.a_row == 1 && l.a_k != 1;
    g.a_row = by_columns ? 1 : pitch(g.k);
    g.a_k = by_columns ? pitch(g.m) : 1;
    if (by_columns) reader_.widen(from, l.a_k, 1, g.k, g.m, a, g.a_k);
    else reader_.widen(from, l.a_row, l.a_k, g.m, g.k, a, g.a_row);
  }

  MatmulValues values_;
  int64_t slots_, nr_;
  nef_dtype dtype_;
  HalfReader reader_;
  SharedWeights<float> packed_;
};

class HalfMatmulKernel final : public Kernel {
 public:
  HalfMatmulKernel(const Region& region, const MatmulSpec& spec) : values_(region), spec_(spec) {
    const auto& ops = gemm_ops<float>();
    name_ = "gemm " + std::to_string(ops.mr) + "x" + std::to_string(ops.nr) + " " +
            backends::dtype_name(values_.dtype(spec_.a));
  }
  const char* name() const override { return name_.c_str(); }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<HalfMatmulPrepared>(values_, spec_, values);
  }

 private:
  ValueTable values_;
  MatmulSpec spec_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Kernel> make_half_matmul(const Region& region, const MatmulSpec& spec) {
  return std::make_unique<HalfMatmulKernel>(region, spec);
}

}  // namespace nef::cpu
