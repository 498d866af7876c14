// SPDX-License-Identifier: Apache-2.0
// Normalizations. Variance is taken around the mean in a second pass, in double.
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

struct Moments {
  double mean, variance;
};

// Of `count` elements one after the other.
Moments moments(const View& x, int64_t base, int64_t count) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < count; ++i) sum += load_float(x, base + i);
  const double mean = sum / static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) {
    const double d = load_float(x, base + i) - mean;
    squares += d * d;
  }
  return {mean, squares / static_cast<double>(count)};
}

void run_layer_norm(const Call& c) {
  const View x = c.in(0), scale = c.in(1), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_LAYER_NORMALIZATION_AXIS, -1), x.rank);
  const double epsilon = c.attr_float(NEF_LAYER_NORMALIZATION_EPSILON, 1e-5);
  const int64_t rows = span_count(x, 0, axis), n = span_count(x, axis, x.rank);
  const Strides by_scale = broadcast_strides(scale, x.rank);
  const Strides by_bias = c.has(2) ? broadcast_strides(c.in(2), x.rank) : Strides{};
  Coords at(x.dims, x.rank);
  for (int64_t r = 0; r < rows; ++r) {
    const Moments m = moments(x, r * n, n);
    const double inverse = 1 / std::sqrt(m.variance + epsilon);
    for (int64_t i = 0; i < n; ++i, at.next()) {
      double v =
          (load_float(x, r * n + i) - m.mean) * inverse * load_float(scale, by_scale.offset(at));
      if (c.has(2)) v += load_float(c.in(2), by_bias.offset(at));
      store_float(y, r * n + i, v);
    }
    if (c.wants(1)) store_float(c.out(1), r, m.mean);
    if (c.wants(2)) store_float(c.out(2), r, inverse);
  }
}

void run_rms_norm(const Call& c) {
  const View x = c.in(0), scale = c.in(1), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_RMS_NORMALIZATION_AXIS, -1), x.rank);
  const double epsilon = c.attr_float(NEF_RMS_NORMALIZATION_EPSILON, 1e-5);
  const int64_t rows = span_count(x, 0, axis), n = span_count(x, axis, x.rank);
  const Strides by_scale = broadcast_strides(scale, x.rank);
  Coords at(x.dims, x.rank);
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double v = load_float(x, r * n + i);
      squares += v * v;
    }
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (int64_t i = 0; i < n; ++i, at.next()) {
      store_float(y, r * n + i,
                  load_float(x, r * n + i) * inverse * load_float(scale, by_scale.offset(at)));
    }
  }
}

void run_batch_norm(const Call& c) {
  const View x = c.in(0), y = c.out();
  const double epsilon = c.attr_float(NEF_BATCH_NORMALIZATION_EPSILON, 1e-5);
  // A vector [N] is N samples of one channel.
  const int64_t channels = x.rank > 1 ? x.dims[1] : 1, inner = span_count(x, 2, x.rank);
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i / inner % channels;
    const double inverse = 1 / std::sqrt(load_float(c.in(4), k) + epsilon);
    const double centred = load_float(x, i) - load_float(c.in(3), k);
    store_float(y, i, centred * inverse * load_float(c.in(1), k) + load_float(c.in(2), k));
  }
}

// Groups of channels normalised together; one channel per group is InstanceNormalization.
void normalize_groups(const Call& c, int64_t groups, double epsilon) {
  const View x = c.in(0), scale = c.in(1), bias = c.in(2), y = c.out();
  const int64_t channels = x.dims[1], inner = span_count(x, 2, x.rank);
  if (y.count == 0) return;
  const int64_t n = channels / groups * inner;
  for (int64_t g = 0; g < x.dims[0] * groups; ++g) {
    const Moments m = moments(x, g * n, n);
    const double inverse = 1 / std::sqrt(m.variance + epsilon);
    for (int64_t i = g * n; i < (g + 1) * n; ++i) {
      const int64_t k = i / inner % channels;
      store_float(
          y, i, (load_float(x, i) - m.mean) * inverse * load_float(scale, k) + load_float(bias, k));
    }
  }
}
void run_group_norm(const Call& c) {
  normalize_groups(c, c.attr_int(NEF_GROUP_NORMALIZATION_NUM_GROUPS),
                   c.attr_float(NEF_GROUP_NORMALIZATION_EPSILON, 1e-5));
}
void run_instance_norm(const Call& c) {
  normalize_groups(c, c.in(0).dims[1], c.attr_float(NEF_INSTANCE_NORMALIZATION_EPSILON, 1e-5));
}

