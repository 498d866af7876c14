// SPDX-License-Identifier: Apache-2.0
// Ops that need all of a line before they write any of it: softmax and its like, and the
// normalizations.
#include <optional>

#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

// A: what lines are summed up in. Double where it costs nothing beside memory; 16-bit floats use
// float.
constexpr const char* kHead = R"device(
typedef $A$ A;
struct Add { __device__ A operator()(A a, A b) const { return a + b; } };
struct Max { __device__ A operator()(A a, A b) const { return op_max(a, b); } };
struct LineP { $S$* y; const $S$* x; const $W$* scale; const $W$* bias; f32* mean; f32* inverse;
  i64 lines; i64 n; i64 inner; i64 tx; i64 ty; i64 channels; i64 per_channel; f64 epsilon; 
  i64 rank; i64 dims[16]; i64 scale_steps[16]; i64 bias_steps[16]; };
NEF_KERNEL(line_op, LineP) {
  __shared__ A shared[256];
  const i32 tx = i32(p.tx), ty = i32(p.ty);
  const Lane at = lane_of(tx, ty, p.inner == 1);
  for (i64 base = i64(blockIdx.x) * tx; base < p.lines; base += i64(gridDim.x) * tx) {
    const i64 line = base + at.line;
    const bool mine = line < p.lines;
    const i64 from = mine ? line / p.inner * p.n * p.inner + line % p.inner : 0;
    const i64 end = mine ? p.n : 0;
    const $S$* x = p.x + from;
    $Y$* y = ($Y$*)p.y + from;
)device";

constexpr const char* kSoftmax = R"device(
    A top = least<A>();
    for (i64 k = at.place; k < end; k += ty) top = op_max(top, A(ld(x[k * p.inner])));
    top = join_line(top, shared, at, tx, ty, Max());
    A sum = A(0);
    for (i64 k = at.place; k < end; k += ty) sum += m_exp(A(ld(x[k * p.inner])) - top);
    sum = join_line(sum, shared, at, tx, ty, Add());
    const bool zero = $ZERO$ && top == least<A>();
    for (i64 k = at.place; k < end; k += ty) {
      const A v = A(ld(x[k * p.inner]));
      st(y[k * p.inner], $T$(zero ? A(0) : m_exp(v - top) / sum));
    }
  }
}
)device";
constexpr const char* kLogSoftmax = R"device(
    A top = least<A>();
    for (i64 k = at.place; k < end; k += ty) top = op_max(top, A(ld(x[k * p.inner])));
    top = join_line(top, shared, at, tx, ty, Max());
    A sum = A(0);
    for (i64 k = at.place; k < end; k += ty) sum += m_exp(A(ld(x[k * p.inner])) - top);
    sum = m_log(join_line(sum, shared, at, tx, ty, Add()));
    for (i64 k = at.place; k < end; k += ty) st(y[k * p.inner], $T$(A(ld(x[k * p.inner])) - top - sum));
  }
}
)device";
constexpr const char* kLpNorm = R"device(
    A sum = A(0);
    for (i64 k = at.place; k < end; k += ty) { const A v = A(ld(x[k * p.inner])); sum += $POWER$; }
    sum = join_line(sum, shared, at, tx, ty, Add());
    const A norm = $ROOT$;
    for (i64 k = at.place; k < end; k += ty) {
      st(y[k * p.inner], $T$(norm == A(0) ? A(0) : A(ld(x[k * p.inner])) / norm));
    }
  }
}
)device";
// The mean is subtracted before anything is squared.
constexpr const char* kLayerNorm = R"device(
    A sum = A(0);
    for (i64 k = at.place; k < end; k += ty) sum += A(ld(x[k]));
    const A mean = join_line(sum, shared, at, tx, ty, Add()) / A(p.n);
    A squares = A(0);
    for (i64 k = at.place; k < end; k += ty) { const A d = A(ld(x[k])) - mean; squares += d * d; }
    const A inverse = A(1) / m_sqrt(join_line(squares, shared, at, tx, ty, Add()) / A(p.n) + A(p.epsilon));
    for (i64 k = at.place; k < end; k += ty) {
      A v = (A(ld(x[k])) - mean) * inverse;
      $SCALE$
      st(y[k], $T$(v));
    }
    if (mine && at.place == 0) {
      if (p.mean) p.mean[line] = f32(mean);
      if (p.inverse) p.inverse[line] = f32(inverse);
    }
  }
}
)device";
constexpr const char* kRmsNorm = R"device(
    A squares = A(0);
    for (i64 k = at.place; k < end; k += ty) { const A v = A(ld(x[k])); squares += v * v; }
    const A inverse = A(1) / m_sqrt(join_line(squares, shared, at, tx, ty, Add()) / A(p.n) + A(p.epsilon));
    for (i64 k = at.place; k < end; k += ty) {
      A v = A(ld(x[k])) * inverse;
      $SCALE$
      st(y[k], $T$(v));
    }
  }
}
)device";
// Dense lines that fit into the registers of `ty` threads, read and written once, in packs of 16
// bytes. kAhead: the next line is on its way while one is worked on. kHeld: weights are in
// registers before the first line is, and before the kernel in front is done where they are
// constants.
constexpr const char* kRegisters = R"device(
constexpr i32 kLanes = 16 / sizeof($S$), kPacks = $PACKS$;
constexpr bool kAhead = $AHEAD$, kHeld = $HELD$, kConstants = $CONSTANTS$;
struct alignas(16) Words { u32 v[4]; };  // a pack as it comes, in as many registers
union PackX { Words words; $S$ e[kLanes]; };
#if defined(__CUDA_ARCH__)  // exact enough for 16-bit floats
DEV f32 short_exp(f32 x) { f32 r; asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(x * 1.44269504f)); return r; }
#else
DEV f32 short_exp(f32 x) { return expf(x); }
#endif
struct alignas(sizeof($Y$) * kLanes) PackY { $Y$ e[kLanes]; };
struct alignas(sizeof($W$) * kLanes) PackW { $W$ e[kLanes]; };
#define NEF_EACH(statement) \
  _Pragma("unroll") for (i32 q = 0; q < kPacks; ++q) { if (mine && place + q * ty < packs) { for (i32 i = 0; i < kLanes; ++i) { const A v = A(c[q][i]); statement; } } }
