// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "backends/shared/float8.h"

// Text of kernels, and the structures of parameters that go with it.
namespace nef::gpu {

extern const char* const kPrelude;

using backends::is_float8;

// The C++ type of a dtype in memory and in registers; see the prelude.
inline const char* memory_type(nef_dtype t) {
  static const char* const kNames[] = {"?",   "b8",  "i8",  "u8",   "i16", "u16", "i32",  "u32",
                                       "i64", "u64", "f16", "bf16", "f32", "f64", "e4m3", "e5m2"};
  return kNames[t >= NEF_BOOL && t <= NEF_FLOAT8_E5M2 ? t : 0];
}
inline const char* register_type(nef_dtype t) {
  if (t == NEF_BOOL) return "bool";
  return t == NEF_FLOAT16 || t == NEF_BFLOAT16 || is_float8(t) ? "f32" : memory_type(t);
}
// Bytes that are moved but not looked at.
inline const char* raw_type(size_t bytes) {
  return bytes == 1 ? "raw1" : bytes == 2 ? "raw2" : bytes == 4 ? "raw4" : "raw8";
}
constexpr bool is_float(nef_dtype t) { return t >= NEF_FLOAT16 && t <= NEF_FLOAT64; }
constexpr bool is_narrow(nef_dtype t) { return t == NEF_FLOAT16 || t == NEF_BFLOAT16; }
constexpr bool is_unsigned(nef_dtype t) {
  return t == NEF_BOOL || t == NEF_UINT8 || t == NEF_UINT16 || t == NEF_UINT32 || t == NEF_UINT64;
}

// A number as the text of a double, exactly.
inline std::string number_text(double v) {
  if (v != v) return "f64_of(0x7ff8000000000000ull)";
  if (v > 1.7976931348623157e308) return "f64_of(0x7ff0000000000000ull)";
  if (v < -1.7976931348623157e308) return "f64_of(0xfff0000000000000ull)";
  char text[64];
  std::snprintf(text, sizeof text, "(%a)", v);
  return text;
}

// Replaces every $NAME$ of a template; names that are not given stay an error of the compiler.
struct Word {
  const char* name;
  std::string text;
};
inline std::string fill(const char* text, const std::vector<Word>& words) {
  std::string out = text;
  for (const Word& w : words) {
    const std::string name = std::string("$") + w.name + "$";
    for (size_t at = out.find(name); at != std::string::npos; at = out.find(name, at)) {
      out.replace(at, name.size(), w.text);
      at += w.text.size();
    }
  }
  return out;
}

// The parameters of one launch: fields of eight bytes, in the order of the kernel's structure.
class Params {
 public:
  Params& add(int64_t v) {
    if (count_ < kMost) words_[count_] = v;
    ++count_;
    return *this;
  }
  Params& add(const void* p) { return add(static_cast<int64_t>(reinterpret_cast<intptr_t>(p))); }
  Params& add(double v) {
    int64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    return add(bits);
  }
  // `n` numbers, filled up to `room`.
  Params& add(const int64_t* v, int n, int room, int64_t filler) {
    for (int i = 0; i < room; ++i) add(i < n ? v[i] : filler);
    return *this;
  }
  // All fields of a structure within this one.
  Params& add(const Params& inner) {
    for (size_t i = 0; i < inner.count_ && i < kMost; ++i) add(inner.words_[i]);
    return *this;
  }
  const void* data() const { return words_; }
  size_t bytes() const { return count_ * sizeof(int64_t); }
  bool fits() const { return count_ <= kMost; }
  static constexpr size_t kMost = 500;  // 4000 bytes: kernels take 4096 at most

 private:
  int64_t words_[kMost];
  size_t count_ = 0;
};

}  // namespace nef::gpu
