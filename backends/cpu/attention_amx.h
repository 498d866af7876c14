// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/attention_tiles.h"

// Tiles of attention whose products are of bfloat16 (amx.h): a block of scores in float32 becomes
// weights in place, which are rounded on their way into the next product.
namespace nef::cpu {

class AmxAttention {
 public:
  static constexpr int64_t kQueries = 64, kKeys = 128;  // of a tile, and of a block

  explicit AmxAttention(const AttentionLaunch<float>& launch)
      : l_(launch), p_(launch.p), ops_(*launch.amx) {}

  // Bytes of the packed keys and values of a head, and of the room of a task.
  static int64_t keys_bytes(const AttentionProblem& p);
  static int64_t values_bytes(const AttentionProblem& p);
  static int64_t room_bytes(const AttentionProblem& p);

  // As those of AttentionLaunch.
  bool pack(int64_t head) const;
  void run_tile(int64_t b, int64_t h, int64_t first, int64_t count, float* room) const;

 private:
  struct Room;
  struct Tile;

  uint16_t* keys(int64_t head, int64_t j) const;
  uint16_t* values(int64_t head, int64_t j) const;
  void multiply(const uint16_t* a, const uint16_t* b, int64_t m, int64_t n, int64_t k, float* c,
                int64_t ldc) const;
  float mask_scores(const Tile& tile, int64_t j, int64_t n, const Room& room) const;
  bool same_bias(const Tile& tile, int64_t j, int64_t n, const Room& room) const;

  const AttentionLaunch<float>& l_;
  const AttentionProblem& p_;
  const AmxOps& ops_;
};

}  // namespace nef::cpu
