// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

namespace nef::ir {

// Blocks for Arrays. Those of 16 KiB and more are kept when they are given back (at most 32 MiB in
// all) and handed out again: planning graph after graph then touches no fresh pages, whose faults
// would cost more than the planning. Thread-safe.
struct Block {
  void* data;
  size_t bytes;  // what was asked for or more
};
Block take_block(size_t bytes);  // throws std::bad_alloc
void give_block(Block block) noexcept;
// Returns what is kept to the system.
void free_kept_blocks() noexcept;

// A vector of plain data for the engine's tables. Unlike std::vector it can grow without writing
// to the new elements (`resize_unset`), and its memory comes from take_block.
template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  explicit Array(size_t n) { resize_unset(n); }  // elements not set
  Array(size_t n, T value) { assign(n, value); }
  Array(std::initializer_list<T> v) { append({v.begin(), v.size()}); }
  Array(const Array& o) { append({o.data_, o.size_}); }
  Array(Array&& o) noexcept { swap(o); }
  Array& operator=(const Array& o) {
    if (this != &o) {
      size_ = 0;
      append({o.data_, o.size_});
    }
    return *this;
  }
  Array& operator=(Array&& o) noexcept {
    swap(o);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) give_block({data_, bytes_});
  }
  void swap(Array& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(bytes_, o.bytes_);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return bytes_ / sizeof(T); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT: as std::vector does

  void clear() { size_ = 0; }
  void reserve(size_t n) {
    if (n > capacity()) move_to(n);
  }
  void push_back(T value) {
    if (size_ == capacity()) grow(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  // `from` may be a part of this array.
  void append(std::span<const T> from) {
    if (from.empty()) return;
    if (size_ + from.size() > capacity()) return append_grown(from);
    std::memcpy(data_ + size_, from.data(), from.size_bytes());
    size_ += from.size();
  }
  // New elements are not set.
  void resize_unset(size_t n) {
    if (n > capacity()) grow(n);
    size_ = n;
  }
  void resize(size_t n, T value) {
    const size_t old = size_;
    resize_unset(n);
    for (size_t i = old; i < n; ++i) data_[i] = value;
  }
  void assign(size_t n, T value) {
    size_ = 0;
    resize(n, value);
  }

 private:
  void grow(size_t least) { move_to(std::max({least, 2 * capacity(), 64 / sizeof(T) + 1})); }
  void move_to(size_t n) {
    if (n > SIZE_MAX / sizeof(T)) n = SIZE_MAX / sizeof(T);  // such a block does not exist
    const Block b = take_block(n * sizeof(T));
    if (size_ != 0) std::memcpy(b.data, data_, size_ * sizeof(T));
    if (data_ != nullptr) give_block({data_, bytes_});
    data_ = static_cast<T*>(b.data);
    bytes_ = b.bytes;
  }
  void append_grown(std::span<const T> from) {
    Array old;
    old.swap(*this);
    reserve(std::max(old.size_ + from.size(), 2 * old.capacity()));
    append({old.data_, old.size_});
    append(from);
  }

  T* data_ = nullptr;
  size_t size_ = 0, bytes_ = 0;
};

}  // namespace nef::ir
