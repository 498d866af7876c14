// SPDX-License-Identifier: Apache-2.0
#include "engine/io/text.h"

#include "engine/io/limits.h"

namespace nef::io {
namespace {

constexpr size_t kQuotedMax = 96;
constexpr char kHex[] = "0123456789abcdef";

bool continuation(unsigned char c) { return (c & 0xc0) == 0x80; }

// Short escape of a control character, 0 when it has none.
char short_escape(unsigned char c) {
  switch (c) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

}  // namespace

size_t utf8_sequence(std::string_view s) {
  if (s.empty()) return 0;
  const auto at = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char c = at(0);
  if (c < 0x80) return 1;
  if (c < 0xc2) return 0;
  if (c < 0xe0) return s.size() >= 2 && continuation(at(1)) ? 2 : 0;
  if (c < 0xf0) {
    if (s.size() < 3 || !continuation(at(1)) || !continuation(at(2))) return 0;
    if (c == 0xe0 && at(1) < 0xa0) return 0;  // overlong
    if (c == 0xed && at(1) > 0x9f) return 0;  // surrogate
    return 3;
  }
  if (c > 0xf4 || s.size() < 4) return 0;
  if (!continuation(at(1)) || !continuation(at(2)) || !continuation(at(3))) return 0;
  if (c == 0xf0 && at(1) < 0x90) return 0;  // overlong
  if (c == 0xf4 && at(1) > 0x8f) return 0;  // past U+10FFFF
  return 4;
}

const char* name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kMaxNameBytes) return "is longer than 4096 bytes";
  return text_fault(name);
}

const char* text_fault(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\0') return "holds a NUL byte";
    const size_t n = utf8_sequence(text.substr(i));
    if (n == 0) return "is not valid UTF-8";
    i += n;
  }
  return nullptr;
}

std::string in_quotes(std::string_view name) {
  std::string out = "'";
  for (size_t i = 0; i < name.size();) {
    if (out.size() > kQuotedMax) {
      out += "...";
      break;
    }
    const auto c = static_cast<unsigned char>(name[i]);
    const size_t n = utf8_sequence(name.substr(i));
    if (n == 0 || c < 0x20 || c == 0x7f) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
      ++i;
    } else {
      out.append(name, i, n);
      i += n;
    }
  }
  out += '\'';
  return out;
}

void append_json_string(std::string& out, std::string_view s) {
  out += '"';
  size_t begin = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(s, begin, i - begin);
    begin = i + 1;
    out += '\\';
    if (c == '"' || c == '\\') {
      out += static_cast<char>(c);
    } else if (const char e = short_escape(c)) {
      out += e;
    } else {
      out += "u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    }
  }
  out.append(s, begin, s.size() - begin);
  out += '"';
}

}  // namespace nef::io