NEF_EARLY_KERNEL(line_registers, LineP, 256$BLOCKS$) {
  nef_let_next_begin();
  if (!kHeld || !kConstants) nef_wait();
  __shared__ A shared[8];
  const i32 ty = $TY$, place = i32(threadIdx.x) % ty, packs = i32($N$ / kLanes);
  PackW scales[kPacks], biases[kPacks];
#pragma unroll
  for (i32 q = 0; q < kPacks && kHeld; ++q) {
    if (place + q * ty >= packs) continue;
    scales[q] = ((const PackW*)p.scale)[place + q * ty];
    if (p.bias) biases[q] = ((const PackW*)p.bias)[place + q * ty];
  }
  if (kHeld && kConstants) nef_wait();
  const i64 step = i64(gridDim.x) * p.tx;
  Words next[kPacks];
  const auto pack_of = [&](i64 line, i32 q) { return ((const Words*)(p.x + line * p.n))[place + q * ty]; };
  const auto load = [&](i64 line) {
#pragma unroll
    for (i32 q = 0; q < kPacks; ++q) if (line < p.lines && place + q * ty < packs) next[q] = pack_of(line, q);
  };
  if (kAhead) load(i64(blockIdx.x) * p.tx + i32(threadIdx.x) / ty);
  for (i64 base = i64(blockIdx.x) * p.tx; base < p.lines; base += step) {
    const i64 line = base + i32(threadIdx.x) / ty;
    const bool mine = line < p.lines;
    PackY* y = (PackY*)(($Y$*)p.y + (mine ? line : 0) * p.n);
    Reg<$S$>::T c[kPacks][kLanes];
#pragma unroll
    for (i32 q = 0; q < kPacks; ++q) {
      if (!mine || place + q * ty >= packs) continue;
      PackX pack;
      pack.words = kAhead ? next[q] : pack_of(line, q);
      for (i32 i = 0; i < kLanes; ++i) c[q][i] = ld(pack.e[i]);
    }
    if (kAhead) load(line + step);
    $REGISTERS$
#pragma unroll
    for (i32 q = 0; q < kPacks; ++q) {
      if (!mine || place + q * ty >= packs) continue;
      PackY pack;
      $PER_PACK$
      for (i32 i = 0; i < kLanes; ++i) { A v = A(c[q][i]); $RESULT$; st(pack.e[i], $T$(v)); }
      y[place + q * ty] = pack;
    }
  }
}
)device";
struct InRegisters {
  const char *body, *per_pack, *result;
};
constexpr const char* kWeightPacks = R"device(
      const PackW scale = kHeld ? scales[q] : ((const PackW*)p.scale)[place + q * ty];
      PackW bias;
      if (kHeld) bias = biases[q];
      else if (p.bias) bias = ((const PackW*)p.bias)[place + q * ty];
)device";
// A NaN need not be the largest, as it makes the sum one, but where rows of -inf are told apart.
constexpr InRegisters kSoftmaxRegisters = {R"device(
    A top = least<A>();
    NEF_EACH(top = $ZERO$ ? op_max(top, v) : v > top ? v : top)
    top = join_row(top, shared, ty, Max());
    A sum = A(0);
    NEF_EACH(const A e = $EXP$; c[q][i] = e; sum += e)
    sum = join_row(sum, shared, ty, Add());
    const bool zero = $ZERO$ && top == least<A>();
    const A part = A(1) / sum;
)device",
                                           "", "v = zero ? A(0) : $NARROW$ ? v * part : v / sum"};
