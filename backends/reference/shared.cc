// SPDX-License-Identifier: Apache-2.0
// Ops of backends/shared on one thread, and the Fourier transforms as their sums.
#include <numbers>

#include "backends/reference/call.h"
#include "backends/shared/generate.h"
#include "backends/shared/modulo.h"
#include "backends/shared/sampling.h"
#include "backends/shared/select.h"

namespace nef::reference {
namespace {

using namespace backends;  // NOLINT: the ops

struct OneThread {
  template <class Body>
  void operator()(int64_t n, int64_t, const Body& body) const {
    body(int64_t{0}, n);
  }
};
template <auto kRun>
void with_loop(const Call& c) {
  kRun(c, OneThread{});
}
template <auto kRun>
void alone(const Call& c) {
  kRun(c);
}

// sum over k of at(k) exp(sign 2 pi i j k / n), parts 0 and 1.
template <class At>
void fourier_sum(int64_t n, int64_t j, double sign, const At& at, double* sum) {
  sum[0] = sum[1] = 0;
  for (int64_t k = 0; k < n; ++k) {
    const auto turn = static_cast<double>(product_modulo(j, k, n));
    const double angle = sign * 2 * std::numbers::pi * turn / static_cast<double>(n);
    double re, im;
    at(k, &re, &im);
    sum[0] += re * std::cos(angle) - im * std::sin(angle);
    sum[1] += re * std::sin(angle) + im * std::cos(angle);
  }
}

void run_dft(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const bool inverse = c.attr_int(NEF_DFT_INVERSE) != 0;
  const bool onesided = c.attr_int(NEF_DFT_ONESIDED) != 0;
  const int axis = c.axis(c.has(2) ? load_int(c.in(2), 0) : -2, x.rank);
  const int64_t given = x.dims[axis], wanted = y.dims[axis], parts = x.dims[x.rank - 1];
  int64_t n = wanted;
  if (onesided && !inverse) n = c.has(1) ? load_int(c.in(1), 0) : given;
  const int64_t inner = span_count(x, axis + 1, x.rank - 1), outer = span_count(x, 0, axis);
  const int64_t out_parts = y.dims[y.rank - 1];
  for (int64_t line = 0; line < outer * inner; ++line) {
    const int64_t o = line / inner, l = line % inner;
    const auto at = [&](int64_t k, double* re, double* im) {
      // One-sided spectra go on mirrored and conjugate.
      const bool mirrored = inverse && onesided && 2 * k > n;
      const int64_t i = mirrored ? n - k : k;
      *re = *im = 0;
      if (i >= given) return;
      const int64_t from = ((o * given + i) * inner + l) * parts;
      *re = load_float(x, from);
      if (parts == 2) *im = load_float(x, from + 1) * (mirrored ? -1 : 1);
      if (inverse && onesided && (k == 0 || 2 * k == n)) *im = 0;
    };
    for (int64_t j = 0; j < wanted; ++j) {
      double sum[2];
      fourier_sum(n, j, inverse ? 1 : -1, at, sum);
      for (int64_t part = 0; part < out_parts; ++part) {
        store_float(y, ((o * wanted + j) * inner + l) * out_parts + part,
                    inverse ? sum[part] / static_cast<double>(n) : sum[part]);
      }
    }
  }
}

void run_stft(const Call& c) {
  const View x = c.in(0), y = c.out();
  if (y.count == 0) return;
  const int64_t n = c.has(2) ? c.in(2).dims[0] : c.has(3) ? load_int(c.in(3), 0) : x.dims[1];
  const int64_t step = load_int(c.in(1), 0), frames = y.dims[1], bins = y.dims[2];
  const int64_t parts = x.dims[2];
  if (n < 1 || step < 1 || (frames - 1) * step + n > x.dims[1]) {
    throw BackendError(NEF_SHAPE_MISMATCH, "STFT: frame_step and frame_length do not fit");
  }
  for (int64_t frame = 0; frame < x.dims[0] * frames; ++frame) {
    const int64_t first = frame / frames * x.dims[1] + frame % frames * step;
    const auto at = [&](int64_t k, double* re, double* im) {
      const double weight = c.has(2) ? load_float(c.in(2), k) : 1;
      *re = weight * load_float(x, (first + k) * parts);
      *im = parts == 2 ? weight * load_float(x, (first + k) * parts + 1) : 0;
    };
    for (int64_t j = 0; j < bins; ++j) {
      double sum[2];
      fourier_sum(n, j, -1, at, sum);
      store_float(y, (frame * bins + j) * 2, sum[0]);
      store_float(y, (frame * bins + j) * 2 + 1, sum[1]);
    }
  }
}

constexpr Kernel kKernels[] = {
    {NEF_OP_DFT, run_dft},
    {NEF_OP_STFT, run_stft},
    {NEF_OP_GRID_SAMPLE, with_loop<grid_sample<Call, OneThread>>},
    {NEF_OP_AFFINE_GRID, with_loop<affine_grid<Call, OneThread>>},
    {NEF_OP_ROI_ALIGN, with_loop<roi_align<Call, OneThread>>},
    {NEF_OP_MAX_ROI_POOL, with_loop<max_roi_pool<Call, OneThread>>},
    {NEF_OP_MAX_UNPOOL, alone<max_unpool<Call>>},
    {NEF_OP_DEFORM_CONV, with_loop<deform_conv<Call, OneThread>>},
    {NEF_OP_LP_POOL, with_loop<lp_pool<Call, OneThread>>},
    {NEF_OP_COL2IM, with_loop<col2im<Call, OneThread>>},
    {NEF_OP_CENTER_CROP_PAD, with_loop<center_crop_pad<Call, OneThread>>},
    {NEF_OP_NON_MAX_SUPPRESSION, alone<non_max_suppression<Call>>,
     non_max_suppression_scratch<Call>, non_max_suppression_sizes<Call>},
    {NEF_OP_COMPRESS, alone<compress<Call>>, nullptr, compress_sizes<Call>},
    {NEF_OP_UNIQUE, alone<unique<Call>>, unique_scratch<Call>, unique_sizes<Call>},
    {NEF_OP_TENSOR_SCATTER, alone<tensor_scatter<Call>>},
    {NEF_OP_TF_IDF_VECTORIZER, with_loop<tf_idf<Call, OneThread>>},
    {NEF_OP_RANDOM_UNIFORM, with_loop<random_tensor<Call, OneThread>>},
    {NEF_OP_RANDOM_NORMAL, with_loop<random_tensor<Call, OneThread>>},
    {NEF_OP_BERNOULLI, with_loop<bernoulli<Call, OneThread>>},
    {NEF_OP_MULTINOMIAL, alone<multinomial<Call>>},
    {NEF_OP_HANN_WINDOW, alone<window_function<Call>>},
    {NEF_OP_HAMMING_WINDOW, alone<window_function<Call>>},
    {NEF_OP_BLACKMAN_WINDOW, alone<window_function<Call>>},
    {NEF_OP_MEL_WEIGHT_MATRIX, alone<mel_weight_matrix<Call>>},
    {NEF_OP_DET, alone<det<Call>>, det_scratch<Call>},
    {NEF_OP_CUMPROD, with_loop<cum_prod<Call, OneThread>>},
    {NEF_OP_BIT_CAST, alone<bit_cast<Call>>},
    {NEF_OP_REQUIRE, alone<require<Call>>},
    {NEF_OP_LINEAR_ATTENTION, with_loop<linear_attention<Call, OneThread>>,
     linear_attention_scratch<Call>},
};

}  // namespace

std::span<const Kernel> shared_kernels() { return kKernels; }

}  // namespace nef::reference
