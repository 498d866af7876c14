// SPDX-License-Identifier: Apache-2.0
// Trees of elementwise nodes as one kernel: every input is read once, nothing between is stored.
#include <map>

#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

constexpr int kMostInputs = 20;

// Functions of one float tensor without attributes: the name in the prelude.
const char* function_of(nef_op op) {
  switch (op) {
    case NEF_OP_ACOS: return "m_acos";
    case NEF_OP_ACOSH: return "m_acosh";
    case NEF_OP_ASIN: return "m_asin";
    case NEF_OP_ASINH: return "m_asinh";
    case NEF_OP_ATAN: return "m_atan";
    case NEF_OP_ATANH: return "m_atanh";
    case NEF_OP_CEIL: return "m_ceil";
    case NEF_OP_COS: return "m_cos";
    case NEF_OP_COSH: return "m_cosh";
    case NEF_OP_ERF: return "m_erf";
    case NEF_OP_EXP: return "m_exp";
    case NEF_OP_FLOOR: return "m_floor";
    case NEF_OP_LOG: return "m_log";
    case NEF_OP_ROUND: return "m_round";
    case NEF_OP_SIN: return "m_sin";
    case NEF_OP_SINH: return "m_sinh";
    case NEF_OP_SQRT: return "m_sqrt";
    case NEF_OP_TAN: return "m_tan";
    case NEF_OP_TANH: return "m_tanh";
    case NEF_OP_MISH: return "op_mish";
    case NEF_OP_SIGMOID: return "op_sigmoid";
    case NEF_OP_SOFTPLUS: return "op_softplus";
    case NEF_OP_HARD_SWISH: return "op_hard_swish";
    case NEF_OP_ABS: return "op_abs";
    case NEF_OP_NEG: return "op_neg";
    case NEF_OP_RELU: return "op_relu";
    case NEF_OP_SIGN: return "op_sign";
    case NEF_OP_ISNAN: return "is_nan";
    default: return nullptr;
  }
}
// Functions of two tensors of one dtype.
const char* binary_of(nef_op op) {
  switch (op) {
    case NEF_OP_ADD:
    case NEF_OP_SUM: return "op_add";
    case NEF_OP_SUB: return "op_sub";
    case NEF_OP_MUL: return "op_mul";
    case NEF_OP_DIV: return "op_div";
    case NEF_OP_MAX: return "op_max";
    case NEF_OP_MIN: return "op_min";
    case NEF_OP_PRELU: return "op_prelu";
    default: return nullptr;
  }
}
const char* operator_of(nef_op op) {
  switch (op) {
    case NEF_OP_EQUAL: return "==";
    case NEF_OP_GREATER: return ">";
    case NEF_OP_GREATER_OR_EQUAL: return ">=";
    case NEF_OP_LESS: return "<";
    case NEF_OP_LESS_OR_EQUAL: return "<=";
    case NEF_OP_AND:
    case NEF_OP_BITWISE_AND: return "&";
    case NEF_OP_OR:
    case NEF_OP_BITWISE_OR: return "|";
    case NEF_OP_XOR:
    case NEF_OP_BITWISE_XOR: return "^";
    default: return nullptr;
  }
}

std::string call(const char* f, const std::string& a) { return std::string(f) + "(" + a + ")"; }
std::string call(const char* f, const std::string& a, const std::string& b) {
  return std::string(f) + "(" + a + ", " + b + ")";
}

// One node as an expression of the names of its inputs.
class Expression {
 public:
  Expression(const Region& region, const Node& node, std::vector<std::string> names)
      : node_(node),
        names_(std::move(names)),
        in_(region.input(node, 0).dtype),
        out_(region.output(node, 0).dtype),
        region_(region) {}

  std::string text() const {
    if (const char* f = function_of(node_.op)) return call(f, names_[0]);
    if (const char* f = binary_of(node_.op)) return fold(f);
    if (const char* o = operator_of(node_.op)) {
      return std::string(register_type(out_)) + "(" + names_[0] + " " + o + " " + names_[1] + ")";
    }
    return other();
  }

