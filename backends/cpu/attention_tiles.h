// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/amx.h"
#include "backends/cpu/attention.h"
#include "backends/cpu/attention_mask.h"

// Attention in tiles of queries and keys, each query a row of scores, with a running softmax.
namespace nef::cpu {

// Shapes of one launch.
struct AttentionProblem {
  HeadShape q, k, v, y;  // k and v: the new keys and values only
  int64_t past = 0, keys = 0;
  int64_t group = 1;  // query heads per key head
  int64_t query_block = 0;
  bool on_amx = false;
};

template <typename T>
struct AttentionLaunch {
  AttentionProblem p;
  HeadRows<const T> q, k, v;
  HeadRows<T> y;
  AttentionMask<T> mask;
  VisibleKeys visible;
  T scale = 1, softcap = 0;
  const AmxOps* amx = nullptr;
  T *packed_k = nullptr, *packed_v = nullptr, *rows = nullptr, *columns = nullptr;
  uint8_t* finite = nullptr;  // per key head: no inf or NaN among the values

  void cap(int64_t n, T* scores) const;
  // Scaled, capped and masked scores of keys [first, first + n); those past `limit` are -inf.
  void finish_scores(int64_t b, int64_t h, int64_t s, int64_t first, int64_t n, int64_t limit,
                     T* scores) const;

  // Elements of packed_k and packed_v for one head, and of the room of a task.
  static int64_t packed_keys(const AttentionProblem& p);
  static int64_t packed_values(const AttentionProblem& p);
  static int64_t slot_size(const AttentionProblem& p);
  // Keys and values of a head as panels, block by block of keys; says whether values are finite.
  void pack(int64_t head) const;
  // Queries [first, first + count) of one head against all keys they may see.
  void run_tile(int64_t b, int64_t h, int64_t first, int64_t count, T* room) const;

 private:
  void multiply_keys(int64_t head, const T* queries, int64_t count, int64_t j, int64_t n,
                     T* scores) const;
  void multiply_values(int64_t head, const T* weights, int64_t count, int64_t j, int64_t n,
                       T* part) const;
};

// How many queries a tile takes.
template <typename T>
int64_t attention_query_block(bool on_amx);

}  // namespace nef::cpu
