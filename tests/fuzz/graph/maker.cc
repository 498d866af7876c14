// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/graph/maker.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "tests/fuzz/fuzz_counts.h"
#include "tests/fuzz/graph/patterns.h"

namespace nef::fuzz {

using ir::kNone;
using ir::ValueId;

namespace {

constexpr size_t kMostNodes = 48;
constexpr int64_t kMostElements = 2048;  // of a constant that is written out
constexpr int kDeepest = 2;

constexpr uint32_t bit(nef_dtype t) { return 1u << t; }

// Words between spaces; a bar of its own stays a word.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t end = text.find(',');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

// The bytes of one element that is `v` as nearly as the dtype can say it.
void put(nef_dtype dtype, double f, int64_t v, char* out) {
  const size_t size = ir::dtype_size(dtype);
  if (dtype == NEF_BOOL) {
    *out = static_cast<char>(v & 1);
  } else if (dtype == NEF_FLOAT32) {
    const auto x = static_cast<float>(std::clamp(f, -3.4e38, 3.4e38));
    const float y = std::isfinite(f) ? x
                    : std::isnan(f)  ? NAN
                                     : std::copysign(INFINITY, float(f < 0 ? -1 : 1));
    std::memcpy(out, &y, size);
  } else if (dtype == NEF_FLOAT64) {
    std::memcpy(out, &f, size);
  } else if (dtype == NEF_BFLOAT16) {
    const auto x = static_cast<float>(std::clamp(std::isnan(f) ? 0 : f, -3.0e38, 3.0e38));
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    const auto half = static_cast<uint16_t>(std::isnan(f) ? 0x7fc0 : bits >> 16);
    std::memcpy(out, &half, size);
  } else if (dtype == NEF_FLOAT16) {
    static constexpr uint16_t kHalves[] = {0x0000, 0x3c00, 0xbc00, 0x4000, 0x3800, 0x0001,
                                           0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x4900};
    const uint16_t half = std::isnan(f) ? 0x7e00 : kHalves[static_cast<uint64_t>(v) % 12];
    std::memcpy(out, &half, size);
  } else {
    std::memcpy(out, &v, size);  // integers, float8: the lowest bytes
  }
}

// Small numbers mostly: they are valid as indices, sizes and operands; extreme ones at times.
struct Number {
  double f;
  int64_t i;
};
Number any_number(Choices& c) {
  if (c.chance(6)) return {extreme_float(c), extreme_int(c)};
  static constexpr double kPlain[] = {1, 0.5, -1, 0.25, 2, 0, -0.125, 3};
  return {c.pick(kPlain), c.between(0, 2)};
}

}  // namespace

Tallies& tallies() {
  static Tallies all;
  return all;
}

Maker::Maker(Choices& choices, MakerOptions options) : c_(choices), options_(options) {}

void Maker::make() {
  const size_t most = options_.depth == 0 ? kMostNodes : 4;
  for (size_t k = 0; k < most && (k == 0 || !c_.done()); ++k) {
    step();
    if (options_.depth > 0 && c_.chance(3)) break;
  }
  name_outputs();
}

void Maker::step() {
  const size_t kind = c_.below(32);
  if (kind == 31) return growing_chain();
  if (kind >= 29) return shape_chain();
  if (kind == 28 && options_.depth < kDeepest) {
    const size_t which = c_.below(3);
    return which == 0 ? add_if() : which == 1 ? add_loop() : add_scan();
  }
  const auto op = static_cast<nef_op>(1 + c_.below(NEF_OP_COUNT_ - 1));
  if (!ir::op_valid(op) || ir::spec(op).internal || ir::spec(op).n_blocks != 0) return;
  for (int tries = 0; tries < 3; ++tries) {
    const uint64_t before = tallies()[op].taken;
    add_op(op);
    if (tallies()[op].taken != before || c_.done()) return;
  }
}

// ---- values

ir::Dim Maker::dim(int64_t size, bool symbolic) {
  if (!symbolic || size < 0 || size > 4096 || options_.depth > 0) return ir::Dim::of(size);
  const std::string name =
      c_.chance(4) ? "batch" : std::string(1, static_cast<char>('a' + size % 20));
  const auto known = symbols_.find(name);
  if (known != symbols_.end()) {
    // Narrower bounds now would contradict what was inferred with the wider ones.
    return known->second == size ? graph_.pool().symbol(name) : ir::Dim::of(size);
  }
  symbols_[name] = size;
  const int64_t low = c_.chance(3) ? std::max<int64_t>(size - 1, 0) : 0;
  static constexpr int64_t kHighs[] = {ir::kUnbounded, ir::kUnbounded, 4096, int64_t{1} << 31,
                                       int64_t{1} << 62};
  return graph_.pool().symbol(name, low, c_.pick(kHighs));
}

ValueId Maker::input(nef_dtype dtype, const Sizes& shape, bool symbolic) {
  ir::Shape dims;
  for (int64_t s : shape) dims.push(dim(s, symbolic && c_.below(2) == 0));
  const ValueId v = graph_.add_input(cat("x", graph_.graph_inputs().size()), dtype, dims);
  values_.push_back(v);
  return v;
}

ValueId Maker::constant_numbers(nef_dtype dtype, const Sizes& shape, const Sizes& numbers) {
  const size_t size = ir::dtype_size(dtype);
  auto buffer = ir::Buffer::allocate(numbers.size() * size);
  for (size_t i = 0; i < numbers.size(); ++i) {
    put(dtype, static_cast<double>(numbers[i]), numbers[i],
        static_cast<char*>(buffer->data()) + i * size);
  }
  ir::Shape dims;
  for (int64_t s : shape) dims.push(ir::Dim::of(s));
  const ValueId v = graph_.add_constant(dtype, dims, std::move(buffer));
  values_.push_back(v);
  return v;
}

ValueId Maker::constant(nef_dtype dtype, const Sizes& shape) {
  int64_t count = 1;
  ir::Shape dims;
  for (int64_t s : shape) {
    count = s == 0 ? 0 : count;
    dims.push(ir::Dim::of(s));
  }
  for (int64_t s : shape) count *= count == 0 ? 1 : s;
  const size_t size = ir::dtype_size(dtype);
  auto buffer = ir::Buffer::allocate(static_cast<size_t>(count) * size);
  // A few numbers over and over: the choices are for more than data.
  Number numbers[4];
  for (Number& n : numbers) n = any_number(c_);
  for (int64_t i = 0; i < count; ++i) {
    const Number& n = numbers[static_cast<size_t>(i) % 4];
    put(dtype, n.f, n.i, static_cast<char*>(buffer->data()) + static_cast<size_t>(i) * size);
  }
  const ValueId v = graph_.add_constant(dtype, dims, std::move(buffer));
  values_.push_back(v);
  return v;
}

// One element made as large as it should be, which costs a file nothing.
ValueId Maker::filled(nef_dtype dtype, const Sizes& shape) {
  const ValueId one = constant(dtype, {1});
  const ValueId dims = builder_.ints(shape);
  const auto v = c_.below(2) == 0 ? add(NEF_OP_EXPAND, {one, dims}, {})
                                  : add(NEF_OP_CONSTANT_OF_SHAPE, {dims, one}, {});
  return v ? *v : one;
}

ValueId Maker::fresh(nef_dtype dtype, const Sizes& shape) {
  int64_t count = 1;
  for (int64_t s : shape) count = s > kMostElements ? kMostElements + 1 : count * s;
  const bool small = count <= kMostElements;
  switch (c_.below(8)) {
    case 0:
    case 1:
    case 2: return small && options_.depth == 0 ? input(dtype, shape, true) : filled(dtype, shape);
    case 3: return filled(dtype, shape);
    default: return small ? constant(dtype, shape) : filled(dtype, shape);
  }
}

std::optional<ValueId> Maker::existing(uint32_t dtypes, int rank) {
  std::vector<ValueId> fitting;
  // The newest first, and not all of many.
  for (size_t i = values_.size(); i-- > 0 && fitting.size() < 12;) {
    const ValueId v = values_[i];
    if ((dtypes & bit(graph_.dtype(v))) == 0) continue;
    if (rank < 0 || graph_.rank(v) == static_cast<size_t>(rank)) fitting.push_back(v);
  }
  if (fitting.empty()) return std::nullopt;
  return fitting[c_.below(fitting.size())];
}

Maker::Sizes Maker::sizes(ValueId v) const {
  Sizes out;
  for (ir::Dim d : graph_.dims(v)) {
    if (d.is_number()) {
      out.push_back(d.number());
      continue;
    }
    const auto it =
        graph_.pool().is_symbol(d) ? symbols_.find(graph_.pool().str(d)) : symbols_.end();
    out.push_back(it != symbols_.end() ? it->second : std::max<int64_t>(graph_.pool().lower(d), 1));
  }
  return out;
}

Maker::Sizes Maker::any_shape() {
  static constexpr int kRanks[] = {1, 2, 2, 3, 3, 4, 4, 0, 5, 1};
  Sizes out(static_cast<size_t>(c_.chance(40) ? 16 : c_.pick(kRanks)));
  for (int64_t& s : out) s = out.size() > 8 ? 1 : any_dim(c_, options_.large);
  return out;
}

// Something that broadcasts with it.
Maker::Sizes Maker::like(const Sizes& shape) {
  Sizes out = shape;
  for (int64_t& s : out) {
    if (c_.chance(4)) s = 1;
  }
  if (c_.chance(4))
    out.erase(out.begin(), out.begin() + static_cast<long>(c_.below(out.size() + 1)));
  return out;
}

// ---- drafts of nodes

nef_dtype Maker::dtype_for(Draft& d, size_t i) {
  const ir::OpSpec& s = ir::spec(d.op);
  const ir::InputSpec& in = s.inputs[std::min<size_t>(i, s.n_inputs - 1u)];
  if (in.type_var < 8 && d.variables[in.type_var] != 0) return d.variables[in.type_var];
  std::vector<nef_dtype> fitting;
  for (nef_dtype t = NEF_BOOL; t <= ir::kLastDtype; ++t) {
    if ((in.dtypes & bit(t)) != 0) fitting.push_back(t);
  }
  require(!fitting.empty(), "every input takes some dtype");
  // float32, int64 and bool meet each other most often.
  const auto takes = [&](nef_dtype t) { return (in.dtypes & bit(t)) != 0; };
  nef_dtype out = fitting[c_.below(fitting.size())];
  if (takes(NEF_FLOAT32) && c_.below(3) != 2) out = NEF_FLOAT32;
  else if (takes(NEF_INT64) && c_.below(3) != 2) out = NEF_INT64;
  if (in.type_var < 8) d.variables[in.type_var] = out;
  return out;
}

int64_t Maker::size_of(Draft& d, std::string_view token) {
  int64_t factor = 1;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), factor);
  const bool number = error == std::errc();
  if (number && end == token.data() + token.size()) return factor;
  const char letter = *end;
  const auto [it, made] = d.letters.emplace(letter, 0);
  if (made) it->second = any_dim(c_, options_.large && d.letters.size() < 3);
  if (it->second > std::numeric_limits<int64_t>::max() / std::abs(factor)) return it->second;
  return factor * it->second;
}

