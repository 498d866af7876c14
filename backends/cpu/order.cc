// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/order.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/call.h"
#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/order_kernels.h"
#include "backends/cpu/reduce_rows.h"
#include "backends/cpu/scalar_ops.h"

namespace nef::cpu {
namespace {

constexpr int64_t kColumns = 256;  // lines side by side are walked together
constexpr int64_t kTile = 2048;    // 16-bit floats that are widened at a time
constexpr int64_t kGrainElements = 16 * 1024;
constexpr int64_t kGroups = 16;  // TopK: groups of lines, each with its own scratch

// A tensor as [outer, n, inner] around one axis. Lines with inner > 1 lie side by side.
struct Lines {
  int64_t outer, n, inner;
  Lines(const View& x, int axis)
      : outer(x.span(0, axis)), n(x.dims[axis]), inner(x.span(axis + 1, x.rank)) {}
  int64_t first(int64_t line) const { return line / inner * n * inner + line % inner; }
  int64_t lines() const { return outer * inner; }
};

// f(first outer index, how many, first column, columns) over tiles of neighbouring lines. Several
// outer indices come with all of their columns.
template <class F>
void for_line_tiles(const Lines& lines, F f) {
  if (lines.lines() == 0) return;
  const int64_t width = std::min(lines.inner, kColumns);
  const int64_t tiles = (lines.inner + width - 1) / width;
  const int64_t grain = kGrainElements / std::max<int64_t>(lines.n * width, 1) + 1;
  parallel_for(lines.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    if (tiles == 1) return f(begin, end - begin, int64_t{0}, width);
    for (int64_t u = begin; u < end; ++u) {
      const int64_t first = u % tiles * width;
      f(u / tiles, int64_t{1}, first, std::min(width, lines.inner - first));
    }
  });
}

// Floats of 16 and 32 bits as float32, the narrow ones a tile at a time.
class FloatTiles {
 public:
  explicit FloatTiles(nef_dtype dtype)
      : narrow_(dtype != NEF_FLOAT32),
        size_(narrow_ ? 2 : 4),
        widen_(find_cast_fn(dtype, NEF_FLOAT32)),
        narrow_down_(find_cast_fn(NEF_FLOAT32, dtype)) {}
  static bool serves(nef_dtype dtype) {
    return dtype == NEF_FLOAT16 || dtype == NEF_BFLOAT16 || dtype == NEF_FLOAT32;
  }
  bool narrow() const { return narrow_; }
  int64_t size() const { return size_; }

  // `rows` rows of `columns` elements, `step` apart, become one block of at most kTile elements.
  void read(const char* x, int64_t rows, int64_t columns, int64_t step, float* wide) const {
    each(rows, columns, step, [&](int64_t from, int64_t at, int64_t n) {
      widen_({wide + at, {x + from * size_, nullptr, nullptr}, static_cast<size_t>(n), 0, 0});
    });
  }
  void write(const float* wide, int64_t rows, int64_t columns, int64_t step, char* y) const {
    each(rows, columns, step, [&](int64_t to, int64_t at, int64_t n) {
      narrow_down_({y + to * size_, {wide + at, nullptr, nullptr}, static_cast<size_t>(n), 0, 0});
    });
  }
  // n elements where they are, or widened.
  const float* tile(const char* x, int64_t n, float* wide) const {
    if (!narrow_) return reinterpret_cast<const float*>(x);
    read(x, 1, n, n, wide);
    return wide;
  }

 private:
  template <class F>
  static void each(int64_t rows, int64_t columns, int64_t step, F f) {
    if (columns == step) return f(0, 0, rows * columns);
    for (int64_t r = 0; r < rows; ++r) f(r * step, r * columns, columns);
  }

