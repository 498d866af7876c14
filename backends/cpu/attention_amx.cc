// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/attention_amx.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/softmax_kernels.h"

namespace nef::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Whole panels, of which the padding is computed too.
int64_t panels(int64_t n) { return round_up(n, kAmxPanel); }

}  // namespace

struct AmxAttention::Room {
  float *scores, *part, *sums, *most, *total, *factor, *bias;
  uint16_t *queries, *weights;
  size_t bytes;

  Room(const AttentionProblem& p, void* base) {
    ScratchLayout layout(base);
    scores = layout.take<float>(kQueries * kKeys);
    part = layout.take<float>(kQueries * panels(p.v.size));
    sums = layout.take<float>(kQueries * panels(p.v.size));
    most = layout.take<float>(kQueries);
    total = layout.take<float>(kQueries);
    factor = layout.take<float>(kQueries);
    bias = layout.take<float>(kKeys);
    queries = layout.take<uint16_t>(amx_a_size(kQueries, p.q.size));
    weights = layout.take<uint16_t>(amx_a_size(kQueries, kKeys));
    bytes = layout.used();
  }
};

// Queries [first, first + count) of a head.
struct AmxAttention::Tile {
  int64_t b, h, first, count;
};

int64_t AmxAttention::keys_bytes(const AttentionProblem& p) {
  return 2 * round_up(p.keys, kKeys) * amx_depth(p.q.size);
}
int64_t AmxAttention::values_bytes(const AttentionProblem& p) {
  return 2 * ceil_div(p.keys, kKeys) * amx_b_size(kKeys, p.v.size);
}
int64_t AmxAttention::room_bytes(const AttentionProblem& p) {
  return static_cast<int64_t>(Room(p, nullptr).bytes);
}

// Panels of the block of keys that begins at j.
uint16_t* AmxAttention::keys(int64_t head, int64_t j) const {
  return reinterpret_cast<uint16_t*>(l_.packed_k) + head * keys_bytes(p_) / 2 +
         j * amx_depth(p_.q.size);
}
uint16_t* AmxAttention::values(int64_t head, int64_t j) const {
  return reinterpret_cast<uint16_t*>(l_.packed_v) + head * values_bytes(p_) / 2 +
         j / kKeys * amx_b_size(kKeys, p_.v.size);
}

bool AmxAttention::pack(int64_t head) const {
  const int64_t b = head / p_.k.heads, h = head % p_.k.heads;
  bool finite = true;
  for (int64_t j = 0; j < p_.keys; j += kKeys) {
    const int64_t n = std::min(kKeys, p_.keys - j);
    uint16_t* v = values(head, j);
    ops_.pack_b(NEF_FLOAT32, l_.k.row(b, h, j), 1, l_.k.row_stride, p_.q.size, n, keys(head, j));
    ops_.pack_b(NEF_FLOAT32, l_.v.row(b, h, j), l_.v.row_stride, 1, n, p_.v.size, v);
    finite = finite && ops_.all_finite(v, amx_b_size(n, p_.v.size));
  }
  return finite;
}

void AmxAttention::multiply(const uint16_t* a, const uint16_t* b, int64_t m, int64_t n, int64_t k,
                            float* c, int64_t ldc) const {
  AmxBlock g;
  g.m = m;
  g.n = n;
  g.k = k;
  g.a = a;
  g.b = b;
  g.c = c;
  g.ldc = ldc;
  ops_.block(g);
}

// Is one addend for each key all that the mask does? It is put into room.bias.
bool AmxAttention::same_bias(const Tile& tile, int64_t j, int64_t n, const Room& room) const {
  if (l_.scale <= 0 || l_.softcap > 0 || !l_.mask.same_for_all_queries()) return false;
  std::fill_n(room.bias, n, 0.0f);
  l_.mask.add(tile.b, tile.h, 0, j, n, room.bias);
  // One of +inf would meet the -inf of what is hidden.
  return std::all_of(room.bias, room.bias + n, [](float x) { return x < kInfinity; });
}

// Masks the scores of keys [j, j + n); returns what remains to scale them by.
float AmxAttention::mask_scores(const Tile& tile, int64_t j, int64_t n, const Room& room) const {
  const bool same = same_bias(tile, j, n, room);
  const bool masked = same && std::any_of(room.bias, room.bias + n, [](float x) { return x != 0; });
  for (int64_t k = 0; masked && k < n; ++k) room.bias[k] = unscaled_bias(room.bias[k], l_.scale);
  for (int64_t i = 0; i < tile.count; ++i) {
    float* row = room.scores + i * kKeys;
    const int64_t limit = l_.visible.of(tile.b, tile.first + i);
    const int64_t seen = std::clamp<int64_t>(limit - j, 0, n);
    if (!same) l_.finish_scores(tile.b, tile.h, tile.first + i, j, n, limit, row);
    if (masked) row_ops<float>().add(row, room.bias, seen, row);
    std::fill(row + seen, row + panels(n), -kInfinity);
  }
  return same ? l_.scale : 1;
}

void AmxAttention::run_tile(int64_t b, int64_t h, int64_t first, int64_t count,
                            float* memory) const {
  const auto& softmax = softmax_ops<float>();
  const Tile tile{b, h, first, count};
  const Room room(p_, memory);
  const int64_t head = b * p_.k.heads + h / p_.group, width = panels(p_.v.size);
  std::fill_n(room.most, count, -kInfinity);
  std::fill_n(room.total, count, 0.0f);
  int64_t end = 0;
  for (int64_t i = 0; i < count; ++i) end = std::max(end, l_.visible.of(b, first + i));
  if (end == 0) std::fill_n(room.sums, count * width, 0.0f);
  ops_.pack_a(NEF_FLOAT32, l_.q.row(b, h, first), l_.q.row_stride, 1, count, p_.q.size,
              room.queries);
  for (int64_t j = 0; j < end; j += kKeys) {
    const int64_t n = std::min(kKeys, p_.keys - j);
    multiply(room.queries, keys(head, j), count, panels(n), p_.q.size, room.scores, kKeys);
    const float scale = mask_scores(tile, j, n, room);
    softmax.rows(room.scores, kKeys, count, panels(n), scale, room.most, room.total, room.factor);
    ops_.pack_a(NEF_FLOAT32, room.scores, kKeys, 1, count, panels(n), room.weights);
    multiply(room.weights, values(head, j), count, width, n, j == 0 ? room.sums : room.part, width);
    if (j == 0) continue;
    softmax.scale_rows(room.sums, width, count, width, room.factor, room.sums, width);
    row_ops<float>().add(room.sums, room.part, count * width, room.sums);
  }
  for (int64_t i = 0; i < count; ++i) {
    room.factor[i] = room.total[i] == 0 ? 0 : 1 / room.total[i];
  }
  softmax.scale_rows(room.sums, width, count, p_.v.size, room.factor, l_.y.row(b, h, first),
                     l_.y.row_stride);
}

}  // namespace nef::cpu