Maker::Sizes Maker::shape_from(Draft& d, std::string_view word) {
  if (word == "-") return {};
  Sizes out;
  for (std::string_view token : parts_of(word)) out.push_back(size_of(d, token));
  if (!out.empty() && c_.chance(64)) out[c_.below(out.size())] = any_dim(c_, options_.large);
  return out;
}

ValueId Maker::input_from_word(Draft& d, size_t i, std::string_view word) {
  const ir::OpSpec& s = ir::spec(d.op);
  const ir::InputSpec& in = s.inputs[std::min<size_t>(i, s.n_inputs - 1u)];
  if (word == "_") return kNone;
  if (word == "?") {
    const bool one = word == "?" && d.op != NEF_OP_RESHAPE;
    return host_value(d, i, host_numbers(d, in.name, one), false);
  }
  if (word[0] == '[' || word[0] == '{') {
    Sizes numbers;
    for (std::string_view t : parts_of(word.substr(1, word.size() - 2)))
      numbers.push_back(size_of(d, t));
    return host_value(d, i, std::move(numbers), word[0] == '{');
  }
  const nef_dtype open = in.type_var < 8 ? d.variables[in.type_var] : 0;
  if (i == 0 && c_.below(3) != 0) {
    // A value of before, whose sizes the letters take over.
    const bool whatever = word == "*";
    const auto tokens = parts_of(word);
    const auto v = existing(in.dtypes, whatever      ? -1
                                       : word == "-" ? 0
                                                     : static_cast<int>(tokens.size()));
    const auto plain = [](std::string_view t) {
      return t.size() == 1 && t[0] >= 'a' && t[0] <= 'z';
    };
    if (v && (whatever || word == "-" || std::all_of(tokens.begin(), tokens.end(), plain))) {
      if (in.type_var < 8) d.variables[in.type_var] = graph_.dtype(*v);
      const Sizes shape = sizes(*v);
      for (size_t k = 0; !whatever && k < shape.size(); ++k) d.letters[tokens[k][0]] = shape[k];
      return *v;
    }
  }
  static_cast<void>(open);
  const nef_dtype dtype = dtype_for(d, i);
  return fresh(dtype, word == "*" ? any_shape() : shape_from(d, word));
}

