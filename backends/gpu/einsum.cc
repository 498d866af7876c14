// SPDX-License-Identifier: Apache-2.0
// Einsum: every label is an axis of one loop. Two operands are a product of matrices whose rows,
// columns and sums are labels; any other number goes result by result.
#include <cctype>

#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

// Axes 0..51 are the letters, then come the broadcast dims of "...", right-aligned.
constexpr int kLetters = 52, kAxes = kLetters + NEF_MAX_RANK;
constexpr size_t kMostInputs = 4;

int letter_axis(char ch) { return ch >= 'a' ? ch - 'a' + 26 : ch - 'A'; }

// f(axis of the loop, axis of the tensor) for each label of a term such as "b...i".
template <typename F>
void for_labels(std::string_view term, int rank, F f) {
  const auto letters = static_cast<int>(std::count_if(
      term.begin(), term.end(), [](unsigned char ch) { return std::isalpha(ch) != 0; }));
  int d = 0;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term[i] == '.') {
      const int hidden = rank - letters;
      for (int k = 0; k < hidden; ++k) f(kAxes - hidden + k, d++);
      i += 2;
    } else if (term[i] != ' ') {
      f(letter_axis(term[i]), d++);
    }
  }
}

struct Loop {
  int64_t size[kAxes];
  int uses[kAxes] = {};
  int64_t step[kMostInputs][kAxes] = {};
  int64_t out_step[kAxes] = {};
  bool in_output[kAxes] = {};
};

Loop make_loop(const Call& c) {
  const std::string_view text = c.string(NEF_EINSUM_EQUATION);
  const size_t arrow = std::min(text.find("->"), text.size());
  std::string_view terms = text.substr(0, arrow);
  Loop loop;
  std::fill(std::begin(loop.size), std::end(loop.size), 1);
  for (size_t i = 0; i < c.inputs(); ++i) {
    const size_t comma = std::min(terms.find(','), terms.size());
    const Dims x = c.in(i), dense = dense_steps(x);
    for_labels(terms.substr(0, comma), x.rank, [&](int axis, int d) {
      if (x.at[d] != 1) loop.size[axis] = x.at[d];
      loop.step[i][axis] += x.at[d] == 1 ? 0 : dense.at[d];
      ++loop.uses[axis];
    });
    terms.remove_prefix(std::min(comma + 1, terms.size()));
  }
  const Dims y = c.out(), dense = dense_steps(y);
  const auto mark = [&](int axis, int d) {
    loop.out_step[axis] = dense.at[d];
    loop.in_output[axis] = true;
  };
  if (arrow < text.size()) {
    for_labels(text.substr(arrow + 2), y.rank, mark);
    return loop;
  }
  // Broadcast dims first, then the labels that occur once, in order.
  int d = 0;
  for (int axis = kLetters; axis < kAxes; ++axis) {
    if (loop.uses[axis] > 0) mark(axis, d++);
  }
  for (int axis = 0; axis < kLetters; ++axis) {
    if (loop.uses[axis] == 1) mark(axis, d++);
  }
  return loop;
}

constexpr int kRoom = 16;  // axes of one walk
constexpr const char* kWalk = R"device(
struct Walk { i64 count; i64 rank; i64 dims[16]; i64 sy[16]; i64 s0[16]; i64 s1[16]; i64 s2[16]; i64 s3[16]; };
DEV i64 along(const Walk& w, u64 at, const i64* steps) { return offset_of(at, w.rank, w.dims, steps); }
)device";

constexpr const char* kPair = R"device(
typedef $E$ E; typedef $C$ C;
struct P { X* y; const X* a; const X* b; i64 m; i64 n; i64 k; Walk batch; Walk rows; Walk columns; Walk sums; };
struct Column { i64 at; };
DEV Column column_of(const P& p, i64 column) {
  return {along(p.batch, blockIdx.y, p.batch.s1) + along(p.columns, u64(column), p.columns.s1)};
}
DEV E load_a(const P& p, i64 row, i64 k) {
  return E(ld(p.a[along(p.batch, blockIdx.y, p.batch.s0) + along(p.rows, u64(row), p.rows.s0) + along(p.sums, u64(k), p.sums.s0)]));
}
DEV E load_b(const P& p, i64 k, const Column& c) { return E(ld(p.b[c.at + along(p.sums, u64(k), p.sums.s1)])); }
DEV void finish(const P& p, i64 row, i64 column, C sum) {
  X& y = p.y[along(p.batch, blockIdx.y, p.batch.sy) + along(p.rows, u64(row), p.rows.sy) + along(p.columns, u64(column), p.columns.sy)];
  $STORE$
}
)device";

