// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/memory.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <vector>

#include "engine/ir/error.h"

namespace nef::plan {

namespace {

constexpr uint32_t kNil = 0xffffffffu;
constexpr uint64_t kMaxArena = uint64_t{1} << 62;

uint64_t aligned(uint64_t bytes) {
  if (bytes > kMaxArena) {
    fail(NEF_LIMIT_EXCEEDED, "plan", cat("a value of ", bytes, " bytes is too large to plan"));
  }
  return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

void check_arena(uint64_t bytes) {
  if (bytes > kMaxArena) fail(NEF_LIMIT_EXCEEDED, "plan", "the arena is too large to plan");
}

// Offsets in an arena that only grows. Blocks form a list by address; free ones are also in a
// bin by size (power of two, four steps each), so both finding and freeing are O(1). Records of
// blocks that merged away are used again: the list stays as small as what is alive.
class OffsetAllocator {
 public:
  OffsetAllocator() { std::fill(std::begin(bins_), std::end(bins_), kNil); }

  // Returns the block.
  uint32_t allocate(uint64_t bytes) {
    const uint32_t found = find(bytes);
    if (found == kNil) return grow(bytes);
    unlink(found);
    split(found, bytes);
    blocks_[found].free = false;
    return found;
  }

  void release(uint32_t b) {
    blocks_[b].free = true;
    const uint32_t next = blocks_[b].next;
    if (next != kNil && blocks_[next].free) {
      unlink(next);
      absorb_next(b);
    }
    const uint32_t prev = blocks_[b].prev;
    if (prev != kNil && blocks_[prev].free) {
      unlink(prev);
      absorb_next(prev);
      b = prev;
    }
    link(b);
  }

  uint64_t offset(uint32_t b) const { return blocks_[b].offset; }
  // The caller's: a list of blocks that die at one step.
  uint32_t& next_dead(uint32_t b) { return blocks_[b].bin_next; }
  uint64_t end() const { return end_; }

 private:
  struct Block {
    uint64_t offset, bytes;
    uint32_t prev, next;          // by address
    uint32_t bin_prev, bin_next;  // among free blocks of one bin
    bool free;
  };
  static constexpr int kSteps = 4;
  static constexpr int kBins = 64 * kSteps;
  static constexpr int kScan = 8;  // candidates looked at in the first bin

  // Sizes are multiples of 64, so the two bits below the top one always exist.
  static int bin_of(uint64_t bytes) {
    const int top = 63 - std::countl_zero(bytes);
    return top * kSteps + static_cast<int>((bytes >> (top - 2)) & 3);
  }

  uint32_t find(uint64_t bytes) const {
    const int first = bin_of(bytes);
    // The request's own bin may hold smaller blocks: best of a few.
    uint32_t best = kNil;
    int seen = 0;
    for (uint32_t b = bins_[first]; b != kNil && seen < kScan; b = blocks_[b].bin_next, ++seen) {
      if (blocks_[b].bytes < bytes) continue;
      if (best == kNil || blocks_[b].bytes < blocks_[best].bytes) best = b;
    }
    if (best != kNil) return best;
    int word = (first + 1) / 64;
    if (word >= kWords) return kNil;
    uint64_t bits = used_[word] & (~uint64_t{0} << ((first + 1) % 64));
    while (bits == 0) {
      if (++word == kWords) return kNil;
      bits = used_[word];
    }
    return bins_[word * 64 + std::countr_zero(bits)];
  }

  uint32_t grow(uint64_t bytes) {
    if (last_ != kNil && blocks_[last_].free) {
      const uint32_t b = last_;
      unlink(b);
      blocks_[b].free = false;
      end_ = blocks_[b].offset + bytes;
      blocks_[b].bytes = bytes;
      check_arena(end_);
      return b;
    }
    const uint32_t b = add({end_, bytes, last_, kNil, kNil, kNil, false});
    if (last_ != kNil) blocks_[last_].next = b;
    last_ = b;
    end_ += bytes;
    check_arena(end_);
    return b;
  }

  void split(uint32_t b, uint64_t bytes) {
    const uint64_t rest = blocks_[b].bytes - bytes;
    if (rest == 0) return;
    const uint32_t next = blocks_[b].next;
    const uint32_t r = add({blocks_[b].offset + bytes, rest, b, next, kNil, kNil, true});
    blocks_[b].bytes = bytes;
    blocks_[b].next = r;
    if (next != kNil) blocks_[next].prev = r;
    if (last_ == b) last_ = r;
    link(r);
  }

  void absorb_next(uint32_t b) {
    const uint32_t n = blocks_[b].next;
    blocks_[b].bytes += blocks_[n].bytes;
    blocks_[b].next = blocks_[n].next;
    if (blocks_[n].next != kNil) blocks_[blocks_[n].next].prev = b;
    if (last_ == n) last_ = b;
    blocks_[n].next = spare_;
    spare_ = n;
  }

  void link(uint32_t b) {
    const int bin = bin_of(blocks_[b].bytes);
    blocks_[b].bin_prev = kNil;
    blocks_[b].bin_next = bins_[bin];
    if (bins_[bin] != kNil) blocks_[bins_[bin]].bin_prev = b;
    bins_[bin] = b;
    used_[bin / 64] |= uint64_t{1} << (bin % 64);
  }

  void unlink(uint32_t b) {
    const int bin = bin_of(blocks_[b].bytes);
    const uint32_t p = blocks_[b].bin_prev, n = blocks_[b].bin_next;
    if (p != kNil) blocks_[p].bin_next = n;
    if (n != kNil) blocks_[n].bin_prev = p;
    if (bins_[bin] == b) bins_[bin] = n;
    if (bins_[bin] == kNil) used_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
  }

  uint32_t add(const Block& block) {
    if (spare_ == kNil) {
      blocks_.push_back(block);
      return static_cast<uint32_t>(blocks_.size() - 1);
    }
    const uint32_t b = spare_;
    spare_ = blocks_[b].next;
    blocks_[b] = block;
    return b;
  }

  static constexpr int kWords = kBins / 64;
  ir::Array<Block> blocks_;
  uint32_t spare_ = kNil;
  uint32_t bins_[kBins];
  uint64_t used_[kWords] = {};
  uint32_t last_ = kNil;
  uint64_t end_ = 0;
};

uint64_t sum_of(std::span<const MemoryRequest> requests) {
  uint64_t sum = 0;
  for (const MemoryRequest& r : requests) {
    if (__builtin_add_overflow(sum, aligned(r.bytes), &sum)) {
      fail(NEF_LIMIT_EXCEEDED, "plan", "the values of the graph together exceed 2^64 bytes");
    }
  }
  return sum;
}

}  // namespace

MemoryPlan plan_memory(std::span<const MemoryRequest> requests) {
  MemoryPlan plan;
  plan.offset.assign(requests.size(), 0);
  plan.sum_bytes = sum_of(requests);
  if (requests.empty()) return plan;

  uint32_t steps = 0;
  for (const MemoryRequest& r : requests) steps = std::max(steps, r.last);
  ir::Array<uint32_t> dead_after(steps + size_t{1}, kNil);  // per step: a list of blocks
  OffsetAllocator arena;
  uint32_t freed_up_to = 0;  // steps before this one are done
  for (size_t i = 0; i < requests.size(); ++i) {
    const MemoryRequest& r = requests[i];
    for (; freed_up_to < r.first; ++freed_up_to) {
      for (uint32_t b = dead_after[freed_up_to]; b != kNil;) {
        const uint32_t next = arena.next_dead(b);
        arena.release(b);
        b = next;
      }
    }
    if (r.bytes == 0) continue;
    const uint32_t b = arena.allocate(aligned(r.bytes));
    plan.offset[i] = arena.offset(b);
    arena.next_dead(b) = dead_after[r.last];
    dead_after[r.last] = b;
  }
  plan.arena_bytes = arena.end();
  return plan;
}

MemoryPlan plan_memory_tight(std::span<const MemoryRequest> requests) {
  MemoryPlan plan;
  plan.offset.assign(requests.size(), 0);
  plan.sum_bytes = sum_of(requests);
  std::vector<uint32_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return requests[a].bytes > requests[b].bytes; });
  std::vector<uint32_t> placed;  // by offset
  for (uint32_t i : order) {
    const MemoryRequest& r = requests[i];
    if (r.bytes == 0) continue;
    const uint64_t need = aligned(r.bytes);
    uint64_t best = UINT64_MAX, best_gap = UINT64_MAX, at = 0;
    for (uint32_t p : placed) {
      const MemoryRequest& q = requests[p];
      if (q.last < r.first || r.last < q.first) continue;
      const uint64_t offset = plan.offset[p];
      if (offset > at && offset - at >= need && offset - at < best_gap) {
        best = at;
        best_gap = offset - at;
      }
      at = std::max(at, offset + aligned(q.bytes));
    }
    plan.offset[i] = best == UINT64_MAX ? at : best;
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offset[i] + need);
    check_arena(plan.arena_bytes);
    const auto pos = std::upper_bound(placed.begin(), placed.end(), i, [&](uint32_t a, uint32_t b) {
      return plan.offset[a] < plan.offset[b];
    });
    placed.insert(pos, i);
  }
  return plan;
}