 private:
  std::string type() const { return register_type(in_); }
  std::string fold(const char* f) const {
    std::string sum = names_[0];
    for (size_t i = 1; i < names_.size(); ++i) sum = call(f, sum, names_[i]);
    return sum;
  }
  std::string attr(unsigned slot, double fallback = 0) const {
    return number_text(nef_attr_float(node_.attrs(), slot, fallback));
  }
  // An attribute in the type that the node is computed in.
  std::string typed(unsigned slot, double fallback = 0) const {
    return type() + attr(slot, fallback);
  }
  bool flag(unsigned slot, bool fallback) const {
    return nef_attr_int(node_.attrs(), slot, fallback ? 1 : 0) != 0;
  }

  std::string other() const {
    const std::string& x = names_[0];
    switch (node_.op) {
      case NEF_OP_IDENTITY: return x;
      case NEF_OP_NOT: return "!" + x;
      case NEF_OP_BITWISE_NOT: return type() + "(~" + x + ")";
      case NEF_OP_RECIPROCAL: return type() + "(1) / " + x;
      case NEF_OP_SOFTSIGN: return x + " / (" + type() + "(1) + m_abs(" + x + "))";
      case NEF_OP_GELU: {
        const char* exact = is_narrow(out_) ? "op_gelu16" : "op_gelu";
        return call(attr_string(node_, NEF_GELU_APPROXIMATE) == "tanh" ? "op_gelu_tanh" : exact, x);
      }
      case NEF_OP_CELU: return call("op_celu", x, typed(NEF_CELU_ALPHA, 1));
      case NEF_OP_ELU: return call("op_elu", x, typed(NEF_ELU_ALPHA, 1));
      case NEF_OP_SELU:
        return call("op_selu", x, typed(NEF_SELU_ALPHA) + ", " + typed(NEF_SELU_GAMMA));
      case NEF_OP_SILU: return call("op_silu", x, typed(NEF_SILU_ALPHA, 1));
      case NEF_OP_LEAKY_RELU: return call("op_leaky", x, attr(NEF_LEAKY_RELU_ALPHA, 0.01));
      case NEF_OP_THRESHOLDED_RELU:
        return call("op_thresholded", x, attr(NEF_THRESHOLDED_RELU_ALPHA, 1));
      case NEF_OP_HARD_SIGMOID:
        return call("op_hard_sigmoid", x,
                    attr(NEF_HARD_SIGMOID_ALPHA, 0.2) + ", " + attr(NEF_HARD_SIGMOID_BETA, 0.5));
      case NEF_OP_SHRINK:
        return call("op_shrink", x, attr(NEF_SHRINK_LAMBD, 0.5) + ", " + attr(NEF_SHRINK_BIAS));
      case NEF_OP_ISINF:
        return call("op_isinf", x,
                    std::string(flag(NEF_ISINF_DETECT_NEGATIVE, true) ? "true, " : "false, ") +
                        (flag(NEF_ISINF_DETECT_POSITIVE, true) ? "true" : "false"));
      case NEF_OP_CAST: return cast(NEF_CAST_SATURATE);
      case NEF_OP_CAST_LIKE: return cast(NEF_CAST_LIKE_SATURATE);
      case NEF_OP_MOD: return call(flag(NEF_MOD_FMOD, false) ? "op_fmod" : "op_mod", x, names_[1]);
      case NEF_OP_POW: return power();
      case NEF_OP_BIT_SHIFT:
        return call(attr_string(node_, NEF_BIT_SHIFT_DIRECTION) == "LEFT" ? "op_shl" : "op_shr", x,
                    names_[1]);
      case NEF_OP_MEAN:
        return "(" + fold("op_add") + ") / " + type() + "(" + std::to_string(names_.size()) + ")";
      case NEF_OP_WHERE: return x + " ? " + names_[1] + " : " + names_[2];
      case NEF_OP_CLIP: return clip();
      default: throw Refusal{"no elementwise kernel for op number " + std::to_string(node_.op)};
    }
  }
  std::string cast(unsigned saturate) const {
    if (in_ == out_) return names_[0];
    const bool over = is_float8(out_) && !flag(saturate, true);
    return std::string("Cast<") + memory_type(out_) + ">::of(" + names_[0] +
           (over ? ", false)" : ")");
  }
  std::string clip() const {
    std::string v = names_[0];
    size_t next = 1;
    if (node_.has_input(1)) v = call("op_max", v, names_[next++]);
    if (node_.has_input(2)) v = call("op_min", v, names_[next]);
    return v;
  }
  std::string power() const {
    const nef_dtype exponent = region_.input(node_, 1).dtype;
    if (!is_float(in_) && !is_float(exponent)) return call("op_ipow", names_[0], names_[1]);
    const auto exact = [](nef_dtype t) {
      return is_narrow(t) || t == NEF_FLOAT32 || backends::dtype_size(t) < 4;
    };
    const std::string wide = is_float(in_) && exact(in_) && exact(exponent) ? "f32(" : "f64(";
    const std::string p = call("m_pow", wide + names_[0] + ")", wide + names_[1] + ")");
    if (is_float(in_)) return type() + "(" + p + ")";
    return std::string("Cast<") + memory_type(in_) + ">::of(" + p + ")";
  }

