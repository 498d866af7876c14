// SPDX-License-Identifier: Apache-2.0
// The Reduce family over any axes, and the global pools, which reduce all spatial ones.
#include "backends/gpu/stage.h"
#include "backends/shared/axes.h"

namespace nef::gpu {
namespace {

// How one member folds: A is what it sums up in, C what an element is in registers.
struct Fold {
  std::string accumulator, start, map, join, finish;
};

Fold fold_of(nef_op op, nef_dtype t) {
  const bool flt = is_float(t);
  const std::string c = register_type(t);
  // Floats in double: the result is rounded once, and squares do not overflow.
  const std::string sum = flt ? "f64" : is_unsigned(t) ? "u64" : "i64";
  const Fold plain{sum, "A(0)", "A(x)", "op_add(a, b)", "a"};
  switch (op) {
    case NEF_OP_REDUCE_SUM: return plain;
    case NEF_OP_GLOBAL_AVERAGE_POOL:
    case NEF_OP_REDUCE_MEAN:
      return {sum, "A(0)", "A(x)", "op_add(a, b)", flt ? "a / A(n)" : "n == 0 ? A(0) : a / A(n)"};
    case NEF_OP_REDUCE_PROD:
      // Double has nothing wider to multiply in, so it keeps what each product loses.
      if (t == NEF_FLOAT64) {
        return {"Prod", "Prod{1.0, 0.0}", "Prod{x, 0.0}", "join_prod(a, b)",
                "a.lost - a.lost == 0 ? a.high + a.lost : a.high"};
      }
      return {sum, "A(1)", "A(x)", "op_mul(a, b)", "a"};
    case NEF_OP_REDUCE_L1: return {sum, "A(0)", "op_abs(A(x))", "op_add(a, b)", "a"};
    case NEF_OP_REDUCE_SUM_SQUARE: return {sum, "A(0)", "op_mul(A(x), A(x))", "op_add(a, b)", "a"};
    case NEF_OP_REDUCE_L2:
      return {"f64", "A(0)", "A(x) * A(x)", "a + b",
              flt ? "sqrt(a)" : "saturated<" + c + ">(sqrt(a))"};
    case NEF_OP_GLOBAL_MAX_POOL:
    case NEF_OP_REDUCE_MAX: return {c, "least<A>()", "x", "op_max(a, b)", "a"};
    case NEF_OP_REDUCE_MIN: return {c, "most<A>()", "x", "op_min(a, b)", "a"};
    case NEF_OP_REDUCE_LOG_SUM:
      if (!flt) throw Refusal{"ReduceLogSum of integers"};
      return {sum, "A(0)", "A(x)", "op_add(a, b)", "log(a)"};
    case NEF_OP_REDUCE_LOG_SUM_EXP:
      if (!flt) throw Refusal{"ReduceLogSumExp of integers"};
      return {"Lse", "Lse{least<f64>(), 0.0}", "Lse{f64(x), 1.0}", "join_lse(a, b)",
              "a.top - a.top == 0 ? a.top + log(a.sum) : a.top"};
    default: throw Refusal{"no reduction kernel"};
  }
}

constexpr const char* kKernels = R"device(
struct Lse { f64 top, sum; };
DEV Lse join_lse(Lse a, Lse b) {
  const f64 top = op_max(a.top, b.top);
  if (top - top != 0) return {top, 1.0};  // infinite or NaN: the result is the top itself
  return {top, a.sum * exp(a.top - top) + b.sum * exp(b.top - top)};
}
struct Prod { f64 high, lost; };
DEV Prod join_prod(Prod a, Prod b) {
  const f64 p = a.high * b.high;
  return {p, fma(a.high, b.high, -p) + (a.high * b.lost + a.lost * b.high)};
}
typedef $A$ A;
typedef $C$ C;
DEV A start() { return $START$; }
DEV A map(C x) { return $MAP$; }
struct Join { __device__ A operator()(A a, A b) const { return $JOIN$; } };
DEV void finish($S$& o, A a, i64 n) { $STORE$ }
struct ReduceP {
  $S$* o; const $S$* x; A* partial; i64 outputs; i64 count; i64 slices; i64 tx; i64 ty; i64 dense;
  i64 kept_rank; i64 kept_dims[16]; i64 kept_steps[16]; i64 rank; i64 dims[16]; i64 steps[16];
};
NEF_KERNEL(reduce, ReduceP) {
  __shared__ A shared[256];
  const i32 tx = i32(p.tx), ty = i32(p.ty);
  const Lane at = lane_of(tx, ty, p.dense != 0);
  const i64 chunk = ((p.count + p.slices - 1) / p.slices + 15) / 16 * 16, begin = chunk * blockIdx.y;
  const i64 end = begin + chunk < p.count ? begin + chunk : p.count;
  for (i64 base = i64(blockIdx.x) * tx; base < p.outputs; base += i64(gridDim.x) * tx) {
    const i64 line = base + at.line;
    A a = start();
    const i64 from = line < p.outputs ? offset_of(u64(line), p.kept_rank, p.kept_dims, p.kept_steps) : 0;
    if (line < p.outputs && p.rank == 1) {
      // One step leads from element to element: several are on their way at once.
      const $S$* x = p.x + from;
      const i64 step = p.steps[0];
      i64 k = begin + at.place;
      if (p.dense && u64(x + begin) % 16 == 0 && sizeof($S$) < 16) {
        constexpr i32 kLanes = 16 / sizeof($S$);
        struct alignas(16) Pack { $S$ e[kLanes]; };
        const Pack* packs = (const Pack*)(x + begin);
        const i64 n = (end - begin) / kLanes;
        A b = start();
        i64 g = at.place;
        for (; g + ty < n; g += 2 * ty) {
          const Pack u = packs[g], v = packs[g + ty];
          for (i32 i = 0; i < kLanes; ++i) { a = Join()(a, map(ld(u.e[i]))); b = Join()(b, map(ld(v.e[i]))); }
        }
        for (; g < n; g += ty) { const Pack u = packs[g]; for (i32 i = 0; i < kLanes; ++i) a = Join()(a, map(ld(u.e[i]))); }
        a = Join()(a, b);
        k = begin + n * kLanes + at.place;
      }
      for (; k + 3 * ty < end; k += 4 * ty) {
        const C u = ld(x[k * step]), v = ld(x[(k + ty) * step]), w = ld(x[(k + 2 * ty) * step]), z = ld(x[(k + 3 * ty) * step]);
        a = Join()(Join()(a, Join()(map(u), map(v))), Join()(map(w), map(z)));
      }
      for (; k < end; k += ty) a = Join()(a, map(ld(x[k * step])));
    } else if (line < p.outputs) {
      for (i64 k = begin + at.place; k < end; k += ty) {
        a = Join()(a, map(ld(p.x[from + offset_of(u64(k), p.rank, p.dims, p.steps)])));
      }
    }
    a = join_line(a, shared, at, tx, ty, Join());
    if (line < p.outputs && at.place == 0) {
      if (p.slices > 1) p.partial[i64(blockIdx.y) * p.outputs + line] = a;
      else finish(p.o[line], a, p.count);
    }
  }
}
NEF_LATE_KERNEL(combine, ReduceP) {
  for (i64 line = thread_id(); line < p.outputs; line += thread_count()) {
    A a = start();
    for (i64 s = 0; s < p.slices; ++s) a = Join()(a, p.partial[s * p.outputs + line]);
    finish(p.o[line], a, p.count);
  }
}
)device";

bool is_global_pool(nef_op op) {
  return op == NEF_OP_GLOBAL_AVERAGE_POOL || op == NEF_OP_GLOBAL_MAX_POOL;
}

// How threads share the work of one call.
struct Shape {
  Walk kept, reduced;
  int64_t outputs = 1, count = 1, tx = 1, ty = 256, slices = 1;
  bool dense = true;
};

class Reduction : public Stage {
 public:
  Reduction(const Region& region, const Node& node) : node_(node) {
    const nef_dtype t = region.input(node, 0).dtype;
    const Fold f = fold_of(node.op, t);
    accumulator_bytes_ = f.accumulator == "Lse" || f.accumulator == "Prod" ? 16 : 8;
    const std::string result = f.finish;
    const std::string c = register_type(t);
    const bool same = f.accumulator == c || is_float(t) || node.op == NEF_OP_REDUCE_L2;
    source_ =
        fill(kKernels,
             {{"A", f.accumulator},
              {"C", c},
              {"S", memory_type(t)},
              {"START", f.start},
              {"MAP", f.map},
              {"JOIN", f.join},
              {"STORE", same ? "st(o, " + result + ");" : "st(o, " + c + "(" + result + "));"}});
  }
  std::string source() const override { return source_; }
  const char* name() const override { return "reduction"; }

