// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/kernel.h"

#include <array>

namespace nef::gpu {
namespace {

class KernelStage : public Stage {
 public:
  KernelStage(const OpKernel& kernel, const Region& region, const Node& node)
      : kernel_(kernel), node_(node) {
    if (kernel.source != nullptr) source_ = kernel.source(region, node);
  }
  std::string source() const override { return source_; }
  const char* name() const override { return kernel_.name; }
  bool may_fault() const override { return kernel_.may_fault; }
  size_t scratch_bytes(const Values& values) const override {
    return kernel_.scratch == nullptr ? 0 : kernel_.scratch(Call(node_, values, nullptr));
  }
  void launch(const Run& run, Module* module) const override {
    kernel_.launch(Call(node_, run.values, &run), module);
  }

 private:
  const OpKernel& kernel_;
  Node node_;
  std::string source_;
};

using Table = std::array<const OpKernel*, NEF_OP_COUNT_>;

Table all_kernels() {
  Table table{};
  for (const auto& family :
       {conv_kernels(), pool_kernels(), order_kernels(), sort_kernels(), index_kernels(),
        scatter_kernels(), channel_kernels(), quant_kernels(), quant_product_kernels(),
        resize_kernels(), sample_kernels(), einsum_kernels(), rnn_kernels(), generate_kernels()}) {
    for (const OpKernel& k : family) table[k.op] = &k;
  }
  return table;
}

}  // namespace

const OpKernel* find_kernel(nef_op op) {
  static const Table table = all_kernels();
  return op > NEF_OP_INVALID && op < NEF_OP_COUNT_ ? table[op] : nullptr;
}

std::unique_ptr<Stage> kernel_stage(const OpKernel& kernel, const Region& region,
                                    const Node& node) {
  return std::make_unique<KernelStage>(kernel, region, node);
}

std::string type_text(const char* name, nef_dtype dtype) {
  const char* wide = is_float(dtype) ? "f64" : is_unsigned(dtype) ? "u64" : "i64";
  return std::string("typedef ") + memory_type(dtype) + " " + name + "; typedef " + wide + " " +
         name + "D;\n";
}

const char* const kKernelCommon = R"device(
template <class S> DEV void put(S& o, f64 v) { st(o, v); }
template <class S> DEV void put(S& o, i64 v) { o = S(v); }
template <class S> DEV void put(S& o, u64 v) { o = S(v); }
DEV void put(b8& o, u64 v) { o.v = v ? 1 : 0; }
template <class S> DEV void put_number(S& o, f64 v) {
  if constexpr (Type<typename Reg<S>::T>::flt) st(o, v);
  else o = saturated<S>(rint(v));
}
DEV void put_number(b8& o, f64 v) { o.v = v != 0 ? 1 : 0; }
struct Fault { i64 set, index, axis, size; };
DEV void note_fault(Fault* f, i64 index, i64 axis, i64 size) {
  if (f->set == 0) { f->index = index; f->axis = axis; f->size = size; f->set = 1; }
}
// An index from the front; -1 for one out of range, which is noted.
DEV i64 index_of(i64 index, i64 axis, i64 size, Fault* f) {
  const i64 at = index < 0 ? index + size : index;
  if (at >= 0 && at < size) return at;
  note_fault(f, index, axis, size);
  return -1;
}
// A flat position as coordinates of `rank` dims.
template <i32 kRank> DEV void split(u64 at, const i64* dims, i64* out) {
  if ((at >> 32) == 0) {
    u32 left = u32(at);
    for (i32 d = kRank - 1; d > 0; --d) { const u32 n = u32(dims[d]), q = left / n; out[d] = i64(left - q * n); left = q; }
    if (kRank > 0) out[0] = i64(left);
    return;
  }
  for (i32 d = kRank - 1; d >= 0; --d) { const u64 n = u64(dims[d]), q = at / n; out[d] = i64(at - q * n); at = q; }
}
template <class T> DEV T clamped(T v, T low, T high) { return v < low ? low : v > high ? high : v; }
)device";

// y[row, column] = sum over k of a[row, k] b[k, column]: 64 x 64 a block, 4 x 4 a thread. The text
// before it says E (what is multiplied), C (what is summed up), P (parameters with m, n, k), and
// how elements are had:
//   struct Column; Column column_of(const P&, i64 column);
//   E load_a(const P&, i64 row, i64 k); E load_b(const P&, i64 k, const Column&);
//   void finish(const P&, i64 row, i64 column, C sum);
// blockIdx.y is theirs.
const char* const kTile = R"device(
NEF_KERNEL(tile, P) {
  __shared__ E as[16][65];
  __shared__ E bs[16][65];
  const i32 t = i32(threadIdx.x), tr = t / 16, tc = t % 16;
  const i64 column_tiles = (p.n + 63) / 64;
  const i64 row0 = i64(blockIdx.x) / column_tiles * 64, column0 = i64(blockIdx.x) % column_tiles * 64;
  const bool has_column = column0 + t % 64 < p.n;
  const Column column = column_of(p, has_column ? column0 + t % 64 : 0);
  C sum[4][4];
  for (i32 i = 0; i < 4; ++i) for (i32 j = 0; j < 4; ++j) sum[i][j] = C(0);
  for (i64 k0 = 0; k0 < p.k; k0 += 16) {
    for (i32 i = 0; i < 4; ++i) {
      const i64 row = row0 + t / 16 + 16 * i, ka = k0 + t % 16;
      as[t % 16][t / 16 + 16 * i] = row < p.m && ka < p.k ? load_a(p, row, ka) : E(0);
      const i64 kb = k0 + t / 64 + 4 * i;
      bs[t / 64 + 4 * i][t % 64] = has_column && kb < p.k ? load_b(p, kb, column) : E(0);
    }
    __syncthreads();
    const i32 depth = p.k - k0 < 16 ? i32(p.k - k0) : 16;
    for (i32 k = 0; k < depth; ++k) {
#pragma unroll
      for (i32 i = 0; i < 4; ++i) {
#pragma unroll
        for (i32 j = 0; j < 4; ++j) sum[i][j] += C(as[k][tr + 16 * i]) * C(bs[k][tc + 16 * j]);
      }
    }
    __syncthreads();
  }
  for (i32 i = 0; i < 4; ++i) {
    for (i32 j = 0; j < 4; ++j) {
      const i64 row = row0 + tr + 16 * i, at = column0 + tc + 16 * j;
      if (row < p.m && at < p.n) finish(p, row, at, sum[i][j]);
    }
  }
}
)device";

Grid tile_grid(int64_t rows, int64_t columns, int64_t batches) {
  if (batches > 65535) {
    throw BackendError(NEF_LIMIT_EXCEEDED, "a product of more than 65535 matrices at once");
  }
  return {(rows + 63) / 64 * ((columns + 63) / 64), batches, 256};
}

}  // namespace nef::gpu
