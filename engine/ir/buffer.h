// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace nef::ir {

// A piece of host memory with an owner: heap memory, a mapped file, or the caller's. Shared by
// reference; treated as immutable once it backs a constant.
class Buffer {
 public:
  using Release = std::function<void(void* data, size_t bytes)>;

  // 64-byte aligned heap memory, uninitialised. Throws NEF_OUT_OF_MEMORY.
  static std::shared_ptr<Buffer> allocate(size_t bytes);
  // Memory owned elsewhere; `release` runs when the last reference goes (may be empty).
  static std::shared_ptr<Buffer> wrap(void* data, size_t bytes, Release release);
  // A window of another buffer, which it keeps alive.
  static std::shared_ptr<Buffer> slice(std::shared_ptr<Buffer> parent, size_t offset, size_t bytes);

  Buffer(void* data, size_t bytes, Release release);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_;
  size_t bytes_;
  Release release_;
};

}  // namespace nef::ir