ValueId Maker::input_without_pattern(Draft& d, size_t i) {
  const ir::OpSpec& s = ir::spec(d.op);
  const ir::InputSpec& in = s.inputs[std::min<size_t>(i, s.n_inputs - 1u)];
  if (in.host) return host_value(d, i, host_numbers(d, in.name, true), false);
  uint32_t dtypes = in.dtypes;
  if (in.type_var < 8 && d.variables[in.type_var] != 0) dtypes &= bit(d.variables[in.type_var]);
  const auto first =
      d.inputs.empty() || d.inputs[0] == kNone ? std::nullopt : std::optional(d.inputs[0]);
  const size_t how = c_.below(3);
  if (first && how == 0 && (dtypes & bit(graph_.dtype(*first))) != 0) return *first;
  if (how == 1) {
    if (const auto v = existing(dtypes)) {
      if (in.type_var < 8) d.variables[in.type_var] = graph_.dtype(*v);
      return *v;
    }
  }
  const nef_dtype dtype = dtype_for(d, i);
  return fresh(dtype, first ? like(sizes(*first)) : any_shape());
}

void Maker::draft_inputs(Draft& d) {
  const ir::OpSpec& s = ir::spec(d.op);
  const auto known = patterns(s.snake);
  if (!known.empty() && !c_.chance(24)) {
    const auto words = words_of(known[c_.below(known.size())].text);
    const auto bar = std::find(words.begin(), words.end(), "|");
    for (auto it = bar; it != words.end(); ++it) {
      const size_t equals = it->find('=');
      if (equals != std::string_view::npos)
        d.forced.push_back({it->substr(0, equals), it->substr(equals + 1)});
    }
    for (auto it = words.begin(); it != bar; ++it) {
      d.inputs.push_back(input_from_word(d, static_cast<size_t>(it - words.begin()), *it));
    }
    return;
  }
  const bool variadic = s.n_inputs > 0 && s.inputs[s.n_inputs - 1u].variadic;
  size_t count = s.n_inputs;
  if (variadic) count += c_.below(3);
  for (size_t i = 0; i < count; ++i) {
    if (s.inputs[std::min<size_t>(i, s.n_inputs - 1u)].optional && c_.below(2) == 0) {
      d.inputs.push_back(kNone);
      continue;
    }
    d.inputs.push_back(input_without_pattern(d, i));
  }
  while (!d.inputs.empty() && d.inputs.back() == kNone) d.inputs.pop_back();
}

