// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_direct.h"

#include <algorithm>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

// Of weights that stay in L2, and of staged input beside them. More weights are gone through once
// for each task, so that there should be few.
constexpr int64_t kWeightElements = 48 * 1024;
constexpr int64_t kStageElements = 96 * 1024, kMostStageElements = 160 * 1024;
// Rows of a depthwise convolution that are computed together, and how many there must be for the
// staged zeros above and below them to be few.
constexpr int64_t kSharingRows = 4, kManyRows = 24;

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
  const auto inside = [](const Stage::Axis& a) {
    return a.stride == 1 && a.begin == 0 && a.out + a.reach() <= a.in;
  };
  const bool whole_rows = s.w.kernel == 1 && s.w.out == s.w.in;
  if (!inside(s.h) || !inside(s.w) || !(whole_rows || s.h.out == 1)) return false;
  if (conv.window.out_count < 2 * lanes) return false;
  // Channels a multiple of a large power of two apart evict each other.
  const bool conflict = conv.window.in_count * static_cast<int64_t>(sizeof(T)) % 2048 == 0;
  return !conflict || conv.depth() <= 16 || conv.filters <= gemm_ops<T>().mr;
}

template <typename T>
bool shares_rows(const Stage& s) {
  const bool many = s.h.out >= kManyRows && s.w.out > conv_ops<T>().lanes;
  return many && s.h.stride == 1 && s.h.dilation == 1;
}

// One vector alone is less well used than two.
int64_t vectors_cost(int64_t columns, int64_t lanes) {
  const int64_t vectors = ceil_div(columns, lanes);
  return 10 * vectors + 2 * (vectors % 2);
}

// Would more than an eighth of the slots' time pass in waiting for the last tasks?
bool uneven(int64_t tasks, int64_t slots) {
  const int64_t places = round_up(tasks, slots);
  return 8 * (places - tasks) > places;
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
    s.pad_rows = !depthwise || shares_rows<T>(s);
    const int64_t row = channels * s.h.phases() * s.w.phases() * s.width;
    const bool heavy = conv.filters * conv.depth() > kWeightElements;
    const int64_t room = heavy ? kMostStageElements : kStageElements;
    const int64_t fits = room / std::max<int64_t>(1, row) - s.h.reach();
    const int64_t least =
        std::clamp<int64_t>(ceil_div(4 * lanes, s.width), 1, std::max<int64_t>(1, s.h.out));
    const int64_t most = std::max({int64_t{1}, least, fits});
    cut.bands = std::clamp<int64_t>(std::max(wanted, ceil_div(s.h.out, most)), 1,
                                    std::max<int64_t>(1, s.h.out / least));
    s.rows = std::max<int64_t>(1, ceil_div(s.h.out, cut.bands));
    if (cut.bands > 1) {
      const int64_t share = std::max(s.rows, std::min(most, s.h.out / wanted));
      s.rows = choose_rows(s, share, [&](int64_t n) { return vectors_cost(n, lanes); });
    }
    cut.bands = std::max<int64_t>(1, ceil_div(s.h.out, s.rows));
    cut.stage_size = channels * s.plane() + 8 * lanes;
  }
  if (!depthwise) {
    // Few bands: the filters are split too, and each part stages its band for itself.
    const int64_t panels = ceil_div(conv.filters, gemm_ops<T>().mr);
    const int64_t most = std::max<int64_t>(1, panels / 2);
    cut.parts = std::clamp<int64_t>(wanted / cut.bands, 1, most);
    while (cut.parts < most && uneven(planes * cut.bands * cut.parts, slots)) ++cut.parts;
  }
  return cut;
}

// Scratch: offsets and which columns are kept, for all, then a stage for each slot. Elements.
template <typename T>
struct Scratch {
  int64_t offsets, keep, stage;

  Scratch(const DirectConv<T>& conv, const Cut& cut)
      : offsets(words(conv.depth() + kOffsetSlack)),
        keep(cut.in_place ? 0 : words(cut.stage.columns(cut.stage.rows) / conv_ops<T>().lanes + 1)),
        stage(round_up(cut.stage_size, 16)) {}
  int64_t size(int64_t slots) const { return offsets + keep + slots * stage; }