  bool narrow_;
  int64_t size_;
  TileFn widen_, narrow_down_;
};

// Whether v takes the place of best: the first NaN wins and then stays.
template <class C>
bool takes_over(C v, C best, bool largest, bool last) {
  if (is_nan(best)) return false;
  return is_nan(v) || (largest ? v > best : v < best) || (last && v == best);
}

template <class T>
void arg_tile(const T* x, int64_t* y, const Lines& lines, int64_t columns, bool largest,
              bool last) {
  Compute<T> best[kColumns];
  for (int64_t i = 0; i < columns; ++i) {
    best[i] = widen(x[i]);
    y[i] = 0;
  }
  for (int64_t k = 1; k < lines.n; ++k) {
    const T* row = x + k * lines.inner;
    for (int64_t i = 0; i < columns; ++i) {
      const Compute<T> v = widen(row[i]);
      if (!takes_over(v, best[i], largest, last)) continue;
      best[i] = v;
      y[i] = k;
    }
  }
}

class FloatPlaces {
 public:
  FloatPlaces(const View& x, const View& y, const Lines& lines, bool largest, bool last)
      : floats_(x.dtype),
        x_(x.data),
        y_(reinterpret_cast<int64_t*>(y.data)),
        lines_(lines),
        largest_(largest),
        last_(last),
        extreme_(find_row_fold(largest ? Fold::kMax : Fold::kMin)),
        ops_(find_place_ops()) {}

  void operator()(int64_t o, int64_t count, int64_t first, int64_t columns) const {
    if (lines_.inner > 1) {
      for (int64_t l = o; l < o + count; ++l) pick_columns(l, first, columns);
    } else if (lines_.n <= kTile) {
      pick_short(o, count);
    } else {
      for (int64_t l = o; l < o + count; ++l) y_[l] = pick_long(l);
    }
  }

 private:
  const char* at(int64_t element) const { return x_ + element * floats_.size(); }
  float extreme(const float* x, int64_t n) const {
    return static_cast<float>(extreme_(x, static_cast<size_t>(n)));
  }
  int64_t place(const float* x, int64_t n, float value) const {
    return static_cast<int64_t>(ops_.place(x, static_cast<size_t>(n), value, last_));
  }

  // Lines that fit into a tile together.
  void pick_short(int64_t o, int64_t count) const {
    const int64_t n = lines_.n, share = kTile / n;
    float wide[kTile];
    for (int64_t done = 0; done < count; done += share) {
      const int64_t m = std::min(share, count - done);
      const float* x = floats_.tile(at((o + done) * n), m * n, wide);
      for (int64_t l = 0; l < m; ++l, x += n) y_[o + done + l] = place(x, n, extreme(x, n));
    }
  }

  // Only the tile that holds the extreme is looked through for its place.
  int64_t pick_long(int64_t line) const {
    const int64_t n = lines_.n, base = line * n;
    float wide[kTile], best = 0;
    int64_t tile = 0;
    for (int64_t i = 0; i < n && !is_nan(best); i += kTile) {
      const int64_t m = std::min(kTile, n - i);
      const float value = extreme(floats_.tile(at(base + i), m, wide), m);
      if (i > 0 && !takes_over(value, best, largest_, last_)) continue;
      best = value;
      tile = i;
    }
    const int64_t m = std::min(kTile, n - tile);
    return tile + place(floats_.tile(at(base + tile), m, wide), m, best);
  }

  void pick_columns(int64_t o, int64_t first, int64_t columns) const {
    const auto pick = largest_ ? ops_.largest : ops_.smallest;
    const int64_t base = o * lines_.n * lines_.inner + first;
    const int64_t block = floats_.narrow() ? kTile / columns : lines_.n;
    const auto step = static_cast<size_t>(floats_.narrow() ? columns : lines_.inner);
    float wide[kTile], best[kColumns];
    int32_t places[kColumns] = {};
    for (int64_t k = 0; k < lines_.n; k += block) {
      const int64_t rows = std::min(block, lines_.n - k);
      const char* x = at(base + k * lines_.inner);
      if (floats_.narrow()) floats_.read(x, rows, columns, lines_.inner, wide);
      const float* tile = floats_.narrow() ? wide : reinterpret_cast<const float*>(x);
      if (k == 0) std::copy_n(tile, columns, best);
      const int64_t seen = k == 0 ? 1 : 0;
      pick(best, places, tile + static_cast<size_t>(seen) * step, step,
           static_cast<size_t>(rows - seen), static_cast<size_t>(columns),
           static_cast<int32_t>(k + seen), last_);
    }
    std::copy_n(places, columns, y_ + o * lines_.inner + first);
  }

