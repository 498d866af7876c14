// SPDX-License-Identifier: Apache-2.0
// Random numbers, which are a function of the seed and the place, to the last bit on every device;
// and LinearAttention.
#include <cmath>

#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

constexpr const char* kRandom = R"device(
DEV u64 mix(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
// In [0, 1).
DEV f64 unit(u64 seed, u64 counter) {
  const u64 step = 0x9e3779b97f4a7c15ull;
  return f64(mix(mix(seed + step) + (counter + 1) * step) >> 11) * 0x1p-53;
}
// A product that is rounded before it is added to.
#ifdef NEF_HOST
#define __dmul_rn(a, b) ((a) * (b))
#endif
struct P { Y* y; const X* x; i64 n; u64 seed; f64 low; f64 range; };
NEF_KERNEL(random, P) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) put_number(p.y[i], $VALUE$);
}
)device";

std::string random_source(const Region& region, const Node& node) {
  const nef_dtype y = region.output(node, 0).dtype;
  const char* value = "p.low + __dmul_rn(p.range, unit(p.seed, u64(i)))";
  if (node.op == NEF_OP_BERNOULLI) value = "unit(p.seed, u64(i)) < f64(ld(p.x[i])) ? 1.0 : 0.0";
  const bool reads = node.op == NEF_OP_BERNOULLI;
  return fill((type_text("X", reads ? region.input(node, 0).dtype : y) + type_text("Y", y) +
               kKernelCommon + kRandom)
                  .c_str(),
              {{"VALUE", value}});
}

void launch_random(const Call& c, Module* module) {
  const int64_t n = c.out().count();
  if (n == 0) return;
  double low = 0, range = 1;
  int64_t seed = 0;
  if (c.op() == NEF_OP_RANDOM_UNIFORM) {
    seed = c.attr_int(NEF_RANDOM_UNIFORM_SEED);
    low = c.attr_float(NEF_RANDOM_UNIFORM_LOW);
    range = c.attr_float(NEF_RANDOM_UNIFORM_HIGH, 1) - low;
  } else {
    seed = c.attr_int(NEF_BERNOULLI_SEED);
  }
  const bool reads = c.op() == NEF_OP_BERNOULLI;
  Params p;
  p.add(c.to()).add(reads ? c.from() : nullptr).add(n).add(seed).add(low).add(range);
  c.launch(*module, "random", grid_for(n), p);
}

// ---- LinearAttention: columns of the state never meet, so each is one thread's

constexpr const char* kLinear = R"device(
struct P { X* y; Y* present; const X* q; const X* k; const X* v; const S* past; const X* decay; const X* beta; f64* state; i64 columns;
  i64 steps; i64 heads; i64 keys; i64 values; i64 q_heads; i64 wide_decay; i64 shared_beta; f64 scale; };
NEF_KERNEL(linear_attention, P) {
  for (i64 i = thread_id(); i < p.columns; i += thread_count()) {
    const i64 m = i % p.values, bh = i / p.values, b = bh / p.heads, h = bh % p.heads, group = p.q_heads / p.heads;
    f64* s = p.state + bh * p.keys * p.values + m;
    for (i64 d = 0; d < p.keys; ++d) s[d * p.values] = p.past ? f64(ld(p.past[(bh * p.keys + d) * p.values + m])) : 0.0;
    for (i64 t = 0; t < p.steps; ++t) {
      const i64 row = b * p.steps + t, head = row * p.heads + h;
      for (i64 d = 0; d < p.keys && p.decay; ++d) s[d * p.values] *= exp(f64(ld(p.decay[p.wide_decay ? head * p.keys + d : head])));
      f64 answer = f64(ld(p.v[head * p.values + m]));
      if (p.beta) {
        for (i64 d = 0; d < p.keys; ++d) answer -= s[d * p.values] * f64(ld(p.k[head * p.keys + d]));
        answer *= f64(ld(p.beta[p.shared_beta ? row : head]));
      }
      for (i64 d = 0; d < p.keys; ++d) s[d * p.values] += f64(ld(p.k[head * p.keys + d])) * answer;
      for (i64 g = h * group; g < (h + 1) * group; ++g) {
        f64 sum = 0;
        for (i64 d = 0; d < p.keys; ++d) sum += f64(ld(p.q[(row * p.q_heads + g) * p.keys + d])) * s[d * p.values];
        if (p.y) st(p.y[(row * p.q_heads + g) * p.values + m], p.scale * sum);
      }
    }
    for (i64 d = 0; d < p.keys && p.present; ++d) st(p.present[(bh * p.keys + d) * p.values + m], s[d * p.values]);
  }
}
)device";

std::string linear_source(const Region& region, const Node& node) {
  if (!node.has_output(1)) throw Refusal{"LinearAttention whose state is not wanted"};
  const nef_dtype x = region.input(node, 0).dtype;
  return type_text("X", x) + type_text("Y", region.output(node, 1).dtype) +
         type_text("S", node.has_input(3) ? region.input(node, 3).dtype : x) + kLinear;
}

size_t linear_scratch(const Call& c) { return static_cast<size_t>(c.out(1).count()) * 8; }

void launch_linear(const Call& c, Module* module) {
  const Dims state = c.out(1);
  const int64_t heads = state.at[1], keys = state.at[2], values = state.at[3];
  const int64_t columns = state.at[0] * heads * values;
  if (columns == 0) return;
  double scale = c.attr_float(NEF_LINEAR_ATTENTION_SCALE);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(keys));
  Params p;
  p.add(c.to(0)).add(c.to(1));
  for (size_t i = 0; i < 6; ++i) p.add(c.from(i));
  p.add(c.scratch()).add(columns).add(c.in(0).at[1]).add(heads).add(keys).add(values);
  p.add(c.attr_int(NEF_LINEAR_ATTENTION_Q_NUM_HEADS));
  p.add(int64_t{c.has(4) && c.in(4).at[2] != heads}).add(int64_t{c.has(5) && c.in(5).at[2] == 1});
  p.add(scale);
  c.launch(*module, "linear_attention", grid_for(columns), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_RANDOM_UNIFORM, "random", random_source, launch_random, nullptr, 1u << 0},
    {NEF_OP_BERNOULLI, "random", random_source, launch_random},
    {NEF_OP_LINEAR_ATTENTION, "linear attention", linear_source, launch_linear, linear_scratch},
};

}  // namespace

std::span<const OpKernel> generate_kernels() { return kKernels; }

}  // namespace nef::gpu