  const Node& node_;
  std::vector<std::string> names_;
  nef_dtype in_, out_;
  const Region& region_;
};

constexpr const char* kKernels = R"device(
struct alignas($OUT_ALIGN$) PackO { $O$ e[$V$]; };
struct FlatP { $O$* o; $POINTERS$ i64 n; i64 packs; $FLAGS$ };
NEF_KERNEL(flat, FlatP) {
  const i64 t = thread_id(), step = thread_count();
  for (i64 g = t; g < p.packs; g += step) {
    $LOAD_PACKS$
    PackO r;
#pragma unroll
    for (int j = 0; j < $V$; ++j) st(r.e[j], region($PACK_ARGS$));
    ((PackO*)p.o)[g] = r;
  }
  for (i64 i = p.packs * $V$ + t; i < p.n; i += step) st(p.o[i], region($FLAT_ARGS$));
}
// The last axis in packs: each tensor runs along it densely or stays in place.
struct RowsP { $O$* o; $POINTERS$ i64 packs; i64 row; i64 rank; i64 dims[$R$]; i64 so[$R$]; $STEPS$ $FLAGS$ };
NEF_KERNEL(rows, RowsP) {
  const i64 step = thread_count();
  for (i64 g = thread_id(); g < p.packs; g += step) {
    const u32 inner = u32(g) % u32(p.row);
    u32 left = u32(g) / u32(p.row);
    i64 o = i64(inner) * $V$; $ROW_OFFSETS$
    for (i64 d = p.rank - 2; d >= 0; --d) {
      u32 c = left;
      if (d > 0) { const u32 n = u32(p.dims[d]); left = c / n; c -= left * n; }
      o += i64(c) * p.so[d]; $ADVANCE$
    }
    $LOAD_ROW_PACKS$
    PackO r;
#pragma unroll
    for (int j = 0; j < $V$; ++j) st(r.e[j], region($PACK_ARGS$));
    *(PackO*)(p.o + o) = r;
  }
}
struct StridedP { $O$* o; $POINTERS$ i64 n; i64 rank; i64 dims[$R$]; i64 so[$R$]; $STEPS$ };
NEF_KERNEL(strided, StridedP) {
  const i64 step = thread_count();
  for (i64 i = thread_id(); i < p.n; i += step) {
    u32 left = u32(i);
    i64 o = 0; $OFFSETS$
    for (i64 d = p.rank - 1; d >= 0; --d) {
      u32 c = left;
      if (d > 0) { const u32 n = u32(p.dims[d]); left = c / n; c -= left * n; }
      o += i64(c) * p.so[d]; $ADVANCE$
    }
    st(p.o[o], region($STRIDED_ARGS$));
  }
}
)device";