constexpr InRegisters kLogSoftmaxRegisters = {R"device(
    A top = least<A>();
    NEF_EACH(top = op_max(top, v))
    top = join_row(top, shared, ty, Max());
    A sum = A(0);
    NEF_EACH(sum += m_exp(v - top))
    sum = m_log(join_row(sum, shared, ty, Add()));
)device",
                                              "", "v = v - top - sum"};
constexpr InRegisters kLayerNormRegisters = {R"device(
    A sum = A(0);
    NEF_EACH(sum += v)
    const A mean = join_row(sum, shared, ty, Add()) / A(p.n);
    A squares = A(0);
    NEF_EACH(squares += (v - mean) * (v - mean))
    const A inverse = A(1) / m_sqrt(join_row(squares, shared, ty, Add()) / A(p.n) + A(p.epsilon));
    if (mine && place == 0) {
      if (p.mean) p.mean[line] = f32(mean);
      if (p.inverse) p.inverse[line] = f32(inverse);
    }
)device",
                                             kWeightPacks,
                                             "v = (v - mean) * inverse * A(ld(scale.e[i])); "
                                             "if (p.bias) v += A(ld(bias.e[i]))"};
constexpr InRegisters kRmsNormRegisters = {R"device(
    A squares = A(0);
    NEF_EACH(squares += v * v)
    const A inverse = A(1) / m_sqrt(join_row(squares, shared, ty, Add()) / A(p.n) + A(p.epsilon));
)device",
                                           kWeightPacks, "v = v * inverse * A(ld(scale.e[i]))"};
const InRegisters* registers_of(nef_op op) {
  switch (op) {
    case NEF_OP_SOFTMAX: return &kSoftmaxRegisters;
    case NEF_OP_LOG_SOFTMAX: return &kLogSoftmaxRegisters;
    case NEF_OP_LAYER_NORMALIZATION: return &kLayerNormRegisters;
    case NEF_OP_RMS_NORMALIZATION: return &kRmsNormRegisters;
    default: return nullptr;
  }
}

// Scale and bias of the normalised axes: dense there, or broadcast in any way.
constexpr const char* kRowScale = R"device(
      if (p.rank == 0) { v *= A(ld(p.scale[k])); if (p.bias) v += A(ld(p.bias[k])); }
      else {
        const u64 place = u64(from + k);
        v *= A(ld(p.scale[offset_of(place, p.rank, p.dims, p.scale_steps)]));
        if (p.bias) v += A(ld(p.bias[offset_of(place, p.rank, p.dims, p.bias_steps)]));
      }
)device";
// Of the channel that an element is in.
constexpr const char* kChannelScale = R"device(
      const i64 channel = (from + k) / p.per_channel % p.channels;
      v = v * A(ld(p.scale[channel])) + A(ld(p.bias[channel]));
)device";

