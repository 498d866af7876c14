// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/ir/buffer.h"

namespace nef::io {

// An owned file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Fd& operator=(Fd&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// What the system says about an errno, with a prefix: "model.nef: cannot open: No such file".
[[noreturn]] void io_error(const char* op, const std::string& label, const char* what, int err);

// Opens a regular file for reading, following links: the caller named it. Throws NEF_IO.
Fd open_file(const std::string& path);
// Size of an open file; throws NEF_IO when it is not a regular file.
uint64_t regular_size(const Fd& fd, const std::string& label);
// Reads exactly that many bytes; fewer is NEF_IO (the file shrank).
void read_exact(const Fd& fd, uint64_t offset, void* out, size_t bytes, const std::string& label);
// The whole file, mapped read-only; the mapping lives as long as the buffer. `size` is the size
// that was validated: throws NEF_IO when the file has another one by now.
std::shared_ptr<ir::Buffer> map_file(const Fd& fd, uint64_t size, const std::string& label);

// Bytes [offset, offset + bytes) of an open file, mapped read-only; the descriptor may be closed
// afterwards. Throws NEF_OUT_OF_RANGE when the file does not hold them.
std::shared_ptr<ir::Buffer> map_range(int fd, uint64_t offset, uint64_t bytes,
                                      const std::string& label);

}  // namespace nef::io