class Elementwise : public Stage {
 public:
  Elementwise(const Region& region, std::span<const Node* const> nodes, int32_t out) : out_(out) {
    const ElementwiseText text = elementwise_text(region, nodes, out);
    inputs_ = text.inputs;
    if (inputs_.size() > kMostInputs) {
      throw Refusal{"a fused region reads " + std::to_string(inputs_.size()) +
                    " tensors, a GPU kernel takes " + std::to_string(kMostInputs)};
    }
    // Params has room for this many steps only.
    room_ = inputs_.size() <= 8 ? NEF_MAX_RANK : 8;
    make_source(region, text.body);
  }

  std::string source() const override { return source_; }
  const char* name() const override { return "elementwise"; }

  void launch(const Run& run, Module* module) const override {
    const Values& values = run.values;
    const Dims out = values.dims(out_);
    const int64_t n = out.count();
    if (n == 0) return;
    if (try_flat(run, *module, out, n)) return;
    Walk walk;
    walk.dims = out;
    walk.steps.push_back(dense_steps(out));
    for (int32_t v : inputs_) walk.steps.push_back(broadcast_steps(values.dims(v), out.rank));
    walk.simplify();
    if (walk.dims.rank > room_) {
      throw BackendError(NEF_LIMIT_EXCEEDED,
                         "a fused region of " + std::to_string(inputs_.size()) +
                             " tensors broadcasts along " + std::to_string(walk.dims.rank) +
                             " separate axes, a GPU kernel walks " + std::to_string(room_));
    }
    std::vector<char*> data = {values.data(out_)};
    for (int32_t v : inputs_) data.push_back(values.data(v));
    strided(run, *module, walk, data);
  }

