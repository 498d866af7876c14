// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidLength };

// A [batch, heads, sequence, size] view of q, k or v.
struct Heads {
  Dim batch, heads, sequence, size;
};

Heads read_heads(const InferContext& c, size_t input, int64_t num_heads, const char* attr) {
  const std::span<const Dim> d = c.dims(input);
  if (d.size() == 4) {
    if (num_heads > 0) same_dim(c, d[1], Dim::of(num_heads), attr);
    return {d[0], d[1], d[2], d[3]};
  }
  if (d.size() != 3) {
    c.fail(NEF_SHAPE_MISMATCH, cat("input ", c.spec.inputs[input].name,
                                   " must have 3 or 4 dims, got ", c.shape(input)));
  }
  if (num_heads < 1) {
    c.fail(NEF_INVALID_ARGUMENT, cat(attr, " must be set when inputs have 3 dims: ", c.shapes()));
  }
  const Dim heads = Dim::of(num_heads);
  return {d[0], heads, d[1], divided(c, d[2], heads, "hidden size is not heads * size")};
}

// present = past followed by new, along the sequence.
Dim total_length(const InferContext& c, size_t past, const Heads& now) {
  if (!c.has(past)) return now.sequence;
  require_rank(c, past, 4);
  const std::span<const Dim> d = c.dims(past);
  same_dim(c, d[0], now.batch, "batch of the past differs");
  same_dim(c, d[1], now.heads, "heads of the past differ");
  same_dim(c, d[3], now.size, "head size of the past differs");
  return c.pool.add(d[2], now.sequence);
}

void check_options(const InferContext& c) {
  const int64_t mode = c.attrs.i(NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE);
  if (mode < 0 || mode > 3) {
    c.fail(NEF_INVALID_ARGUMENT, cat("qk_matmul_output_mode must be 0 to 3, got ", mode));
  }
  if (c.has(kPastKey) != c.has(kPastValue)) {
    c.fail(NEF_INVALID_ARGUMENT, "past_key and past_value go together; give both or none");
  }
  if (c.has(kPastKey) && c.has(kValidLength)) {
    c.fail(NEF_INVALID_ARGUMENT, "nonpad_kv_seqlen does not go with past_key and past_value");
  }
  if (c.has(kMask) && c.in[kMask].dtype != NEF_BOOL && !dtype_is_float(c.in[kMask].dtype)) {
    c.fail(NEF_DTYPE_MISMATCH,
           cat("attn_mask is ", dtype_name(c.in[kMask].dtype), "; it must be bool or a float"));
  }
}

// The mask broadcasts to the scores; one with fewer columns masks the keys it lacks.
void check_mask(const InferContext& c, Shape scores) {
  const std::span<const Dim> mask = c.dims(kMask);
  if (!mask.empty() && mask.back() != 1) {
    const Dim total = scores[3];
    if (c.pool.lower(c.pool.sub(total, mask.back())) >= 0) scores[3] = mask.back();
  }
  require_broadcasts_to(c, mask, scores, "attn_mask");
}

}  // namespace

void infer_attention(InferContext& c) {
  check_options(c);
  const int64_t q_heads = c.attrs.i(NEF_ATTENTION_Q_NUM_HEADS);
  const int64_t kv_heads = c.attrs.i(NEF_ATTENTION_KV_NUM_HEADS);
  const Heads q = read_heads(c, kQ, q_heads, "q_num_heads");
  const Heads k = read_heads(c, kK, kv_heads, "kv_num_heads");
  const Heads v = read_heads(c, kV, kv_heads, "kv_num_heads");
  if (c.rank(kK) != c.rank(kV)) {
    c.fail(NEF_SHAPE_MISMATCH, cat("k and v must have the same rank: ", c.shapes()));
  }
  Dim batch = same_dim(c, q.batch, k.batch, "batch of q and k differs");
  batch = same_dim(c, batch, v.batch, "batch of k and v differs");
  same_dim(c, q.size, k.size, "head size of q and k differs");
  same_dim(c, k.heads, v.heads, "heads of k and v differ");
  same_dim(c, k.sequence, v.sequence, "sequence of k and v differs");
  divided(c, q.heads, k.heads, "query heads do not split into groups of key heads");
  const Dim total = total_length(c, kPastKey, k);
  same_dim(c, total, total_length(c, kPastValue, v), "past_key and past_value differ in length");

  const Shape scores{batch, q.heads, q.sequence, total};
  if (c.has(kMask)) check_mask(c, scores);
  if (c.has(kValidLength)) require_vector(c, kValidLength, batch, "one length per batch is needed");

  if (c.rank(kQ) == 4) c.out[0].shape = Shape{batch, q.heads, q.sequence, v.size};
  else c.out[0].shape = Shape{batch, q.sequence, c.pool.mul(q.heads, v.size)};
  if (c.out.size() > 1) c.out[1].shape = Shape{batch, k.heads, total, k.size};
  if (c.out.size() > 2) c.out[2].shape = Shape{batch, v.heads, total, v.size};
  if (c.out.size() > 3) c.out[3].shape = scores;
}

void infer_rotary_embedding(InferContext& c) {
  const Heads x = read_heads(c, 0, c.attrs.i(NEF_ROTARY_EMBEDDING_NUM_HEADS), "num_heads");
  const int64_t asked = c.attrs.i(NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM);
  if (asked < 0 || asked > c.pool.upper(x.size)) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("rotary_embedding_dim is ", asked, "; it must be between 0 and the head size ",
               c.pool.str(x.size)));
  }
  const Dim turned = asked == 0 ? x.size : Dim::of(asked);
  const Dim half = divided(c, turned, 2, "the rotated part must be even");
  const bool looked_up = c.has(3);
  for (size_t i = 1; i <= 2; ++i) {
    require_rank(c, i, looked_up ? 2 : 3);
    const std::span<const Dim> d = c.dims(i);
    same_dim(c, d.back(), half, "a cache has half the rotated size");
    if (looked_up) continue;
    same_dim(c, d[0], x.batch, "batch of x and a cache differs");
    same_dim(c, d[1], x.sequence, "sequence of x and a cache differs");
  }
  if (looked_up) {
    same_dim(c, c.dims(1)[0], c.dims(2)[0], "cos_cache and sin_cache differ in length");
    require_rank(c, 3, 2);
    same_dim(c, c.dims(3)[0], x.batch, "batch of x and position_ids differs");
    same_dim(c, c.dims(3)[1], x.sequence, "sequence of x and position_ids differs");
  }
  c.out[0].shape.assign(c.dims(0));
}

}  // namespace nef::ir
