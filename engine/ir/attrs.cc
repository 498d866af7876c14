// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/attrs.h"

#include <bit>
#include <cstring>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

// Elements of one list or bytes of one string.
constexpr size_t kMaxElements = size_t{1} << 20;

const OpSpec& checked_spec(nef_op op) {
  if (!op_valid(op)) fail(NEF_UNKNOWN_OP, "attributes", cat("no op has the number ", op));
  return spec(op);
}

std::vector<int64_t> string_words(std::string_view v) {
  std::vector<int64_t> words((v.size() + 7) / 8, 0);
  if (!v.empty()) std::memcpy(words.data(), v.data(), v.size());
  return words;
}

const char* type_name(AttrType t) {
  switch (t) {
    case AttrType::Int: return "an integer";
    case AttrType::Float: return "a float";
    case AttrType::Bool: return "a bool";
    case AttrType::String: return "a string";
    case AttrType::Ints: return "a list of integers";
    case AttrType::Floats: return "a list of floats";
    case AttrType::DType: return "a dtype";
  }
  return "something else";
}

bool is_scalar_int(AttrType t) {
  return t == AttrType::Int || t == AttrType::Bool || t == AttrType::DType;
}

}  // namespace

AttrBuilder::AttrBuilder(nef_op op) : spec_(checked_spec(op)), slots_(spec_.n_attrs) {}

AttrBuilder::Slot& AttrBuilder::slot(unsigned index, AttrType type) {
  if (index >= spec_.n_attrs) {
    fail(NEF_INVALID_ARGUMENT, spec_.snake,
         cat("attribute slot ", index, " does not exist; this op has ", spec_.n_attrs + 0));
  }
  const AttrSpec& attr = spec_.attrs[index];
  const bool fits = attr.type == type || (type == AttrType::Int && is_scalar_int(attr.type));
  if (!fits) {
    fail(NEF_INVALID_ARGUMENT, spec_.snake,
         cat("attribute ", attr.name, " is ", type_name(attr.type), ", got ", type_name(type)));
  }
  return slots_[index];
}

void AttrBuilder::set_payload(Slot& s, size_t count, std::vector<int64_t> words) {
  if (count > kMaxElements) {
    fail(NEF_LIMIT_EXCEEDED, spec_.snake,
         cat("an attribute has ", count, " elements; at most ", kMaxElements, " are allowed"));
  }
  s.set = true;
  s.count = static_cast<uint32_t>(count);
  s.payload = std::move(words);
}

AttrBuilder& AttrBuilder::set_int(unsigned index, int64_t v) {
  Slot& s = slot(index, AttrType::Int);
  const AttrSpec& attr = spec_.attrs[index];
  if (attr.type == AttrType::Bool) v = v != 0;
  if (attr.type == AttrType::DType &&
      (v < 0 || v > INT32_MAX || !dtype_valid(static_cast<nef_dtype>(v)))) {
    fail(NEF_INVALID_ARGUMENT, spec_.snake, cat("attribute ", attr.name, ": ", v, " is no dtype"));
  }
  s.set = true;
  s.word = v;
  return *this;
}

AttrBuilder& AttrBuilder::set_float(unsigned index, double v) {
  Slot& s = slot(index, AttrType::Float);
  s.set = true;
  s.word = std::bit_cast<int64_t>(v);
  return *this;
}

AttrBuilder& AttrBuilder::set_string(unsigned index, std::string_view v) {
  Slot& s = slot(index, AttrType::String);
  if (!attr_choice_valid(spec_.id, index, v)) {
    fail(NEF_INVALID_ARGUMENT, spec_.snake,
         cat("attribute ", spec_.attrs[index].name, " is \"", std::string(v.substr(0, 64)),
             "\"; it takes one of ", attr_choices(spec_.id, index)));
  }
  if (v.size() > kMaxElements) set_payload(s, v.size(), {});
  set_payload(s, v.size(), string_words(v));
  return *this;
}

AttrBuilder& AttrBuilder::set_ints(unsigned index, std::span<const int64_t> v) {
  set_payload(slot(index, AttrType::Ints), v.size(), {v.begin(), v.end()});
  return *this;
}

AttrBuilder& AttrBuilder::set_floats(unsigned index, std::span<const double> v) {
  Slot& s = slot(index, AttrType::Floats);
  std::vector<int64_t> words;
  words.reserve(v.size());
  for (double d : v) words.push_back(std::bit_cast<int64_t>(d));
  set_payload(s, v.size(), std::move(words));
  return *this;
}

AttrBuilder& AttrBuilder::copy(const Attrs& from) {
  for (unsigned i = 0; i < spec_.n_attrs; ++i) {
    if (!from.has(i)) continue;
    switch (spec_.attrs[i].type) {
      case AttrType::Int:
      case AttrType::Bool:
      case AttrType::DType: set_int(i, from.i(i)); break;
      case AttrType::Float: set_float(i, from.f(i)); break;
      case AttrType::String: set_string(i, from.s(i)); break;
      case AttrType::Ints: set_ints(i, from.ints(i)); break;
      case AttrType::Floats: set_floats(i, from.floats(i)); break;
    }
  }
  return *this;
}

void AttrBuilder::fill_default(unsigned index) {
  const AttrSpec& attr = spec_.attrs[index];
  if (attr.required) {
    fail(NEF_INVALID_ARGUMENT, spec_.snake, cat("attribute ", attr.name, " is required; set it"));
  }
  if (!attr.has_default) return;
  switch (attr.type) {
    case AttrType::Int:
    case AttrType::Bool:
    case AttrType::DType: set_int(index, attr.default_int); break;
    case AttrType::Float: set_float(index, attr.default_float); break;
    case AttrType::String:
      set_string(index, attr.default_string == nullptr ? "" : attr.default_string);
      break;
    case AttrType::Ints: set_ints(index, {}); break;
    case AttrType::Floats: set_floats(index, {}); break;
  }
}

std::vector<int64_t> AttrBuilder::build() {
  if (spec_.n_attrs == 0) return {};
  size_t total = 1 + spec_.n_attrs;
  for (unsigned i = 0; i < spec_.n_attrs; ++i) {
    if (!slots_[i].set) fill_default(i);
    total += slots_[i].payload.size();
  }
  std::vector<int64_t> words(1 + spec_.n_attrs, 0);
  words.reserve(total);
  uint64_t mask = 0;
  for (unsigned i = 0; i < spec_.n_attrs; ++i) {
    const Slot& s = slots_[i];
    if (!s.set) continue;
    mask |= uint64_t{1} << i;
    const AttrType type = spec_.attrs[i].type;
    if (is_scalar_int(type) || type == AttrType::Float) {
      words[1 + i] = s.word;
      continue;
    }
    words[1 + i] = static_cast<int64_t>(uint64_t{words.size()} << 32 | s.count);
    words.insert(words.end(), s.payload.begin(), s.payload.end());
  }
  words[0] = static_cast<int64_t>(mask);
  return words;
}

}  // namespace nef::ir
