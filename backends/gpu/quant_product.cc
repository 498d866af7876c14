// SPDX-License-Identifier: Apache-2.0
// Products of quantised matrices: MatMulInteger, QLinearMatMul, MatMulNBits.
#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

// ---- integers: exact sums of 64 bits

constexpr const char* kIntegers = R"device(
typedef i32 E; typedef i64 C;
// A number for each line of a matrix: its steps are 0 where one stands for all.
struct Lines { i64 line, matrix; };
struct P { Y* y; const A* a; const B* b; i64 m; i64 n; i64 k; const A* a_zero; Lines a_zero_at; const B* b_zero; Lines b_zero_at;
  const S* a_scale; Lines a_scale_at; const S* b_scale; Lines b_scale_at; const S* y_scale; const Y* y_zero;
  i64 rank; i64 dims[16]; i64 steps_a[16]; i64 steps_b[16]; };
DEV i64 matrix_a(const P& p) { return offset_of(blockIdx.y, p.rank, p.dims, p.steps_a); }
DEV i64 matrix_b(const P& p) { return offset_of(blockIdx.y, p.rank, p.dims, p.steps_b); }
DEV i64 place(const Lines& l, i64 line, i64 matrix) { return line * l.line + matrix * l.matrix; }
struct Column { i64 at; E zero; };
DEV Column column_of(const P& p, i64 column) {
  const i64 matrix = matrix_b(p);
  return {matrix * p.k * p.n + column, p.b_zero ? E(p.b_zero[place(p.b_zero_at, column, matrix)]) : E(0)};
}
DEV E load_a(const P& p, i64 row, i64 k) {
  const i64 matrix = matrix_a(p);
  const E zero = p.a_zero ? E(p.a_zero[place(p.a_zero_at, row, matrix)]) : E(0);
  return E(p.a[(matrix * p.m + row) * p.k + k]) - zero;
}
DEV E load_b(const P& p, i64 k, const Column& c) { return E(p.b[c.at + k * p.n]) - c.zero; }
DEV void finish(const P& p, i64 row, i64 column, C sum) {
  Y& y = p.y[(i64(blockIdx.y) * p.m + row) * p.n + column];
  $FINISH$
}
)device";

std::string integer_source(const Region& region, const Node& node) {
  const bool linear = node.op == NEF_OP_QLINEAR_MATMUL;
  const std::string types = type_text("A", region.input(node, 0).dtype) +
                            type_text("B", region.input(node, linear ? 3 : 1).dtype) +
                            type_text("S", linear ? region.input(node, 1).dtype : NEF_FLOAT32) +
                            type_text("Y", region.output(node, 0).dtype);
  const char* finish = linear ? R"device(
  const f64 a = f64(ld(p.a_scale[place(p.a_scale_at, row, matrix_a(p))]));
  const f64 b = f64(ld(p.b_scale[place(p.b_scale_at, column, matrix_b(p))]));
  const f64 v = f64(sum) * (a * b / f64(ld(p.y_scale[0])));
  y = v != v ? p.y_zero[0] : saturated<Y>(rint(v) + f64(p.y_zero[0]));)device"
                              : "y = i32(sum);";
  return fill((types + kIntegers + kTile).c_str(), {{"FINISH", finish}});
}

struct Lines {
  int64_t line = 0, matrix = 0;
};
// Scale or zero point: one for all, one per line, or one per line of every matrix.
Lines lines_of(const Call& c, size_t input, int64_t lines) {
  if (!c.has(input)) return {};
  const Dims d = c.in(input);
  if (d.count() == 1) return {};
  return {1, d.rank == 1 ? 0 : lines};
}

// Steps through the matrices of an operand along the batch axes of the result.
Dims batch_steps(const Dims& v, int batch_rank) {
  Dims leading;
  leading.rank = std::max(v.rank - 2, 0);
  std::copy(v.at, v.at + leading.rank, leading.at);
  return broadcast_steps(leading, batch_rank);
}

