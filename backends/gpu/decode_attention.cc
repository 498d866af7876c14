// SPDX-License-Identifier: Apache-2.0
// One query for each head over many keys, as a step of decoding has it. A cluster of blocks shares
// the keys of one group of heads; they meet in each other's shared memory. Keys and values that are
// constants are on their way before the kernel in front of this one is done.
#include <cmath>
#include <set>

#include "backends/gpu/decode.h"
#include "backends/gpu/heads.h"

namespace nef::gpu {
namespace {

constexpr int64_t kMostCluster = 16, kTile = 64;  // blocks, keys

constexpr const char* kCode = R"device(
typedef $T$ T;
constexpr i32 kSize = $SIZE$, kGroup = $GROUP$, kCluster = $CLUSTER$, kTile = 64, kLanes = kSize / 8;
constexpr i32 kOut = kGroup * kSize, kOwn = kOut / kCluster, kDims = kSize / 32;
DEV f32 low(u32 v) { T x; x.v = u16(v); return wide(x); }
DEV f32 high(u32 v) { $HIGH$ }
DEV void load_pairs(f32 (&x)[2], u32 at) {
  u32 v;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at) : "memory");
  x[0] = low(v);
  x[1] = high(v);
}
DEV void load_pairs(f32 (&x)[4], u32 at) {
  u32 v, w;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "r"(at) : "memory");
  x[0] = low(v);
  x[1] = high(v);
  x[2] = low(w);
  x[3] = high(w);
}
struct Heads { i64 batch; i64 head; i64 row; };
struct AttendP { T* y; const T* q; const T* k; const T* v; const T* past_k; const T* past_v; i64 kv_heads; i64 keys; i64 past;
  i64 chunk; i64 stages; f64 scale; Heads ks; Heads vs; Heads past_ks; Heads past_vs; i64 q_batch; };
DEV f32 exp2_of(f32 v) { f32 r; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v)); return r; }
DEV void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
DEV void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
DEV void store_at(u32 address, u32 rank, f32 v) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(v) : "memory");
}
// `count` keys or values of one source into a tile.
DEV void fetch(u32 to_tile, const T* from, i64 row, i32 count, u32 bar, u64 policy) {
  if (row == kSize) return bulk_copy(to_tile, from, u32(count) * kSize * 2, bar, policy);
  for (i32 i = 0; i < count; ++i) bulk_copy(to_tile + u32(i) * kSize * 2, from + i * row, kSize * 2, bar, policy);
}
// Of the keys [first, last) those that come from the past, or those that are new. Not inlined: one
// thread does this, and all would keep its pointers in registers.
static __device__ __noinline__ void load_tile(const AttendP& p, i64 b, i64 h, i64 first, i64 last, u32 k_at, u32 v_at, u32 bar, bool from_past) {
  const u64 policy = read_once_policy();
  const i64 middle = p.past < first ? first : p.past > last ? last : p.past;
  const i32 n = from_past ? i32(middle - first) : i32(last - middle);
  if (n == 0) return;
  if (from_past) {
    fetch(k_at, p.past_k + b * p.past_ks.batch + h * p.past_ks.head + first * p.past_ks.row, p.past_ks.row, n, bar, policy);
    fetch(v_at, p.past_v + b * p.past_vs.batch + h * p.past_vs.head + first * p.past_vs.row, p.past_vs.row, n, bar, policy);
  } else {
    const u32 skip = u32(middle - first) * kSize * 2;
    fetch(k_at + skip, p.k + b * p.ks.batch + h * p.ks.head + (middle - p.past) * p.ks.row, p.ks.row, n, bar, policy);
    fetch(v_at + skip, p.v + b * p.vs.batch + h * p.vs.head + (middle - p.past) * p.vs.row, p.vs.row, n, bar, policy);
  }
}
// Few enough registers that a block has room beside one of the products around it.
NEF_EARLY_KERNEL(attend_one, AttendP, 256, 2) {
  extern __shared__ __align__(128) u8 memory[];
  const i32 t = i32(threadIdx.x), warp = t / 32, lane = t % 32;
  const i32 rank = i32(blockIdx.x) % kCluster, unit = i32(blockIdx.x) / kCluster;
  const i64 b = unit / p.kv_heads, h = unit % p.kv_heads;
  T* ks = (T*)memory;
  T* vs = ks + p.stages * kTile * kSize;
  f32* scores = (f32*)(vs + p.stages * kTile * kSize);  // [kTile][kGroup]
  f32* queries = scores + kTile * kGroup;               // [kOut]
  f32* sums = queries + kOut;                           // [8][kGroup]
  f32* parts = (f32*)memory;                            // [8][kOut], once keys and values are used up
  f32* others = sums + 8 * kGroup;                      // [kCluster][kOwn]
  f32* tops = others + kOut;                            // [kCluster][2 * kGroup]
  f32* own_top = tops + kCluster * 2 * kGroup;          // [2 * kGroup]
  const u32 bars = shared_address(own_top + 2 * kGroup);
  nef_let_next_begin();

  const i64 begin = rank * p.chunk;
  const i32 count = i32(p.keys - begin < 0 ? 0 : p.keys - begin < p.chunk ? p.keys - begin : p.chunk);
  const i32 tiles = (count + kTile - 1) / kTile;
  const auto size_of = [&](i32 tile) { return count - tile * kTile < kTile ? count - tile * kTile : kTile; };
  const auto load = [&](i32 tile, bool from_past) {
    const i32 stage = p.stages == 1 ? 0 : tile & 1;
    const i64 first = begin + tile * kTile;
    const u32 skip = u32(stage * kTile * kSize) * 2;
    load_tile(p, b, h, first, first + size_of(tile), shared_address(ks) + skip, shared_address(vs) + skip, bars + stage * 8, from_past);
  };
  const auto expect = [&](i32 tile) { barrier_expect(bars + (p.stages == 1 ? 0 : tile & 1) * 8, u32(size_of(tile)) * kSize * 4); };
  if (t == 0) {
    barrier_init(bars, 1);
    barrier_init(bars + 8, 1);
    barrier_inits_seen();
    if (tiles > 0) {
      expect(0);
      if ($EARLY_PAST$) load(0, true);
      if ($EARLY_NEW$) load(0, false);
    }
  }
  __syncthreads();
  cluster_arrive();
  nef_wait();
  if (t == 0) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
    if (tiles > 0 && !$EARLY_PAST$) load(0, true);
    if (tiles > 0 && !$EARLY_NEW$) load(0, false);
    if (tiles > 1) { expect(1); load(1, true); load(1, false); }
  }
  // Powers of two instead of e.
  const f32 scale = f32(p.scale) * 1.44269504089f;
  if (t < kOut / 8) {
    const V4 v = load_fresh(p.q + b * p.q_batch + h * kOut + t * 8);
#pragma unroll
    for (i32 e = 0; e < 4; ++e) { queries[t * 8 + 2 * e] = low(v.e[e]) * scale; queries[t * 8 + 2 * e + 1] = high(v.e[e]) * scale; }
  }
  __syncthreads();
  const i32 d0 = lane % kLanes * 8;
  // Registers hold a lane's part of the queries where these are few.
  constexpr bool kHeld = kGroup <= 4;
  f32 held[kHeld ? kGroup : 1][8];
