// SPDX-License-Identifier: Apache-2.0
// One query for each head over many keys, as a step of decoding has it. A cluster of blocks shares
// the keys of one group of heads, its warps take sixteen at a time through tensor cores; the blocks
// meet in each other's shared memory. Keys and values that are constants are on their way before
// the kernel in front of this one is done.
#include <cmath>
#include <set>

#include "backends/gpu/decode.h"
#include "backends/gpu/heads.h"

namespace nef::gpu {
namespace {

// Blocks. Sixteen would need sixteen multiprocessors beside each other, which not every part of a
// GPU has: one cluster would begin when all others are done.
constexpr int64_t kMostCluster = 8;
constexpr int64_t kWarps = 8, kTile = 16;  // of a block; keys of a warp

constexpr const char* kCode = R"device(
typedef $T$ T;
constexpr i32 kSize = $SIZE$, kGroup = $GROUP$, kCluster = $CLUSTER$, kTile = 16, kUnits = kSize / 32, kPieces = kSize / 8;
constexpr i32 kOut = kGroup * kSize, kOwn = kOut / kCluster;
// Bytes from one key or value to the next, so that lanes read from different banks.
constexpr u32 kKeyBytes = kSize * 2 + 64, kValueBytes = kSize * 2 + 16, kWarpBytes = kTile * (kKeyBytes + kValueBytes);
struct Heads { i64 batch; i64 head; i64 row; };
struct AttendP { T* y; const T* q; const T* k; const T* v; const T* past_k; const T* past_v; i64 kv_heads; i64 keys; i64 past;
  i64 chunk; f64 scale; Heads ks; Heads vs; Heads past_ks; Heads past_vs; i64 q_batch; };
DEV f32 exp2_of(f32 v) { f32 r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
DEV u32 pair_of(f32 a, f32 b) { u32 r; asm("cvt.rn.$PAIR$.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
// This block is there to write to.
DEV void cluster_enter() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
DEV void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
struct alignas(8) Two { f32 a, b; };
// For a block of the cluster, whose barrier counts the bytes.
DEV void send(const Two* to, u32 bar, u32 rank, f32 a, f32 b) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
               ::"r"(there(shared_address(to), rank)), "r"(bits_of(a)), "r"(bits_of(b)), "r"(there(bar, rank)) : "memory");
}
DEV void copy_piece(u32 to, const void* from, bool there) {
  const u32 bytes = there ? 16u : 0u;  // zeros fill the rest
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
DEV void copies_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// All but the last copies have come.
DEV void copies_wait() { asm volatile("cp.async.wait_group 1;" ::: "memory"); __syncwarp(); }
DEV void multiply(f32 (&d)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.$PAIR1$.$PAIR1$.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
DEV V4 load_turned(u32 at) {
  V4 r;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r.e[0]), "=r"(r.e[1]), "=r"(r.e[2]), "=r"(r.e[3]) : "r"(at) : "memory");
  return r;
}
DEV u32 turned(u32 v) { u32 r; asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(v)); return r; }
DEV f32 largest_of_rows(f32 v) { v = fmaxf(v, nef_xor(v, 4)); v = fmaxf(v, nef_xor(v, 8)); return fmaxf(v, nef_xor(v, 16)); }
DEV f32 sum_of_rows(f32 v) { v += nef_xor(v, 4); v += nef_xor(v, 8); return v + nef_xor(v, 16); }
// Below what is looked for as the largest: nothing weighs nothing beside it.
constexpr f32 kNothing = -3.0e38f;
// Keys are those of the past, then those that are new.
DEV const T* key_at(const AttendP& p, i64 b, i64 h, i64 j) {
  return j < p.past ? p.past_k + b * p.past_ks.batch + h * p.past_ks.head + j * p.past_ks.row
                    : p.k + b * p.ks.batch + h * p.ks.head + (j - p.past) * p.ks.row;
}
DEV const T* value_at(const AttendP& p, i64 b, i64 h, i64 j) {
  return j < p.past ? p.past_v + b * p.past_vs.batch + h * p.past_vs.head + j * p.past_vs.row
                    : p.v + b * p.vs.batch + h * p.vs.head + (j - p.past) * p.vs.row;
}
// One number of the result as floats: what weighs nothing is not looked at, it may be anything.
static __device__ __noinline__ f32 attend_exactly(const AttendP& p, i64 b, i64 h, i32 e, f32 scale) {
  const T* q = p.q + b * p.q_batch + h * kOut + e / kSize * kSize;
  f32 best = least<f32>(), sum = 0.0f, out = 0.0f;
  for (i64 j = 0; j < p.keys; ++j) {
    const T* k = key_at(p, b, h, j);
    f32 s = 0.0f;
    for (i32 d = 0; d < kSize; ++d) s = fmaf(ld(q[d]), ld(k[d]), s);
    s *= scale;
    const f32 top = op_max(best, s), old = top == best ? 1.0f : exp2_of(best - top);
    const f32 w = s == least<f32>() ? 0.0f : exp2_of(s - top);
    sum = sum * old + w;
    if (best != top) out *= old;
    if (w != 0.0f) out = fmaf(w, ld(value_at(p, b, h, j)[e % kSize]), out);
    best = top;
  }
  return best == least<f32>() ? 0.0f : out / sum;
}
// Each warp takes sixteen keys at a time: rows of the first factor, as are the numbers of their
// values in the second product; the heads are columns of both. A lane holds 8 neighbours of each 32
// numbers of a row. Few enough registers that a block has room beside one of the products around it.
NEF_EARLY_KERNEL(attend_one, AttendP, 256, 2) {
  extern __shared__ __align__(128) u8 memory[];
  const i32 t = i32(threadIdx.x), warp = t / 32, lane = t % 32, own = lane / 4, piece = lane % 4;
  const i32 rank = i32(blockIdx.x) % kCluster, unit = i32(blockIdx.x) / kCluster;
  const i32 b = unit / i32(p.kv_heads), h = unit % i32(p.kv_heads);
  const u32 ks = shared_address(memory) + u32(warp) * kWarpBytes, vs = ks + kTile * kKeyBytes;
  f32* const part = (f32*)(memory + warp * kWarpBytes);  // [kOut], once keys and values are used up
  f32* const tops = (f32*)(memory + 8 * kWarpBytes);     // [kGroup][8] of warps, and what goes with each:
  f32* const sums = tops + 8 * kGroup;                   // the sum of weights
  Two* const values = (Two*)(sums + 8 * kGroup);         // [kCluster][kOwn / 2] of blocks
  Two* const ends = values + kOut / 2;                   // [kCluster][kGroup] tops and sums
  const u32 come = shared_address(ends + kCluster * kGroup);
  nef_let_next_begin();
  if (t == 0) {
    barrier_init(come, 1);
    barrier_inits_seen();
    barrier_expect(come, kCluster * (kOwn + 2 * kGroup) * 4);
  }

  const i32 chunk = i32(p.chunk), begin = rank * chunk, end = begin + chunk < i32(p.keys) ? begin + chunk : i32(p.keys);
  const i32 first = begin + warp * kTile, past = i32(p.past), column = lane % kPieces * 8;
  const T* const new_k = p.k + b * p.ks.batch + h * p.ks.head - past * p.ks.row + column;
  const T* const new_v = p.v + b * p.vs.batch + h * p.vs.head - past * p.vs.row + column;
  const T* const old_k = p.past_k + b * p.past_ks.batch + h * p.past_ks.head + column;
  const T* const old_v = p.past_v + b * p.past_vs.batch + h * p.past_vs.head + column;
  // Keys or values from `j` on whose data may be read by now.
  const auto copy = [&](bool keys, i32 j, bool early, bool late) {
    constexpr i32 kRows = 32 / kPieces;
    const u32 to = keys ? ks : vs, step = keys ? kKeyBytes : kValueBytes;
#pragma unroll
    for (i32 i = 0; i < kTile / kRows; ++i) {
      const i32 row = i * kRows + lane / kPieces, at = j + row < end ? j + row : end - 1;
      const bool old = at < past;
      if (!((old ? $EARLY_PAST$ : $EARLY_NEW$) ? early : late)) continue;
      const T* from = keys ? (old ? old_k : new_k) : (old ? old_v : new_v);
      const i32 by = i32(keys ? (old ? p.past_ks.row : p.ks.row) : (old ? p.past_vs.row : p.vs.row));
      copy_piece(to + row * step + column * 2, from + i64(at) * by, j + row < end);
    }
  };
  if (first < end) {
    copy(true, first, true, false);
    copy(false, first, true, false);
  }
  // Powers of two instead of e.
  f32 scale = f32(p.scale) * 1.44269504089f;
  const T* queries = p.q + b * p.q_batch + h * kOut + own * kSize + piece * 8;
  asm volatile("" : "+f"(scale), "+l"(queries));  // they are there when the wait is over
  cluster_enter();
  nef_wait();
  if (first < end) copy(true, first, false, true);
  copies_end();
  if (first < end) copy(false, first, false, true);
  copies_end();
  V4 q[kUnits];
#pragma unroll
  for (i32 u = 0; u < kUnits; ++u) {
    q[u] = {{0, 0, 0, 0}};
    if (own < kGroup) q[u] = load_fresh(queries + u * 32);
  }
  // Of the heads 2 * piece and the next one.
  f32 top[2] = {kNothing, kNothing}, sum[2] = {0.0f, 0.0f}, out[kSize / 16][4];
#pragma unroll
  for (i32 m = 0; m < kSize / 16; ++m) out[m][0] = out[m][1] = out[m][2] = out[m][3] = 0.0f;
  for (i32 j = first; j < end; j += 8 * kTile) {
    const bool more = j + 8 * kTile < end;
    copies_wait();
    f32 s[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (i32 u = 0; u < kUnits; ++u) {
      const u32 at = ks + own * kKeyBytes + u * 64 + piece * 16;
      const V4 a = load_shared(at), c = load_shared(at + 8 * kKeyBytes);
      multiply(s, a.e[0], c.e[0], a.e[1], c.e[1], q[u].e[0], q[u].e[1]);
      multiply(s, a.e[2], c.e[2], a.e[3], c.e[3], q[u].e[2], q[u].e[3]);
    }
    __syncwarp();
    if (more) copy(true, j + 8 * kTile, true, true);
    copies_end();
#pragma unroll
    for (i32 i = 0; i < 4; ++i) s[i] = j + own + i / 2 * 8 < end ? s[i] * scale : least<f32>();
#pragma unroll
    for (i32 i = 0; i < 2; ++i) {
      const f32 best = fmaxf(top[i], largest_of_rows(fmaxf(s[i], s[i + 2])));
      const f32 old = exp2_of(top[i] - best);
      s[i] = exp2_of(s[i] - best);
      s[i + 2] = exp2_of(s[i + 2] - best);
      top[i] = best;
      sum[i] = sum[i] * old + s[i] + s[i + 2];
#pragma unroll
      for (i32 m = 0; m < kSize / 16; ++m) { out[m][i] *= old; out[m][i + 2] *= old; }
    }
    const u32 w0 = turned(pair_of(s[0], s[1])), w1 = turned(pair_of(s[2], s[3]));
    copies_wait();
#pragma unroll
    for (i32 m = 0; m < kSize / 16; ++m) {
      // Quarters: values 0 to 7 and 8 to 15, of numbers 0 to 7 and 8 to 15.
      const V4 v = load_turned(vs + (lane / 16 * 8 + lane % 8) * kValueBytes + (m * 16 + lane / 8 % 2 * 8) * 2);
      multiply(out[m], v.e[0], v.e[1], v.e[2], v.e[3], w0, w1);
    }
    __syncwarp();
    if (more) copy(false, j + 8 * kTile, true, true);
    copies_end();
  }
#pragma unroll
  for (i32 i = 0; i < 2; ++i) {
    sum[i] = sum_of_rows(sum[i]);
    const i32 g = 2 * piece + i;
    if (g >= kGroup) continue;
    if (own == 0) { tops[g * 8 + warp] = top[i]; sums[g * 8 + warp] = sum[i]; }
    f32* const to = part + g * kSize + own;
#pragma unroll
    for (i32 m = 0; m < kSize / 16; ++m) {
      to[m * 16] = out[m][i];
      to[m * 16 + 8] = out[m][i + 2];
    }
  }
  __syncthreads();
  cluster_wait();  // all blocks are there
  for (i32 e = 2 * t; e < kOut; e += 512) {
    const i32 g = e / kSize, to = e % kSize / 2;
    const V4 t0 = load_shared(shared_address(tops + g * 8)), t1 = load_shared(shared_address(tops + g * 8 + 4));
    f32 best = kNothing, weights[8], a = 0.0f, c = 0.0f;
#pragma unroll
    for (i32 w = 0; w < 8; ++w) { weights[w] = f32_of(w < 4 ? t0.e[w] : t1.e[w - 4]); best = fmaxf(best, weights[w]); }
#pragma unroll
    for (i32 w = 0; w < 8; ++w) {
      weights[w] = exp2_of(weights[w] - best);
      const Two v = *(const Two*)((const f32*)(memory + w * kWarpBytes) + e);
      a = fmaf(weights[w], v.a, a);
      c = fmaf(weights[w], v.b, c);
    }
    send(values + rank * (kOwn / 2) + e % kOwn / 2, come, u32(e / kOwn), a, c);
    if (to >= kCluster) continue;
    f32 all = 0.0f;
#pragma unroll
    for (i32 w = 0; w < 8; ++w) all = fmaf(weights[w], sums[g * 8 + w], all);
    send(ends + rank * kGroup + g, come, u32(to), best, all);
  }
  wait_for_cluster(come, 0);
  for (i32 mine = t; mine < kOwn; mine += 256) {
    const i32 e = rank * kOwn + mine, g = e / kSize;
    f32 best = kNothing, total = 0.0f, value = 0.0f;
    Two end[kCluster];
#pragma unroll
    for (i32 c = 0; c < kCluster; ++c) { end[c] = ends[c * kGroup + g]; best = fmaxf(best, end[c].a); }
#pragma unroll
    for (i32 c = 0; c < kCluster; ++c) {
      const f32 weight = exp2_of(end[c].a - best);
      total = fmaf(weight, end[c].b, total);
      value = fmaf(weight, ((const f32*)values)[c * kOwn + mine], value);
    }
    f32 result = value / total;
    if (!(fabsf(result) < 3.0e38f)) result = attend_exactly(p, b, h, e, scale);
    st(p.y[(b * p.kv_heads + h) * kOut + e], result);
  }
}
)device";

class DecodeAttention : public Stage {
 public:
  struct Parts {
    const Node* attention = nullptr;
    std::optional<RowSlice> slices[3];  // that make queries, keys and values
    int64_t group = 0, size = 0, kv_heads = 0;
  };
  DecodeAttention(const Region& region, const Parts& parts, const DeviceInfo& device)
      : attention_(*parts.attention),
        group_(parts.group),
        size_(parts.size),
        kv_heads_(parts.kv_heads) {
    std::copy(parts.slices, parts.slices + 3, slices_);
    const int64_t batch = region.input(attention_, 0).dims[0];
    while (cluster_ > 2 && batch * kv_heads_ * cluster_ > device.processors) cluster_ /= 2;
    const nef_dtype t = region.input(attention_, 1).dtype;
    const auto constant = [&](size_t i) {
      return !attention_.has_input(i) || region.input(attention_, i).kind == NEF_VALUE_CONSTANT;
    };
    source_ = std::string(kBulkText) +
              fill(kCode, {{"T", memory_type(t)},
                           {"PAIR", t == NEF_BFLOAT16 ? "bf16x2" : "f16x2"},
                           {"PAIR1", t == NEF_BFLOAT16 ? "bf16" : "f16"},
                           {"SIZE", std::to_string(size_)},
                           {"GROUP", std::to_string(group_)},
                           {"CLUSTER", std::to_string(cluster_)},
                           {"EARLY_PAST", constant(4) && constant(5) ? "true" : "false"},
                           {"EARLY_NEW", constant(1) && constant(2) ? "true" : "false"}});
  }