void Maker::add_op(nef_op op) {
  Draft d{op, {}, {}, {}, {}};
  draft_inputs(d);
  try {
    const std::vector<int64_t> words = attributes(d);
    // Outputs that are optional are asked for at times.
    const ir::OpSpec& s = ir::spec(op);
    size_t outputs = 0;
    if (s.n_outputs > 1 && !s.outputs[s.n_outputs - 1u].variadic && c_.below(2) == 0)
      outputs = s.n_outputs;
    add(op, d.inputs, words, outputs);
  } catch (const Error& e) {
    require(e.code() != NEF_INTERNAL, "attributes are refused with a reason");
    ++tallies()[op].refused;
  }
}

std::optional<ValueId> Maker::add(nef_op op, const std::vector<ValueId>& inputs,
                                  std::span<const int64_t> words, size_t outputs) {
  try {
    const ir::NodeId n = builder_.add(op, inputs, words, outputs);
    ++tallies()[op].taken;
    for (uint32_t i = 0; i < graph_.output_count(n); ++i) values_.push_back(graph_.output(n, i));
    return graph_.output_count(n) == 0 ? std::nullopt : std::optional(graph_.output(n));
  } catch (const Error& e) {
    require(e.code() != NEF_INTERNAL && !e.message().empty(), "inference says what is wrong");
    ++tallies()[op].refused;
    return std::nullopt;
  }
}

// ---- host inputs

Maker::Sizes Maker::host_numbers(const Draft& d, std::string_view name, bool one) {
  static_cast<void>(one);
  const Sizes shape = d.inputs.empty() || d.inputs[0] == kNone ? Sizes{} : sizes(d.inputs[0]);
  const auto rank = static_cast<int64_t>(shape.size());
  Sizes out;
  const auto some_axes = [&] {
    for (int64_t a = 0; a < rank; ++a) {
      if (c_.below(2) == 0) out.push_back(c_.below(4) == 3 ? a - rank : a);
    }
  };
  if (d.op == NEF_OP_RESHAPE) {
    switch (c_.below(5)) {
      case 0: out = {-1}; break;
      case 1:
        out = shape;
        std::reverse(out.begin(), out.end());
        break;
      case 2:
        out = Sizes(shape.size(), 0);
        if (rank > 0) out[c_.below(shape.size())] = -1;
        break;
      case 3: out = {0, -1}; break;
      default:
        out = shape;
        out.push_back(1);
        break;
    }
  } else if (d.op == NEF_OP_EXPAND) {
    out = shape;
    for (int64_t& s : out) {
      if (s == 1) s = any_dim(c_, options_.large);
    }
    if (c_.chance(3)) out.insert(out.begin(), any_dim(c_, options_.large));
  } else if (d.op == NEF_OP_TILE) {
    for (int64_t a = 0; a < rank; ++a) out.push_back(c_.between(0, 3));
  } else if (d.op == NEF_OP_PAD && name == "pads") {
    for (int64_t a = 0; a < 2 * rank; ++a) out.push_back(c_.between(-1, 3));
  } else if (d.op == NEF_OP_RESIZE && name == "scales") {
    for (int64_t a = 0; a < rank; ++a) out.push_back(a < 2 ? 1 : c_.between(1, 3));
  } else if (name == "sizes" || d.op == NEF_OP_CENTER_CROP_PAD || d.op == NEF_OP_MAX_UNPOOL) {
    out = shape;
    for (size_t a = 2; a < out.size(); ++a) out[a] += c_.between(-1, 4);
  } else if (name == "starts" || name == "ends" || name == "steps") {
    const size_t count = d.inputs.size() > 1 && d.inputs[1] != kNone
                             ? static_cast<size_t>(std::min<int64_t>(
                                   sizes(d.inputs[1]).empty() ? 1 : sizes(d.inputs[1])[0], 8))
                             : 1 + c_.below(std::max<size_t>(shape.size(), 1));
    for (size_t i = 0; i < count; ++i) {
      int64_t v = name == "starts" ? c_.between(-2, 2)
                  : name == "ends" ? c_.between(-1, 8)
                                   : c_.between(-2, 2);
      if (name == "steps" && v == 0) v = 1;
      out.push_back(c_.chance(5) ? extreme_int(c_) : v);
    }
  } else if (name == "axes" && d.op == NEF_OP_SLICE) {
    const Sizes starts = d.inputs[1] == kNone ? Sizes{1} : sizes(d.inputs[1]);
    for (int64_t a = 0; a < (starts.empty() ? 1 : std::min<int64_t>(starts[0], 8)); ++a)
      out.push_back(a);
  } else if (name == "axes" && d.op == NEF_OP_UNSQUEEZE) {
    out.push_back(c_.between(-rank - 1, rank));
  } else if (name == "axes" && d.op == NEF_OP_SQUEEZE) {
    for (int64_t a = 0; a < rank; ++a) {
      if (shape[static_cast<size_t>(a)] == 1) out.push_back(a);
    }
  } else if (name == "axes") {
    some_axes();
  } else if (name == "axis") {
    out.push_back(rank == 0 ? 0 : c_.between(-rank, rank - 1));
  } else if (name == "split") {
    const int64_t n = shape.empty() ? 1 : shape[0];
    const int64_t first = n > 0 && n < 4096 ? c_.between(0, std::min<int64_t>(n, 200)) : n;
    out = {first, n - first};
  } else if (name == "k") {
    out.push_back(c_.between(0, 3));
  } else if (name == "shape") {
    out = any_shape();
  } else {
    out.push_back(c_.between(1, 9));
  }
  if (!out.empty() && c_.chance(8)) out[c_.below(out.size())] = extreme_int(c_);
  return out;
}

