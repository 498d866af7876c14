// SPDX-License-Identifier: Apache-2.0
// LpPool: sums of magnitudes and roots of sums of squares go the way of other pools, every other
// norm and window the way that both backends share.
#include "backends/cpu/call.h"
#include "backends/cpu/conv.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/pool_direct.h"
#include "backends/cpu/pool_loop.h"
#include "backends/shared/sampling.h"

namespace nef::cpu {
namespace {

struct NormSpec {
  std::shared_ptr<const Region> region;
  int32_t x = -1, y = -1;
  WindowAttrs window;
  std::vector<int64_t> kernel;
  int64_t p = 2;
};

class NormPoolPrepared final : public Prepared {
 public:
  NormPoolPrepared(const ValueTable& values, const NormSpec& spec, const Tensor* constants)
      : values_(values),
        spec_(spec),
        operands_(spec.region, constants),
        dtype_(values.dtype(spec.x)),
        slots_(task_slots()) {}

  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const Window w = window(values);
    if (!direct(w)) return backends::lp_pool(Call(operands_, values, scratch), PoolLoop{});
    if (w.out_count == 0) return;
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values);
    const void* x = values_.data(values, spec_.x);
    if (dtype_ == NEF_FLOAT64) {
      return run(w, values, static_cast<const double*>(x),
                 static_cast<double*>(values[spec_.y].data), p.lines);
    }
    if (dtype_ == NEF_FLOAT32) {
      return run(w, values, static_cast<const float*>(x), static_cast<float*>(values[spec_.y].data),
                 p.lines);
    }
    load_floats_parallel(dtype_, x, values_.count(values, spec_.x), p.x);
    run(w, values, p.x, p.y, p.lines);
    store_floats_parallel(dtype_, p.y, values_.count(values, spec_.y), values[spec_.y].data);
  }

 private:
  struct Pieces {
    double* lines = nullptr;
    float *x = nullptr, *y = nullptr;
  };

  bool direct(const Window& w) const { return spec_.p <= 2 && can_stage(w); }

  Window window(const Tensor* values) const {
    return make_window(spec_.window, values[spec_.x].dims, values[spec_.y].dims,
                       values_.rank(spec_.x), spec_.kernel.data(), false);
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values) const {
    Pieces p;
    const Window w = window(values);
    if (!direct(w)) return p;
    p.lines = layout.take<double>(direct_pool_scratch<double>(w, slots_));
    if (dtype_ == NEF_FLOAT32 || dtype_ == NEF_FLOAT64) return p;
    p.x = layout.take<float>(values_.count(values, spec_.x));
    p.y = layout.take<float>(values_.count(values, spec_.y));
    return p;
  }

  template <typename M>
  void run(const Window& w, const Tensor* values, const M* x, M* y, double* lines) const {
    DirectPool<double, M> pool;
    pool.planes = values[spec_.x].dims[0] * values[spec_.x].dims[1];
    pool.window = w;
    pool.row = spec_.p == 1 ? norm_pool_ops<M>().sum_abs : norm_pool_ops<M>().root_of_squares;
    pool.x = x;
    pool.y = y;
    run_direct_pool(pool, slots_, lines);
  }

  ValueTable values_;
  NormSpec spec_;
  Operands operands_;
  nef_dtype dtype_;
  int64_t slots_;
};

class NormPoolKernel final : public Kernel {
 public:
  NormPoolKernel(const Region& region, NormSpec spec) : values_(region), spec_(std::move(spec)) {}
  const char* name() const override { return "lp pool"; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<NormPoolPrepared>(values_, spec_, values);
  }

 private:
  ValueTable values_;
  NormSpec spec_;
};

std::unique_ptr<Kernel> make_norm_pool(const Region& region, std::string*) {
  const Node& node = region.nodes[0];
  const int64_t* attrs = node.attrs();
  NormSpec spec;
  spec.region = std::make_shared<Region>(region);
  spec.x = node.inputs[0];
  spec.y = node.outputs[0];
  spec.window = WindowAttrs::read(attrs, NEF_LP_POOL_AUTO_PAD, NEF_LP_POOL_PADS,
                                  NEF_LP_POOL_STRIDES, NEF_LP_POOL_DILATIONS);
  spec.kernel = attr_ints(attrs, NEF_LP_POOL_KERNEL_SHAPE);
  spec.p = nef_attr_int(attrs, NEF_LP_POOL_P, 2);
  return std::make_unique<NormPoolKernel>(region, std::move(spec));
}

}  // namespace

void register_norm_pool() { register_op(NEF_OP_LP_POOL, make_norm_pool); }

}  // namespace nef::cpu
