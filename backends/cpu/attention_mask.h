// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace nef::cpu {

// A mask of up to four dims that broadcasts to [batch, heads, queries, keys]: bool keeps where it
// is true, numbers of T are added.
template <typename T>
class AttentionMask {
 public:
  AttentionMask() = default;
  AttentionMask(const void* data, bool is_bool, const int64_t* dims, int rank)
      : data_(data), is_bool_(is_bool) {
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (dims[i] != 1) strides_[4 - rank + i] = stride;
      stride *= dims[i];
    }
    if (rank > 0) columns_ = dims[rank - 1];
  }

  bool present() const { return data_ != nullptr; }
  bool same_for_all_queries() const { return strides_[2] == 0; }

  // How many of keys [first, first + n) have numbers of their own: one column stands for all keys,
  // a mask that is shorter otherwise hides the rest.
  int64_t known(int64_t first, int64_t n) const {
    return columns_ == 1 ? n : std::clamp<int64_t>(columns_ - first, 0, n);
  }

  // Where the mask of query s begins at a key; the keys and queries behind it lie key_stride and
  // query_stride further. One of the two is null.
  const T* numbers(int64_t b, int64_t h, int64_t s, int64_t key) const {
    return is_bool_ ? nullptr : static_cast<const T*>(data_) + offset(b, h, s, key);
  }
  const uint8_t* flags(int64_t b, int64_t h, int64_t s, int64_t key) const {
    return is_bool_ ? static_cast<const uint8_t*>(data_) + offset(b, h, s, key) : nullptr;
  }
  int64_t key_stride() const { return strides_[3]; }
  int64_t query_stride() const { return strides_[2]; }

  // What is added to the score of one key.
  T at(int64_t b, int64_t h, int64_t s, int64_t key) const {
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    if (columns_ != 1 && key >= columns_) return kMasked;
    const int64_t i = offset(b, h, s, key);
    if (!is_bool_) return static_cast<const T*>(data_)[i];
    return static_cast<const uint8_t*>(data_)[i] != 0 ? T(0) : kMasked;
  }

  // Masks the scores of keys [first, first + n) for query s of head h.
  void add(int64_t b, int64_t h, int64_t s, int64_t first, int64_t n, T* scores) const {
    if (data_ == nullptr) return;
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const int64_t step = strides_[3];
    const int64_t with = known(first, n);
    if (is_bool_) {
      const uint8_t* keep = flags(b, h, s, first);
      for (int64_t j = first_hidden(keep, step, with); j < with; ++j) {
        if (keep[j * step] == 0) scores[j] += kMasked;
      }
    } else {
      const T* bias = numbers(b, h, s, first);
      for (int64_t j = 0; step == 1 && j < with; ++j) scores[j] += bias[j];
      for (int64_t j = 0; step != 1 && j < with; ++j) scores[j] += bias[j * step];
    }
    for (int64_t j = with; j < n; ++j) scores[j] += kMasked;
  }

 private:
  int64_t offset(int64_t b, int64_t h, int64_t s, int64_t key) const {
    return b * strides_[0] + h * strides_[1] + s * strides_[2] + key * strides_[3];
  }

  // Most rows hide nothing, or only their end.
  static int64_t first_hidden(const uint8_t* keep, int64_t step, int64_t n) {
    if (step != 1 || n == 0) return 0;
    const void* zero = std::memchr(keep, 0, static_cast<size_t>(n));
    return zero == nullptr ? n : static_cast<const uint8_t*>(zero) - keep;
  }

  const void* data_ = nullptr;
  bool is_bool_ = false;
  int64_t strides_[4] = {};
  int64_t columns_ = 1;
};

// What is added to a score before it is scaled, in place of `bias` afterwards. The lowest numbers
// stay numbers: where all keys have them, all have the same weight.
template <typename T>
T unscaled_bias(T bias, T scale) {
  constexpr T kMost = std::numeric_limits<T>::max();
  return std::isfinite(bias) ? std::clamp(bias / scale, -kMost, kMost) : bias;
}

// How many keys a query may look at: the first so many.
struct VisibleKeys {
  int64_t keys = 0, queries = 0;
  int64_t past = 0;                     // of them before the first query
  const int64_t* valid = nullptr;       // per batch, how many there are
  bool causal = false, joined = false;  // joined: to the keys of the past

  int64_t of(int64_t b, int64_t s) const {
    int64_t limit = keys, offset = past;
    if (valid != nullptr) {
      constexpr int64_t kFar = int64_t{1} << 62;
      limit = std::clamp<int64_t>(valid[b], 0, keys);
      if (!joined) offset = std::clamp(valid[b], -kFar, kFar) - queries;
    }
    if (causal) limit = std::min(limit, s + offset + 1);
    return std::max<int64_t>(0, limit);
  }
};

}  // namespace nef::cpu