 private:
  static int64_t words(int64_t n) {
    return round_up(n * static_cast<int64_t>(sizeof(int64_t) / sizeof(T)), 16);
  }
};

template <typename T>
class Direct {
 public:
  Direct(const DirectConv<T>& conv, bool depthwise, int64_t slots, T* scratch)
      : conv_(conv),
        cut_(make_cut(conv, depthwise, slots)),
        room_(conv, cut_),
        slots_(slots),
        offsets_(reinterpret_cast<int64_t*>(scratch)),
        keep_(reinterpret_cast<uint64_t*>(scratch + room_.offsets)),
        stages_(scratch + room_.offsets + room_.keep) {
    if (cut_.in_place) {
      fill_in_place_offsets();
    } else {
      stage_offsets(cut_.stage, conv.channels, offsets_);
      stage_keep(cut_.stage, conv_ops<T>().lanes, keep_);
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
    });
  }

  void run_depthwise() const {
    const int64_t planes = conv_.batch * conv_.groups;
    run_tasks(slots_, planes * cut_.bands, [&](int64_t slot, int64_t task) {
      Block b;
      b.plane = task / cut_.bands;
      place(b.plane, task % cut_.bands, slot, &b);
      for (int64_t f = 0; f < conv_.filters; ++f) filter(b, f);
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
        const int64_t row = c * conv_.window.in_count + i * s.h.dilation * s.w.in;
        for (int64_t j = 0; j < s.w.kernel; ++j) *out++ = row + j * s.w.dilation;
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
      T* staged = stages_ + slot * room_.stage;
      stage_planes(s, x, conv_.channels, row, rows, staged);
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
    const bool two = b.columns - j > ops.lanes;
    const int64_t vectors = two ? 2 * ops.lanes : ops.lanes;
    const int64_t row = panel_row(conv_.filters, b.panels, panel);
    const int64_t rows = panel_row(conv_.filters, b.panels, panel + 1) - row;
    // In place nothing behind the input may be read: the last tile overlaps the one before.
    if (cut_.in_place) j = std::min(j, b.columns - vectors);
    const int64_t group = b.plane % conv_.groups, ld = conv_.window.out_count;
    const int64_t position = cut_.in_place ? j : cut_.stage.position(j);
    ConvTile<T> t;
    t.weights = conv_.weights + (group * conv_.filters + row) * conv_.depth();
    t.x = b.x + j;
    t.offsets = offsets_;
    t.k = conv_.depth();
    if (conv_.bias != nullptr) t.bias = conv_.bias + group * conv_.filters + row;
    t.keep = cut_.in_place ? ~uint64_t{0} : kept(b, j, vectors);
    t.c = b.y + row * ld + position;
    t.ldc = ld;
    const int64_t end =
        cut_.in_place ? j + vectors : cut_.stage.position(std::min(j + vectors, b.columns));
    if (far()) fetch(b, panel, j, t.c, row, rows, b.first + position, end - position);
    ops.tile(t, rows, two);
    if (conv_.steps->count == 0) return;
    run_epilogue<T>(conv_.steps, b.plane * conv_.filters + row, b.first + position, rows,
                    end - position, t.c, ld);
  }

  // Is the result larger than the caches, and a tile so deep that asking for it costs little?
  bool far() const {
    constexpr int64_t kFarBytes = 512 << 10, kDeep = 128;
    const int64_t bytes = conv_.filters * conv_.window.out_count * static_cast<int64_t>(sizeof(T));
    return bytes >= kFarBytes && conv_.depth() >= kDeep;
  }
  // Asks for the lines that a tile stores to and that its steps read, and for a part of the columns
  // behind it, which other rows of each channel lie between.
  void fetch(const Block& b, int64_t panel, int64_t j, T* c, int64_t row, int64_t rows, int64_t col,
             int64_t cols) const {
    const int64_t ld = conv_.window.out_count;
    for (int64_t i = 0; i < rows; ++i) {
      __builtin_prefetch(c + i * ld, 1);
      __builtin_prefetch(c + i * ld + cols - 1, 1);
    }
    fetch_operands(*conv_.steps, b.plane * conv_.filters + row, col, rows, cols);
    if (!cut_.in_place) return;
    const int64_t panels = b.panel_end - b.panel, p = panel - b.panel;
    const int64_t kernel = conv_.window.kernel_count, lines = 64 / sizeof(T);
    const T* next = b.x + j + cols;
    for (int64_t ch = conv_.channels * p / panels; ch < conv_.channels * (p + 1) / panels; ++ch) {
      const T* x = next + offsets_[(ch + 1) * kernel - 1];
      for (int64_t i = 0; i < cols; i += lines) __builtin_prefetch(x + i);
    }
  }

  // Of the columns [j, j + vectors) of a staged band.
  uint64_t kept(const Block& b, int64_t j, int64_t vectors) const {
    const int64_t lanes = conv_ops<T>().lanes;
    uint64_t keep = keep_[j / lanes];
    if (vectors > lanes) keep |= keep_[j / lanes + 1] << lanes;
    const int64_t left = b.columns - j;
    return left < vectors ? keep & ((uint64_t{1} << left) - 1) : keep;
  }

  // One filter of a depthwise convolution.
  void filter(const Block& b, int64_t f) const {
    const int64_t m = b.plane % conv_.groups * conv_.filters + f;
    T* y = b.y + f * conv_.window.out_count;
    if (cut_.stage.pad_rows) sharing_rows(b, m, y);
    else rows_apart(b, m, y);
    if (conv_.steps->count == 0) return;
    run_epilogue<T>(conv_.steps, b.plane * conv_.filters + f, b.first, 1, b.count, y, b.count);
  }

  void sharing_rows(const Block& b, int64_t m, T* y) const {
    const Stage& s = cut_.stage;
    const int64_t rows = b.count / s.w.out;
    if (rows < kSharingRows) return rows_at_once(b, m, 0, rows, {0, s.h.kernel}, y);
    DepthwiseRows<T> t;
    t.weights = conv_.weights + m * conv_.depth();
    t.x = b.x;
    t.offsets = offsets_;
    t.tall = s.h.kernel;
    t.wide = s.w.kernel;
    t.width = s.width;
    t.rows = rows;
    t.columns = s.w.out;
    if (conv_.bias != nullptr) t.bias = conv_.bias[m];
    t.c = y;
    conv_ops<T>().depthwise(t);
  }

  // Rows whose windows lie on the input all at once, the others without the kernel positions
  // outside.
  void rows_apart(const Block& b, int64_t m, T* y) const {
    const Stage& s = cut_.stage;
    const int64_t first = b.first / s.w.out, rows = b.count / s.w.out;
    for (int64_t r = 0; r < rows;) {
      const Stage::Range range = s.h.taps(first + r);
      int64_t count = 1;
      if (range.end - range.begin == s.h.kernel) {
        while (r + count < rows && s.h.taps(first + r + count).end == s.h.kernel) ++count;
      }
      rows_at_once(b, m, r, count, range, y);
      r += count;
    }
  }

  void rows_at_once(const Block& b, int64_t m, int64_t r, int64_t count, Stage::Range range,
                    T* y) const {
    const Stage& s = cut_.stage;
    ConvTile<T> t;
    t.weights = conv_.weights + m * conv_.depth() + range.begin * s.w.kernel;
    t.x = b.x + r * s.width;
    t.offsets = offsets_ + range.begin * s.w.kernel;
    t.k = (range.end - range.begin) * s.w.kernel;
    if (conv_.bias != nullptr) t.bias = conv_.bias + m;
    t.c = y + r * s.w.out;
    conv_ops<T>().row(t, s.columns(count), keep_);
  }

  const DirectConv<T>& conv_;
  Cut cut_;
  Scratch<T> room_;
  int64_t slots_;
  int64_t* offsets_;
  uint64_t* keep_;
  T* stages_;
};

}  // namespace

template <typename T>
int64_t direct_scratch(const DirectConv<T>& conv, bool depthwise, int64_t slots) {
  const Cut cut = make_cut(conv, depthwise, slots);
  const int64_t tasks = conv.batch * conv.groups * cut.bands * cut.parts;
  return Scratch<T>(conv, cut).size(std::min(slots, tasks));
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
