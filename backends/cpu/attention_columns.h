// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/attention.h"
#include "backends/cpu/attention_mask.h"

// Attention in tiles of scores that stand on end, [keys][queries]: keys are multiplied in place,
// and the softmax of many queries at once goes down the columns.
namespace nef::cpu {

// One launch. Scale is positive, values are finite.
template <typename T>
struct ColumnAttention {
  HeadRows<const T> q, k, v;
  HeadRows<T> y;
  int64_t queries = 0, keys = 0, size = 0, v_size = 0;
  T scale = 1;
  AttentionMask<T> mask;
  VisibleKeys visible;

  static constexpr int64_t kQueries = 64, kKeys = 128;

  int64_t blocks() const { return (queries + kQueries - 1) / kQueries; }
  // Elements that pack_values and attend work in, of one task.
  static int64_t scratch_size(int64_t keys, int64_t size, int64_t v_size);
  // The values of a head as panels, for the blocks of queries that follow. False when some are
  // not finite: a weight of 0 would not hide them.
  bool pack_values(int64_t b, int64_t kv_head, T* scratch) const;
  // A block of queries of head h, which reads head kv_head of the keys.
  void attend(int64_t b, int64_t h, int64_t kv_head, int64_t block, T* scratch) const;

 private:
  // A block of queries and keys of a head, and its scores.
  struct Block {
    int64_t b, h, first, count;  // queries
    int64_t key, n;
    T* scores;
  };

  void mask_keys(const Block& block) const;
  void mask_each_query(const Block& block, T* tile) const;
  void hide_later_keys(const Block& block) const;
};

}  // namespace nef::cpu
