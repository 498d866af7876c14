// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>

#include "backends/shared/elements.h"

// Ops whose results are chosen or ordered by data.
namespace nef::backends {

// ---- NonMaxSuppression

namespace detail {

struct Box {
  double y1, x1, y2, x2;
  double area() const { return (y2 - y1) * (x2 - x1); }
};
template <class V>
Box read_box(const V& boxes, int64_t i, bool center) {
  const double a = number(boxes, 4 * i), b = number(boxes, 4 * i + 1);
  const double p = number(boxes, 4 * i + 2), q = number(boxes, 4 * i + 3);
  if (center) return {b - q / 2, a - p / 2, b + q / 2, a + p / 2};
  return {std::min(a, p), std::min(b, q), std::max(a, p), std::max(b, q)};
}
inline double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0 && width > 0)) return 0;
  const double both = height * width;
  return both / (a.area() + b.area() - both);
}

}  // namespace detail

// Candidates and the kept ones of one class.
template <class Call>
size_t non_max_suppression_scratch(const Call& c) {
  return 2 * static_cast<size_t>(c.in(0).dims[1]) * sizeof(int64_t);
}

// Calls emit(batch, class, box) for each kept box, in order.
template <class Call, class Emit>
void keep_boxes(const Call& c, const Emit& emit) {
  const auto boxes = c.in(0), scores = c.in(1);
  const int64_t most = c.has(2) ? std::max<int64_t>(integer(c.in(2), 0), 0) : 0;
  const double iou = c.has(3) ? number(c.in(3), 0) : 0;
  const bool center = c.attr_int(NEF_NON_MAX_SUPPRESSION_CENTER_POINT_BOX) != 0;
  const int64_t n = boxes.dims[1], classes = scores.dims[1];
  auto* order = c.template scratch<int64_t>();
  int64_t* kept = order + n;
  for (int64_t plane = 0; plane < boxes.dims[0] * classes; ++plane) {
    const int64_t batch = plane / classes;
    int64_t candidates = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double score = number(scores, plane * n + i);
      if (score != score || (c.has(4) && !(score > number(c.in(4), 0)))) continue;
      order[candidates++] = i;
    }
    std::sort(order, order + candidates, [&](int64_t a, int64_t b) {
      const double sa = number(scores, plane * n + a), sb = number(scores, plane * n + b);
      return sa != sb ? sa > sb : a < b;
    });
    int64_t count = 0;
    for (int64_t i = 0; i < candidates && count < most; ++i) {
      const detail::Box box = detail::read_box(boxes, batch * n + order[i], center);
      bool keep = true;
      for (int64_t k = 0; k < count && keep; ++k) {
        keep = !(detail::overlap(box, detail::read_box(boxes, batch * n + kept[k], center)) > iou);
      }
      if (!keep) continue;
      kept[count++] = order[i];
      emit(batch, plane % classes, order[i]);
    }
  }
}

template <class Call>
void non_max_suppression_sizes(const Call& c, int64_t* const* dims) {
  dims[0][0] = 0;
  dims[0][1] = 3;
  keep_boxes(c, [&](int64_t, int64_t, int64_t) { ++dims[0][0]; });
}

template <class Call>
void non_max_suppression(const Call& c) {
  const auto y = c.out();
  int64_t found = 0;
  keep_boxes(c, [&](int64_t batch, int64_t cls, int64_t box) {
    if (found < y.dims[0]) {
      put_integer(y, 3 * found, batch);
      put_integer(y, 3 * found + 1, cls);
      put_integer(y, 3 * found + 2, box);
    }
    ++found;
  });
  require_room("NonMaxSuppression", found, y.dims[0]);
}

// ---- Compress

template <class V>
int64_t count_true(const V& condition) {
  return std::count_if(condition.data, condition.data + condition.count,
                       [](char v) { return v != 0; });
}

template <class Call>
void compress_sizes(const Call& c, int64_t* const* dims) {
  const auto x = c.in(0);
  const bool flat = !nef_attr_has(c.node().attrs(), NEF_COMPRESS_AXIS);
  if (!flat) std::copy(x.dims, x.dims + x.rank, dims[0]);
  const int axis = flat ? 0 : axis_from_front(c.attr_int(NEF_COMPRESS_AXIS), x.rank);
  dims[0][axis] = count_true(c.in(1));
}

template <class Call>
void compress(const Call& c) {
  const auto x = c.in(0), condition = c.in(1), y = c.out();
  const bool flat = !nef_attr_has(c.node().attrs(), NEF_COMPRESS_AXIS);
  const int axis = flat ? 0 : axis_from_front(c.attr_int(NEF_COMPRESS_AXIS), x.rank);
  const int64_t outer = flat ? 1 : dims_product(x, 0, axis);
  const int64_t length = flat ? x.count : x.dims[axis];
  const size_t bytes =
      dtype_size(x.dtype) * static_cast<size_t>(flat ? 1 : dims_product(x, axis + 1, x.rank));
  if (condition.count > length) {
    throw BackendError(NEF_SHAPE_MISMATCH, "Compress: condition is longer than the axis");
  }
  require_room("Compress", count_true(condition), flat ? y.count : y.dims[axis]);
  char* to = y.data;
  for (int64_t o = 0; o < outer && bytes > 0; ++o) {
    for (int64_t i = 0; i < condition.count; ++i) {
      if (condition.data[i] == 0) continue;
      std::memcpy(to, x.data + static_cast<size_t>(o * length + i) * bytes, bytes);
      to += bytes;
    }
  }
}