  static bool matches(const Region& region, Parts& parts);

  std::string source() const override { return source_; }
  const char* name() const override { return "attention of one query"; }

  bool takes(const Values& values) const override {
    const Shape s = shape(values);
    if (s.length != 1 || s.keys < 1 || s.batch < 1 || s.batch * kv_heads_ > 4096) return false;
    if (s.k.size != size_ || s.v.size != size_ || s.k.heads != kv_heads_) return false;
    const bool causal = nef_attr_int(attention_.attrs(), NEF_ATTENTION_IS_CAUSAL, 0) != 0;
    if (causal && s.k.length != 1) return false;
    // What is copied begins at multiples of 16 bytes.
    return std::all_of(slices_, slices_ + 3, [&](const std::optional<RowSlice>& slice) {
      return !slice || (slice->start(values) % 8 == 0 && slice->width(values) % 8 == 0);
    });
  }

  void launch(const Run& run, Module* module) const override {
    const Values& values = run.values;
    const Shape s = shape(values);
    const auto data = [&](size_t i) -> const char* {
      if (i < 3 && slices_[i]) {
        return values.data(slices_[i]->source()) + slices_[i]->start(values) * 2;
      }
      return attention_.has_input(i) ? values.data(attention_.inputs[i]) : nullptr;
    };
    const int64_t whole = (s.keys + cluster_ - 1) / cluster_;
    const int64_t chunk = (whole + kTile - 1) / kTile * kTile;
    // Keys and values of each warp, then what they come to.
    const int64_t area = kWarps * kTile * (size_ * 4 + 80);
    Params p;
    p.add(values.data(attention_.outputs[0]));
    for (size_t i : {0, 1, 2, 4, 5}) p.add(data(i));
    p.add(kv_heads_).add(s.keys).add(s.past).add(chunk);
    p.add(nef_attr_float(attention_.attrs(), NEF_ATTENTION_SCALE,
                         1 / std::sqrt(static_cast<double>(size_))));
    for (const Heads& h : {s.k, s.v, s.past_k, s.past_v}) h.add_to(p);
    p.add(s.q_batch);
    Grid grid{s.batch * kv_heads_ * cluster_, 1, 256};
    grid.cluster = static_cast<uint32_t>(cluster_);
    const int64_t needed = area + 4 * group_ * (2 * kWarps + size_ + 2 * cluster_) + 8;
    // Beside one of the products around it a multiprocessor has room for one block, not for two:
    // half of them would have all the work while the others had none.
    constexpr int64_t kAlone = int64_t{64} << 10;
    grid.shared = static_cast<uint32_t>(std::max(needed, kAlone));
    run.launch(*module, "attend_one", grid, p);
  }