void launch_integer(const Call& c, Module* module) {
  const bool linear = c.op() == NEF_OP_QLINEAR_MATMUL;
  const size_t b_input = linear ? 3 : 1;
  const Dims a = c.in(0), b = c.in(b_input), y = c.out();
  if (y.count() == 0) return;
  const int64_t k = a.at[a.rank - 1];
  const int64_t m = a.rank == 1 ? 1 : a.at[a.rank - 2], n = b.rank == 1 ? 1 : b.at[b.rank - 1];
  Dims batch;
  batch.rank = std::max(std::max(a.rank, b.rank) - 2, 0);
  std::copy(y.at, y.at + batch.rank, batch.at);
  Params p;
  p.add(c.to()).add(c.from(0)).add(c.from(b_input)).add(m).add(n).add(k);
  const auto add_lines = [&](bool has, size_t input, int64_t lines) {
    const Lines l = has ? lines_of(c, input, lines) : Lines{};
    p.add(has ? c.from(input) : nullptr).add(l.line).add(l.matrix);
  };
  add_lines(true, 2, m);
  add_lines(true, linear ? 5 : 3, n);
  add_lines(linear, 1, m);
  add_lines(linear, 4, n);
  p.add(linear ? c.from(6) : nullptr).add(linear ? c.from(7) : nullptr);
  p.add(int64_t{batch.rank}).add(batch.at, batch.rank, NEF_MAX_RANK, 1);
  for (const Dims* v : {&a, &b}) {
    p.add(batch_steps(*v, batch.rank).at, batch.rank, NEF_MAX_RANK, 0);
  }
  c.launch(*module, "tile", tile_grid(m, n, batch.count()), p);
}

// ---- MatMulNBits: weights are unpacked as they are read

constexpr const char* kPacked = R"device(
typedef $E$ E; typedef $E$ C;
struct P { X* y; const X* a; const u8* b; const X* scales; const Z* zeros; const X* bias; i64 m; i64 n; i64 k; i64 bits; i64 block;
  i64 blocks; i64 row_bytes; i64 zero_bytes; };
DEV i32 unpacked(const u8* row, i64 i, i64 bits) {
  const i64 bit = i * bits;
  return row[bit / 8] >> (bit % 8) & ((1 << bits) - 1);
}
DEV E zero_of(const P& p, i64 column, i64 at) {
  if (!p.zeros) return E(1 << (p.bits - 1));
  $ZERO$
}
struct Column { i64 at; const u8* row; };
DEV Column column_of(const P& p, i64 column) { return {column, p.b + column * p.row_bytes}; }
DEV E load_a(const P& p, i64 row, i64 k) { return E(ld(p.a[row * p.k + k])); }
DEV E load_b(const P& p, i64 k, const Column& c) {
  const u32 at = u32(k) / u32(p.block);
  return $WEIGHT$ * E(ld(p.scales[c.at * p.blocks + at]));
}
DEV void finish(const P& p, i64 row, i64 column, C sum) {
  if (p.bias) sum += C(ld(p.bias[column]));
  st(p.y[row * p.n + column], sum);
}
// Few rows: a warp for each column, its threads along k.
struct Add { __device__ C operator()(C a, C b) const { return a + b; } };
NEF_KERNEL(few_rows, P) {
  __shared__ C unused[8];
  const i64 warp = thread_id() / 32, lane = threadIdx.x % 32;
  const i64 column = warp < p.n ? warp : p.n - 1;
  const Column c = column_of(p, column);
  C sum[4] = {C(0), C(0), C(0), C(0)};
  for (i64 base = lane * 8; base < p.k; base += 256) {
    for (i64 k = base; k < base + 8 && k < p.k; ++k) {
      const E w = load_b(p, k, c);
      for (i64 r = 0; r < p.m; ++r) sum[r] += load_a(p, r, k) * w;
    }
  }
  for (i64 r = 0; r < p.m; ++r) {
    const C whole = join_row(sum[r], unused, 32, Add());
    if (lane == 0 && warp < p.n) finish(p, r, column, whole);
  }
}
)device";

// Many rows: the weights in the dtype of a first, then a product by a library.
constexpr const char* kWiden = R"device(
NEF_KERNEL(widen, P) {
  const i64 n = p.n * p.k;
  for (i64 i = thread_id(); i < n; i += thread_count()) {
    const i64 column = i / p.k;
    st(((X*)p.y)[i], load_b(p, i % p.k, column_of(p, column)));
  }
}
)device";
constexpr int64_t kFewRows = 4;

