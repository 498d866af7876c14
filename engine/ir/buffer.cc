// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/buffer.h"

#include <cstdlib>

#include "engine/ir/error.h"

namespace nef::ir {

namespace {
constexpr size_t kAlignment = 64;
}

Buffer::Buffer(void* data, size_t bytes, Release release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {}

Buffer::~Buffer() {
  if (release_) release_(data_, bytes_);
}

std::shared_ptr<Buffer> Buffer::allocate(size_t bytes) {
  if (bytes > SIZE_MAX - kAlignment) {
    fail(NEF_OUT_OF_MEMORY, "allocate", cat("cannot allocate ", bytes, " bytes of host memory"));
  }
  const size_t rounded =
      bytes == 0 ? kAlignment : (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* data = std::aligned_alloc(kAlignment, rounded);
  if (data == nullptr) {
    fail(NEF_OUT_OF_MEMORY, "allocate", cat("cannot allocate ", bytes, " bytes of host memory"));
  }
  return std::make_shared<Buffer>(data, bytes, [](void* p, size_t) { std::free(p); });
}

std::shared_ptr<Buffer> Buffer::wrap(void* data, size_t bytes, Release release) {
  return std::make_shared<Buffer>(data, bytes, std::move(release));
}

std::shared_ptr<Buffer> Buffer::slice(std::shared_ptr<Buffer> parent, size_t offset, size_t bytes) {
  if (offset > parent->bytes() || bytes > parent->bytes() - offset) {
    fail(NEF_OUT_OF_RANGE, "buffer",
         cat("window [", offset, ", +", bytes, ") leaves a buffer of ", parent->bytes(), " bytes"));
  }
  char* begin = static_cast<char*>(parent->data()) + offset;
  return std::make_shared<Buffer>(begin, bytes, [parent](void*, size_t) {});
}

}  // namespace nef::ir
