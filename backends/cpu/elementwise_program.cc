// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/elementwise_program.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/dtypes.h"
#include "backends/cpu/elementwise_ops.h"

namespace nef::cpu {
namespace {

// A tile before slots are assigned; `dtype` is what it holds (floats of 16 and 8 bits: their bits).
struct Tile {
  nef_dtype dtype;
  int last_use = -1;  // step
};

// Cheap ops move a tile through L1; the others compute.
double cost_of(TileOp op) {
  switch (op) {
    case TileOp::kPow: return 10;
    case TileOp::kMod:
    case TileOp::kFMod: return 8;
    case TileOp::kTan:
    case TileOp::kAsin:
    case TileOp::kAcos:
    case TileOp::kAtan:
    case TileOp::kAsinh:
    case TileOp::kAcosh:
    case TileOp::kAtanh:
    case TileOp::kSinh:
    case TileOp::kCosh:
    case TileOp::kGelu:
    case TileOp::kErf:
    case TileOp::kMish: return 1.5;
    case TileOp::kExp:
    case TileOp::kLog:
    case TileOp::kTanh:
    case TileOp::kSigmoid:
    case TileOp::kSilu:
    case TileOp::kGeluTanh:
    case TileOp::kSoftplus:
    case TileOp::kSin:
    case TileOp::kCos:
    case TileOp::kElu:
    case TileOp::kSelu:
    case TileOp::kCelu: return 0.8;
    default: return 0.15;
  }
}

struct Unsupported {
  std::string why;
};

class Builder {
 public:
  explicit Builder(const Region& region) : region_(region), tile_of_(region.values.size(), -1) {}

  TileProgram build() {
    for (const Node& node : region_.nodes) add_node(node);
    finish_output();
    join_sums_of_products();
    assign_slots();
    return std::move(program_);
  }

 private:
  // ---- values -> tiles

  // The tile of a value in tile_dtype(its dtype); loads and widens it at its first use.
  int tile(int value) {
    const auto v = static_cast<size_t>(value);
    if (tile_of_[v] >= 0) return tile_of_[v];
    const Value& info = region_.values[v];
    if (info.kind == NEF_VALUE_INTERNAL || info.kind == NEF_VALUE_OUTPUT) {
      throw Unsupported{"an elementwise region reads a value before it is made"};
    }
    program_.inputs.push_back({value, backends::dtype_size(info.dtype)});
    TileStep load;
    load.input = static_cast<int>(program_.inputs.size()) - 1;
    load.out = new_tile(info.dtype);
    program_.steps.push_back(load);
    tile_of_[v] = as_tile_dtype(load.out);
    return tile_of_[v];
  }

  int new_tile(nef_dtype dtype) {
    tiles_.push_back({dtype});
    return static_cast<int>(tiles_.size()) - 1;
  }
  nef_dtype dtype_of(int tile) const { return tiles_[static_cast<size_t>(tile)].dtype; }

  int as_tile_dtype(int t) { return convert(t, tile_dtype(dtype_of(t))); }

  int convert(int t, nef_dtype to, bool saturate = false) {
    if (dtype_of(t) == to) return t;
    program_.nanoseconds_per_element += 0.3;
    return step(require(find_cast_fn(dtype_of(t), to), "Cast", dtype_of(t)), to, {t},
                saturate ? 1 : 0);
  }

  int step(TileFn fn, nef_dtype dtype, std::initializer_list<int> in, double p0 = 0,
           double p1 = 0) {
    TileStep s;
    s.fn = fn;
    std::copy(in.begin(), in.end(), s.in);
    s.p0 = p0;
    s.p1 = p1;
    s.out = new_tile(dtype);
    program_.steps.push_back(s);
    return s.out;
  }

  TileFn require(TileFn fn, const char* op, nef_dtype dtype) const {
    if (fn != nullptr) return fn;
    throw Unsupported{std::string("the cpu backend does not serve ") + op + " on " +
                      backends::dtype_name(dtype)};
  }

  // ---- nodes

  static nef_dtype result_dtype(TileOp op, nef_dtype in) {
    const bool logical = op == TileOp::kEqual || op == TileOp::kLess || op == TileOp::kLessEqual ||
                         op == TileOp::kIsNan || op == TileOp::kIsInf;
    return logical ? NEF_BOOL : in;
  }

  int apply(const OpRow& row, TileOp op, std::initializer_list<int> in, double p0 = 0,
            double p1 = 0) {
    const nef_dtype dtype = dtype_of(*(in.end() - 1));
    program_.nanoseconds_per_element += cost_of(op);
    const int out = step(require(find_tile_fn(op, dtype), row.name, dtype), result_dtype(op, dtype),
                         in, p0, p1);
    program_.steps.back().fetches = true;
    return out;
  }

  void add_node(const Node& node) {
    const OpRow* row = find_op_row(node.op);
    if (row == nullptr) {
      throw Unsupported{"op id " + std::to_string(node.op) + " is not elementwise"};
    }
    if (!node.has_output(0)) throw Unsupported{std::string(row->name) + " has no output"};
    tile_of_[static_cast<size_t>(node.outputs[0])] = node_tile(*row, node);
  }