class LineOp : public Stage {
 public:
  LineOp(const Region& region, const Node& node, const DeviceInfo& device) : node_(node) {
    const nef_dtype t = region.input(node, 0).dtype;
    const nef_dtype out = region.output(node, 0).dtype;
    const bool softmax = node.op == NEF_OP_SOFTMAX || node.op == NEF_OP_LOG_SOFTMAX;
    const std::string accumulator = is_narrow(t)                  ? "f32"
                                    : softmax && t == NEF_FLOAT32 ? "f32"
                                                                  : "f64";
    const nef_dtype weights = node.has_input(1) ? region.input(node, 1).dtype : t;
    if (node.has_input(2) && region.input(node, 2).dtype != weights) {
      throw Refusal{"scale and bias of different dtypes"};
    }
    const InRegisters* quick = registers_of(node.op);
    const std::string text = std::string(kHead) + body(node) + (quick != nullptr ? kRegisters : "");
    lanes_ = static_cast<int64_t>(16 / backends::dtype_size(t));
    // Float32 softmax has enough on its way as it is, and more registers would make it less.
    const std::optional<Few> few = few_lines(region, device);
    ahead_ = !few && (is_narrow(t) || !softmax);
    const size_t bytes =
        (size_t{node.has_input(1)} + size_t{node.has_input(2)}) * backends::dtype_size(weights);
    source_ = fill(text.c_str(),
                   {{"REGISTERS", quick != nullptr ? quick->body : ""},
                    {"PER_PACK", quick != nullptr ? quick->per_pack : ""},
                    {"RESULT", quick != nullptr ? quick->result : ""},
                    {"SCALE", channels() ? kChannelScale : kRowScale},
                    {"A", accumulator},
                    {"S", memory_type(t)},
                    {"Y", memory_type(out)},
                    {"W", memory_type(weights)},
                    {"T", std::string(register_type(out))},
                    {"ZERO", zero_masked(node) ? "true" : "false"},
                    {"NARROW", is_narrow(out) ? "true" : "false"},
                    {"AHEAD", ahead_ ? "true" : "false"},
                    {"HELD", few && node.has_input(1) ? "true" : "false"},
                    {"CONSTANTS", constant_weights(region) ? "true" : "false"},
                    {"PACKS", std::to_string(few ? few->packs : kMostPacks)},
                    {"TY", few ? std::to_string(few->places) : "i32(p.ty)"},
                    {"N", few ? std::to_string(few->n) : "p.n"},
                    {"BLOCKS", few ? ", " + std::to_string(blocks_at_once(*few, bytes)) : ""},
                    {"EXP", is_narrow(out) ? "short_exp(v - top)" : "m_exp(v - top)"},
                    {"POWER", p(node) == 1 ? "m_abs(v)" : "v * v"},
                    {"ROOT", p(node) == 1 ? "sum" : "m_sqrt(sum)"}});
  }
  std::string source() const override { return source_; }
  const char* name() const override {
    switch (node_.op) {
      case NEF_OP_SOFTMAX: return "softmax";
      case NEF_OP_LOG_SOFTMAX: return "log softmax";
      case NEF_OP_LP_NORMALIZATION: return "lp norm";
      case NEF_OP_RMS_NORMALIZATION: return "rms norm";
      case NEF_OP_LAYER_NORMALIZATION: return "layer norm";
      default: return "channel norm";
    }
  }

  void launch(const Run& run, Module* module) const override {
    const Values& values = run.values;
    const Dims x = values.dims(node_.inputs[0]);
    if (x.count() == 0) return;
    int64_t lines = 1, n = 1, inner = 1;
    lay_out(x, &lines, &n, &inner);
    const bool quick = inner == 1 && in_registers(values, x, n);
    int64_t ty = 1;
    if (quick) {
      ty = places(n);
    } else if (inner == 1) {
      while (ty < 256 && ty < n) ty *= 2;
    } else if (lines < 8192 && n >= 64) {
      ty = 8;
    }
    const int64_t tx = 256 / ty;
    const auto data = [&](const std::vector<int32_t>& list, size_t i) -> char* {
      return i < list.size() && list[i] >= 0 ? values.data(list[i]) : nullptr;
    };
    Params p;
    p.add(data(node_.outputs, 0)).add(data(node_.inputs, 0)).add(data(node_.inputs, 1));
    p.add(data(node_.inputs, 2)).add(data(node_.outputs, 1)).add(data(node_.outputs, 2));
    p.add(lines).add(n).add(inner).add(tx).add(ty);
    p.add(x.rank > 1 ? x.at[1] : 1).add(x.rank > 2 ? x.count(2, x.rank) : 1).add(epsilon());
    add_weights(p, values, x, n);
    const int64_t most =
        quick && ahead_ ? 8 * int64_t{run.device.info().processors} : int64_t{1} << 20;
    run.launch(*module, quick ? "line_registers" : "line_op",
               {std::min((lines + tx - 1) / tx, most), 1, 256}, p);
  }

