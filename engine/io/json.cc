// SPDX-License-Identifier: Apache-2.0
#include "engine/io/json.h"

#include <locale.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "engine/io/json_scan.h"
#include "engine/io/limits.h"
#include "engine/io/text.h"

namespace nef::io {
namespace {

// Offset just past the string token that starts at `at`.
size_t string_end(std::string_view text, size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

// Offset just past the value that starts at `at`.
size_t value_end(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
      continue;
    } else if (c == '}' || c == ']') {
      --depth;
      ++at;
    } else if (depth == 0) {
      return std::min(text.find_first_of(",]} \n\r\t", at), text.size());
    } else {
      ++at;
      continue;
    }
    if (depth == 0) return at;
  }
  return at;
}

locale_t c_locale() {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
  return locale;
}

template <typename T>
void append_number(std::string& out, T v) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  out.append(buffer, end);
}

// Integers without exponent, so that 100000 does not become 1e+05.
void append_double(std::string& out, double v) {
  const bool integer = std::fabs(v) <= static_cast<double>(kMaxJsonInt) && v == std::trunc(v);
  if (integer && !(v == 0 && std::signbit(v))) return append_number(out, static_cast<int64_t>(v));
  const size_t begin = out.size();
  append_number(out, v);
  // Some numbers beyond 2^53 are shorter without an exponent: readers would refuse an integer of
  // that size.
  if (!integer && out.find_first_of(".e", begin) == std::string::npos) out += ".0";
}

// Depth is bounded by the scan's limit, so this recursion is too.
void append_tree(std::string& out, const cJSON& item) {
  if (cJSON_IsString(&item)) return append_json_string(out, item.valuestring);
  if (cJSON_IsNumber(&item)) return append_double(out, item.valuedouble);
  if (cJSON_IsNull(&item)) return void(out += "null");
  if (cJSON_IsBool(&item)) return void(out += cJSON_IsTrue(&item) ? "true" : "false");
  const bool object = cJSON_IsObject(&item);
  out += object ? '{' : '[';
  bool first = true;
  for (const cJSON& child : JsonChildren(item)) {
    if (!first) out += ", ";
    first = false;
    if (object) {
      append_json_string(out, child.string);
      out += ": ";
    }
    append_tree(out, child);
  }
  out += object ? '}' : ']';
}

}  // namespace

void JsonWalk::skip_space() {
  while (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t') ++at_;
}

bool JsonWalk::open_next() {
  skip_space();
  if (text_[at_] == '}' || text_[at_] == ']') return false;
  if (!first_) {
    ++at_;  // the comma
    skip_space();
  }
  first_ = false;
  return true;
}

JsonSpan JsonWalk::take_value() {
  const size_t begin = at_;
  at_ = value_end(text_, begin);
  return {text_.substr(begin, at_ - begin)};
}

bool JsonWalk::next_element(JsonSpan* value) {
  if (!open_next()) return false;
  *value = take_value();
  return true;
}

bool JsonWalk::next_member(std::string* key, JsonSpan* value) {
  if (!open_next()) return false;
  const size_t end = string_end(text_, at_);
  *key = decode_json_string(text_.substr(at_ + 1, end - at_ - 2));
  at_ = end;
  skip_space();
  ++at_;  // the colon
  skip_space();
  *value = take_value();
  return true;
}

JsonTree parse_json(JsonSpan span) {
  // cJSON notes where it failed in one global, so parsing is serial.
  static std::mutex mutex;
  JsonTree tree;
  {
    const std::lock_guard lock(mutex);
    tree.reset(cJSON_ParseWithLength(span.text.data(), span.text.size()));
  }
  if (!tree) fail(NEF_OUT_OF_MEMORY, "load", "not enough memory to parse the JSON text");
  return tree;
}

JsonTree parse_json_without(JsonSpan object, std::string_view key, JsonSpan* member) {
  const std::string quoted = "\"" + std::string(key) + "\"";
  if (object.text.find(quoted) == std::string_view::npos) return parse_json(object);
  std::string name, rest = "{";
  JsonSpan value;
  const char* begin = nullptr;
  const char* end = nullptr;
  for (JsonWalk walk(object); walk.next_member(&name, &value);) {
    if (name != key) continue;
    *member = value;
    begin = value.text.data();
    end = begin + value.text.size();
  }
  if (begin == nullptr) return parse_json(object);
  // An empty list in its place leaves all else as it stands.
  rest.assign(object.text.data(), begin);
  rest += "[]";
  rest.append(end, object.text.data() + object.text.size());
  return parse_json({rest});
}

bool json_int(const cJSON& item, int64_t* out) {
  if (cJSON_IsNumber(&item)) {
    const double v = item.valuedouble;
    if (!(std::fabs(v) <= static_cast<double>(kMaxJsonInt)) || v != std::trunc(v)) return false;
    *out = static_cast<int64_t>(v);
    return true;
  }
  if (!cJSON_IsString(&item)) return false;
  const char* begin = item.valuestring;
  const char* end = begin + std::strlen(begin);
  const auto result = std::from_chars(begin, end, *out);
  return result.ec == std::errc() && result.ptr == end && begin != end;
}

bool json_float(const cJSON& item, double* out) {
  if (cJSON_IsNumber(&item)) {
    *out = item.valuedouble;
    return true;
  }
  if (!cJSON_IsString(&item)) return false;
  const std::string_view s = item.valuestring;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (s == "NaN") *out = std::numeric_limits<double>::quiet_NaN();
  else if (s == "Infinity") *out = kInf;
  else if (s == "-Infinity") *out = -kInf;
  else return false;
  return true;
}

std::string json_text(const cJSON& item) {
  std::string out;
  append_tree(out, item);
  return out;
}

void append_json_int(std::string& out, int64_t v) {
  const bool text = v > kMaxJsonInt || v < -kMaxJsonInt;
  if (text) out += '"';
  append_number(out, v);
  if (text) out += '"';
}

void append_json_float(std::string& out, double v) {
  if (std::isnan(v)) out += "\"NaN\"";
  else if (std::isinf(v)) out += v > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  else append_double(out, v);
}

const char* json_kind(const cJSON& item) {
  if (cJSON_IsString(&item)) return "a string";
  if (cJSON_IsNumber(&item)) return "a number";
  if (cJSON_IsObject(&item)) return "an object";
  if (cJSON_IsArray(&item)) return "an array";
  return cJSON_IsNull(&item) ? "null" : "true or false";
}

CLocale::CLocale() : previous_(uselocale(c_locale())) {}
CLocale::~CLocale() { uselocale(static_cast<locale_t>(previous_)); }

}  // namespace nef::io