 private:
  void make_source(const Region& region, const std::string& body) {
    const nef_dtype out = region.values[static_cast<size_t>(out_)].dtype;
    size_t widest = backends::dtype_size(out);
    for (int32_t v : inputs_) {
      widest = std::max(widest, backends::dtype_size(region.values[static_cast<size_t>(v)].dtype));
    }
    lanes_ = static_cast<int64_t>(16 / widest);
    const std::string lanes = std::to_string(lanes_);
    std::string function, pointers, flags, packs, pack_args, flat_args, steps, offsets, advance,
        strided_args;
    std::string structs, row_offsets, row_packs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const nef_dtype t = region.values[static_cast<size_t>(inputs_[i])].dtype;
      const std::string k = std::to_string(i), type = memory_type(t);
      const std::string comma = i == 0 ? "" : ", ";
      function += comma + type + " m" + k;
      pointers += "const " + type + "* i" + k + "; ";
      flags += "i64 f" + k + "; ";
      structs += "struct alignas(" + std::to_string(backends::dtype_size(t) * lanes_) + ") Pack" +
                 k + " { " + type + " e[" + lanes + "]; };\n";
      packs += "Pack" + k + " a" + k + "; if (p.f" + k + ") a" + k + " = ((const Pack" + k +
               "*)p.i" + k + ")[g]; else for (int j = 0; j < " + lanes + "; ++j) a" + k +
               ".e[j] = p.i" + k + "[0];\n    ";
      pack_args += comma + "a" + k + ".e[j]";
      flat_args += comma + "p.i" + k + "[i * p.f" + k + "]";
      steps += "i64 s" + k + "[$R$]; ";
      offsets += "i64 o" + k + " = 0; ";
      row_offsets += "i64 o" + k + " = i64(inner) * " + lanes + " * p.f" + k + "; ";
      row_packs += "Pack" + k + " a" + k + "; if (p.f" + k + ") a" + k + " = *(const Pack" + k +
                   "*)(p.i" + k + " + o" + k + "); else { const " + type + " x = p.i" + k + "[o" +
                   k + "]; for (int j = 0; j < " + lanes + "; ++j) a" + k + ".e[j] = x; }\n    ";
      advance += "o" + k + " += i64(c) * p.s" + k + "[d]; ";
      strided_args += comma + "p.i" + k + "[o" + k + "]";
    }
    std::string loads;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string k = std::to_string(i);
      const nef_dtype t = region.values[static_cast<size_t>(inputs_[i])].dtype;
      loads += std::string("  const ") + register_type(t) + " x" + k + " = ld(m" + k + ");\n";
    }
    source_ = structs + "DEV " + register_type(out) + " region(" + function + ") {\n" + loads +
              body + "}\n" +
              fill(kKernels, {{"OUT_ALIGN", std::to_string(backends::dtype_size(out) * lanes_)},
                              {"O", memory_type(out)},
                              {"V", lanes},
                              {"POINTERS", pointers},
                              {"FLAGS", flags},
                              {"LOAD_PACKS", packs},
                              {"PACK_ARGS", pack_args},
                              {"FLAT_ARGS", flat_args},
                              {"STEPS", steps},
                              {"OFFSETS", offsets},
                              {"ROW_OFFSETS", row_offsets},
                              {"LOAD_ROW_PACKS", row_packs},
                              {"ADVANCE", advance},
                              {"STRIDED_ARGS", strided_args},
                              {"R", std::to_string(room_)}});
  }

  // Every input has the output's shape or one element.
  bool try_flat(const Run& run, Module& module, const Dims& out, int64_t n) const {
    const Values& values = run.values;
    int64_t full[kMostInputs];
    bool aligned = aligned_to(values.data(out_), values.element_size(out_));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int32_t v = inputs_[i];
      const Dims d = values.dims(v);
      const int64_t count = d.count();
      const bool same = count == n && d.rank <= out.rank &&
                        std::equal(d.at, d.at + d.rank, out.at + out.rank - d.rank);
      if (!same && count != 1) return false;
      full[i] = same ? 1 : 0;
      if (same) aligned = aligned && aligned_to(values.data(v), values.element_size(v));
    }
    const int64_t packs = aligned ? n / lanes_ : 0;
    Params p;
    p.add(values.data(out_));
    for (int32_t v : inputs_) p.add(values.data(v));
    p.add(n).add(packs);
    for (size_t i = 0; i < inputs_.size(); ++i) p.add(full[i]);
    run.launch(module, "flat", grid_for(packs > 0 ? packs : n), p);
    return true;
  }
  bool aligned_to(const char* data, size_t element) const {
    return reinterpret_cast<uintptr_t>(data) % (element * static_cast<size_t>(lanes_)) == 0;
  }

  // Can the last axis be walked in packs? Every tensor must run along it densely, or not at all.
  bool has_packs(const Walk& walk, const Run& run, const std::vector<char*>& data) const {
    const int last = walk.dims.rank - 1;
    if (walk.dims.rank < 2 || walk.dims.at[last] % lanes_ != 0) return false;
    for (size_t k = 0; k < data.size(); ++k) {
      const Dims& s = walk.steps[k];
      if (s.at[last] == 0 && k > 0) continue;
      const int32_t v = k == 0 ? out_ : inputs_[k - 1];
      if (s.at[last] != 1 || !aligned_to(data[k], run.values.element_size(v))) return false;
      for (int d = 0; d < last; ++d) {
        if (s.at[d] % lanes_ != 0) return false;
      }
    }
    return true;
  }
  void rows(const Run& run, Module& module, const Walk& walk, const std::vector<char*>& data,
            int64_t n) const {
    const int rank = walk.dims.rank;
    const int64_t packs = n / lanes_;
    Params p;
    for (char* d : data) p.add(d);
    p.add(packs).add(walk.dims.at[rank - 1] / lanes_).add(int64_t{rank});
    p.add(walk.dims.at, rank, room_, 1);
    for (const Dims& s : walk.steps) p.add(s.at, rank, room_, 0);
    for (size_t k = 1; k < data.size(); ++k) p.add(walk.steps[k].at[rank - 1]);
    run.launch(module, "rows", grid_for(packs), p);
  }

  // Positions are 32 bits in the kernel: what is larger is cut along its first axis.
  void strided(const Run& run, Module& module, const Walk& walk, std::vector<char*> data) const {
    constexpr int64_t kMost = (int64_t{1} << 31) - 1;
    const int64_t n = walk.dims.count();
    if (n > kMost) {
      Walk half = walk;
      half.dims.at[0] = walk.dims.at[0] / 2;
      strided(run, module, half, data);
      for (size_t k = 0; k < data.size(); ++k) {
        const int32_t v = k == 0 ? out_ : inputs_[k - 1];
        data[k] += walk.steps[k].at[0] * half.dims.at[0] *
                   static_cast<int64_t>(run.values.element_size(v));
      }
      half.dims.at[0] = walk.dims.at[0] - half.dims.at[0];
      return strided(run, module, half, data);
    }
    if (lanes_ > 1 && has_packs(walk, run, data)) return rows(run, module, walk, data, n);
    Params p;
    for (char* d : data) p.add(d);
    p.add(n).add(int64_t{walk.dims.rank}).add(walk.dims.at, walk.dims.rank, room_, 1);
    for (const Dims& s : walk.steps) p.add(s.at, walk.dims.rank, room_, 0);
    run.launch(module, "strided", grid_for(n), p);
  }

  int32_t out_;
  std::vector<int32_t> inputs_;
  int room_ = NEF_MAX_RANK;
  int64_t lanes_ = 1;
  std::string source_;
};

}  // namespace