 private:
  // Threads of a line in registers: four packs each, but a warp before that.
  int64_t places(int64_t n) const {
    int64_t ty = 1;
    while (ty < 256 && (kMostPacks * ty < n / lanes_ || (ty < 32 && ty < n / lanes_))) ty *= 2;
    return ty;
  }
  // Lines of 16-bit floats whose length and number are known, so few that each has a warp at the
  // same time: there is no next one to have on its way, and fewer registers are more such warps.
  struct Few {
    int64_t n, places, packs;
  };
  std::optional<Few> few_lines(const Region& region, const DeviceInfo& device) const {
    const int64_t most_threads = int64_t{device.processors} * 1024;
    const Value& v = region.input(node_, 0);
    Dims x;
    x.rank = v.rank();
    std::copy(v.dims.begin(), v.dims.end(), x.at);
    const bool known =
        x.rank > 0 && std::all_of(v.dims.begin(), v.dims.end(), [](int64_t d) { return d > 0; });
    if (!known || !is_narrow(v.dtype) || registers_of(node_.op) == nullptr) return {};
    int64_t lines = 1, n = 1, inner = 1;
    lay_out(x, &lines, &n, &inner);
    const Few few{n, places(n), (n / lanes_ + places(n) - 1) / places(n)};
    const bool fits = inner == 1 && n % lanes_ == 0 && few.packs <= kMostPacks;
    return fits && lines * few.places <= most_threads ? std::optional(few) : std::nullopt;
  }
  // Of a multiprocessor, by the registers that a line and its weights take of a thread.
  // `weight_bytes`: what each number of a line has.
  int64_t blocks_at_once(const Few& few, size_t weight_bytes) const {
    const int64_t registers = few.packs * lanes_ * (4 + static_cast<int64_t>(weight_bytes)) / 4;
    return registers <= 36 ? 4 : registers <= 48 ? 3 : 2;
  }
  bool constant_weights(const Region& region) const {
    for (size_t i : {1, 2}) {
      if (node_.has_input(i) && region.input(node_, i).kind != NEF_VALUE_CONSTANT) return false;
    }
    return true;
  }
  // Does a line fit into registers, in packs that are aligned in every tensor?
  bool in_registers(const Values& values, const Dims& x, int64_t n) const {
    if (registers_of(node_.op) == nullptr || n % lanes_ != 0 || n / lanes_ > kMostPacks * 256)
      return false;
    const auto aligned = [&](int32_t v) {
      const size_t pack = values.element_size(v) * static_cast<size_t>(lanes_);
      return reinterpret_cast<uintptr_t>(values.data(v)) % std::max<size_t>(pack, 16) == 0;
    };
    if (!aligned(node_.inputs[0]) || !aligned(node_.outputs[0])) return false;
    for (size_t i = 1; i <= 2; ++i) {
      if (!node_.has_input(i)) continue;
      if (!aligned(node_.inputs[i]) || !dense_weight(values.dims(node_.inputs[i]), x, n))
        return false;
    }
    return true;
  }
  static bool dense_weight(const Dims& w, const Dims& x, int64_t n) {
    return w.count() == n && w.rank <= x.rank &&
           std::equal(w.at, w.at + w.rank, x.at + x.rank - w.rank);
  }

