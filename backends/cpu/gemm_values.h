// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/pages.h"

// What the kernels of contractions, norms and attention share to get at a region's values.
namespace nef::cpu {

// Cache-line aligned memory that a prepared kernel owns.
template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t count) : count_(count) {
    data_.reset(static_cast<T*>(allocate_aligned(static_cast<size_t>(count) * sizeof(T) + 64)));
  }
  T* data() const { return data_.get(); }
  uint64_t bytes() const { return static_cast<uint64_t>(count_) * sizeof(T); }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  int64_t count_ = 0;
};

// Hands out pieces of scratch memory, or with a null base counts what they take.
class ScratchLayout {
 public:
  explicit ScratchLayout(void* base = nullptr) : base_(static_cast<char*>(base)) {}
  template <typename T>
  T* take(int64_t count) {
    char* piece = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return reinterpret_cast<T*>(piece);
  }
  size_t used() const { return used_; }

 private:
  char* base_;
  size_t used_ = 0;
};

// What a kernel keeps of its region: kinds, dtypes, ranks and literals of the values.
class ValueTable {
 public:
  explicit ValueTable(const Region& region) : values_(region.values) {}

  size_t size() const { return values_.size(); }
  int rank(int32_t id) const { return values_[id].rank(); }
  nef_dtype dtype(int32_t id) const { return values_[id].dtype; }
  bool constant(int32_t id) const { return values_[id].kind == NEF_VALUE_CONSTANT; }
  const void* data(const Tensor* values, int32_t id) const {
    return values_[id].kind == NEF_VALUE_LITERAL ? values_[id].literal.data() : values[id].data;
  }
  int64_t count(const Tensor* values, int32_t id) const {
    return backends::element_count(values[id].dims, rank(id));
  }

 private:
  std::vector<Value> values_;
};

inline std::string_view attr_string(const int64_t* attrs, unsigned slot) {
  const char* text = nef_attr_string(attrs, slot);
  return text == nullptr ? std::string_view() : std::string_view(text, nef_attr_count(attrs, slot));
}
inline std::vector<int64_t> attr_ints(const int64_t* attrs, unsigned slot) {
  const int64_t* p = nef_attr_ints(attrs, slot);
  return p == nullptr ? std::vector<int64_t>()
                      : std::vector<int64_t>(p, p + nef_attr_count(attrs, slot));
}
inline bool is_float(nef_dtype dtype) { return dtype >= NEF_FLOAT16 && dtype <= NEF_FLOAT64; }

}  // namespace nef::cpu