ElementwiseText elementwise_text(const Region& region, std::span<const Node* const> nodes,
                                 int32_t out) {
  ElementwiseText text;
  if (nodes.empty()) return text;
  std::map<int32_t, std::string> made;
  const auto name_of = [&](int32_t v) {
    const auto it = made.find(v);
    if (it != made.end()) return it->second;
    auto& inputs = text.inputs;
    const auto known = std::find(inputs.begin(), inputs.end(), v);
    const auto at = known - inputs.begin();
    if (known == inputs.end()) inputs.push_back(v);
    return "x" + std::to_string(at);
  };
  for (const Node* node : nodes) {
    std::vector<std::string> names;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (!node->has_input(i) || (node->op == NEF_OP_CAST_LIKE && i == 1)) continue;
      names.push_back(name_of(node->inputs[i]));
    }
    const std::string name = "v" + std::to_string(made.size());
    if (node->op == NEF_OP_MEAN && !is_float(region.output(*node, 0).dtype)) {
      throw Refusal{"Mean of integers needs sums of 64 bits, which no GPU kernel keeps"};
    }
    text.body += std::string("  const ") + register_type(region.output(*node, 0).dtype) + " " +
                 name + " = " + Expression(region, *node, names).text() + ";\n";
    made[node->outputs[0]] = name;
  }
  text.body += "  return " + made.at(out) + ";\n";
  return text;
}

bool is_elementwise(nef_op op) {
  if (function_of(op) != nullptr || binary_of(op) != nullptr || operator_of(op) != nullptr) {
    return true;
  }
  switch (op) {
    case NEF_OP_NOT:
    case NEF_OP_BITWISE_NOT:
    case NEF_OP_RECIPROCAL:
    case NEF_OP_SOFTSIGN:
    case NEF_OP_GELU:
    case NEF_OP_CELU:
    case NEF_OP_ELU:
    case NEF_OP_SELU:
    case NEF_OP_SILU:
    case NEF_OP_LEAKY_RELU:
    case NEF_OP_THRESHOLDED_RELU:
    case NEF_OP_HARD_SIGMOID:
    case NEF_OP_SHRINK:
    case NEF_OP_ISINF:
    case NEF_OP_CAST:
    case NEF_OP_CAST_LIKE:
    case NEF_OP_MOD:
    case NEF_OP_POW:
    case NEF_OP_BIT_SHIFT:
    case NEF_OP_MEAN:
    case NEF_OP_WHERE:
    case NEF_OP_CLIP: return true;
    default: return false;
  }
}

std::unique_ptr<Stage> elementwise_stage(const Region& region, std::span<const Node* const> nodes,
                                         int32_t out) {
  return std::make_unique<Elementwise>(region, nodes, out);
}

}  // namespace nef::gpu