  int input(const Node& node, size_t i) { return tile(node.inputs[i]); }

  int node_tile(const OpRow& row, const Node& node) {
    const int64_t* attrs = node.attrs();
    switch (row.form) {
      case OpForm::kUnary:
        return apply(row, row.tile_op, {input(node, 0)}, nef_attr_float(attrs, row.p0_slot, 0),
                     nef_attr_float(attrs, row.p1_slot, 0));
      case OpForm::kBinary: return apply(row, row.tile_op, {input(node, 0), input(node, 1)});
      case OpForm::kSwapped: {
        const int a = input(node, 0);
        return apply(row, row.tile_op, {input(node, 1), a});
      }
      case OpForm::kFold: return fold(row, node);
      case OpForm::kMean:
        return apply(row, TileOp::kScale, {fold(row, node)},
                     1.0 / static_cast<double>(node.inputs.size()));
      case OpForm::kCast:
      case OpForm::kCastLike: return cast(node);
      case OpForm::kClip: return clip(row, node);
      case OpForm::kMod: {
        const bool fmod = nef_attr_int(attrs, NEF_MOD_FMOD, 0) != 0;
        return apply(row, fmod ? TileOp::kFMod : TileOp::kMod, {input(node, 0), input(node, 1)});
      }
      case OpForm::kPow: return power(row, node);
      case OpForm::kBitShift:
        return apply(row, shift_direction(attrs), {input(node, 0), input(node, 1)});
      case OpForm::kWhere: {
        const int condition = input(node, 0), x = input(node, 1);
        return apply(row, TileOp::kSelect, {condition, x, input(node, 2)});
      }
      case OpForm::kGelu:
        return apply(row, is_tanh(attrs) ? TileOp::kGeluTanh : TileOp::kGelu, {input(node, 0)});
      case OpForm::kIsInf:
        return apply(row, TileOp::kIsInf, {input(node, 0)},
                     nef_attr_int(attrs, NEF_ISINF_DETECT_NEGATIVE, 1) != 0 ? 1 : 0,
                     nef_attr_int(attrs, NEF_ISINF_DETECT_POSITIVE, 1) != 0 ? 1 : 0);
      case OpForm::kIdentity: return input(node, 0);
    }
    throw Unsupported{std::string(row.name) + " has no form"};
  }

  static bool attr_is(const int64_t* attrs, unsigned slot, const char* text) {
    const size_t n = nef_attr_count(attrs, slot);
    return n == std::strlen(text) && std::memcmp(nef_attr_string(attrs, slot), text, n) == 0;
  }
  static TileOp shift_direction(const int64_t* attrs) {
    return attr_is(attrs, NEF_BIT_SHIFT_DIRECTION, "LEFT") ? TileOp::kShiftLeft
                                                           : TileOp::kShiftRight;
  }
  static bool is_tanh(const int64_t* attrs) { return attr_is(attrs, NEF_GELU_APPROXIMATE, "tanh"); }

  int fold(const OpRow& row, const Node& node) {
    int t = input(node, 0);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      t = apply(row, row.tile_op, {t, input(node, i)});
    }
    return t;
  }

  int clip(const OpRow& row, const Node& node) {
    int t = input(node, 0);
    if (node.has_input(1)) t = apply(row, TileOp::kMax, {t, input(node, 1)});
    if (node.has_input(2)) t = apply(row, TileOp::kMin, {t, input(node, 2)});
    return t;
  }

  // To a narrow float and back, so that a fused cast rounds like a lone one.
  int cast(const Node& node) {
    const nef_dtype to = region_.output(node, 0).dtype;
    if (to == region_.input(node, 0).dtype) return input(node, 0);
    const unsigned slot =
        node.op == NEF_OP_CAST ? unsigned{NEF_CAST_SATURATE} : unsigned{NEF_CAST_LIKE_SATURATE};
    const bool saturate = nef_attr_int(node.attrs(), slot, 1) != 0;
    return as_tile_dtype(convert(input(node, 0), to, saturate));
  }

  // Floats: both in the base's dtype. Integers: exponents in 64 bits, or all in float64 when the
  // exponent is a float.
  int power(const OpRow& row, const Node& node) {
    const int base = input(node, 0), exponent = input(node, 1);
    const nef_dtype dtype = dtype_of(base);
    if (is_float_dtype(dtype)) return power_step(row, base, convert(exponent, dtype), dtype);
    if (!is_float_dtype(dtype_of(exponent))) {
      const bool is_unsigned = is_unsigned_dtype(dtype_of(exponent));
      return power_step(row, base, convert(exponent, is_unsigned ? NEF_UINT64 : NEF_INT64), dtype);
    }
    const int wide = convert(exponent, NEF_FLOAT64);
    return convert(power_step(row, convert(base, NEF_FLOAT64), wide, NEF_FLOAT64), dtype);
  }
  int power_step(const OpRow& row, int base, int exponent, nef_dtype dtype) {
    program_.nanoseconds_per_element += cost_of(TileOp::kPow);
    return step(require(find_power_fn(dtype, dtype_of(exponent)), row.name, dtype), dtype,
                {base, exponent});
  }

