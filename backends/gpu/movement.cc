// SPDX-License-Identifier: Apache-2.0
// Ops that move elements without looking at them: strided copies, and gathers that follow indices.
#include "backends/gpu/stage.h"

namespace nef::gpu {
namespace {

int checked_axis(const char* what, int64_t axis, int rank) {
  const int64_t d = axis < 0 ? axis + rank : axis;
  if (d >= 0 && d < rank) return static_cast<int>(d);
  throw BackendError(NEF_OUT_OF_RANGE, std::string(what) + ": index " + std::to_string(axis) +
                                           " is outside axis 0 of size " + std::to_string(rank));
}

// Base of the stages here: one node, elements of one size.
class Movement : public Stage {
 public:
  Movement(const Region& region, const Node& node)
      : node_(node), size_(backends::dtype_size(element_of(region, node))) {}

  // Split may have outputs that nobody wants, ConstantOfShape has no data input.
  static nef_dtype element_of(const Region& region, const Node& node) {
    return node.op == NEF_OP_SPLIT ? region.input(node, 0).dtype : region.output(node, 0).dtype;
  }

 protected:
  Dims in(const Run& run, size_t i = 0) const { return run.values.dims(node_.inputs[i]); }
  Dims out(const Run& run, size_t i = 0) const { return run.values.dims(node_.outputs[i]); }
  char* from(const Run& run, size_t i = 0) const { return run.values.data(node_.inputs[i]); }
  char* to(const Run& run, size_t i = 0) const { return run.values.data(node_.outputs[i]); }
  int64_t host(const Run& run, size_t input, int64_t i) const {
    return run.values.host_int(node_.inputs[input], i);
  }
  int64_t host_count(const Run& run, size_t input) const {
    return run.values.count(node_.inputs[input]);
  }
  int64_t bytes() const { return static_cast<int64_t>(size_); }

  Node node_;
  size_t size_;
};

// The same bytes under another shape.
class Copy : public Movement {
 public:
  using Movement::Movement;
  const char* name() const override { return "copy"; }
  void launch(const Run& run, Module*) const override {
    const auto n = static_cast<size_t>(out(run).count()) * size_;
    if (n > 0) run.device.copy_on_device(to(run), from(run), n, run.stream);
  }
};

// The output in row-major order of `walk.dims`, read from x with steps.
class Strided : public Movement {
 public:
  using Movement::Movement;
  std::string source() const override { return strided_copy_source(size_); }
  const char* name() const override { return "strided copy"; }

  void launch(const Run& run, Module* module) const override {
    if (out(run).count() == 0) return;
    switch (node_.op) {
      case NEF_OP_TRANSPOSE: return transpose(run, *module);
      case NEF_OP_EXPAND:
        return copy(run, *module, out(run), broadcast_steps(in(run), out(run).rank));
      case NEF_OP_SLICE: return slice(run, *module);
      case NEF_OP_TILE: return tile(run, *module);
      case NEF_OP_DEPTH_TO_SPACE: return depth_to_space(run, *module);
      default: return space_to_depth(run, *module);
    }
  }