ValueId Maker::host_value(Draft& d, size_t i, Sizes numbers, bool scalar) {
  const ir::OpSpec& s = ir::spec(d.op);
  const ir::InputSpec& in = s.inputs[std::min<size_t>(i, s.n_inputs - 1u)];
  const nef_dtype dtype = dtype_for(d, i);
  // Scales that are no whole numbers.
  const bool vector = !scalar && d.op != NEF_OP_RANGE;
  const Sizes shape = vector ? Sizes{static_cast<int64_t>(numbers.size())} : Sizes{};
  if (numbers.empty() && !vector) numbers = {1};
  switch (c_.below(12)) {
    case 0: return input(dtype, shape, false);  // known in a run only
    case 1: {
      const ValueId v = constant_numbers(dtype, shape, numbers);
      if (dtype != NEF_INT64) return v;
      const ValueId k = builder_.int_scalar(c_.chance(4) ? extreme_int(c_) : 1);
      static constexpr nef_op kOps[] = {NEF_OP_DIV, NEF_OP_MUL, NEF_OP_ADD, NEF_OP_SUB, NEF_OP_MOD};
      const auto made = add(c_.pick(kOps), {v, k}, {});
      return made ? *made : v;
    }
    case 2: {
      const auto v = existing(in.dtypes & bit(dtype), vector ? 1 : 0);
      return v ? *v : constant_numbers(dtype, shape, numbers);
    }
    default: return constant_numbers(dtype, shape, numbers);
  }
}

// ---- attributes

Maker::Sizes Maker::list_attribute(const Draft& d, std::string_view name) {
  const Sizes shape = d.inputs.empty() || d.inputs[0] == kNone ? Sizes{} : sizes(d.inputs[0]);
  const size_t rank = shape.size(), spatial = rank > 2 ? rank - 2 : 1;
  Sizes out;
  if (name == "perm") {
    for (size_t i = 0; i < rank; ++i) out.push_back(static_cast<int64_t>(i));
    for (size_t i = rank; i > 1; --i) std::swap(out[i - 1], out[c_.below(i)]);
  } else if (name == "axes") {
    for (size_t i = 0; i < rank; ++i) {
      if (c_.below(2) == 0) out.push_back(static_cast<int64_t>(i));
    }
  } else if (name == "pads") {
    for (size_t i = 0; i < 2 * spatial; ++i) out.push_back(c_.between(0, 2));
  } else if (name == "pooled_shape") {
    out = {c_.between(1, 3), c_.between(1, 3)};
  } else {
    for (size_t i = 0; i < spatial; ++i) out.push_back(c_.between(1, 3));
  }
  if (!out.empty() && c_.chance(8)) {
    int64_t& v = out[c_.below(out.size())];
    v = c_.below(2) == 0 ? extreme_int(c_) : any_dim(c_, options_.large);
  }
  return out;
}

std::string Maker::text_attribute(std::string_view name) {
  static constexpr std::string_view kWords[] = {"NOTSET",
                                                "SAME_UPPER",
                                                "SAME_LOWER",
                                                "VALID",
                                                "constant",
                                                "reflect",
                                                "edge",
                                                "wrap",
                                                "nearest",
                                                "linear",
                                                "cubic",
                                                "zeros",
                                                "border",
                                                "reflection",
                                                "none",
                                                "add",
                                                "mul",
                                                "max",
                                                "min",
                                                "LEFT",
                                                "RIGHT",
                                                "DCR",
                                                "CRD",
                                                "tanh",
                                                "forward",
                                                "reverse",
                                                "bidirectional",
                                                "half_pixel",
                                                "half_pixel_symmetric",
                                                "pytorch_half_pixel",
                                                "align_corners",
                                                "asymmetric",
                                                "tf_crop_and_resize",
                                                "tf_half_pixel_for_nn",
                                                "stretch",
                                                "not_larger",
                                                "not_smaller",
                                                "round_prefer_floor",
                                                "round_prefer_ceil",
                                                "floor",
                                                "ceil",
                                                "output_half_pixel",
                                                "avg",
                                                "circular",
                                                "gated",
                                                "delta",
                                                "gated_delta",
                                                "TF",
                                                "IDF",
                                                "TFIDF",
                                                "Relu",
                                                "Affine",
                                                "Sigmoid,Tanh,Tanh",
                                                "Relu,Tanh",
                                                "HardSigmoid,Elu,Softsign"};
  struct Choice {
    std::string_view name;
    uint8_t first, count;
  };
  static constexpr Choice kChoices[] = {
      {"auto_pad", 0, 4},      {"mode", 4, 8},
      {"padding_mode", 11, 3}, {"reduction", 14, 5},
      {"direction", 19, 8},    {"approximate", 23, 1},
      {"activations", 50, 5},  {"coordinate_transformation_mode", 27, 7},
      {"nearest_mode", 37, 4}, {"keep_aspect_ratio_policy", 34, 3},
      {"update_rule", 44, 3}};
  for (const Choice& k : kChoices) {
    if (k.name == name && !c_.chance(6)) return std::string(kWords[k.first + c_.below(k.count)]);
  }
  if (c_.chance(16)) return c_.below(2) == 0 ? "" : "...i->i\x1b";
  return std::string(kWords[c_.below(std::size(kWords))]);
}