bool widens(const Call& c) {
  const int64_t n = c.attr_int(NEF_MATMUL_NBITS_N);
  return c.type() != NEF_FLOAT64 && n > 0 && c.out().count() / n > kFewRows;
}
size_t packed_scratch(const Call& c) {
  if (!widens(c)) return 0;
  return static_cast<size_t>(c.attr_int(NEF_MATMUL_NBITS_N) * c.attr_int(NEF_MATMUL_NBITS_K)) *
         c.element_size();
}
void multiply_wide(const Call& c, int64_t m, int64_t n, int64_t k) {
  Gemm g;
  g.dtype = c.type();
  g.m = m;
  g.n = n;
  g.k = g.lda = g.ldb = k;
  g.ldd = n;
  g.trans_b = true;
  g.a = c.from(0);
  g.b = c.scratch();
  g.bias = c.from(4);
  g.d = c.to();
  c.run().device.gemm(g, c.run().stream);
}

std::string packed_source(const Region& region, const Node& node) {
  const nef_dtype x = region.input(node, 0).dtype;
  const int64_t bits = nef_attr_int(node.attrs(), NEF_MATMUL_NBITS_BITS, 4);
  if (bits != 2 && bits != 4 && bits != 8) throw Refusal{"MatMulNBits of bits that cross bytes"};
  const nef_dtype zeros = node.has_input(3) ? region.input(node, 3).dtype : NEF_UINT8;
  const char* zero = is_float(zeros)
                         ? "return E(ld(p.zeros[column * p.blocks + at]));"
                         : "return E(unpacked(p.zeros + column * p.zero_bytes, at, p.bits));";
  const nef_dtype b = region.input(node, 1).dtype;
  const std::string weight = is_float8(b)
                                 ? std::string("E(wide(") + memory_type(b) + "{c.row[k]}))"
                                 : "(E(unpacked(c.row, k, p.bits)) - zero_of(p, c.at, at))";
  return fill((type_text("X", x) + type_text("Z", zeros) + kPacked + kWiden + kTile).c_str(),
              {{"E", x == NEF_FLOAT64 ? "f64" : "f32"}, {"ZERO", zero}, {"WEIGHT", weight}});
}

void launch_packed(const Call& c, Module* module) {
  const int64_t k = c.attr_int(NEF_MATMUL_NBITS_K), n = c.attr_int(NEF_MATMUL_NBITS_N);
  const int64_t bits = c.attr_int(NEF_MATMUL_NBITS_BITS, 4);
  const int64_t block = c.attr_int(NEF_MATMUL_NBITS_BLOCK_SIZE), blocks = (k + block - 1) / block;
  const int64_t count = c.out().count(), m = n == 0 ? 0 : count / n;
  if (count == 0) return;
  const auto params = [&](char* y) {
    Params p;
    p.add(y);
    for (size_t i = 0; i < 5; ++i) p.add(c.from(i));
    p.add(m).add(n).add(k).add(bits).add(block).add(blocks);
    return p.add(blocks * block * bits / 8).add((blocks * bits + 7) / 8);
  };
  const Params p = params(c.to());
  if (m <= kFewRows) return c.launch(*module, "few_rows", grid_for(n * 32), p);
  if (widens(c) && c.run().device.has_gemm(c.type())) {
    c.launch(*module, "widen", grid_for(n * k), params(c.scratch()));
    return multiply_wide(c, m, n, k);
  }
  c.launch(*module, "tile", tile_grid(m, n, 1), p);
}

constexpr OpKernel kKernels[] = {
    {NEF_OP_MATMUL_INTEGER, "integer product", integer_source, launch_integer},
    {NEF_OP_QLINEAR_MATMUL, "quantised product", integer_source, launch_integer},
    {NEF_OP_MATMUL_NBITS, "product of packed weights", packed_source, launch_packed,
     packed_scratch},
};

}  // namespace

std::span<const OpKernel> quant_product_kernels() { return kKernels; }

}  // namespace nef::gpu