  static int64_t p(const Node& node) {
    return node.op == NEF_OP_LP_NORMALIZATION
               ? nef_attr_int(node.attrs(), NEF_LP_NORMALIZATION_P, 2)
               : 2;
  }
  static bool zero_masked(const Node& node) {
    return node.op == NEF_OP_SOFTMAX &&
           nef_attr_int(node.attrs(), NEF_SOFTMAX_ZERO_MASKED_ROWS, 0) != 0;
  }
  static const char* body(const Node& node) {
    switch (node.op) {
      case NEF_OP_SOFTMAX: return kSoftmax;
      case NEF_OP_LOG_SOFTMAX: return kLogSoftmax;
      case NEF_OP_LP_NORMALIZATION: return kLpNorm;
      case NEF_OP_RMS_NORMALIZATION: return kRmsNorm;
      default: return kLayerNorm;
    }
  }
  bool channels() const {
    return node_.op == NEF_OP_GROUP_NORMALIZATION || node_.op == NEF_OP_INSTANCE_NORMALIZATION;
  }
  double epsilon() const {
    switch (node_.op) {
      case NEF_OP_LAYER_NORMALIZATION:
        return nef_attr_float(node_.attrs(), NEF_LAYER_NORMALIZATION_EPSILON, 1e-5);
      case NEF_OP_RMS_NORMALIZATION:
        return nef_attr_float(node_.attrs(), NEF_RMS_NORMALIZATION_EPSILON, 1e-5);
      case NEF_OP_GROUP_NORMALIZATION:
        return nef_attr_float(node_.attrs(), NEF_GROUP_NORMALIZATION_EPSILON, 1e-5);
      case NEF_OP_INSTANCE_NORMALIZATION:
        return nef_attr_float(node_.attrs(), NEF_INSTANCE_NORMALIZATION_EPSILON, 1e-5);
      default: return 0;
    }
  }
  int64_t axis_attr() const {
    switch (node_.op) {
      case NEF_OP_SOFTMAX: return nef_attr_int(node_.attrs(), NEF_SOFTMAX_AXIS, -1);
      case NEF_OP_LOG_SOFTMAX: return nef_attr_int(node_.attrs(), NEF_LOG_SOFTMAX_AXIS, -1);
      case NEF_OP_LP_NORMALIZATION:
        return nef_attr_int(node_.attrs(), NEF_LP_NORMALIZATION_AXIS, -1);
      case NEF_OP_LAYER_NORMALIZATION:
        return nef_attr_int(node_.attrs(), NEF_LAYER_NORMALIZATION_AXIS, -1);
      default: return nef_attr_int(node_.attrs(), NEF_RMS_NORMALIZATION_AXIS, -1);
    }
  }

  // Element k of line l is at l / inner * n * inner + l % inner + k * inner.
  void lay_out(const Dims& x, int64_t* lines, int64_t* n, int64_t* inner) const {
    if (channels()) {
      const int64_t groups =
          node_.op == NEF_OP_INSTANCE_NORMALIZATION
              ? x.at[1]
              : nef_attr_int(node_.attrs(), NEF_GROUP_NORMALIZATION_NUM_GROUPS, 1);
      *lines = x.at[0] * groups;
      *n = x.count() / *lines;
      return;
    }
    const int axis = front_axis(axis_attr(), x.rank);
    const bool rows =
        node_.op == NEF_OP_LAYER_NORMALIZATION || node_.op == NEF_OP_RMS_NORMALIZATION;
    *n = rows ? x.count(axis, x.rank) : x.at[axis];
    *inner = rows ? 1 : x.count(axis + 1, x.rank);
    *lines = x.count() / *n;
  }

  void add_weights(Params& p, const Values& values, const Dims& x, int64_t n) const {
    Dims steps[2];
    bool dense = true;
    for (size_t i = 1; i <= 2; ++i) {
      if (!node_.has_input(i) || channels()) continue;
      const Dims w = values.dims(node_.inputs[i]);
      steps[i - 1] = broadcast_steps(w, x.rank);
      dense = dense && dense_weight(w, x, n);
    }
    p.add(int64_t{dense ? 0 : x.rank}).add(x.at, x.rank, NEF_MAX_RANK, 1);
    for (const Dims& s : steps) p.add(s.at, x.rank, NEF_MAX_RANK, 0);
  }

  static constexpr int64_t kMostPacks = 4;  // of a thread
  Node node_;
  int64_t lanes_ = 1;
  bool ahead_ = false;
  std::string source_;
};

}  // namespace

bool is_line_op(nef_op op) {
  switch (op) {
    case NEF_OP_SOFTMAX:
    case NEF_OP_LOG_SOFTMAX:
    case NEF_OP_LP_NORMALIZATION:
    case NEF_OP_LAYER_NORMALIZATION:
    case NEF_OP_RMS_NORMALIZATION:
    case NEF_OP_GROUP_NORMALIZATION:
    case NEF_OP_INSTANCE_NORMALIZATION: return true;
    default: return false;
  }
}
std::unique_ptr<Stage> line_stage(const Region& region, const Node& node,
                                  const DeviceInfo& device) {
  return std::make_unique<LineOp>(region, node, device);
}

}  // namespace nef::gpu