std::string check_memory(std::span<const MemoryRequest> requests, const MemoryPlan& plan) {
  if (plan.offset.size() != requests.size()) return "the plan has another number of values";
  struct Event {
    uint32_t step;
    bool begin;
    uint32_t request;
  };
  std::vector<Event> events;
  for (uint32_t i = 0; i < requests.size(); ++i) {
    if (requests[i].bytes == 0) continue;
    if (plan.offset[i] % kMemoryAlignment != 0) return cat("value ", i, " is not aligned");
    if (plan.offset[i] + requests[i].bytes > plan.arena_bytes) {
      return cat("value ", i, " leaves the arena");
    }
    events.push_back({requests[i].first, true, i});
    events.push_back({requests[i].last + 1, false, i});
  }
  // At one step, values that died before it go first.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.step != b.step ? a.step < b.step : a.begin < b.begin;
  });
  std::map<uint64_t, uint32_t> alive;  // offset -> request
  for (const Event& e : events) {
    const uint64_t offset = plan.offset[e.request];
    if (!e.begin) {
      alive.erase(offset);
      continue;
    }
    const auto next = alive.lower_bound(offset);
    if (next != alive.end() && next->first < offset + requests[e.request].bytes) {
      return cat("values ", e.request, " and ", next->second, " overlap at step ", e.step);
    }
    if (next != alive.begin()) {
      const auto prev = std::prev(next);
      if (prev->first + requests[prev->second].bytes > offset) {
        return cat("values ", e.request, " and ", prev->second, " overlap at step ", e.step);
      }
    }
    alive.emplace(offset, e.request);
  }
  return "";
}

}  // namespace nef::plan
