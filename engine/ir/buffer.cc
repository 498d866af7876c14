// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

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
  const bool mapped = parent->mapped();
  auto out = std::make_shared<Buffer>(begin, bytes, [parent](void*, size_t) {});
  if (mapped) out->mark_mapped();
  return out;
}

void Buffer::drop_pages(size_t begin, size_t bytes) const {
  if (!mapped_ || begin > bytes_ || bytes > bytes_ - begin) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t from = reinterpret_cast<uintptr_t>(data_) + begin;
  const uintptr_t first = (from + page - 1) / page * page;
  const uintptr_t last = (from + bytes) / page * page;
  // A refusal costs memory, nothing else.
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

std::shared_ptr<Buffer> aligned(std::shared_ptr<Buffer> data, size_t alignment) {
  if (reinterpret_cast<uintptr_t>(data->data()) % alignment == 0) return data;
  auto out = Buffer::allocate(data->bytes());
  std::memcpy(out->data(), data->data(), data->bytes());
  return out;
}

}  // namespace nef::ir