  // ---- output and slots

  void finish_output() {
    for (size_t v = 0; v < region_.values.size(); ++v) {
      if (region_.values[v].kind != NEF_VALUE_OUTPUT) continue;
      if (program_.output >= 0) throw Unsupported{"an elementwise region has one output"};
      program_.output = static_cast<int>(v);
    }
    if (program_.output < 0) throw Unsupported{"the region has no output"};
    const auto out = static_cast<size_t>(program_.output);
    const nef_dtype dtype = region_.values[out].dtype;
    if (tile_of_[out] < 0) throw Unsupported{"no node makes the region's output"};
    if (tile_dtype(dtype) != dtype_of(tile_of_[out])) {
      throw Unsupported{std::string("the region's output is declared as ") +
                        backends::dtype_name(dtype)};
    }
    // The output is made by the last step: by narrowing, or by a plain copy where the tile is a
    // loaded one or not the last made.
    const int made = convert(tile_of_[out], dtype);
    const bool last = program_.steps.back().out == made && program_.steps.back().fn != nullptr;
    if (!last) step(find_cast_fn(dtype, dtype), dtype, {made});
    program_.output_size = backends::dtype_size(dtype);
  }

  // A sum of a product that nothing else reads becomes one step: a tile less goes through L1.
  void join_sums_of_products() {
    auto& steps = program_.steps;
    std::vector<int> uses(tiles_.size(), 0), maker(tiles_.size(), -1);
    for (size_t s = 0; s < steps.size(); ++s) {
      maker[static_cast<size_t>(steps[s].out)] = static_cast<int>(s);
      for (int in : steps[s].in) {
        if (in >= 0) ++uses[static_cast<size_t>(in)];
      }
    }
    for (TileStep& sum : steps) {
      const nef_dtype dtype = dtype_of(sum.out);
      const TileFn join = find_tile_fn(TileOp::kMulAdd, dtype);
      if (join == nullptr || sum.fn != find_tile_fn(TileOp::kAdd, dtype)) continue;
      for (int k : {0, 1}) {
        const auto tile = static_cast<size_t>(sum.in[k]);
        TileStep& product = steps[static_cast<size_t>(maker[tile])];
        if (uses[tile] != 1 || product.fn != find_tile_fn(TileOp::kMul, dtype)) continue;
        sum.fn = join;
        sum.in[2] = sum.in[1 - k];
        std::copy_n(product.in, 2, sum.in);
        product.out = -1;
        break;
      }
    }
    std::erase_if(steps, [](const TileStep& step) { return step.out < 0; });
  }

  // Linear scan: a slot is free again after the last step that reads its tile.
  void assign_slots() {
    auto& steps = program_.steps;
    for (size_t s = 0; s < steps.size(); ++s) {
      for (int in : steps[s].in) {
        if (in >= 0) tiles_[static_cast<size_t>(in)].last_use = static_cast<int>(s);
      }
    }
    std::vector<int> slot_of(tiles_.size(), -1);
    std::vector<int> free_slots;
    for (size_t s = 0; s < steps.size(); ++s) {
      TileStep& step = steps[s];
      const auto tile = static_cast<size_t>(step.out);
      if (free_slots.empty()) free_slots.push_back(program_.slots++);
      slot_of[tile] = free_slots.back();
      free_slots.pop_back();
      program_.max_element_size =
          std::max(program_.max_element_size, backends::dtype_size(tiles_[tile].dtype));
      step.out = slot_of[tile];
      release_read_tiles(step, static_cast<int>(s), slot_of, &free_slots);
      if (tiles_[tile].last_use < 0) free_slots.push_back(step.out);
      std::replace(step.in, std::end(step.in), -1, step.in[0]);
    }
    if (program_.slots > kMaxTileSlots) {
      throw Unsupported{"the region needs " + std::to_string(program_.slots) +
                        " tiles at once, at most " + std::to_string(kMaxTileSlots) + " fit"};
    }
  }

  void release_read_tiles(TileStep& step, int s, const std::vector<int>& slot_of,
                          std::vector<int>* free_slots) {
    int freed[3];
    int n_freed = 0;
    for (int& in : step.in) {
      if (in < 0) continue;
      const int tile = in;
      in = slot_of[static_cast<size_t>(tile)];
      const bool dead = tiles_[static_cast<size_t>(tile)].last_use == s;
      if (dead && std::find(freed, freed + n_freed, in) == freed + n_freed) freed[n_freed++] = in;
    }
    free_slots->insert(free_slots->end(), freed, freed + n_freed);
  }

  const Region& region_;
  std::vector<int> tile_of_;  // per value
  std::vector<Tile> tiles_;
  TileProgram program_;
};

}  // namespace

bool is_tile_op(nef_op op) { return find_op_row(op) != nullptr; }

std::optional<TileProgram> build_tile_program(const Region& region, std::string* why) {
  try {
    return Builder(region).build();
  } catch (const Unsupported& unsupported) {
    *why = unsupported.why;
    return std::nullopt;
  }
}

}  // namespace nef::cpu