void run_lrn(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int64_t size = c.attr_int(NEF_LRN_SIZE);
  const double alpha = c.attr_float(NEF_LRN_ALPHA, 1e-4) / static_cast<double>(size);
  const double beta = c.attr_float(NEF_LRN_BETA, 0.75), bias = c.attr_float(NEF_LRN_BIAS, 1);
  const int64_t channels = x.dims[1], inner = span_count(x, 2, x.rank);
  const int64_t before = (size - 1) / 2, after = size - 1 - before;
  for (int64_t i = 0; i < y.count; ++i) {
    const int64_t k = i / inner % channels;
    const int64_t first = std::max<int64_t>(0, k - before);
    const int64_t last =
        std::min(channels - 1, k > channels - 1 - after ? channels - 1 : k + after);
    double squares = 0;
    for (int64_t j = first; j <= last; ++j) {
      const double v = load_float(x, i + (j - k) * inner);
      squares += v * v;
    }
    store_float(y, i, load_float(x, i) / std::pow(bias + alpha * squares, beta));
  }
}

void run_lp_norm(const Call& c) {
  const View x = c.in(0), y = c.out();
  const int axis = c.axis(c.attr_int(NEF_LP_NORMALIZATION_AXIS, -1), x.rank);
  const bool l1 = c.attr_int(NEF_LP_NORMALIZATION_P, 2) == 1;
  const int64_t n = x.dims[axis], inner = span_count(x, axis + 1, x.rank);
  if (y.count == 0) return;
  for (int64_t line = 0; line < x.count / n; ++line) {
    const int64_t base = line / inner * n * inner + line % inner;
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double v = load_float(x, base + i * inner);
      sum += l1 ? std::fabs(v) : v * v;
    }
    const double norm = l1 ? sum : std::sqrt(sum);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = base + i * inner;
      store_float(y, at, norm == 0 ? 0 : load_float(x, at) / norm);
    }
  }
}

void run_mean_variance_norm(const Call& c) {
  const View x = c.in(0), y = c.out();
  static constexpr int64_t kDefault[] = {0, 2, 3};
  const auto given = c.attr_ints(NEF_MEAN_VARIANCE_NORMALIZATION_AXES);
  const auto axes = given.empty() ? std::span<const int64_t>(kDefault) : given;
  int64_t kept_dims[NEF_MAX_RANK], reduced_dims[NEF_MAX_RANK];
  for (int d = 0; d < x.rank; ++d) {
    kept_dims[d] = x.dims[d];
    reduced_dims[d] = 1;
  }
  for (int64_t axis : axes) {
    const int d = c.axis(axis, x.rank);
    kept_dims[d] = 1;
    reduced_dims[d] = x.dims[d];
  }
  if (y.count == 0) return;
  const Strides dense = dense_strides(x.dims, x.rank);
  Coords kept(kept_dims, x.rank);
  do {
    const int64_t base = dense.offset(kept);
    const auto each = [&](auto f) {
      Coords at(reduced_dims, x.rank);
      do f(base + dense.offset(at));
      while (at.next());
    };
    double count = 0, sum = 0, squares = 0;
    each([&](int64_t i) {
      sum += load_float(x, i);
      ++count;
    });
    const double mean = sum / count;
    each([&](int64_t i) { squares += (load_float(x, i) - mean) * (load_float(x, i) - mean); });
    const double deviation = std::sqrt(squares / count);
    each([&](int64_t i) { store_float(y, i, (load_float(x, i) - mean) / (deviation + 1e-9)); });
  } while (kept.next());
}

constexpr Kernel kKernels[] = {
    {NEF_OP_LAYER_NORMALIZATION, run_layer_norm},
    {NEF_OP_RMS_NORMALIZATION, run_rms_norm},
    {NEF_OP_BATCH_NORMALIZATION, run_batch_norm},
    {NEF_OP_GROUP_NORMALIZATION, run_group_norm},
    {NEF_OP_INSTANCE_NORMALIZATION, run_instance_norm},
    {NEF_OP_LRN, run_lrn},
    {NEF_OP_LP_NORMALIZATION, run_lp_norm},
    {NEF_OP_MEAN_VARIANCE_NORMALIZATION, run_mean_variance_norm},
};

}  // namespace

std::span<const Kernel> norm_kernels() { return kKernels; }

}  // namespace nef::reference
