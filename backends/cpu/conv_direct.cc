// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_direct.h"

#include <algorithm>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

constexpr int64_t kStageElements = 48 * 1024;   // of staged input per task: it stays in L2
constexpr int64_t kWeightElements = 48 * 1024;  // of weights that stay in L2 beside it
constexpr int64_t kMostTile = 14 * 32;          // elements of one register tile
constexpr int64_t kMostRuns = 33;

// How the work is cut. In place, a band is a range of column panels of the flat output; otherwise
// some rows of it.
struct Cut {
  Stage stage;
  bool in_place = false;
  int64_t bands = 1;
  int64_t parts = 1;  // of the filters
  int64_t stage_size = 0;
};

// Does the kernel read whole runs of the plane for runs of the output, nothing padded?
template <typename T>
bool reads_in_place(const DirectConv<T>& conv, const Stage& s, int64_t lanes) {
  const bool runs = s.w.kernel == 1 && s.w.stride == 1 && s.w.begin == 0 && s.w.out == s.w.in;
  if (!runs || s.h.stride != 1 || s.h.begin != 0) return false;
  if (s.h.out + s.h.reach() > s.h.in || conv.window.out_count < 2 * lanes) return false;
  // Channels a multiple of a large power of two apart evict each other.
  const bool conflict = conv.window.in_count * static_cast<int64_t>(sizeof(T)) % 2048 == 0;
  return !conflict || conv.depth() <= 16 || conv.filters <= gemm_ops<T>().mr;
}

template <typename T>
Cut make_cut(const DirectConv<T>& conv, bool depthwise, int64_t slots) {
  const int64_t lanes = conv_ops<T>().lanes, planes = conv.batch * conv.groups;
  Cut cut;
  cut.stage = make_stage(conv.window);
  Stage& s = cut.stage;
  const int64_t channels = std::max<int64_t>(1, depthwise ? 1 : conv.channels);
  const int64_t wanted = slots <= 1 ? 1 : ceil_div(2 * slots, std::max<int64_t>(1, planes));
  cut.in_place = !depthwise && reads_in_place(conv, s, lanes);
  if (cut.in_place) {
    const int64_t panels = conv.window.out_count / (2 * lanes);
    const int64_t most = std::max<int64_t>(1, kStageElements / channels / (2 * lanes));
    cut.bands = std::clamp<int64_t>(std::max(wanted, ceil_div(panels, most)), 1, panels);
  } else {
    s.rows = 1;
    const int64_t row = channels * s.h.phases() * s.w.phases() * s.width;
    const int64_t fits = kStageElements / std::max<int64_t>(1, row) - s.h.reach();
    const int64_t least =
        std::clamp<int64_t>(ceil_div(4 * lanes, s.width), 1, std::max<int64_t>(1, s.h.out));
    const int64_t most = std::max({int64_t{1}, least, fits});
    cut.bands = std::clamp<int64_t>(std::max(wanted, ceil_div(s.h.out, most)), 1,
                                    std::max<int64_t>(1, s.h.out / least));
    s.rows = std::max<int64_t>(1, ceil_div(s.h.out, cut.bands));
    cut.bands = std::max<int64_t>(1, ceil_div(s.h.out, s.rows));
    cut.stage_size = channels * s.plane() + 8 * lanes;
  }
  if (!depthwise) {
    // Few bands: the filters are split too, and each part stages its band for itself.
    const int64_t panels = ceil_div(conv.filters, gemm_ops<T>().mr);
    cut.parts = std::clamp<int64_t>(wanted / cut.bands, 1, std::max<int64_t>(1, panels / 4));
  }
  return cut;
}

// Scratch: offsets, then for each slot its stage and, depthwise, a row of results.
template <typename T>
struct Scratch {
  int64_t offsets, stage, row;  // elements

  Scratch(const DirectConv<T>& conv, const Cut& cut, bool depthwise)
      : offsets(round_up((conv.depth() + kOffsetSlack) * static_cast<int64_t>(sizeof(int64_t)) /
                             static_cast<int64_t>(sizeof(T)),
                         16)),
        stage(round_up(cut.stage_size, 16)),
        row(depthwise ? round_up(cut.stage.columns(cut.stage.rows), 16) : 0) {}
  int64_t size(int64_t slots) const { return offsets + slots * (stage + row); }
};

// Steps without an operand for each column work on any block of the result; the others, from the
// first of them on, want the result where it belongs.
template <typename T>
struct SplitSteps {
  EpilogueRun<T> early, late;

  explicit SplitSteps(const EpilogueRun<T>& steps) {
    for (int i = 0; i < steps.count; ++i) {
      const auto& operand = steps.operands[i];
      const bool by_column = operand.data != nullptr && operand.col_stride != 0;
      EpilogueRun<T>& run = late.count > 0 || by_column ? late : early;
      run.add(steps.ops[i], steps.p0[i], steps.p1[i]);
      run.operands[run.count - 1] = operand;
    }
  }
};