bool Maker::set_forced(ir::AttrBuilder& b, const Draft& d, unsigned slot, const Attr& attr) {
  const ir::AttrSpec& a = ir::spec(d.op).attrs[slot];
  if (attr.name != a.name) return false;
  if (a.type == ir::AttrType::String) {
    b.set_string(slot, attr.text);
  } else if (a.type == ir::AttrType::Ints) {
    Sizes list;
    for (std::string_view t : parts_of(attr.text.substr(1, attr.text.size() - 2))) {
      int64_t v = 0;
      std::from_chars(t.data(), t.data() + t.size(), v);
      list.push_back(v);
    }
    b.set_ints(slot, list);
  } else {
    Draft copy = d;
    b.set_int(slot, size_of(copy, attr.text));
  }
  return true;
}

void Maker::set_attribute(ir::AttrBuilder& b, const Draft& d, unsigned slot) {
  const ir::AttrSpec& a = ir::spec(d.op).attrs[slot];
  const std::string_view name = a.name;
  for (const Attr& forced : d.forced) {
    if (!c_.chance(32) && set_forced(b, d, slot, forced)) return;
  }
  if (!a.required && c_.below(3) != 2) return;
  const Sizes shape = d.inputs.empty() || d.inputs[0] == kNone ? Sizes{} : sizes(d.inputs[0]);
  const auto rank = static_cast<int64_t>(shape.size());
  switch (a.type) {
    case ir::AttrType::Bool: b.set_int(slot, static_cast<int64_t>(c_.below(2))); return;
    case ir::AttrType::DType:
      b.set_int(slot, c_.between(c_.chance(30) ? 0 : 1, ir::kLastDtype));
      return;
    case ir::AttrType::Float: {
      static constexpr double kPlain[] = {1, 0.5, 2, 0.1, -1, 0, 3.5};
      b.set_float(slot, c_.chance(4) ? extreme_float(c_) : c_.pick(kPlain));
      return;
    }
    case ir::AttrType::Floats: {
      const std::vector<double> list = {c_.chance(3) ? extreme_float(c_) : 0.5, 1};
      b.set_floats(slot, list);
      return;
    }
    case ir::AttrType::String: b.set_string(slot, text_attribute(name)); return;
    case ir::AttrType::Ints: b.set_ints(slot, list_attribute(d, name)); return;
    case ir::AttrType::Int: break;
  }
  if (c_.chance(8)) b.set_int(slot, extreme_int(c_));
  else if (name.find("axis") != std::string_view::npos && rank > 0)
    b.set_int(slot, c_.between(-rank, rank - 1));
  else b.set_int(slot, c_.between(0, 3));
}

std::vector<int64_t> Maker::attributes(const Draft& d) {
  ir::AttrBuilder b(d.op);
  for (unsigned slot = 0; slot < ir::spec(d.op).n_attrs; ++slot) set_attribute(b, d, slot);
  return b.build();
}

// ---- whole pieces

// Many small nodes, each of which makes or costs more than the file says.
void Maker::growing_chain() {
  const size_t count = options_.large ? 8 + c_.below(200) : 3 + c_.below(6);
  const int64_t side = options_.large ? 64 + static_cast<int64_t>(c_.below(300)) : 4;
  if (c_.below(2) == 0) {
    std::optional<ValueId> m = filled(NEF_FLOAT32, {side, side});
    for (size_t i = 0; m && i < count; ++i) m = add(NEF_OP_MATMUL, {*m, *m}, {});
    return;
  }
  const int64_t width = options_.large ? 262144 : 64;
  const ValueId dims = builder_.ints(Sizes{width});
  std::optional<ValueId> h = c_.below(2) == 0 || options_.depth > 0
                                 ? filled(NEF_FLOAT32, {width})
                                 : input(NEF_FLOAT32, {width}, false);
  const nef_op op = c_.below(2) == 0 ? NEF_OP_ADD : NEF_OP_MUL;
  for (size_t i = 0; h && i < count; ++i) {
    const auto wide = add(
        NEF_OP_EXPAND, {constant_numbers(NEF_FLOAT32, {1}, {static_cast<int64_t>(i)}), dims}, {});
    h = wide ? add(op, {*h, *wide}, {}) : std::nullopt;
  }
}

