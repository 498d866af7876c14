// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/ir/infer_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string_view>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/infer.h"

namespace nef::ir {
namespace {

struct ShortName {
  const char* name;
  nef_dtype dtype;
};
constexpr ShortName kShort[] = {{"bool", NEF_BOOL},   {"i8", NEF_INT8},       {"u8", NEF_UINT8},
                                {"i16", NEF_INT16},   {"u16", NEF_UINT16},    {"i32", NEF_INT32},
                                {"u32", NEF_UINT32},  {"i64", NEF_INT64},     {"u64", NEF_UINT64},
                                {"f16", NEF_FLOAT16}, {"bf16", NEF_BFLOAT16}, {"f32", NEF_FLOAT32},
                                {"f64", NEF_FLOAT64}};

nef_dtype dtype_of(std::string_view name) {
  for (const ShortName& s : kShort) {
    if (name == s.name) return s.dtype;
  }
  return dtype_from_name(name);
}

std::string short_name(nef_dtype t) {
  for (const ShortName& s : kShort) {
    if (t == s.dtype) return s.name;
  }
  return dtype_name(t);
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t at = text.find(separator);
    if (at != 0) parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + separator.size());
  }
  return parts;
}

// An operand with the memory its spans point to.
struct OwnedOperand {
  Operand operand;
  std::vector<Dim> dims, content;
  std::vector<float> floats;
  std::vector<int64_t> raw;
};

// Dims become content, floats data; numbers too low to be dims are data too.
void read_elements(const std::string& text, DimPool& pool, OwnedOperand& out) {
  const std::vector<std::string> elements = split(text, " ");
  if (out.operand.dtype == NEF_FLOAT32) {
    for (const std::string& e : elements) out.floats.push_back(std::stof(e));
    out.operand.data = out.floats.data();
    return;
  }
  for (const std::string& e : elements) {
    if (e[0] == '-' && e.size() > 10) out.raw.push_back(std::stoll(e));
  }
  if (!out.raw.empty()) {
    out.operand.data = out.raw.data();
    return;
  }
  for (const std::string& e : elements) out.content.push_back(pool.parse(e));
  out.operand.has_content = true;
}

void read_operand(const std::string& text, DimPool& pool, OwnedOperand& out) {
  if (text == "-") return;
  const size_t open = text.find('['), close = text.find(']');
  out.operand.present = true;
  out.operand.dtype = dtype_of(text.substr(0, open));
  for (const std::string& d : split(text.substr(open + 1, close - open - 1), " ")) {
    out.dims.push_back(pool.parse(d));
  }
  const size_t brace = text.find('{', close);
  if (brace != std::string::npos) {
    read_elements(text.substr(brace + 1, text.size() - brace - 2), pool, out);
  }
  out.operand.dims = out.dims;
  out.operand.content = out.content;
}

std::vector<int64_t> read_ints(std::string_view text) {
  std::vector<int64_t> v;
  for (const std::string& s : split(text.substr(1, text.size() - 2), " "))
    v.push_back(std::stoll(s));
  return v;
}

void set_attr(AttrBuilder& b, const OpSpec& s, const std::string& name, const std::string& value) {
  for (unsigned i = 0; i < s.n_attrs; ++i) {
    if (name != s.attrs[i].name) continue;
    switch (s.attrs[i].type) {
      case AttrType::Int:
      case AttrType::Bool: b.set_int(i, std::stoll(value)); return;
      case AttrType::DType: b.set_int(i, dtype_of(value)); return;
      case AttrType::Float: b.set_float(i, std::stod(value)); return;
      case AttrType::String: b.set_string(i, value); return;
      case AttrType::Ints: b.set_ints(i, read_ints(value)); return;
      case AttrType::Floats: break;
    }
  }
  ADD_FAILURE() << s.name << " has no attribute " << name;
}

std::vector<int64_t> read_attrs(nef_op op, std::string text) {
  AttrBuilder b(op);
  bool in_list = false;
  for (char& ch : text) {
    if (ch == '[' || ch == ']') in_list = ch == '[';
    if (ch == ' ' && !in_list) ch = ';';
  }
  for (const std::string& item : split(text, ";")) {
    const size_t eq = item.find('=');
    set_attr(b, spec(op), item.substr(0, eq), item.substr(eq + 1));
  }
  return b.build();
}

std::string dim_str(const DimPool& pool, Dim d) {
  std::string s = pool.str(d);
  return s[0] == '?' ? "?" : s;
}

std::string type_str(const DimPool& pool, const Inferred& r) {
  std::string out = short_name(r.dtype) + "[";
  for (int i = 0; i < r.shape.rank; ++i)
    out += (i == 0 ? "" : " ") + dim_str(pool, r.shape.dims[i]);
  out += "]";
  if (!r.has_content) return out;
  out += "={";
  for (size_t i = 0; i < r.content.size(); ++i) {
    out += (i == 0 ? "" : " ") + dim_str(pool, r.content[i]);
  }
  return out + "}";
}

std::string infer_text(const InferCase& c) {
  const nef_op op = find_op(c.op);
  if (op == 0) fail(NEF_UNKNOWN_OP, "test", c.op);
  DimPool pool;
  pool.symbol("B", 1);
  pool.symbol("S", 1, 512);
  pool.symbol("H", 2, 64);
  std::deque<OwnedOperand> owned;
  std::vector<Operand> operands;
  for (const std::string& text : split(c.inputs, ", ")) {
    read_operand(text, pool, owned.emplace_back());
    operands.push_back(owned.back().operand);
  }
  const std::vector<int64_t> words = read_attrs(op, c.attrs);
  const Attrs attrs(words);
  size_t n = default_output_count(op, attrs, operands);
  // A table that expects more outputs than the default asks for them.
  if (c.want[0] != '!') n = std::max(n, split(c.want, ", ").size());
  std::vector<Inferred> results(n);
  infer(op, attrs, operands, pool, results);
  std::string out;
  for (const Inferred& r : results) out += (out.empty() ? "" : ", ") + type_str(pool, r);
  return out;
}

std::vector<InferCase>& registry() {
  static std::vector<InferCase> cases;
  return cases;
}

}  // namespace

std::string run_case(const InferCase& c) {
  try {
    return infer_text(c);
  } catch (const Error& e) {
    return cat("!", code_name(e.code()), " ", e.message());
  }
}

std::vector<InferCase> register_cases(std::initializer_list<InferCase> cases) {
  registry().insert(registry().end(), cases.begin(), cases.end());
  return cases;
}

const std::vector<InferCase>& registered_cases() { return registry(); }

void check_cases(const std::vector<InferCase>& cases) {
  for (const InferCase& c : cases) {
    const std::string got = run_case(c), want = c.want;
    const size_t space = want.find(' ');
    const std::string code = want.substr(0, space);
    // Of an error, a part of the message is enough.
    const bool same = want[0] != '!' ? got == want
                                     : got.substr(0, got.find(' ')) == code &&
                                           (space == std::string::npos ||
                                            got.find(want.substr(space + 1)) != std::string::npos);
    EXPECT_TRUE(same) << c.op << " {" << c.attrs << "} (" << c.inputs << ")\n  want " << want
                      << "\n  got  " << got;
  }
}

}  // namespace nef::ir