 private:
  void copy(const Run& run, Module& module, const Dims& dims, const Dims& steps,
            int64_t base = 0) const {
    launch_strided_copy(run, module, {dims, {dense_steps(dims), steps}}, to(run),
                        from(run) + base * bytes(), size_);
  }
  void transpose(const Run& run, Module& module) const {
    const Dims x = in(run), dense = dense_steps(x);
    const auto perm = attr_ints(node_, NEF_TRANSPOSE_PERM);
    Dims steps = dense;
    for (int d = 0; d < x.rank; ++d) {
      const int axis =
          perm.empty() ? x.rank - 1 - d : front_axis(perm[static_cast<size_t>(d)], x.rank);
      steps.at[d] = dense.at[axis];
    }
    copy(run, module, out(run), steps);
  }
  void slice(const Run& run, Module& module) const {
    const Dims x = in(run), y = out(run);
    Dims steps = dense_steps(x);
    int64_t base = 0;
    for (int64_t i = 0; i < host_count(run, 1); ++i) {
      const int axis = node_.has_input(3) ? checked_axis("Slice: axes", host(run, 3, i), x.rank)
                                          : static_cast<int>(i);
      const int64_t step = node_.has_input(4) ? host(run, 4, i) : 1;
      const int64_t n = x.at[axis];
      int64_t start = host(run, 1, i);
      if (start < 0) start += n;
      start = std::clamp<int64_t>(start, 0, std::max<int64_t>(step > 0 ? n : n - 1, 0));
      base += start * steps.at[axis];
      // A step is only taken when there is a second element, and then it cannot overflow.
      steps.at[axis] = y.at[axis] > 1 ? steps.at[axis] * step : 0;
    }
    copy(run, module, y, steps, base);
  }
  // Each axis as (repeats, size).
  void tile(const Run& run, Module& module) const {
    const Dims x = in(run), y = out(run), dense = dense_steps(x);
    if (2 * x.rank > NEF_MAX_RANK) {
      throw BackendError(NEF_LIMIT_EXCEEDED, "Tile on a GPU takes tensors of rank 8 at most");
    }
    Dims dims, steps;
    dims.rank = steps.rank = 2 * x.rank;
    for (int d = 0; d < x.rank; ++d) {
      dims.at[2 * d] = y.at[d] / x.at[d];
      dims.at[2 * d + 1] = x.at[d];
      steps.at[2 * d + 1] = dense.at[d];
    }
    copy(run, module, dims, steps);
  }
  void depth_to_space(const Run& run, Module& module) const {
    const Dims x = in(run), y = out(run);
    const int64_t b = nef_attr_int(node_.attrs(), NEF_DEPTH_TO_SPACE_BLOCKSIZE, 1);
    const int64_t channels = y.at[1], h = x.at[2], w = x.at[3], area = h * w;
    const bool crd = attr_string(node_, NEF_DEPTH_TO_SPACE_MODE) == "CRD";
    const int64_t by_channel = crd ? b * b : 1, by_column = crd ? 1 : channels;
    copy(run, module, {6, {y.at[0], channels, h, b, w, b}},
         {6, {x.at[1] * area, by_channel * area, w, by_column * b * area, 1, by_column * area}});
  }
  void space_to_depth(const Run& run, Module& module) const {
    const Dims x = in(run), y = out(run);
    const int64_t b = nef_attr_int(node_.attrs(), NEF_SPACE_TO_DEPTH_BLOCKSIZE, 1);
    const int64_t channels = x.at[1], w = x.at[3], area = x.at[2] * w;
    if (attr_string(node_, NEF_SPACE_TO_DEPTH_MODE) == "CRD") {
      return copy(run, module, {6, {y.at[0], channels, b, b, y.at[2], y.at[3]}},
                  {6, {channels * area, area, w, 1, b * w, b}});
    }
    copy(run, module, {6, {y.at[0], b, b, channels, y.at[2], y.at[3]}},
         {6, {channels * area, w, 1, area, b * w, b}});
  }
};

// Concat and Split: parts of a whole along one axis.
class Parts : public Movement {
 public:
  using Movement::Movement;
  std::string source() const override { return strided_copy_source(size_); }
  const char* name() const override { return node_.op == NEF_OP_CONCAT ? "concat" : "split"; }

  void launch(const Run& run, Module* module) const override {
    int64_t first = 0;
    if (node_.op == NEF_OP_CONCAT) {
      const Dims y = out(run);
      const int axis = front_axis(nef_attr_int(node_.attrs(), NEF_CONCAT_AXIS, 0), y.rank);
      for (size_t i = 0; i < node_.inputs.size(); ++i) {
        const Dims x = in(run, i);
        part(run, *module, y, x, axis, first, to(run), from(run, i), true);
        first += x.at[axis];
      }
      return;
    }
    const Dims x = in(run);
    const int axis = front_axis(nef_attr_int(node_.attrs(), NEF_SPLIT_AXIS, 0), x.rank);
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.has_output(i)) {
        part(run, *module, x, out(run, i), axis, first, to(run, i), from(run), false);
      }
      first += split_size(run, i, x.at[axis]);
    }
  }