  FloatTiles floats_;
  const char* x_;
  int64_t* y_;
  Lines lines_;
  bool largest_, last_;
  RowFold extreme_;
  PlaceOps ops_;
};

void arg_extreme(const Call& c, bool largest, int axis, bool last) {
  const View x = c.in(0), y = c.out();
  const Lines lines(x, axis);
  if (lines.n == 0 && y.count > 0) {
    throw BackendError(NEF_OUT_OF_RANGE, "ArgMax/ArgMin: axis " + std::to_string(axis) +
                                             " has size 0, so there is no element to pick");
  }
  if (FloatTiles::serves(x.dtype) && lines.n <= std::numeric_limits<int32_t>::max()) {
    return for_line_tiles(lines, FloatPlaces(x, y, lines, largest, last));
  }
  with_element_type(x.dtype, [&]<class T>(T) {
    const auto* in = reinterpret_cast<const T*>(x.data);
    auto* out = reinterpret_cast<int64_t*>(y.data);
    for_line_tiles(lines, [&](int64_t o, int64_t count, int64_t first, int64_t columns) {
      for (int64_t l = o; l < o + count; ++l) {
        arg_tile(in + l * lines.n * lines.inner + first, out + l * lines.inner + first, lines,
                 columns, largest, last);
      }
    });
  });
}

void run_argmax(const Call& c) {
  arg_extreme(c, true, normal_axis(c.attr_int(NEF_ARGMAX_AXIS), c.in(0).rank),
              c.attr_int(NEF_ARGMAX_SELECT_LAST_INDEX) != 0);
}
void run_argmin(const Call& c) {
  arg_extreme(c, false, normal_axis(c.attr_int(NEF_ARGMIN_AXIS), c.in(0).rank),
              c.attr_int(NEF_ARGMIN_SELECT_LAST_INDEX) != 0);
}

// Floats are summed in double and rounded at each element.
class RunningSums {
 public:
  RunningSums(const View& x, const View& y, const Lines& lines, bool exclusive, bool reverse)
      : floats_(x.dtype == NEF_BFLOAT16 || x.dtype == NEF_FLOAT16 ? x.dtype : NEF_FLOAT32),
        sum_(find_running_sum(floats_.narrow() ? NEF_FLOAT32 : x.dtype)),
        x_(x.data),
        y_(y.data),
        size_(static_cast<int64_t>(x.element_size())),
        lines_(lines),
        exclusive_(exclusive),
        reverse_(reverse) {}

  void operator()(int64_t o, int64_t count, int64_t first, int64_t columns) const {
    const int64_t line = lines_.n * lines_.inner;
    if (!floats_.narrow()) {
      Sums sums;
      const int64_t at = (o * line + first) * size_;
      return run(x_ + at, y_ + at, count, lines_.n, columns, lines_.inner, sums);
    }
    if (columns < lines_.inner || line > kTile) {
      for (int64_t l = o; l < o + count; ++l) sum_blocks(l * line + first, columns);
      return;
    }
    // Lines that fit into a tile together.
    const int64_t share = kTile / std::max<int64_t>(line, 1);
    float wide[kTile], summed[kTile];
    for (int64_t done = 0; done < count; done += share) {
      const int64_t m = std::min(share, count - done), at = (o + done) * line * size_;
      Sums sums;
      floats_.read(x_ + at, m, line, line, wide);
      run(wide, summed, m, lines_.n, columns, columns, sums);
      floats_.write(summed, m, line, line, y_ + at);
    }
  }

 private:
  struct Sums {
    alignas(double) char bytes[kColumns * sizeof(double)] = {};  // of whatever type they have
  };

  void run(const void* x, void* y, int64_t lines, int64_t rows, int64_t columns, int64_t step,
           Sums& sums) const {
    sum_({x, y, static_cast<size_t>(lines), static_cast<size_t>(rows), static_cast<size_t>(columns),
          static_cast<size_t>(step), sums.bytes, exclusive_, reverse_});
  }

  void sum_blocks(int64_t base, int64_t columns) const {
    const int64_t block = kTile / columns;
    float wide[kTile],
        summed[kTile];  // apart, or a row would wait for the stores of the one before
    Sums sums;
    for (int64_t done = 0; done < lines_.n; done += block) {
      const int64_t rows = std::min(block, lines_.n - done);
      const int64_t row = reverse_ ? lines_.n - done - rows : done;
      const int64_t at = (base + row * lines_.inner) * size_;
      floats_.read(x_ + at, rows, columns, lines_.inner, wide);
      run(wide, summed, 1, rows, columns, columns, sums);
      floats_.write(summed, rows, columns, lines_.inner, y_ + at);
    }
  }