  size_t scratch_bytes(const Values& values) const override {
    const Shape s = shape(values);
    return s.slices > 1 ? static_cast<size_t>(s.slices * s.outputs) * accumulator_bytes_ : 0;
  }

  void launch(const Run& run, Module* module) const override {
    const Shape s = shape(run.values);
    if (s.outputs == 0) return;
    Params p;
    p.add(run.values.data(node_.outputs[0])).add(run.values.data(node_.inputs[0])).add(run.scratch);
    p.add(s.outputs).add(s.count).add(s.slices).add(s.tx).add(s.ty).add(int64_t{s.dense});
    for (const Walk* w : {&s.kept, &s.reduced}) {
      p.add(int64_t{w->dims.rank}).add(w->dims.at, w->dims.rank, NEF_MAX_RANK, 1);
      p.add(w->steps[0].at, w->dims.rank, NEF_MAX_RANK, 0);
    }
    const Grid grid{std::clamp<int64_t>((s.outputs + s.tx - 1) / s.tx, 1, 1 << 20), s.slices, 256};
    run.launch(*module, "reduce", grid, p);
    if (s.slices > 1) run.launch(*module, "combine", grid_for(s.outputs), p);
  }

 private:
  void find_axes(const Values& values, const Dims& x, bool* reduce) const {
    const int64_t n_axes = node_.has_input(1) ? values.count(node_.inputs[1]) : 0;
    // The whole family has this attribute in the same slot.
    const bool noop = nef_attr_int(node_.attrs(), NEF_REDUCE_SUM_NOOP_WITH_EMPTY_AXES, 0) != 0;
    for (int d = 0; d < x.rank && n_axes == 0; ++d) reduce[d] = !noop;
    for (int64_t i = 0; i < n_axes; ++i) {
      const int64_t axis = values.host_int(node_.inputs[1], i);
      const int64_t d = axis < 0 ? axis + x.rank : axis;
      if (d < 0 || d >= x.rank) {
        throw BackendError(NEF_OUT_OF_RANGE, "Reduce: axes: index " + std::to_string(axis) +
                                                 " is outside axis 0 of size " +
                                                 std::to_string(x.rank));
      }
      backends::mark_axis("Reduce", d, reduce);
    }
  }
  Shape shape(const Values& values) const {
    const Dims x = values.dims(node_.inputs[0]);
    bool reduce[NEF_MAX_RANK] = {};
    if (is_global_pool(node_.op)) std::fill(reduce + 2, reduce + x.rank, true);
    else find_axes(values, x, reduce);
    const Dims dense = dense_steps(x);
    Shape s;
    s.kept.steps.resize(1);
    s.reduced.steps.resize(1);
    for (int d = 0; d < x.rank; ++d) {
      Walk& w = reduce[d] ? s.reduced : s.kept;
      w.dims.at[w.dims.rank++] = x.at[d];
      w.steps[0].at[w.steps[0].rank++] = dense.at[d];
    }
    s.outputs = s.kept.dims.count();
    s.count = s.reduced.dims.count();
    s.kept.simplify();
    s.reduced.simplify();
    share(s);
    return s;
  }

