// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/array.h"

#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

namespace nef::ir {

namespace {

constexpr size_t kLeastKept = size_t{1} << 14, kMostKept = size_t{1} << 24;  // bytes of one block
constexpr size_t kMaxKept = size_t{1} << 25;                                 // of all together
constexpr int kClasses = 2 * (24 - 14) + 1;

// Sizes of kept blocks: powers of two and one and a half of them.
int class_of(size_t bytes) {                      // the smallest that holds it
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top + 1)
  const bool middle = bytes <= (size_t{3} << (top - 1));
  return 2 * (top - 14) + (middle ? 1 : 2);
}
size_t class_bytes(int c) {
  const size_t power = kLeastKept << (c / 2);
  return c % 2 == 0 ? power : power + power / 2;
}

// A kept block begins with the link to the next one.
struct Link {
  Link* next;
};

struct Kept {
  std::mutex mutex;
  Link* list[kClasses] = {};
  size_t bytes = 0;
};
Kept& kept() {
  static auto* k = new Kept;  // never destroyed: graphs may outlive static storage
  return *k;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeep = false;  // a block that is kept hides its misuse
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kKeep = false;
#else
constexpr bool kKeep = true;
#endif
#else
constexpr bool kKeep = true;
#endif

void* fresh(size_t bytes) {
  void* p = std::malloc(bytes);
  if (p != nullptr) return p;
  free_kept_blocks();
  p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

Block take_block(size_t bytes) {
  if (bytes < kLeastKept || bytes > kMostKept) return {fresh(bytes), bytes};
  const int c = class_of(bytes);
  {
    Kept& k = kept();
    std::lock_guard lock(k.mutex);
    if (Link* block = k.list[c]; block != nullptr) {
      k.list[c] = block->next;
      k.bytes -= class_bytes(c);
      return {block, class_bytes(c)};
    }
  }
  return {fresh(class_bytes(c)), class_bytes(c)};
}

void give_block(Block block) noexcept {
  if (kKeep && block.bytes >= kLeastKept && block.bytes <= kMostKept) {
    Kept& k = kept();
    std::lock_guard lock(k.mutex);
    if (k.bytes + block.bytes <= kMaxKept) {
      const int c = class_of(block.bytes);
      k.list[c] = new (block.data) Link{k.list[c]};
      k.bytes += block.bytes;
      return;
    }
  }
  std::free(block.data);
}

void free_kept_blocks() noexcept {
  Link* lists[kClasses] = {};
  {
    Kept& k = kept();
    std::lock_guard lock(k.mutex);
    for (int c = 0; c < kClasses; ++c) std::swap(lists[c], k.list[c]);
    k.bytes = 0;
  }
  for (Link* at : lists) {
    while (at != nullptr) {
      Link* next = at->next;
      std::free(at);
      at = next;
    }
  }
}

}  // namespace nef::ir