// What of the columns [j, end) of a staged band belongs to the result.
struct Runs {
  struct Run {
    int64_t from, to, count;  // offset from j, position in the band's output
  };
  Run runs[kMostRuns];
  int count = 0;

  Runs(const Stage& s, int64_t j, int64_t end) {
    for (int64_t q = j; q < end;) {
      const int64_t row = q / s.width, col = q % s.width;
      const int64_t n = std::min(end - q, s.w.out - col);
      if (n > 0) runs[count++] = {q - j, row * s.w.out + col, n};
      q += n > 0 ? n : s.width - col;
    }
  }
};

template <typename T>
class Direct {
 public:
  Direct(const DirectConv<T>& conv, bool depthwise, int64_t slots, T* scratch)
      : conv_(conv),
        cut_(make_cut(conv, depthwise, slots)),
        room_(conv, cut_, depthwise),
        steps_(*conv.steps),
        slots_(slots),
        offsets_(reinterpret_cast<int64_t*>(scratch)),
        slots_scratch_(scratch + room_.offsets) {
    if (cut_.in_place) {
      fill_in_place_offsets();
    } else {
      stage_offsets(cut_.stage, conv.channels, offsets_);
    }
    std::fill_n(offsets_ + conv.depth(), kOffsetSlack, int64_t{0});
  }

  void run() const {
    const int64_t planes = conv_.batch * conv_.groups;
    run_tasks(slots_, planes * cut_.bands * cut_.parts, [&](int64_t slot, int64_t task) {
      const int64_t part = task % cut_.parts, band = task / cut_.parts % cut_.bands;
      const int64_t plane = task / cut_.parts / cut_.bands;
      const int64_t panels = ceil_div(conv_.filters, gemm_ops<T>().mr);
      Block b;
      b.plane = plane;
      b.panels = panels;
      b.panel = panels * part / cut_.parts;
      b.panel_end = panels * (part + 1) / cut_.parts;
      place(plane, band, slot, &b);
      sum(b);
      if (steps_.late.count == 0) return;
      const int64_t row = panel_row(conv_.filters, panels, b.panel);
      const int64_t rows = panel_row(conv_.filters, panels, b.panel_end) - row;
      run_epilogue<T>(&steps_.late, plane * conv_.filters + row, b.first, rows, b.count,
                      b.y + row * conv_.window.out_count, conv_.window.out_count);
    });
  }

  void run_depthwise() const {
    const int64_t planes = conv_.batch * conv_.groups;
    run_tasks(slots_, planes * cut_.bands, [&](int64_t slot, int64_t task) {
      Block b;
      b.plane = task / cut_.bands;
      place(b.plane, task % cut_.bands, slot, &b);
      T* row = slots_scratch_ + slot * (room_.stage + room_.row) + room_.stage;
      for (int64_t f = 0; f < conv_.filters; ++f) filter(b, f, row);
    });
  }

 private:
  // Part of the result of one plane (a group of a sample).
  struct Block {
    int64_t plane = 0, panels = 1, panel = 0, panel_end = 1;
    const T* x = nullptr;          // what offsets are added to
    int64_t columns = 0;           // from there on, with what lies between rows
    int64_t first = 0, count = 0;  // output positions
    T* y = nullptr;                // the first filter's result for position `first`
  };

  void fill_in_place_offsets() {
    const Stage& s = cut_.stage;
    int64_t* out = offsets_;
    for (int64_t c = 0; c < conv_.channels; ++c) {
      for (int64_t i = 0; i < s.h.kernel; ++i) {
        *out++ = c * conv_.window.in_count + i * s.h.dilation * s.w.in;
      }
    }
  }

  // Stages the band where it is not read in place.
  void place(int64_t plane, int64_t band, int64_t slot, Block* b) const {
    const Stage& s = cut_.stage;
    const Window& w = conv_.window;
    const T* x = conv_.x + plane * conv_.channels * w.in_count;
    if (cut_.in_place) {
      const int64_t nr = gemm_ops<T>().nr, panels = w.out_count / nr;
      b->first = panels * band / cut_.bands * nr;
      const bool last = band + 1 == cut_.bands;
      b->count = (last ? w.out_count : panels * (band + 1) / cut_.bands * nr) - b->first;
      b->columns = b->count;
      b->x = x + b->first;
    } else {
      const int64_t row = band * s.rows, rows = std::min(s.rows, s.h.out - row);
      T* staged = slots_scratch_ + slot * (room_.stage + room_.row);
      for (int64_t c = 0; c < conv_.channels; ++c) {
        stage_plane(s, x + c * w.in_count, row, rows, staged + c * s.plane());
      }
      b->first = row * s.w.out;
      b->count = rows * s.w.out;
      b->columns = s.columns(rows);
      b->x = staged;
    }
    b->y = conv_.y + plane * conv_.filters * w.out_count + b->first;
  }

