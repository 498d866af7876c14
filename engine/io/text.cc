// SPDX-License-Identifier: Apache-2.0
#include "engine/io/text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "engine/io/limits.h"

namespace nef::io {
namespace {

constexpr size_t kQuotedMax = 96;
constexpr char kHex[] = "0123456789abcdef";

struct Range {
  uint32_t first, last;
};

// What a terminal obeys, hides or shows as a plain space, in order: controls, spaces other than
// the plain one, marks of format and direction, fillers, variation selectors, private use.
constexpr Range kUnprintable[] = {
    {0x0, 0x1f},         {0x7f, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},
    {0x600, 0x605},      {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x890, 0x891},      {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x1680, 0x1680},
    {0x17b4, 0x17b5},    {0x180b, 0x180f},   {0x2000, 0x200f},   {0x2028, 0x202f},
    {0x205f, 0x206f},    {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},
    {0xe000, 0xf8ff},    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},    {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
    {0x13430, 0x1343f},  {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    {0xf0000, 0x10ffff},
};

// The number that a well-formed sequence stands for.
uint32_t code_point(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  uint32_t c = first & (0x7fu >> sequence.size());
  for (const char more : sequence.substr(1)) c = c << 6 | (static_cast<unsigned char>(more) & 0x3f);
  return c;
}

bool unprintable(uint32_t c) {
  const auto* const end = std::end(kUnprintable);
  const auto* const at = std::lower_bound(std::begin(kUnprintable), end, c,
                                          [](const Range& r, uint32_t x) { return r.last < x; });
  return at != end && at->first <= c;
}

void append_hex(std::string& out, char kind, int digits, uint32_t c) {
  out += '\\';
  out += kind;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[c >> shift & 15];
}

// Appends what stands first in `s` and returns how many bytes that was.
size_t append_one(std::string& out, std::string_view s) {
  const size_t n = utf8_sequence(s);
  if (n == 0) {
    append_hex(out, 'x', 2, static_cast<unsigned char>(s[0]));
    return 1;
  }
  const uint32_t c = code_point(s.substr(0, n));
  if (!unprintable(c)) out.append(s, 0, n);
  else if (c < 0x80) append_hex(out, 'x', 2, c);
  else if (c < 0x10000) append_hex(out, 'u', 4, c);
  else append_hex(out, 'U', 8, c);
  return n;
}

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
    i += append_one(out, name.substr(i));
  }
  out += '\'';
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) i += append_one(out, text.substr(i));
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