 private:
  struct Shape {
    int64_t batch = 0, length = 0, keys = 0, past = 0, q_batch = 0;
    Heads k, v, past_k, past_v;
  };
  Shape shape(const Values& values) const {
    Shape s;
    const Heads q(values.dims(attention_.inputs[0]),
                  nef_attr_int(attention_.attrs(), NEF_ATTENTION_Q_NUM_HEADS, 0));
    s.batch = q.batch;
    s.length = q.length;
    s.q_batch = slices_[0] ? slices_[0]->width(values) : group_ * kv_heads_ * size_;
    s.k = Heads(values.dims(attention_.inputs[1]), kv_heads_);
    s.v = Heads(values.dims(attention_.inputs[2]), kv_heads_);
    if (slices_[1]) s.k.widen(slices_[1]->width(values));
    if (slices_[2]) s.v.widen(slices_[2]->width(values));
    if (attention_.has_input(4)) {
      s.past_k = Heads(values.dims(attention_.inputs[4]), 0);
      s.past_v = Heads(values.dims(attention_.inputs[5]), 0);
      s.past = s.past_k.length;
    }
    s.keys = s.past + s.k.length;
    return s;
  }
  Node attention_;
  std::optional<RowSlice> slices_[3];
  const int64_t group_, size_, kv_heads_;
  // Blocks for one head of keys: at least two, and no more than there are multiprocessors for.
  int64_t cluster_ = kMostCluster;
  std::string source_;
};

// The node of the region that makes a value; null without one.
const Node* maker_of(const Region& region, int32_t value) {
  for (const Node& node : region.nodes) {
    if (std::find(node.outputs.begin(), node.outputs.end(), value) != node.outputs.end()) {
      return &node;
    }
  }
  return nullptr;
}

bool DecodeAttention::matches(const Region& region, Parts& parts) {
  for (const Node& node : region.nodes) {
    if (node.op == NEF_OP_ATTENTION) parts.attention = &node;
  }
  if (parts.attention == nullptr) return false;
  const Node& a = *parts.attention;
  if (a.has_input(3) || a.has_input(6)) return false;
  if (!a.has_output(0) || a.has_output(1) || a.has_output(2) || a.has_output(3)) return false;
  if (nef_attr_float(a.attrs(), NEF_ATTENTION_SOFTCAP, 0) != 0) return false;
  // What else is there makes its inputs: slices, of which the queries' may be given another shape.
  std::set<const Node*> used = {&a};
  for (size_t i : {0, 1, 2}) {
    const Node* maker = maker_of(region, a.inputs[i]);
    for (; i == 0 && maker != nullptr && maker->op == NEF_OP_RESHAPE;
         maker = maker_of(region, maker->inputs[0])) {
      used.insert(maker);
    }
    if (maker == nullptr) continue;
    parts.slices[i] = RowSlice::of(region, *maker);
    if (!parts.slices[i] || (i > 0 && region.input(a, i).rank() != 3)) return false;
    used.insert(maker);
  }
  if (used.size() != region.nodes.size()) return false;

  const Value& q = region.input(a, 0);
  const Value& k = region.input(a, 1);
  const nef_dtype t = q.dtype;
  if (t != NEF_BFLOAT16 && t != NEF_FLOAT16) return false;
  for (size_t i : {1, 2, 4, 5}) {
    if (a.has_input(i) && region.input(a, i).dtype != t) return false;
  }
  const auto attr = [&](unsigned slot) { return nef_attr_int(a.attrs(), slot, 0); };
  const bool flat = q.rank() == 3;
  const int64_t heads = flat ? attr(NEF_ATTENTION_Q_NUM_HEADS) : q.dims[1];
  parts.kv_heads = flat ? attr(NEF_ATTENTION_KV_NUM_HEADS) : k.dims[1];
  if (q.dims.back() <= 0 || heads < 1 || parts.kv_heads < 1) return false;
  parts.size = flat ? q.dims.back() / heads : q.dims.back();
  parts.group = heads / parts.kv_heads;
  const bool group = parts.group == 1 || parts.group == 2 || parts.group == 4 || parts.group == 8;
  return group && (parts.size == 64 || parts.size == 128);
}

}  // namespace

std::unique_ptr<Stage> decode_attention_stage(const Region& region, const DeviceInfo& device) {
  DecodeAttention::Parts parts;
  if (!device.bulk_copies || !DecodeAttention::matches(region, parts)) return nullptr;
  return std::make_unique<DecodeAttention>(region, parts, device);
}

}  // namespace nef::gpu
