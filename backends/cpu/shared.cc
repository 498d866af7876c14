// SPDX-License-Identifier: Apache-2.0
// Ops whose time goes into following data, or that must give the same numbers everywhere: one code
// for both backends, here on the pool.
#include "backends/cpu/pool_loop.h"
#include "backends/cpu/signal.h"
#include "backends/shared/generate.h"
#include "backends/shared/sampling.h"
#include "backends/shared/select.h"

namespace nef::cpu {
namespace {

template <auto kRun>
void with_loop(const Call& c) {
  kRun(c, PoolLoop{});
}
template <auto kRun>
void alone(const Call& c) {
  kRun(c);
}

}  // namespace

void register_shared() {
  using namespace backends;  // NOLINT: the ops
  register_call(NEF_OP_GRID_SAMPLE, {"grid sample", with_loop<grid_sample<Call, PoolLoop>>});
  register_call(NEF_OP_AFFINE_GRID, {"affine grid", with_loop<affine_grid<Call, PoolLoop>>});
  register_call(NEF_OP_ROI_ALIGN, {"roi align", with_loop<roi_align<Call, PoolLoop>>});
  register_call(NEF_OP_MAX_ROI_POOL, {"max roi pool", with_loop<max_roi_pool<Call, PoolLoop>>});
  register_call(NEF_OP_MAX_UNPOOL, {"max unpool", alone<max_unpool<Call>>});
  register_call(NEF_OP_DEFORM_CONV, {"deform conv", with_loop<deform_conv<Call, PoolLoop>>});
  register_call(NEF_OP_COL2IM, {"col2im", with_loop<col2im<Call, PoolLoop>>});
  register_call(NEF_OP_CENTER_CROP_PAD,
                {"center crop pad", with_loop<center_crop_pad<Call, PoolLoop>>});
  register_call(NEF_OP_NON_MAX_SUPPRESSION,
                {"nms", alone<non_max_suppression<Call>>, non_max_suppression_scratch<Call>, false,
                 nullptr, non_max_suppression_sizes<Call>});
  register_call(NEF_OP_COMPRESS,
                {"compress", alone<compress<Call>>, nullptr, false, nullptr, compress_sizes<Call>});
  register_call(NEF_OP_UNIQUE, {"unique", alone<unique<Call>>, unique_scratch<Call>, false, nullptr,
                                unique_sizes<Call>});
  register_call(NEF_OP_TENSOR_SCATTER,
                {"tensor scatter", alone<tensor_scatter<Call>>, nullptr, true});
  register_call(NEF_OP_TF_IDF_VECTORIZER, {"tf-idf", with_loop<tf_idf<Call, PoolLoop>>});
  for (nef_op op : {NEF_OP_RANDOM_UNIFORM, NEF_OP_RANDOM_NORMAL}) {
    register_call(op, {"random", with_loop<random_tensor<Call, PoolLoop>>});
  }
  register_call(NEF_OP_BERNOULLI, {"bernoulli", with_loop<bernoulli<Call, PoolLoop>>});
  register_call(NEF_OP_MULTINOMIAL, {"multinomial", alone<multinomial<Call>>});
  for (nef_op op : {NEF_OP_HANN_WINDOW, NEF_OP_HAMMING_WINDOW, NEF_OP_BLACKMAN_WINDOW}) {
    register_call(op, {"window", alone<window_function<Call>>});
  }
  register_call(NEF_OP_MEL_WEIGHT_MATRIX, {"mel matrix", alone<mel_weight_matrix<Call>>});
  register_call(NEF_OP_DET, {"det", alone<det<Call>>, det_scratch<Call>});
  register_call(NEF_OP_CUMPROD, {"cumprod", with_loop<cum_prod<Call, PoolLoop>>});
  register_call(NEF_OP_BIT_CAST, {"bit cast", alone<bit_cast<Call>>, nullptr, true});
  register_call(NEF_OP_REQUIRE, {"require", alone<require<Call>>, nullptr, true});
  register_call(NEF_OP_LINEAR_ATTENTION,
                {"linear attention", with_loop<linear_attention<Call, PoolLoop>>,
                 linear_attention_scratch<Call>});
}

}  // namespace nef::cpu
