// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  void add_to(Params& p) const { p.add(by_batch).add(by_head).add(by_row); }
};

}  // namespace nef::gpu