constexpr const char* kAny = R"device(
struct P { X* y; const X* x0; const X* x1; const X* x2; const X* x3; Walk outer; Walk sums; };
NEF_KERNEL(einsum, P) {
  for (i64 o = thread_id(); o < p.outer.count; o += thread_count()) {
    XD sum = 0;
    for (i64 k = 0; k < p.sums.count; ++k) {
      XD v = XD(ld(p.x0[along(p.outer, u64(o), p.outer.s0) + along(p.sums, u64(k), p.sums.s0)]));
      if (p.x1) v = op_mul(v, XD(ld(p.x1[along(p.outer, u64(o), p.outer.s1) + along(p.sums, u64(k), p.sums.s1)])));
      if (p.x2) v = op_mul(v, XD(ld(p.x2[along(p.outer, u64(o), p.outer.s2) + along(p.sums, u64(k), p.sums.s2)])));
      if (p.x3) v = op_mul(v, XD(ld(p.x3[along(p.outer, u64(o), p.outer.s3) + along(p.sums, u64(k), p.sums.s3)])));
      sum = op_add(sum, v);
    }
    put(p.y[along(p.outer, u64(o), p.outer.sy)], sum);
  }
}
)device";

std::string source(const Region& region, const Node& node) {
  if (node.inputs.size() > kMostInputs) throw Refusal{"Einsum of more than four operands"};
  const nef_dtype t = region.input(node, 0).dtype;
  const std::string head = type_text("X", t) + kKernelCommon + kWalk;
  if (node.inputs.size() != 2) return head + kAny;
  const bool narrow = is_narrow(t) || t == NEF_FLOAT32;
  const char* type = narrow ? "f32" : is_float(t) ? "f64" : "u64";
  return fill((head + kPair + kTile).c_str(),
              {{"E", type}, {"C", type}, {"STORE", is_float(t) ? "st(y, sum);" : "put(y, sum);"}});
}

// The axes of a loop that `belongs` says, as fields of a kernel's Walk.
template <typename F>
int64_t add_walk(Params& p, const Loop& loop, F belongs) {
  Walk w;
  w.steps.resize(1 + kMostInputs);
  for (int a = 0; a < kAxes; ++a) {
    if (loop.uses[a] == 0 || !belongs(a)) continue;
    if (w.dims.rank == kRoom) throw BackendError(NEF_LIMIT_EXCEEDED, "Einsum of too many labels");
    const int d = w.dims.rank++;
    w.dims.at[d] = loop.size[a];
    w.steps[0].at[d] = loop.out_step[a];
    for (size_t i = 0; i < kMostInputs; ++i) w.steps[1 + i].at[d] = loop.step[i][a];
  }
  const int64_t count = w.dims.count();
  w.simplify();
  p.add(count).add(int64_t{w.dims.rank}).add(w.dims.at, w.dims.rank, kRoom, 1);
  for (const Dims& s : w.steps) p.add(s.at, w.dims.rank, kRoom, 0);
  return count;
}

void launch(const Call& c, Module* module) {
  if (c.out().count() == 0) return;
  const Loop loop = make_loop(c);
  const auto sums = [&](int a) { return !loop.in_output[a]; };
  Params p;
  p.add(c.to());
  if (c.inputs() != 2) {
    for (size_t i = 0; i < kMostInputs; ++i) p.add(c.from(i));
    const int64_t n = add_walk(p, loop, [&](int a) { return loop.in_output[a]; });
    add_walk(p, loop, sums);
    return c.launch(*module, "einsum", grid_for(n), p);
  }
  const auto in = [&](int input, int a) { return loop.step[input][a] != 0; };
  const auto rows = [&](int a) { return loop.in_output[a] && in(0, a) && !in(1, a); };
  const auto columns = [&](int a) { return loop.in_output[a] && !in(0, a) && in(1, a); };
  const auto batch = [&](int a) { return loop.in_output[a] && in(0, a) == in(1, a); };
  Params counted;
  const int64_t m = add_walk(counted, loop, rows), n = add_walk(counted, loop, columns);
  p.add(c.from(0)).add(c.from(1)).add(m).add(n).add(add_walk(counted, loop, sums));
  const int64_t batches = add_walk(p, loop, batch);
  add_walk(p, loop, rows);
  add_walk(p, loop, columns);
  add_walk(p, loop, sums);
  c.launch(*module, "tile", tile_grid(m, n, batches), p);
}

constexpr OpKernel kKernels[] = {{NEF_OP_EINSUM, "einsum", source, launch}};

}  // namespace

std::span<const OpKernel> einsum_kernels() { return kKernels; }

}  // namespace nef::gpu
