// SPDX-License-Identifier: Apache-2.0
#include "engine/io/json_scan.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <deque>
#include <system_error>
#include <vector>

#include "engine/io/text.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The number of four hex digits at s[i..i+4), -1 when they are not.
int32_t hex4(std::string_view s, size_t i) {
  if (s.size() < i + 4) return -1;
  int32_t v = 0;
  for (size_t k = 0; k < 4; ++k) {
    const int d = hex_digit(s[i + k]);
    if (d < 0) return -1;
    v = v << 4 | d;
  }
  return v;
}

bool is_high_surrogate(int32_t c) { return c >= 0xd800 && c < 0xdc00; }
bool is_low_surrogate(int32_t c) { return c >= 0xdc00 && c < 0xe000; }

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 63));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 63));
    put(0x80 | (c >> 6 & 63));
    put(0x80 | (c & 63));
  }
}

uint64_t hash_bytes(std::string_view s) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// Below this many keys, comparing all pairs beats sorting.
constexpr size_t kFewKeys = 8;

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& label, const JsonLimits& limits)
      : text_(text), label_(label), limits_(limits) {}

  void run() {
    if (text_.size() > limits_.bytes) {
      fail(NEF_LIMIT_EXCEEDED, "scan",
           cat(label_, ": JSON text of ", text_.size(), " bytes; at most ", limits_.bytes,
               " are read"));
    }
    if (text_.substr(0, 3) == "\xef\xbb\xbf") {
      error(NEF_PARSE, 0, "byte order mark; save the file as UTF-8 without one");
    }
    for (;;) {
      if (!value()) continue;
      if (!after_value()) break;
    }
    skip_space();
    if (at_ < text_.size()) unexpected("the end of the text");
  }

 private:
  struct Key {
    uint64_t hash;
    size_t offset;
    std::string_view text;
  };
  struct Frame {
    bool object;
    size_t first_key;
    size_t first_decoded;
  };

  [[noreturn]] void error(nef_code code, size_t offset, const std::string& what) const {
    const std::string_view before = text_.substr(0, offset);
    const auto line = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? offset + 1 : offset - newline;
    fail(code, "load",
         cat(label_, ": ", what, " at byte ", offset, " (line ", line, ", column ", column, ")"));
  }

  [[noreturn]] void unexpected(const char* wanted) const {
    if (at_ >= text_.size()) {
      error(NEF_PARSE, at_, cat("the text ends, expected ", wanted));
    }
    if (text_[at_] == '\0') error(NEF_PARSE, at_, "NUL byte");
    const size_t n = utf8_sequence(text_.substr(at_));
    if (n == 0) error(NEF_PARSE, at_, "invalid UTF-8");
    error(NEF_PARSE, at_, cat(in_quotes(text_.substr(at_, n)), " where ", wanted, " is expected"));
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool eat(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Reads a scalar or an empty container (true), or enters a container (false).
  bool value() {
    skip_space();
    if (++values_ > limits_.values) {
      error(NEF_LIMIT_EXCEEDED, at_, cat("more than ", limits_.values, " JSON values"));
    }
    if (at_ >= text_.size()) unexpected("a value");
    switch (text_[at_]) {
      case '{': return enter(true);
      case '[': return enter(false);
      case '"': string(); return true;
      case 't': word("true"); return true;
      case 'f': word("false"); return true;
      case 'n': word("null"); return true;
      default: number(); return true;
    }
  }

  bool enter(bool object) {
    if (stack_.size() >= limits_.depth) {
      error(NEF_LIMIT_EXCEEDED, at_, cat("nested deeper than ", limits_.depth, " levels"));
    }
    ++at_;
    skip_space();
    if (eat(object ? '}' : ']')) return true;
    stack_.push_back({object, keys_.size(), decoded_.size()});
    if (object) key();
    return false;
  }

  // Steps to the next value of the open containers; false when all are closed.
  bool after_value() {
    while (!stack_.empty()) {
      const Frame frame = stack_.back();
      skip_space();
      if (eat(',')) {
        if (frame.object) {
          skip_space();
          key();
        }
        return true;
      }
      if (!eat(frame.object ? '}' : ']')) unexpected(frame.object ? "',' or '}'" : "',' or ']'");
      if (frame.object) close_object(frame);
      stack_.pop_back();
    }
    return false;
  }

  void key() {
    if (at_ >= text_.size() || text_[at_] != '"') unexpected("a key in quotes");
    const size_t offset = at_;
    const bool escaped = string();
    std::string_view token = text_.substr(offset + 1, at_ - offset - 2);
    if (escaped) token = decoded_.emplace_back(decode_json_string(token));
    keys_.push_back({hash_bytes(token), offset, token});
    skip_space();
    if (!eat(':')) unexpected("':'");
  }

  void close_object(const Frame& frame) {
    const size_t first = frame.first_key;
    const auto begin = keys_.begin() + static_cast<ptrdiff_t>(first);
    const Key* twice = nullptr;
    if (keys_.size() - first <= kFewKeys) {
      for (auto a = begin; a != keys_.end(); ++a) {
        for (auto b = begin; b != a; ++b) {
          if (a->hash == b->hash && a->text == b->text) twice = &*a;
        }
      }
    } else {
      std::sort(begin, keys_.end(), [](const Key& a, const Key& b) {
        if (a.hash != b.hash) return a.hash < b.hash;
        if (const int c = a.text.compare(b.text)) return c < 0;
        return a.offset < b.offset;
      });
      for (auto a = begin; a + 1 < keys_.end(); ++a) {
        if (a[0].hash == a[1].hash && a[0].text == a[1].text) twice = &a[1];
      }
    }
    if (twice != nullptr) {
      error(NEF_DUPLICATE_NAME, twice->offset, cat("duplicate key ", in_quotes(twice->text)));
    }
    keys_.erase(begin, keys_.end());
    decoded_.resize(frame.first_decoded);
  }

  // At an opening quote; steps past the closing one. Returns whether there were escapes.
  bool string() {
    const size_t begin = at_++;
    bool escaped = false;
    for (;;) {
      if (at_ >= text_.size()) error(NEF_PARSE, begin, "string without end");
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') break;
      if (c == '\\') {
        escaped = true;
        escape();
      } else if (c < 0x20) {
        error(
            NEF_PARSE, at_,
            c == 0 ? "NUL byte in a string" : "control character in a string; write it as \\u00XX");
      } else if (c < 0x80) {
        ++at_;
      } else {
        const size_t n = utf8_sequence(text_.substr(at_, 4));
        if (n == 0) error(NEF_PARSE, at_, "invalid UTF-8 in a string");
        at_ += n;
      }
    }
    ++at_;
    return escaped;
  }

  void escape() {
    const size_t begin = at_++;
    if (at_ >= text_.size()) error(NEF_PARSE, begin, "string without end");
    const char c = text_[at_++];
    if (c != 'u') {
      if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
        error(NEF_PARSE, begin, "unknown escape in a string");
      }
      return;
    }
    const int32_t first = hex4(text_, at_);
    if (first < 0) error(NEF_PARSE, begin, "\\u needs four hex digits");
    at_ += 4;
    if (first == 0) error(NEF_PARSE, begin, "NUL (\\u0000) in a string; names and texts hold none");
    if (is_low_surrogate(first)) error(NEF_PARSE, begin, "lone surrogate in a string");
    if (!is_high_surrogate(first)) return;
    if (text_.substr(at_, 2) != "\\u" || !is_low_surrogate(hex4(text_, at_ + 2))) {
      error(NEF_PARSE, begin, "lone surrogate in a string");
    }
    at_ += 6;
  }

  void word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) unexpected("a value");
    at_ += w.size();
  }

  size_t digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ - begin;
  }

  void number() {
    const size_t begin = at_;
    const bool negative = eat('-');
    const size_t first_digit = at_;
    const size_t whole = digits();
    if (whole == 0) {
      if (!negative) unexpected("a value");
      unexpected("a digit");
    }
    if (whole > 1 && text_[first_digit] == '0') {
      error(NEF_PARSE, begin, "number with a leading zero");
    }
    bool integer = true;
    if (eat('.')) {
      integer = false;
      if (digits() == 0) unexpected("a digit");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      integer = false;
      ++at_;
      if (!eat('+')) eat('-');
      if (digits() == 0) unexpected("a digit");
    }
    if (integer && whole < 16) return;
    check_range(begin, integer);
  }

  void check_range(size_t begin, bool integer) const {
    double v = 0;
    const char* from = text_.data() + begin;
    const auto result = std::from_chars(from, text_.data() + at_, v);
    if (result.ec != std::errc()) {
      error(NEF_OUT_OF_RANGE, begin, "number that no float64 holds");
    }
    if (!integer) return;
    int64_t n = 0;
    const auto exact = std::from_chars(from, text_.data() + at_, n);
    if (exact.ec != std::errc() || n > kMaxJsonInt || n < -kMaxJsonInt) {
      error(NEF_OUT_OF_RANGE, begin, "integer beyond 2^53; write it as a string");
    }
  }

  std::string_view text_;
  const std::string& label_;
  const JsonLimits& limits_;
  size_t at_ = 0;
  size_t values_ = 0;
  std::vector<Frame> stack_;
  std::vector<Key> keys_;
  std::deque<std::string> decoded_;
};

char unescaped(char c) {
  switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
  }
}

}  // namespace

void scan_json(std::string_view text, const std::string& label, const JsonLimits& limits) {
  Scanner(text, label, limits).run();
}

std::string decode_json_string(std::string_view token) {
  std::string out;
  out.reserve(token.size());
  for (size_t i = 0; i < token.size();) {
    if (token[i] != '\\') {
      out += token[i++];
      continue;
    }
    const char c = token[i + 1];
    i += 2;
    if (c != 'u') {
      out += unescaped(c);
      continue;
    }
    auto code = static_cast<uint32_t>(hex4(token, i));
    i += 4;
    if (is_high_surrogate(static_cast<int32_t>(code))) {
      const auto low = static_cast<uint32_t>(hex4(token, i + 2));
      code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
      i += 6;
    }
    append_utf8(out, code);
  }
  return out;
}

}  // namespace nef::io
