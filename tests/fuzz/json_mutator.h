// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/ops.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace nef::fuzz {

// Mutates .nef JSON so that it stays one most of the time: byte flips alone rarely get past the
// parser, and what lies behind it is what we want to break. Values mostly change places with
// values under the same key, ops with ops.
class JsonMutator {
 public:
  JsonMutator(uint8_t* data, size_t size, size_t capacity, unsigned seed)
      : data_(data), size_(size), capacity_(capacity), random_(seed * 2654435761u + 1) {}

  size_t run() {
    if (size_ == 0 || data_[0] != '{' || chance(6))
      return LLVMFuzzerMutate(data_, size_, capacity_);
    std::string text(reinterpret_cast<char*>(data_), size_);
    for (unsigned rounds = chance(3) ? 2 : 1; rounds > 0; --rounds) mutate(text);
    if (text.size() > capacity_) return LLVMFuzzerMutate(data_, size_, capacity_);
    text.copy(reinterpret_cast<char*>(data_), text.size());
    return text.size();
  }

 private:
  struct Value {
    size_t begin, end;
    std::string_view key;  // nearest key above it
    bool element;          // of an array
  };

  bool chance(unsigned one_in) { return random_() / 7 % one_in == 0; }
  size_t below(size_t n) { return random_() / 7 % n; }

  static size_t string_end(std::string_view s, size_t at) {
    for (++at; at < s.size() && s[at] != '"'; ++at) {
      if (s[at] == '\\') ++at;
    }
    return at < s.size() ? at + 1 : s.size();
  }

  // Every value of the text, keys not counted: without the required ones nothing gets far.
  static std::vector<Value> values(std::string_view s) {
    std::vector<Value> out;
    std::vector<size_t> open;  // indices into out
    std::string_view key;
    const auto in_array = [&] { return !open.empty() && s[out[open.back()].begin] == '['; };
    for (size_t at = 0; at < s.size();) {
      const size_t begin = at;
      const char c = s[at];
      if (c == '"') {
        at = string_end(s, at);
        if (at < s.size() && s[at] == ':') key = s.substr(begin, at - begin);
        else out.push_back({begin, at, key, in_array()});
      } else if (c == '{' || c == '[') {
        out.push_back({begin, ++at, key, in_array()});
        open.push_back(out.size() - 1);
      } else if (c == '}' || c == ']') {
        ++at;
        if (open.empty()) continue;
        out[open.back()].end = at;
        key = out[open.back()].key;
        open.pop_back();
      } else if (c == ',' || c == ':' || c == ' ' || c == '\n') {
        ++at;
      } else {
        at = s.find_first_of(",:]} \n\"[{", at + 1);
        if (at == std::string_view::npos) at = s.size();
        out.push_back({begin, at, key, in_array()});
      }
    }
    return out;
  }

  std::string invented() {
    static const char* const kWords[] = {"0",
                                         "-1",
                                         "1",
                                         "2",
                                         "3",
                                         "\"\"",
                                         "null",
                                         "true",
                                         "false",
                                         "[]",
                                         "{}",
                                         "[0]",
                                         "[-1]",
                                         "\"n\"",
                                         "\"?\"",
                                         "\"m\"",
                                         "\"n*m\"",
                                         "\"n/2\"",
                                         "1e9",
                                         "0.5",
                                         "[1,0]",
                                         "[2,2]",
                                         "[\"n\"]",
                                         "[\"\"]",
                                         "\"9223372036854775807\"",
                                         "\"-9223372036854775808\"",
                                         "9007199254740992",
                                         "4294967296",
                                         "\"AAAAAAAAAAA=\"",
                                         "\"NaN\"",
                                         "\"Infinity\"",
                                         "\"max(n,m)\"",
                                         "\"(n+1)/2\"",
                                         "\"n-5\"",
                                         "16",
                                         "17",
                                         "1024"};
    return kWords[below(sizeof kWords / sizeof *kWords)];
  }

  std::string some_op() {
    const nef_op op = static_cast<nef_op>(1 + below(ir::kOpTableSize - 1));
    return ir::op_valid(op) ? std::string("\"") + ir::spec(op).snake + "\"" : "\"relu\"";
  }

  std::string replacement(const std::string& text, const std::vector<Value>& all, const Value& to) {
    if (to.key == "\"op\"" && !chance(8)) return some_op();
    if (chance(8)) return invented();
    const char kind = text[to.begin];
    if (kind >= '0' && kind <= '9' && chance(2)) return std::to_string(below(chance(4) ? 1000 : 6));
    const bool same_key = !chance(8);
    for (unsigned i = 0; i < 64; ++i) {
      const Value& from = all[below(all.size())];
      if (same_key && (from.key != to.key || text[from.begin] != kind)) continue;
      return text.substr(from.begin, from.end - from.begin);
    }
    return invented();
  }

  void mutate(std::string& text) {
    const std::vector<Value> all = values(text);
    if (all.empty()) return;
    const Value to = all[below(all.size())];
    const std::string own = text.substr(to.begin, to.end - to.begin);
    std::string with = replacement(text, all, to);
    if (to.element && chance(4)) with = own + "," + with;
    if (to.key == "\"attrs\"" && own == "{}") with = "{\"axis\":" + std::to_string(below(4)) + "}";
    text.replace(to.begin, own.size(), with);
  }

  uint8_t* data_;
  size_t size_, capacity_;
  std::minstd_rand random_;
};

}  // namespace nef::fuzz