  // Either the columns or the weights are gone through once; the other stays in cache.
  void sum(const Block& b) const {
    const int64_t nr = gemm_ops<T>().nr;
    if (conv_.filters * conv_.depth() <= kWeightElements) {
      for (int64_t j = 0; j < b.columns; j += nr) {
        for (int64_t p = b.panel; p < b.panel_end; ++p) tile(b, p, j);
      }
      return;
    }
    for (int64_t p = b.panel; p < b.panel_end; ++p) {
      for (int64_t j = 0; j < b.columns; j += nr) tile(b, p, j);
    }
  }

  void tile(const Block& b, int64_t panel, int64_t j) const {
    const auto& ops = conv_ops<T>();
    const Stage& s = cut_.stage;
    const int64_t left = b.columns - j;
    const bool two = left > ops.lanes;
    const int64_t vectors = two ? 2 * ops.lanes : ops.lanes;
    const int64_t row = panel_row(conv_.filters, b.panels, panel);
    const int64_t rows = panel_row(conv_.filters, b.panels, panel + 1) - row;
    // In place nothing behind the input may be read: the last tile overlaps the one before.
    if (cut_.in_place) j = std::min(j, b.columns - vectors);
    const bool direct = cut_.in_place || (s.width == s.w.out && left >= vectors);
    alignas(64) T buffer[kMostTile];
    const int64_t group = b.plane % conv_.groups, ld = conv_.window.out_count;
    ConvTile<T> t;
    t.weights = conv_.weights + (group * conv_.filters + row) * conv_.depth();
    t.x = b.x + j;
    t.offsets = offsets_;
    t.k = conv_.depth();
    if (conv_.bias != nullptr) t.bias = conv_.bias + group * conv_.filters + row;
    t.c = direct ? b.y + row * ld + j : buffer;
    t.ldc = direct ? ld : vectors;
    ops.tile(t, rows, two);
    if (steps_.early.count > 0) {
      run_epilogue<T>(&steps_.early, b.plane * conv_.filters + row, 0, rows, vectors, t.c, t.ldc);
    }
    if (direct) return;
    const Runs runs(s, j, std::min(b.columns, j + vectors));
    for (int64_t i = 0; i < rows; ++i) {
      T* out = b.y + (row + i) * ld;
      for (int r = 0; r < runs.count; ++r) {
        copy_run(buffer + i * vectors + runs.runs[r].from, runs.runs[r].count,
                 out + runs.runs[r].to);
      }
    }
  }

  // One filter of a depthwise convolution.
  void filter(const Block& b, int64_t f, T* row) const {
    const Stage& s = cut_.stage;
    const int64_t group = b.plane % conv_.groups, m = group * conv_.filters + f;
    T* y = b.y + f * conv_.window.out_count;
    const bool direct = s.width == s.w.out;
    T* out = direct ? y : row;
    conv_ops<T>().row(conv_.weights + m * conv_.depth(), b.x, offsets_, conv_.depth(),
                      conv_.bias == nullptr ? T(0) : conv_.bias[m], b.columns, out);
    const int64_t index = b.plane * conv_.filters + f;
    if (steps_.early.count > 0) {
      run_epilogue<T>(&steps_.early, index, 0, 1, b.columns, out, b.columns);
    }
    if (!direct) {
      for (int64_t i = 0; i < b.count / s.w.out; ++i) {
        copy_run(row + i * s.width, s.w.out, y + i * s.w.out);
      }
    }
    if (steps_.late.count > 0) {
      run_epilogue<T>(&steps_.late, index, b.first, 1, b.count, y, b.count);
    }
  }

  const DirectConv<T>& conv_;
  Cut cut_;
  Scratch<T> room_;
  SplitSteps<T> steps_;
  int64_t slots_;
  int64_t* offsets_;
  T* slots_scratch_;
};

}  // namespace

template <typename T>
int64_t direct_scratch(const DirectConv<T>& conv, bool depthwise, int64_t slots) {
  const Cut cut = make_cut(conv, depthwise, slots);
  return Scratch<T>(conv, cut, depthwise).size(slots);
}

template <typename T>
void run_direct(const DirectConv<T>& conv, bool depthwise, int64_t slots, T* scratch) {
  const Direct<T> direct(conv, depthwise, slots, scratch);
  if (depthwise) {
    direct.run_depthwise();
  } else {
    direct.run();
  }
}

template int64_t direct_scratch<float>(const DirectConv<float>&, bool, int64_t);
template int64_t direct_scratch<double>(const DirectConv<double>&, bool, int64_t);
template void run_direct<float>(const DirectConv<float>&, bool, int64_t, float*);
template void run_direct<double>(const DirectConv<double>&, bool, int64_t, double*);

}  // namespace nef::cpu
