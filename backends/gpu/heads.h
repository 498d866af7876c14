// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backends/gpu/stage.h"

namespace nef::gpu {

// A tensor of heads: [batch, heads, length, size], or [batch, length, heads * size].
struct Heads {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  int64_t by_batch = 0, by_head = 0, by_row = 0;

  Heads() = default;
  Heads(const Dims& d, int64_t n_heads) {
    batch = d.at[0];
    if (d.rank == 3) {
      heads = n_heads;
      length = d.at[1];
      size = n_heads == 0 ? 0 : d.at[2] / n_heads;
      by_row = heads * size;
      by_head = size;
    } else {
      heads = d.at[1];
      length = d.at[2];
      size = d.at[3];
      by_row = size;
      by_head = length * size;
    }
    by_batch = heads * length * size;
  }
  // Of rows that lie in rows of `width` numbers.
  void widen(int64_t width) {
    by_row = width;
    by_batch = length * width;
  }
  void add_to(Params& p) const { p.add(by_batch).add(by_head).add(by_row); }
};

// A slice of a tensor's last axis with all of the other axes, whose places are known before a run:
// read where it lies.
class RowSlice {
 public:
  // Null when the node is something else.
  static std::optional<RowSlice> of(const Region& region, const Node& node);

  int32_t source() const { return node_.inputs[0]; }
  // Numbers of a row that it is part of, and of those in front of it.
  int64_t width(const Values& values) const {
    const Dims d = values.dims(source());
    return d.at[d.rank - 1];
  }
  int64_t start(const Values& values) const;

 private:
  int axis(const Values& values, int64_t i) const;
  explicit RowSlice(Node node) : node_(std::move(node)) {}
  Node node_;
};

// Text of the kernel that takes many queries at once; it comes behind that of the exact kernel.
extern const char* const kAttentionTilesText;

}  // namespace nef::gpu