// Sizes computed from sizes and numbers, and something shaped by them.
void Maker::shape_chain() {
  const auto x = existing(~0u);
  std::optional<ValueId> s;
  if (x && c_.below(2) == 0) {
    ir::AttrBuilder b(NEF_OP_SHAPE);
    s = add(NEF_OP_SHAPE, {*x}, b.build());
  } else {
    Sizes numbers(1 + c_.below(3));
    for (int64_t& v : numbers) v = c_.chance(2) ? extreme_int(c_) : any_dim(c_, options_.large);
    s = constant_numbers(NEF_INT64, {static_cast<int64_t>(numbers.size())}, numbers);
  }
  for (size_t k = c_.below(5); s && k > 0; --k) {
    static constexpr nef_op kOps[] = {NEF_OP_DIV, NEF_OP_MUL, NEF_OP_ADD, NEF_OP_SUB, NEF_OP_MOD,
                                      NEF_OP_MAX, NEF_OP_MIN, NEF_OP_NEG, NEF_OP_ABS};
    const nef_op op = c_.pick(kOps);
    std::vector<ValueId> in = {*s};
    if (ir::spec(op).n_inputs > 1 || op == NEF_OP_MAX || op == NEF_OP_MIN) {
      in.push_back(builder_.ints(Sizes{c_.chance(2) ? extreme_int(c_) : c_.between(1, 4)}));
      if (c_.chance(3)) std::swap(in[0], in[1]);
    }
    ir::AttrBuilder b(op);
    const auto words = ir::spec(op).n_attrs > 0 ? b.build() : std::vector<int64_t>{};
    if (const auto next = add(op, in, words)) s = next;
  }
  if (!s) return;
  const ValueId data = x ? *x : constant(NEF_FLOAT32, {4});
  ir::AttrBuilder reshape(NEF_OP_RESHAPE);
  switch (c_.below(6)) {
    case 0: add(NEF_OP_RESHAPE, {data, *s}, reshape.build()); break;
    case 1: add(NEF_OP_EXPAND, {data, *s}, {}); break;
    case 2: add(NEF_OP_CONSTANT_OF_SHAPE, {*s}, {}); break;
    case 3: add(NEF_OP_TILE, {data, *s}, {}); break;
    case 4: add(NEF_OP_SLICE, {data, *s, builder_.ints(Sizes{extreme_int(c_)})}, {}); break;
    default: {
      ir::AttrBuilder b(NEF_OP_GATHER);
      add(NEF_OP_GATHER, {data, *s}, b.build());
    }
  }
}

// ---- blocks

// A few values that a block takes from outside.
std::vector<ValueId> Maker::captures() {
  std::vector<ValueId> out;
  for (size_t k = 1 + c_.below(2); k > 0; --k) {
    const auto v = existing(~0u);
    out.push_back(v ? *v : constant(NEF_FLOAT32, {2, 3}));
  }
  return out;
}

namespace {

ValueId block_input(ir::Graph& block, const ir::Graph& outer, ValueId v, size_t skip_axis) {
  ir::Shape dims;
  for (size_t i = 0; i < outer.rank(v); ++i) {
    if (i == skip_axis) continue;
    const ir::Dim d = outer.dims(v)[i];
    dims.push(ir::is_expr(d) ? block.pool().unknown() : d);
  }
  return block.add_input(cat("x", block.graph_inputs().size()), outer.dtype(v), dims);
}

constexpr size_t kWhole = ~size_t{0};

}  // namespace

void Maker::add_if() {
  const auto bools = existing(bit(NEF_BOOL), 0);
  const ValueId condition = bools && c_.below(2) == 0 ? *bools
                            : options_.depth == 0     ? input(NEF_BOOL, {}, false)
                                                      : constant(NEF_BOOL, {});
  std::vector<ValueId> in = captures();
  std::vector<ir::Graph::Block> blocks;
  for (int b = 0; b < 2; ++b) {
    Maker inner(c_, {options_.large, options_.depth + 1});
    for (ValueId v : in) inner.values_.push_back(block_input(inner.graph_, graph_, v, kWhole));
    const std::vector<ValueId> taken = inner.values_;
    inner.make();
    // Both give what the first capture is like: the newest value that is.
    ValueId out = taken[0];
    for (ValueId v : inner.values_) {
      if (inner.graph_.dtype(v) == graph_.dtype(in[0]) &&
          inner.graph_.rank(v) == graph_.rank(in[0]))
        out = v;
    }
    inner.graph_.clear_outputs();
    inner.graph_.add_output("y", out);
    blocks.push_back(std::make_shared<const ir::Graph>(std::move(inner.graph_)));
  }
  in.insert(in.begin(), condition);
  try {
    const ir::NodeId n = builder_.add_blocks(NEF_OP_IF, in, {}, blocks);
    ++tallies()[NEF_OP_IF].taken;
    values_.push_back(graph_.output(n));
  } catch (const Error& e) {
    require(e.code() != NEF_INTERNAL, "blocks are refused with a reason");
    ++tallies()[NEF_OP_IF].refused;
  }
}

