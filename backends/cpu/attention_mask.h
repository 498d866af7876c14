// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <algorithm>
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

  // Masks the scores of keys [first, first + n) for query s of head h.
  void add(int64_t b, int64_t h, int64_t s, int64_t first, int64_t n, T* scores) const {
    if (data_ == nullptr) return;
    constexpr T kMasked = -std::numeric_limits<T>::infinity();
    const int64_t step = strides_[3];
    const int64_t at = b * strides_[0] + h * strides_[1] + s * strides_[2] + first * step;
    // One column stands for all keys; a mask that is shorter otherwise masks the rest.
    const int64_t known = columns_ == 1 ? n : std::clamp<int64_t>(columns_ - first, 0, n);
    if (is_bool_) {
      const auto* keep = static_cast<const uint8_t*>(data_) + at;
      for (int64_t j = first_hidden(keep, step, known); j < known; ++j) {
        if (keep[j * step] == 0) scores[j] += kMasked;
      }
    } else {
      const auto* bias = static_cast<const T*>(data_) + at;
      for (int64_t j = 0; step == 1 && j < known; ++j) scores[j] += bias[j];
      for (int64_t j = 0; step != 1 && j < known; ++j) scores[j] += bias[j * step];
    }
    for (int64_t j = known; j < n; ++j) scores[j] += kMasked;
  }

 private:
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

}  // namespace nef::cpu