// ---- Unique

namespace detail {

// x as slices along an axis, or as elements.
template <class V>
struct Slices {
  V x;
  int64_t outer = 1, length = 1, inner = 1;

  // -1, 0, 1: slice a against b, element by element; NaN is the largest and equal to itself.
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t j = 0; j < inner; ++j) {
        const int r = compare_elements((o * length + a) * inner + j, (o * length + b) * inner + j);
        if (r != 0) return r;
      }
    }
    return 0;
  }
  int compare_elements(int64_t a, int64_t b) const {
    if (element_is_float(x.dtype)) {
      const double p = number(x, a), q = number(x, b);
      if (p != p || q != q) return (p != p ? 1 : 0) - (q != q ? 1 : 0);
      return p < q ? -1 : p > q ? 1 : 0;
    }
    const int64_t p = integer(x, a), q = integer(x, b);
    if (x.dtype == NEF_UINT64) {
      const auto up = static_cast<uint64_t>(p), uq = static_cast<uint64_t>(q);
      return up < uq ? -1 : up > uq ? 1 : 0;
    }
    return p < q ? -1 : p > q ? 1 : 0;
  }
};

template <class Call>
auto slices_of(const Call& c) {
  const auto x = c.in(0);
  Slices<std::remove_const_t<decltype(x)>> s{x};
  s.length = x.count;
  if (nef_attr_has(c.node().attrs(), NEF_UNIQUE_AXIS)) {
    const int axis = axis_from_front(c.attr_int(NEF_UNIQUE_AXIS), x.rank);
    s.outer = dims_product(x, 0, axis);
    s.length = x.dims[axis];
    s.inner = dims_product(x, axis + 1, x.rank);
  }
  return s;
}

}  // namespace detail

// Order of the slices, where each group of equal ones begins in it, and the groups' order.
template <class Call>
size_t unique_scratch(const Call& c) {
  return 4 * static_cast<size_t>(detail::slices_of(c).length + 1) * sizeof(int64_t);
}

// Sorts the slices' numbers into `order` and writes where each group of equal ones begins in it,
// and the end, to `begin`; returns the number of groups.
template <class V>
int64_t group_equal(const detail::Slices<V>& s, int64_t* order, int64_t* begin) {
  const int64_t n = s.length;
  std::iota(order, order + n, int64_t{0});
  std::sort(order, order + n, [&](int64_t a, int64_t b) {
    const int r = s.compare(a, b);
    return r != 0 ? r < 0 : a < b;
  });
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || s.compare(order[i - 1], order[i]) != 0) begin[found++] = i;
  }
  begin[found] = n;
  return found;
}

template <class Call>
void unique_sizes(const Call& c, int64_t* const* dims) {
  const auto s = detail::slices_of(c);
  auto* order = c.template scratch<int64_t>();
  const int64_t found = group_equal(s, order, order + s.length + 1);
  if (dims[0] != nullptr) {
    const bool flat = !nef_attr_has(c.node().attrs(), NEF_UNIQUE_AXIS);
    if (!flat) std::copy(s.x.dims, s.x.dims + s.x.rank, dims[0]);
    dims[0][flat ? 0 : axis_from_front(c.attr_int(NEF_UNIQUE_AXIS), s.x.rank)] = found;
  }
  if (dims[1] != nullptr) dims[1][0] = found;
  if (dims[2] != nullptr) dims[2][0] = s.length;
  if (dims[3] != nullptr) dims[3][0] = found;
}

template <class Call>
void unique(const Call& c) {
  const auto s = detail::slices_of(c);
  const auto y = c.out(0);
  const int64_t n = s.length;
  auto* order = c.template scratch<int64_t>();
  int64_t *begin = order + n + 1, *groups = begin + n + 1, *place = groups + n + 1;
  const int64_t found = group_equal(s, order, begin);
  std::iota(groups, groups + found, int64_t{0});
  if (c.attr_int(NEF_UNIQUE_SORTED, 1) == 0) {
    // A group's first element stands first in the order.
    std::sort(groups, groups + found,
              [&](int64_t a, int64_t b) { return order[begin[a]] < order[begin[b]]; });
  }
  for (int64_t i = 0; i < found; ++i) place[groups[i]] = i;
  const int64_t across = s.outer * s.inner;
  require_room("Unique", found, across == 0 ? found : y.count / across);
  const size_t size = dtype_size(y.dtype), row = static_cast<size_t>(s.inner) * size;
  for (int64_t i = 0; i < found; ++i) {
    const int64_t g = groups[i], first = order[begin[g]];
    for (int64_t o = 0; o < s.outer && row > 0; ++o) {
      std::memcpy(y.data + static_cast<size_t>((o * found + i) * s.inner) * size,
                  s.x.data + static_cast<size_t>((o * n + first) * s.inner) * size, row);
    }
    if (c.wants(1)) put_integer(c.out(1), i, first);
    if (c.wants(3)) put_integer(c.out(3), i, begin[g + 1] - begin[g]);
    for (int64_t k = begin[g]; k < begin[g + 1] && c.wants(2); ++k) {
      put_integer(c.out(2), order[k], place[g]);
    }
  }
}