void Maker::add_loop() {
  static constexpr int64_t kTrips[] = {0, 1, 2, 3, 5, -1};
  const int64_t trips = c_.chance(8) ? extreme_int(c_) : c_.pick(kTrips);
  const ValueId trip = c_.chance(3) && options_.depth == 0 ? input(NEF_INT64, {}, false)
                                                           : builder_.int_scalar(trips);
  const std::vector<ValueId> outside = captures();
  Maker inner(c_, {options_.large, options_.depth + 1});
  inner.values_.push_back(inner.graph_.add_input("i", NEF_INT64, {}));
  const ValueId condition = inner.graph_.add_input("go", NEF_BOOL, {});
  inner.values_.push_back(condition);
  const ValueId carried = block_input(inner.graph_, graph_, outside[0], kWhole);
  inner.values_.push_back(carried);
  for (size_t i = 1; i < outside.size(); ++i) {
    inner.values_.push_back(block_input(inner.graph_, graph_, outside[i], kWhole));
  }
  inner.make();
  ValueId next = carried, go = condition;
  for (ValueId v : inner.values_) {
    const bool same = inner.graph_.dtype(v) == inner.graph_.dtype(carried) &&
                      inner.graph_.rank(v) == inner.graph_.rank(carried);
    if (same) next = v;
    if (inner.graph_.dtype(v) == NEF_BOOL && inner.graph_.rank(v) == 0 && c_.chance(3)) go = v;
  }
  inner.graph_.clear_outputs();
  inner.graph_.add_output("more", go);
  inner.graph_.add_output("next", next);
  if (c_.below(2) == 0) inner.graph_.add_output("stack", inner.values_.back());
  std::vector<ValueId> in = {trip, kNone};
  in.insert(in.end(), outside.begin(), outside.end());
  ir::AttrBuilder attrs(NEF_OP_LOOP);
  attrs.set_int(NEF_LOOP_CARRIED, 1);
  try {
    const std::vector<ir::Graph::Block> blocks = {
        std::make_shared<const ir::Graph>(std::move(inner.graph_))};
    const ir::NodeId n = builder_.add_blocks(NEF_OP_LOOP, in, attrs.build(), blocks);
    ++tallies()[NEF_OP_LOOP].taken;
    for (uint32_t i = 0; i < graph_.output_count(n); ++i) values_.push_back(graph_.output(n, i));
  } catch (const Error& e) {
    require(e.code() != NEF_INTERNAL, "blocks are refused with a reason");
    ++tallies()[NEF_OP_LOOP].refused;
  }
}

void Maker::add_scan() {
  ValueId scanned = captures()[0];
  if (graph_.rank(scanned) == 0) scanned = constant(NEF_FLOAT32, {3, 2});
  const auto rank = static_cast<int64_t>(graph_.rank(scanned));
  const int64_t axis = c_.between(0, rank - 1);
  Maker inner(c_, {options_.large, options_.depth + 1});
  inner.values_.push_back(block_input(inner.graph_, graph_, scanned, static_cast<size_t>(axis)));
  inner.make();
  inner.graph_.clear_outputs();
  inner.graph_.add_output("stack", inner.values_.back());
  ir::AttrBuilder attrs(NEF_OP_SCAN);
  const int64_t out_axis = c_.chance(6) ? extreme_int(c_) : c_.between(-1, 0);
  attrs.set_ints(NEF_SCAN_SCAN_INPUT_AXES, Sizes{c_.chance(8)       ? extreme_int(c_)
                                                 : c_.below(2) == 0 ? axis
                                                                    : axis - rank});
  attrs.set_ints(NEF_SCAN_SCAN_INPUT_DIRECTIONS, Sizes{c_.between(0, 1)});
  attrs.set_ints(NEF_SCAN_SCAN_OUTPUT_AXES, Sizes{out_axis});
  attrs.set_ints(NEF_SCAN_SCAN_OUTPUT_DIRECTIONS, Sizes{c_.between(0, 1)});
  try {
    const std::vector<ir::Graph::Block> blocks = {
        std::make_shared<const ir::Graph>(std::move(inner.graph_))};
    const std::vector<ValueId> in = {scanned};
    const ir::NodeId n = builder_.add_blocks(NEF_OP_SCAN, in, attrs.build(), blocks);
    ++tallies()[NEF_OP_SCAN].taken;
    for (uint32_t i = 0; i < graph_.output_count(n); ++i) values_.push_back(graph_.output(n, i));
  } catch (const Error& e) {
    require(e.code() != NEF_INTERNAL, "blocks are refused with a reason");
    ++tallies()[NEF_OP_SCAN].refused;
  }
}

// What no node reads, up to eight values.
void Maker::name_outputs() {
  if (values_.empty()) constant(NEF_FLOAT32, {1});
  size_t named = 0;
  for (size_t i = values_.size(); i-- > 0 && named < 8;) {
    if (graph_.uses(values_[i]) != 0 && named > 0) continue;
    if (graph_.is_constant(values_[i]) && named > 0) continue;
    graph_.add_output(cat("y", named++), values_[i]);
  }
}

}  // namespace nef::fuzz