#pragma unroll
  for (i32 g = 0; g < (kHeld ? kGroup : 0); ++g) {
#pragma unroll
    for (i32 e = 0; e < 8; ++e) held[g][e] = queries[g * kSize + d0 + e];
  }
  f32 top[kGroup], sum[kGroup], out[kGroup][kDims];
#pragma unroll
  for (i32 g = 0; g < kGroup; ++g) {
    top[g] = least<f32>();
    sum[g] = 0.0f;
#pragma unroll
    for (i32 d = 0; d < kDims; ++d) out[g][d] = 0.0f;
  }
  for (i32 tile = 0; tile < tiles; ++tile) {
    const i32 stage = p.stages == 1 ? 0 : tile & 1, n = size_of(tile);
    barrier_wait(bars + stage * 8, u32(tile / 2) & 1u);
    const u32 k_at = shared_address(ks + stage * kTile * kSize);
#pragma unroll 2
    for (i32 i = 0; i < 8; i += 32 / kLanes) {
      const i32 key = warp * 8 + i + lane / kLanes;
      const V4 k = load_shared(k_at + u32(key * kSize + d0) * 2);
      f32 s[kGroup];
#pragma unroll
      for (i32 g = 0; g < kGroup; ++g) {
        f32 a = 0.0f, c = 0.0f;
#pragma unroll
        for (i32 e = 0; e < 4; ++e) {
          const f32* q = kHeld ? held[kHeld ? g : 0] + 2 * e : queries + g * kSize + d0 + 2 * e;
          a = fmaf(q[0], low(k.e[e]), a);
          c = fmaf(q[1], high(k.e[e]), c);
        }
        s[g] = a + c;
#pragma unroll
        for (int mask = kLanes / 2; mask > 0; mask >>= 1) s[g] += nef_xor(s[g], mask);
      }
      if (lane % kLanes == 0) {
#pragma unroll
        for (i32 g = 0; g < kGroup; ++g) scores[key * kGroup + g] = key < n ? s[g] : least<f32>();
      }
    }
    __syncthreads();
    f32 old[kGroup];
#pragma unroll
    for (i32 g = 0; g < kGroup; ++g) {
      f32 best = op_max(scores[lane * kGroup + g], scores[(lane + 32) * kGroup + g]);
#pragma unroll
      for (int mask = 16; mask > 0; mask >>= 1) best = op_max(best, nef_xor(best, mask));
      best = op_max(top[g], best);
      old[g] = top[g] == best ? 1.0f : exp2_of(top[g] - best);
      top[g] = best;
    }
    // A warp's own keys, one weight a lane; the others of the warp read them.
    __syncthreads();
#pragma unroll
    for (i32 i = lane; i < 8 * kGroup; i += 32) {
      const f32 s = scores[warp * 8 * kGroup + i];
      f32 best = top[0];
#pragma unroll
      for (i32 g = 1; g < kGroup; ++g) best = i % kGroup == g ? top[g] : best;
      scores[warp * 8 * kGroup + i] = s == least<f32>() ? 0.0f : exp2_of(s - best);
    }
    __syncwarp();
    if (tile > 0) {
#pragma unroll
      for (i32 g = 0; g < kGroup; ++g) {
        sum[g] *= old[g];
#pragma unroll
        for (i32 d = 0; d < kDims; ++d) out[g][d] *= old[g];
      }
    }
#pragma unroll 4
    for (i32 i = 0; i < 8; ++i) {
      const i32 key = warp * 8 + i;
      f32 x[kDims];
      load_pairs(x, shared_address(vs + (stage * kTile + key) * kSize + lane * kDims));
#pragma unroll
      for (i32 g = 0; g < kGroup; ++g) {
        const f32 e = scores[key * kGroup + g];
        sum[g] += e;
        // What weighs nothing is not looked at: it may be anything.
#pragma unroll
        for (i32 d = 0; d < kDims; ++d) out[g][d] = e != 0.0f ? fmaf(e, x[d], out[g][d]) : out[g][d];
      }
    }
    __syncthreads();
    if (t == 0 && tile + 2 < tiles) { expect(tile + 2); load(tile + 2, true); load(tile + 2, false); }
  }
