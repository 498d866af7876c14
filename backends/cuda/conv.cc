// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/conv.h"

#include <algorithm>
#include <limits>

#include "backends/shared/region.h"

namespace nef::cuda {
namespace {

using backends::BackendError;

void must(int status, const char* what) {
  if (status == 0) return;
  throw BackendError(NEF_INTERNAL,
                     std::string("cuDNN: ") + what + " failed with " + std::to_string(status));
}

int data_type(nef_dtype t) {
  switch (t) {
    case NEF_FLOAT16: return kDnnHalf;
    case NEF_BFLOAT16: return kDnnBfloat16;
    case NEF_FLOAT64: return kDnnDouble;
    default: return kDnnFloat;
  }
}

// Sizes as cuDNN counts them: two spatial axes at least, in ints.
struct Sizes {
  std::vector<int> values;
  bool fits = true;
  void add(int64_t v) {
    fits = fits && v <= std::numeric_limits<int>::max();
    values.push_back(static_cast<int>(v));
  }
};
Sizes sizes(std::initializer_list<int64_t> leading, int rank, const int64_t* spatial,
            int64_t missing) {
  Sizes s;
  for (int64_t v : leading) s.add(v);
  if (rank == 1) s.add(missing);
  for (int d = 0; d < rank; ++d) s.add(spatial[d]);
  return s;
}
std::vector<int> dense_strides(const std::vector<int>& dims, bool* fits) {
  std::vector<int> out(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    out[i] = static_cast<int>(step);
    step *= dims[i];
  }
  *fits = *fits && step <= std::numeric_limits<int>::max();
  return out;
}

}  // namespace

Dnn::Dnn() : api_(dnn()) { must(api_.create(&handle_), "cudnnCreate"); }
Dnn::~Dnn() {
  for (const auto& [key, plan] : plans_) destroy(plan);
  api_.destroy(handle_);
}

void Dnn::destroy(const Plan& p) const {
  if (p.x != nullptr) api_.tensor_destroy(p.x);
  if (p.y != nullptr) api_.tensor_destroy(p.y);
  if (p.w != nullptr) api_.filter_destroy(p.w);
  if (p.conv != nullptr) api_.convolution_destroy(p.conv);
}

bool Dnn::describe(const gpu::Conv& c, Plan& p) {
  const int type = data_type(c.dtype);
  const Sizes x = sizes({c.batch, c.channels}, c.rank, c.in, 1);
  const Sizes y = sizes({c.batch, c.filters}, c.rank, c.out, 1);
  const Sizes w = sizes({c.filters, c.channels / c.groups}, c.rank, c.kernel, 1);
  bool fits = x.fits && y.fits && w.fits;
  const std::vector<int> x_steps = dense_strides(x.values, &fits);
  const std::vector<int> y_steps = dense_strides(y.values, &fits);
  if (!fits) return false;
  must(api_.tensor_create(&p.x), "cudnnCreateTensorDescriptor");
  must(api_.tensor_create(&p.y), "cudnnCreateTensorDescriptor");
  must(api_.filter_create(&p.w), "cudnnCreateFilterDescriptor");
  must(api_.convolution_create(&p.conv), "cudnnCreateConvolutionDescriptor");
  const int rank = static_cast<int>(x.values.size());
  const Sizes pad = sizes({}, c.rank, c.pad, 0), stride = sizes({}, c.rank, c.stride, 1);
  const Sizes dilation = sizes({}, c.rank, c.dilation, 1);
  const int compute = c.dtype == NEF_FLOAT64 ? kDnnDouble : kDnnFloat;
  const int groups = static_cast<int>(c.groups);
  // 16-bit floats on tensor cores, float32 as float32.
  const int math = c.dtype == NEF_FLOAT16 || c.dtype == NEF_BFLOAT16 ? kDnnTensorMath : kDnnFmaMath;
  return api_.tensor_set(p.x, type, rank, x.values.data(), x_steps.data()) == 0 &&
         api_.tensor_set(p.y, type, rank, y.values.data(), y_steps.data()) == 0 &&
         api_.filter_set(p.w, type, kDnnNchw, rank, w.values.data()) == 0 &&
         api_.convolution_set(p.conv, rank - 2, pad.values.data(), stride.values.data(),
                              dilation.values.data(), kDnnCrossCorrelation, compute) == 0 &&
         api_.convolution_groups(p.conv, groups) == 0 && api_.convolution_math(p.conv, math) == 0;
}

// The fastest sum of products that the workspace is enough for.
int Dnn::choose(const Plan& p, size_t bytes) {
  constexpr int kMost = 16, kSums = 3;  // algorithms 0 to 3 sum products
  DnnAlgoPerf found[kMost] = {};
  int n = 0;
  if (api_.algorithms(handle_, p.x, p.w, p.conv, p.y, kMost, &n, found) != 0) return -1;
  for (int i = 0; i < n; ++i) {
    const DnnAlgoPerf& a = found[i];
    if (a.status == 0 && a.memory <= bytes && a.algo >= 0 && a.algo <= kSums) return a.algo;
  }
  return -1;
}

Dnn::Plan Dnn::make_plan(const gpu::Conv& c, size_t bytes) {
  Plan p;
  try {
    if (describe(c, p)) p.algo = choose(p, bytes);
  } catch (...) {
    destroy(p);
    throw;
  }
  return p;
}

const Dnn::Plan& Dnn::plan_for(const gpu::Conv& c, size_t bytes) {
  std::vector<int64_t> key = {c.dtype, c.rank, c.batch, c.channels, c.filters, c.groups};
  for (const int64_t* list : {c.in, c.out, c.kernel, c.stride, c.dilation, c.pad}) {
    key.insert(key.end(), list, list + c.rank);
  }
  const auto it = plans_.find(key);
  if (it != plans_.end()) return it->second;
  constexpr size_t kMost = 4096;
  if (plans_.size() >= kMost) {
    for (const auto& [old, plan] : plans_) destroy(plan);
    plans_.clear();
  }
  return plans_.emplace(std::move(key), make_plan(c, bytes)).first->second;
}

bool Dnn::convolve(const gpu::Conv& c, void* workspace, size_t bytes, CUstream stream) {
  std::lock_guard lock(mutex_);
  const Plan& p = plan_for(c, bytes);
  if (p.algo < 0) return false;
  must(api_.set_stream(handle_, stream), "cudnnSetStream");
  const bool wide = c.dtype == NEF_FLOAT64;
  const float one32 = 1, beta32 = static_cast<float>(c.beta);
  const double one64 = 1;
  must(api_.forward(handle_, wide ? static_cast<const void*>(&one64) : &one32, p.x, c.x, p.w, c.w,
                    p.conv, p.algo, workspace, bytes,
                    wide ? static_cast<const void*>(&c.beta) : &beta32, p.y, c.y),
       "cudnnConvolutionForward");
  return true;
}

}  // namespace nef::cuda