  FloatTiles floats_;
  RunningSumFn sum_;
  const char* x_;
  char* y_;
  int64_t size_;
  Lines lines_;
  bool exclusive_, reverse_;
};

void run_cumsum(const Call& c) {
  const View x = c.in(0), y = c.out();
  const auto axis = static_cast<int>(checked_index("CumSum: axis", int_at(c.in(1), 0), 0, x.rank));
  const Lines lines(x, axis);
  if (lines.n == 0) return;
  for_line_tiles(lines, RunningSums(x, y, lines, c.attr_int(NEF_CUMSUM_EXCLUSIVE) != 0,
                                    c.attr_int(NEF_CUMSUM_REVERSE) != 0));
}

int topk_axis(const Call& c) { return normal_axis(c.attr_int(NEF_TOPK_AXIS, -1), c.in(0).rank); }
// Either output tells k; both are optional to the caller.
View topk_output(const Call& c) { return c.wants(0) ? c.out(0) : c.out(1); }

// Room for one value and its index per element of a line and group.
size_t topk_scratch(const Call& c) {
  return static_cast<size_t>(c.in(0).dims[topk_axis(c)] * kGroups) * 16;
}

template <class T>
class TopK {
 public:
  explicit TopK(const Call& c)
      : x_(reinterpret_cast<const T*>(c.in(0).data)),
        values_(c.wants(0) ? reinterpret_cast<T*>(c.out(0).data) : nullptr),
        indices_(c.wants(1) ? reinterpret_cast<int64_t*>(c.out(1).data) : nullptr),
        from_(c.in(0), topk_axis(c)),
        to_(topk_output(c), topk_axis(c)),
        largest_(c.attr_int(NEF_TOPK_LARGEST, 1) != 0),
        scratch_(c.scratch<Entry>()) {}

  void run() const {
    const int64_t lines = from_.lines();
    parallel_for(kGroups, std::max<int64_t>(1, kGroups * kGrainElements / (lines * from_.n + 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t g = begin; g < end; ++g) {
                     for (int64_t l = lines * g / kGroups; l < lines * (g + 1) / kGroups; ++l) {
                       pick(l, scratch_ + g * from_.n);
                     }
                   }
                 });
  }

 private:
  struct Entry {
    Compute<T> value;
    int64_t index;
  };
  static_assert(sizeof(Entry) <= 16);

  // NaN counts as larger than any number; of equal values the lower index comes first.
  bool before(const Entry& a, const Entry& b) const {
    if (is_nan(a.value) || is_nan(b.value)) {
      if (is_nan(a.value) != is_nan(b.value)) return is_nan(a.value) == largest_;
      return a.index < b.index;
    }
    if (a.value == b.value) return a.index < b.index;
    return largest_ ? a.value > b.value : a.value < b.value;
  }

  void pick(int64_t line, Entry* entries) const {
    const T* in = x_ + from_.first(line);
    for (int64_t i = 0; i < from_.n; ++i) entries[i] = {widen(in[i * from_.inner]), i};
    std::partial_sort(entries, entries + to_.n, entries + from_.n,
                      [this](const Entry& a, const Entry& b) { return before(a, b); });
    const int64_t out = to_.first(line);
    for (int64_t i = 0; i < to_.n; ++i) {
      const int64_t o = out + i * to_.inner;
      if (values_ != nullptr) values_[o] = in[entries[i].index * from_.inner];
      if (indices_ != nullptr) indices_[o] = entries[i].index;
    }
  }

  const T* x_;
  T* values_;
  int64_t* indices_;
  Lines from_, to_;
  bool largest_;
  Entry* scratch_;
};

void run_topk(const Call& c) {
  const View y = topk_output(c);
  if (y.count == 0) return;
  if (y.dims[topk_axis(c)] > c.in(0).dims[topk_axis(c)]) {
    throw BackendError(NEF_OUT_OF_RANGE, "TopK: k is more than the axis holds");
  }
  with_element_type(c.in(0).dtype, [&]<class T>(T) { TopK<T>(c).run(); });
}

}  // namespace

void register_order() {
  register_call(NEF_OP_ARGMAX, {"argmax", run_argmax});
  register_call(NEF_OP_ARGMIN, {"argmin", run_argmin});
  register_call(NEF_OP_CUMSUM, {"cumsum", run_cumsum});
  register_call(NEF_OP_TOPK, {"topk", run_topk, topk_scratch});
}

}  // namespace nef::cpu