#pragma unroll
  for (i32 g = 0; g < kGroup; ++g) {
#pragma unroll
    for (i32 d = 0; d < kDims; ++d) parts[warp * kOut + g * kSize + lane * kDims + d] = out[g][d];
    if (lane == 0) sums[warp * kGroup + g] = sum[g];
    if (t == 0) own_top[g] = top[g];
  }
  __syncthreads();
  if (t < kGroup) {
    f32 all = 0.0f;
    for (i32 w = 0; w < 8; ++w) all += sums[w * kGroup + t];
    own_top[kGroup + t] = all;
  }
  cluster_wait();  // all blocks are there to write to
  for (i32 e = t; e < kOut; e += 256) {
    f32 all = 0.0f;
#pragma unroll
    for (i32 w = 0; w < 8; ++w) all += parts[w * kOut + e];
    store_at(shared_address(others + rank * kOwn + e % kOwn), u32(e / kOwn), all);
  }
  __syncthreads();
  for (i32 i = t; i < kCluster * 2 * kGroup; i += 256) {
    store_at(shared_address(tops + rank * 2 * kGroup + i % (2 * kGroup)), u32(i / (2 * kGroup)), own_top[i % (2 * kGroup)]);
  }
  cluster_arrive();
  cluster_wait();
  for (i32 mine = t; mine < kOwn; mine += 256) {
    const i32 e = rank * kOwn + mine, g = e / kSize;
    f32 best = least<f32>(), total = 0.0f, value = 0.0f;
#pragma unroll
    for (i32 c = 0; c < kCluster; ++c) best = op_max(best, tops[c * 2 * kGroup + g]);
#pragma unroll
    for (i32 c = 0; c < kCluster; ++c) {
      const f32 theirs = tops[c * 2 * kGroup + g];
      const f32 weight = theirs == least<f32>() ? 0.0f : theirs == best ? 1.0f : exp2_of(theirs - best);
      total += weight * tops[c * 2 * kGroup + kGroup + g];
      value += weight * others[c * kOwn + mine];
    }
    st(p.y[(b * p.kv_heads + h) * kOut + e], best == least<f32>() ? 0.0f : value / total);
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
                           {"HIGH", t == NEF_BFLOAT16 ? "return f32_of(v & 0xffff0000u);"
                                                      : "return low(v >> 16);"},
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
    const int64_t chunk =
        whole <= kTile ? (whole + 7) / 8 * 8 : (whole + kTile - 1) / kTile * kTile;
    const int64_t stages = chunk <= kTile ? 1 : 2;
    Params p;
    p.add(values.data(attention_.outputs[0]));
    for (size_t i : {0, 1, 2, 4, 5}) p.add(data(i));
    p.add(kv_heads_).add(s.keys).add(s.past).add(chunk).add(stages);
    p.add(nef_attr_float(attention_.attrs(), NEF_ATTENTION_SCALE,
                         1 / std::sqrt(static_cast<double>(size_))));
    for (const Heads& h : {s.k, s.v, s.past_k, s.past_v}) h.add_to(p);
    p.add(s.q_batch);
    Grid grid{s.batch * kv_heads_ * cluster_, 1, 256};
    grid.cluster = static_cast<uint32_t>(cluster_);
    const int64_t out = group_ * size_;
    const int64_t needed =
        stages * kTile * size_ * 4 +
        4 * (kTile * group_ + 8 * group_ + 2 * out + (cluster_ + 1) * 2 * group_) + 16;
    // Beside one of the products around it a multiprocessor has room for one block, not for two:
    // half of them would have all the work while the others had none.
    constexpr int64_t kAlone = int64_t{52} << 10;
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