// ---- TensorScatter

template <class Call>
void tensor_scatter(const Call& c) {
  const auto past = c.in(0), update = c.in(1), y = c.out();
  const int axis = axis_from_front(c.attr_int(NEF_TENSOR_SCATTER_AXIS, -2), past.rank);
  const bool circular = c.attr_string(NEF_TENSOR_SCATTER_MODE) == "circular";
  const int64_t outer = dims_product(past, 0, axis), length = past.dims[axis];
  const int64_t steps = update.dims[axis];
  const size_t size = dtype_size(past.dtype);
  const size_t row = static_cast<size_t>(dims_product(past, axis + 1, past.rank)) * size;
  if (y.count == 0) return;
  if (y.data != past.data) std::memcpy(y.data, past.data, static_cast<size_t>(y.count) * size);
  const int64_t per_batch = std::max<int64_t>(dims_product(past, 1, axis), 1);
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t start = c.has(2) ? integer(c.in(2), o / per_batch) : 0;
    const bool fits = start >= 0 && start <= length - steps;
    if (circular ? start < 0 : !fits) {
      throw BackendError(NEF_OUT_OF_RANGE, "TensorScatter: write index " + std::to_string(start) +
                                               " with " + std::to_string(steps) +
                                               " steps does not fit a cache of " +
                                               std::to_string(length));
    }
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t at = circular ? (start % length + t) % length : start + t;
      std::memcpy(y.data + static_cast<size_t>(o * length + at) * row,
                  update.data + static_cast<size_t>(o * steps + t) * row, row);
    }
  }
}

// ---- TfIdfVectorizer

template <class Call, class Loop>
void tf_idf(const Call& c, const Loop& loop) {
  const auto x = c.in(0), y = c.out();
  const auto counts = c.attr_ints(NEF_TF_IDF_VECTORIZER_NGRAM_COUNTS);
  const auto indexes = c.attr_ints(NEF_TF_IDF_VECTORIZER_NGRAM_INDEXES);
  const auto pool = c.attr_ints(NEF_TF_IDF_VECTORIZER_POOL_INT64S);
  const double* weights = nef_attr_floats(c.node().attrs(), NEF_TF_IDF_VECTORIZER_WEIGHTS);
  const int64_t shortest = c.attr_int(NEF_TF_IDF_VECTORIZER_MIN_GRAM_LENGTH);
  const int64_t longest = c.attr_int(NEF_TF_IDF_VECTORIZER_MAX_GRAM_LENGTH);
  const int64_t skips = c.attr_int(NEF_TF_IDF_VECTORIZER_MAX_SKIP_COUNT);
  const auto mode = c.attr_string(NEF_TF_IDF_VECTORIZER_MODE);
  const int64_t rows = x.rank == 2 ? x.dims[0] : 1, length = x.dims[x.rank - 1];
  const int64_t width = y.dims[y.rank - 1];
  loop(rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t i = 0; i < width; ++i) put_number(y, r * width + i, 0);
      int64_t first_gram = 0;
      for (int64_t n = 1; n <= longest; ++n) {
        const auto at = static_cast<size_t>(n - 1);
        const int64_t from = counts[at];
        const int64_t to =
            at + 1 < counts.size() ? counts[at + 1] : static_cast<int64_t>(pool.size());
        const int64_t grams = (to - from) / n;
        for (int64_t step = 1; n >= shortest && step <= skips + 1; ++step) {
          // Single elements skip nothing, and no step may leave the row.
          if ((n == 1 && step > 1) || (n - 1) * step >= length) break;
          for (int64_t i = 0; i + (n - 1) * step < length; ++i) {
            for (int64_t g = 0; g < grams; ++g) {
              const int64_t* gram = pool.data() + from + g * n;
              int64_t k = 0;
              while (k < n && integer(x, r * length + i + k * step) == gram[k]) ++k;
              if (k < n) continue;
              const int64_t o = r * width + indexes[static_cast<size_t>(first_gram + g)];
              put_number(y, o, number(y, o) + 1);
            }
          }
        }
        first_gram += grams;
      }
      if (mode == "TF") continue;
      for (size_t g = 0; g < indexes.size(); ++g) {
        const int64_t o = r * width + indexes[g];
        const double count = number(y, o), weight = weights == nullptr ? 1 : weights[g];
        if (count > 0) put_number(y, o, mode == "IDF" ? weight : count * weight);
      }
    }
  });
}

}  // namespace nef::backends
