// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "engine/ir/error.h"

namespace nef::ir {

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = 2u << 20;
constexpr size_t kLarge = 2 * kHugePage;
constexpr size_t kPage = 4096;
// From here on malloc spends longer than this does: it joins what is let go with its neighbours,
// and gives large ones back to the system.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kKept = SIZE_MAX;  // who reads one that was let go is found
#else
constexpr size_t kKept = kPage;
#endif

size_t round_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

// Large ones are of whole huge pages, where the system has them to give: a result of many megabytes
// costs less to get than to fill.
void* allocate_pages(size_t bytes) {
  if (bytes < kLarge) return std::aligned_alloc(kAlignment, bytes);
  void* data = std::aligned_alloc(kHugePage, bytes);
  if (data != nullptr) ::madvise(data, bytes, MADV_HUGEPAGE);  // a refusal costs time, nothing else
  return data;
}

// The last buffers that were let go, as a program that runs again asks for the same ones.
class Spare {
 public:
  // One of exactly this size, or null.
  void* take(size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = count_; i-- > 0;) {
      if (kept_[i].bytes == bytes) return remove(i);
    }
    return nullptr;
  }

  void give(void* data, size_t bytes) {
    if (bytes > kMost) return std::free(data);
    const std::lock_guard<std::mutex> lock(mutex_);
    while (count_ == kept_.size() || total_ + bytes > kMost) std::free(remove(0));
    kept_[count_++] = {data, bytes};
    total_ += bytes;
  }

  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (count_ > 0) std::free(remove(count_ - 1));
  }

 private:
  static constexpr size_t kMost = 128u << 20;  // bytes kept
  struct Piece {
    void* data;
    size_t bytes;
  };

  void* remove(size_t i) {
    void* data = kept_[i].data;
    total_ -= kept_[i].bytes;
    std::copy(kept_.begin() + i + 1, kept_.begin() + count_, kept_.begin() + i);
    --count_;
    return data;
  }

  std::mutex mutex_;
  std::array<Piece, 32> kept_;  // the oldest in front
  size_t count_ = 0, total_ = 0;
};

// Never destroyed: buffers may outlive static objects.
Spare& spare() {
  static auto* const spare = new Spare;
  return *spare;
}

std::shared_ptr<Buffer> allocate_kept(size_t bytes) {
  const size_t rounded = round_up(bytes, bytes < kLarge ? kPage : kHugePage);
  void* data = spare().take(rounded);
  if (data == nullptr) data = allocate_pages(rounded);
  if (data == nullptr) {
    spare().clear();
    data = allocate_pages(rounded);
  }
  if (data == nullptr) return nullptr;
  return std::make_shared<Buffer>(data, bytes,
                                  [rounded](void* p, size_t) { spare().give(p, rounded); });
}

}  // namespace

Buffer::Buffer(void* data, size_t bytes, Release release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {}

Buffer::~Buffer() {
  if (release_) release_(data_, bytes_);
}

std::shared_ptr<Buffer> Buffer::allocate(size_t bytes) {
  if (bytes > SIZE_MAX - 2 * kAlignment) {
    fail(NEF_OUT_OF_MEMORY, "allocate", cat("cannot allocate ", bytes, " bytes of host memory"));
  }
  if (bytes >= kKept && bytes <= SIZE_MAX - kHugePage) {
    if (auto buffer = allocate_kept(bytes)) return buffer;
  }
  // Aligned by hand: aligned_alloc passes by the lists that malloc serves small ones from.
  void* base = std::malloc(round_up(std::max<size_t>(bytes, 1), kAlignment) + kAlignment);
  if (base == nullptr) {
    fail(NEF_OUT_OF_MEMORY, "allocate", cat("cannot allocate ", bytes, " bytes of host memory"));
  }
  char* data = static_cast<char*>(base);
  data += kAlignment - reinterpret_cast<uintptr_t>(data) % kAlignment;
  return std::make_shared<Buffer>(data, bytes, [base](void*, size_t) { std::free(base); });
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

void free_spare_buffers() { spare().clear(); }

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