  // Neighbouring threads read neighbouring elements: along the line when that is dense, else across
  // lines.
  static void share(Shape& s) {
    const int last = s.reduced.dims.rank - 1;
    s.dense = s.count > 1 && s.reduced.steps[0].at[last] == 1;
    if (s.dense) {
      s.ty = 1;
      while (s.ty < 256 && 4 * s.ty < s.count) s.ty *= 2;
    } else {
      s.ty = s.count >= 64 && s.outputs < (1 << 17) ? 8 : 1;
      if (s.outputs <= 16 && s.count >= 64) s.ty = 16;
    }
    s.tx = 256 / s.ty;
    // Few long lines do not fill a device: they are cut, and joined by a second kernel.
    constexpr int64_t kBlocks = 1024, kLeast = 4096;
    const int64_t blocks = (s.outputs + s.tx - 1) / s.tx;
    if (blocks > 0 && blocks < kBlocks / 4 && s.count >= 2 * kLeast) {
      s.slices = std::clamp<int64_t>(std::min(kBlocks / blocks, s.count / kLeast), 1, 512);
    }
  }

  Node node_;
  std::string source_;
  size_t accumulator_bytes_;
};

}  // namespace

bool is_reduction(nef_op op) {
  switch (op) {
    case NEF_OP_REDUCE_SUM:
    case NEF_OP_REDUCE_MEAN:
    case NEF_OP_REDUCE_PROD:
    case NEF_OP_REDUCE_MAX:
    case NEF_OP_REDUCE_MIN:
    case NEF_OP_REDUCE_L1:
    case NEF_OP_REDUCE_L2:
    case NEF_OP_REDUCE_SUM_SQUARE:
    case NEF_OP_REDUCE_LOG_SUM:
    case NEF_OP_REDUCE_LOG_SUM_EXP:
    case NEF_OP_GLOBAL_AVERAGE_POOL:
    case NEF_OP_GLOBAL_MAX_POOL: return true;
    default: return false;
  }
}
std::unique_ptr<Stage> reduction_stage(const Region& region, const Node& node) {
  return std::make_unique<Reduction>(region, node);
}

}  // namespace nef::gpu