 private:
  void part(const Run& run, Module& module, const Dims& whole, const Dims& piece, int axis,
            int64_t first, char* dst, const char* src, bool to_whole) const {
    const Dims in_whole = dense_steps(whole), in_piece = dense_steps(piece);
    const int64_t base = first * in_whole.at[axis] * bytes();
    if (to_whole) {
      launch_strided_copy(run, module, {piece, {in_whole, in_piece}}, dst + base, src, size_);
    } else {
      launch_strided_copy(run, module, {piece, {in_piece, in_whole}}, dst, src + base, size_);
    }
  }
  int64_t split_size(const Run& run, size_t i, int64_t n) const {
    if (node_.has_input(1)) return host(run, 1, static_cast<int64_t>(i));
    const auto pieces = static_cast<int64_t>(node_.outputs.size());
    const int64_t size = (n + pieces - 1) / pieces;
    return std::clamp<int64_t>(n - static_cast<int64_t>(i) * size, 0, size);
  }
};

// Pad, Trilu, ConstantOfShape: an element of x, or a filler.
class Fill : public Movement {
 public:
  using Movement::Movement;
  const char* name() const override {
    return node_.op == NEF_OP_PAD ? "pad" : node_.op == NEF_OP_TRILU ? "trilu" : "fill";
  }
  std::string source() const override {
    return gpu::fill(R"device(
struct PadP { $T$* y; const $T$* x; const $T$* filler; i64 n; i64 mode; i64 rank;
  i64 dims[16]; i64 x_dims[16]; i64 begin[16]; i64 steps[16]; };
NEF_KERNEL(pad, PadP) {
  const $T$ filler = p.filler ? p.filler[0] : $T${0};
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    u64 left = u64(i);
    i64 from = 0;
    for (i64 d = p.rank - 1; d >= 0 && from >= 0; --d) {
      const u64 size = u64(p.dims[d]);
      const u64 q = (left >> 32) == 0 && (size >> 32) == 0 ? u64(u32(left) / u32(size)) : left / size;
      i64 at = i64(left - q * size) - p.begin[d];
      left = q;
      const i64 n = p.x_dims[d];
      if (at < 0 || at >= n) {
        if (p.mode == 0) from = -1;
        else if (p.mode == 1) at = at < 0 ? 0 : n - 1;
        else if (p.mode == 2) at = (at % n + n) % n;
        else if (n == 1) at = 0;
        else {
          const i64 period = 2 * (n - 1), r = (at % period + period) % period;
          at = r < n ? r : period - r;
        }
      }
      if (from >= 0) from += at * p.steps[d];
    }
    p.y[i] = from >= 0 ? p.x[from] : filler;
  }
}
struct TriluP { $T$* y; const $T$* x; i64 n; i64 rows; i64 columns; i64 k; i64 upper; };
NEF_KERNEL(trilu, TriluP) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    const i64 diagonal = i % p.columns - i / p.columns % p.rows;
    const bool kept = p.upper ? diagonal >= p.k : diagonal <= p.k;
    p.y[i] = kept ? p.x[i] : $T${0};
  }
}
struct FillP { $T$* y; const $T$* filler; i64 n; };
NEF_KERNEL(fill, FillP) {
  const $T$ filler = p.filler ? p.filler[0] : $T${0};
  for (i64 i = thread_id(); i < p.n; i += thread_count()) p.y[i] = filler;
}
)device",
                     {{"T", raw_type(size_)}});
  }

  void launch(const Run& run, Module* module) const override {
    const Dims y = out(run);
    const int64_t n = y.count();
    if (n == 0) return;
    Params p;
    p.add(to(run));
    if (node_.op == NEF_OP_CONSTANT_OF_SHAPE) {
      p.add(node_.has_input(1) ? from(run, 1) : nullptr).add(n);
      return run.launch(*module, "fill", grid_for(n), p);
    }
    p.add(from(run));
    if (node_.op == NEF_OP_TRILU) {
      const int64_t k = node_.has_input(1) ? host(run, 1, 0) : 0;
      p.add(n).add(y.at[y.rank - 2]).add(y.at[y.rank - 1]).add(k);
      p.add(nef_attr_int(node_.attrs(), NEF_TRILU_UPPER, 1));
      return run.launch(*module, "trilu", grid_for(n), p);
    }
    pad(run, *module, p, y, n);
  }

 private:
  void pad(const Run& run, Module& module, Params& p, const Dims& y, int64_t n) const {
    const Dims x = in(run), dense = dense_steps(x);
    const std::string_view mode = attr_string(node_, NEF_PAD_MODE);
    const int64_t how = mode == "edge" ? 1 : mode == "wrap" ? 2 : mode == "reflect" ? 3 : 0;
    if (x.count() == 0 && how != 0) {
      throw BackendError(NEF_SHAPE_MISMATCH,
                         "Pad: an empty tensor has no elements to repeat; use mode constant");
    }
    Dims begin;
    for (int64_t i = 0; i < host_count(run, 1) / 2; ++i) {
      const int axis = node_.has_input(3) ? checked_axis("Pad: axes", host(run, 3, i), x.rank)
                                          : static_cast<int>(i);
      begin.at[axis] = host(run, 1, i);
    }
    p.add(node_.has_input(2) ? from(run, 2) : nullptr).add(n).add(how).add(int64_t{x.rank});
    p.add(y.at, x.rank, NEF_MAX_RANK, 1).add(x.at, x.rank, NEF_MAX_RANK, 1);
    p.add(begin.at, x.rank, NEF_MAX_RANK, 0).add(dense.at, x.rank, NEF_MAX_RANK, 0);
    run.launch(module, "pad", grid_for(n), p);
  }
};

