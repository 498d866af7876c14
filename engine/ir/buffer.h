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

  // Marks memory that is a file mapped read-only: its pages can be let go and come back.
  void mark_mapped() { mapped_ = true; }
  bool mapped() const { return mapped_; }
  // Lets go of the pages of bytes [begin, begin + bytes) if they are mapped from a file: what has
  // been written out need not stay in memory. The contents remain readable.
  void drop_pages(size_t begin, size_t bytes) const;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  void* data_;
  size_t bytes_;
  Release release_;
  bool mapped_ = false;
};

// `data`, or a copy of it where it does not lie at a multiple of `alignment`.
std::shared_ptr<Buffer> aligned(std::shared_ptr<Buffer> data, size_t alignment);

// Gives back what was let go and is kept for the next of its size. Thread-safe.
void free_spare_buffers();

}  // namespace nef::ir
