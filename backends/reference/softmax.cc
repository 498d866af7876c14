// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax, Hardmax.
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// f(index of line element i, n) for each line along the axis.
template <typename F>
void for_lines(const View& x, int axis, F f) {
  const int64_t n = x.dims[axis], inner = span_count(x, axis + 1, x.rank);
  const int64_t lines = span_count(x, 0, axis) * inner;
  if (n == 0) return;
  for (int64_t l = 0; l < lines; ++l) {
    const int64_t base = l / inner * n * inner + l % inner;
    f([=](int64_t i) { return base + i * inner; }, n);
  }
}

template <typename At>
double line_max(const View& x, At at, int64_t n) {
  double most = lowest<double>(x.dtype);
  for (int64_t i = 0; i < n; ++i) most = larger(most, load_float(x, at(i)));
  return most;
}

void run_softmax(const Call& c) {
  const View x = c.in(0), y = c.out();
  const bool masked_to_zero = c.attr_int(NEF_SOFTMAX_ZERO_MASKED_ROWS) != 0;
  for_lines(x, c.axis(c.attr_int(NEF_SOFTMAX_AXIS, -1), x.rank), [&](auto at, int64_t n) {
    const double most = line_max(x, at, n);
    const bool zero = masked_to_zero && most == lowest<double>(x.dtype);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(load_float(x, at(i)) - most);
    for (int64_t i = 0; i < n; ++i) {
      store_float(y, at(i), zero ? 0 : std::exp(load_float(x, at(i)) - most) / sum);
    }
  });
}

void run_log_softmax(const Call& c) {
  const View x = c.in(0), y = c.out();
  for_lines(x, c.axis(c.attr_int(NEF_LOG_SOFTMAX_AXIS, -1), x.rank), [&](auto at, int64_t n) {
    const double most = line_max(x, at, n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(load_float(x, at(i)) - most);
    const double log_sum = std::log(sum);
    for (int64_t i = 0; i < n; ++i) store_float(y, at(i), load_float(x, at(i)) - most - log_sum);
  });
}

void run_hardmax(const Call& c) {
  const View x = c.in(0), y = c.out();
  for_lines(x, c.axis(c.attr_int(NEF_HARDMAX_AXIS, -1), x.rank), [&](auto at, int64_t n) {
    const double most = line_max(x, at, n);
    bool found = false;
    for (int64_t i = 0; i < n; ++i) {
      const double v = load_float(x, at(i));
      const bool hit = !found && (v == most || std::isnan(v));
      store_float(y, at(i), hit ? 1 : 0);
      found = found || hit;
    }
  });
}

constexpr Kernel kKernels[] = {
    {NEF_OP_SOFTMAX, run_softmax},
    {NEF_OP_LOG_SOFTMAX, run_log_softmax},
    {NEF_OP_HARDMAX, run_hardmax},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace nef::reference