// Gather and GatherElements. An index out of range is noted and nothing is read for it.
class Gather : public Movement {
 public:
  Gather(const Region& region, const Node& node)
      : Movement(region, node), index_(region.input(node, 1).dtype) {}
  const char* name() const override { return "gather"; }
  bool may_fault() const override { return true; }
  std::string source() const override {
    return gpu::fill(R"device(
struct Fault { i64 set, index, axis, size; };
struct GatherP { $T$* y; const $T$* x; const $I$* indices; Fault* fault; i64 n; i64 size; i64 axis;
  i64 inner; i64 count; i64 elements; i64 rank; i64 dims[16]; i64 steps[16]; };
DEV bool place(i64 index, const GatherP& p, i64* at) {
  *at = index < 0 ? index + p.size : index;
  if (*at >= 0 && *at < p.size) return true;
  if (p.fault->set == 0) { p.fault->index = index; p.fault->axis = p.axis; p.fault->size = p.size; p.fault->set = 1; }
  return false;
}
template <class E> DEV void gather_by(const GatherP& p) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    i64 row, column;
    if (((i | p.inner) >> 32) == 0) { row = u32(i) / u32(p.inner); column = u32(i) % u32(p.inner); }
    else { row = i / p.inner; column = i % p.inner; }
    const i64 outer = row / p.count;
    i64 at;
    if (!place(i64(p.indices[row % p.count]), p, &at)) continue;
    ((E*)p.y)[i] = ((const E*)p.x)[(outer * p.size + at) * p.inner + column];
  }
}
NEF_KERNEL(gather, GatherP) { gather_by<$T$>(p); }
// Rows in packs of sixteen bytes.
struct alignas(16) RowPack { u64 v[2]; };
NEF_KERNEL(gather_packs, GatherP) { gather_by<RowPack>(p); }
NEF_KERNEL(gather_elements, GatherP) {
  for (i64 i = thread_id(); i < p.n; i += thread_count()) {
    i64 at;
    if (!place(i64(p.indices[i]), p, &at)) continue;
    p.y[i] = p.x[offset_of(u64(i), p.rank, p.dims, p.steps) + at * p.inner];
  }
}
)device",
                     {{"T", raw_type(size_)}, {"I", memory_type(index_)}});
  }

  void launch(const Run& run, Module* module) const override {
    const Dims x = in(run), indices = in(run, 1), y = out(run);
    const int64_t n = y.count();
    const bool elements = node_.op == NEF_OP_GATHER_ELEMENTS;
    const int axis = front_axis(nef_attr_int(node_.attrs(), NEF_GATHER_AXIS, 0), x.rank);
    if (elements) check(x, indices, axis);
    const int64_t inner = x.count(axis + 1, x.rank);
    if (n == 0) return;
    Params p;
    p.add(to(run)).add(from(run)).add(from(run, 1)).add(run.stream.fault_on_device());
    const int64_t pack = elements ? 1 : packed(run, inner);
    p.add(n / pack).add(x.at[axis]).add(int64_t{axis}).add(inner / pack).add(indices.count());
    p.add(int64_t{0});
    Dims steps = dense_steps(x);
    steps.at[axis] = 0;
    p.add(int64_t{y.rank})
        .add(y.at, y.rank, NEF_MAX_RANK, 1)
        .add(steps.at, x.rank, NEF_MAX_RANK, 0);
    const char* rows = pack > 1 ? "gather_packs" : "gather";
    run.launch(*module, elements ? "gather_elements" : rows, grid_for(n / pack), p);
    *run.faulting = elements ? "GatherElements" : "Gather";
  }

 private:
  // Elements that move at once.
  int64_t packed(const Run& run, int64_t inner) const {
    constexpr size_t kPack = 16;
    const auto aligned = [](const void* p) { return reinterpret_cast<uintptr_t>(p) % kPack == 0; };
    const auto elements = static_cast<int64_t>(kPack / size_);
    return inner % elements == 0 && aligned(to(run)) && aligned(from(run)) ? elements : 1;
  }
  static void check(const Dims& x, const Dims& indices, int axis) {
    for (int d = 0; d < x.rank && indices.count() > 0; ++d) {
      if (d == axis || indices.at[d] <= x.at[d]) continue;
      throw BackendError(NEF_SHAPE_MISMATCH, "GatherElements: indices have size " +
                                                 std::to_string(indices.at[d]) + " on axis " +
                                                 std::to_string(d) + ", the data only " +
                                                 std::to_string(x.at[d]));
    }
  }
  nef_dtype index_;
};

}  // namespace

bool is_movement(nef_op op) {
  switch (op) {
    case NEF_OP_IDENTITY:
    case NEF_OP_RESHAPE:
    case NEF_OP_FLATTEN:
    case NEF_OP_SQUEEZE:
    case NEF_OP_UNSQUEEZE:
    case NEF_OP_TRANSPOSE:
    case NEF_OP_EXPAND:
    case NEF_OP_SLICE:
    case NEF_OP_TILE:
    case NEF_OP_DEPTH_TO_SPACE:
    case NEF_OP_SPACE_TO_DEPTH:
    case NEF_OP_CONCAT:
    case NEF_OP_SPLIT:
    case NEF_OP_PAD:
    case NEF_OP_TRILU:
    case NEF_OP_CONSTANT_OF_SHAPE:
    case NEF_OP_GATHER:
    case NEF_OP_GATHER_ELEMENTS: return true;
    default: return false;
  }
}

std::unique_ptr<Stage> movement_stage(const Region& region, const Node& node) {
  if (node.outputs.empty() || node.outputs[0] < 0) {
    if (node.op != NEF_OP_SPLIT) throw Refusal{"its first output is not wanted"};
  }
  switch (node.op) {
    case NEF_OP_IDENTITY:
    case NEF_OP_RESHAPE:
    case NEF_OP_FLATTEN:
    case NEF_OP_SQUEEZE:
    case NEF_OP_UNSQUEEZE: return std::make_unique<Copy>(region, node);
    case NEF_OP_CONCAT:
    case NEF_OP_SPLIT: return std::make_unique<Parts>(region, node);
    case NEF_OP_PAD:
    case NEF_OP_TRILU:
    case NEF_OP_CONSTANT_OF_SHAPE: return std::make_unique<Fill>(region, node);
    case NEF_OP_GATHER:
    case NEF_OP_GATHER_ELEMENTS: return std::make_unique<Gather>(region, node);
    default: return std::make_unique<Strided>(region, node);
  }
}

}  // namespace nef::gpu
