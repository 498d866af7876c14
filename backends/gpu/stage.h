// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/device.h"
#include "backends/gpu/source.h"

// A region runs as stages, one after the other: each is one kernel (or a library call) for some
// nodes.
namespace nef::gpu {

using backends::Node;
using backends::Region;
using backends::Value;

// Thrown while planning: the region is not served, and why.
struct Refusal {
  std::string why;
};

// Dims or steps of one tensor, on the stack.
struct Dims {
  int rank = 0;
  int64_t at[NEF_MAX_RANK] = {};
  int64_t count() const { return backends::element_count(at, rank); }
  int64_t count(int begin, int end) const {
    int64_t n = 1;
    for (int d = begin; d < end; ++d) n *= at[d];
    return n;
  }
};
inline int front_axis(int64_t axis, int rank) {
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
Dims dense_steps(const Dims& dims);
// Steps through `in` along the axes of a tensor of rank `rank` that it broadcasts to.
Dims broadcast_steps(const Dims& in, int rank);

// A walk over `dims` with steps for several tensors; neighbouring axes that all can be walked as
// one are joined, axes of one element dropped.
struct Walk {
  Dims dims;
  std::vector<Dims> steps;
  void simplify();
};

// Where the values of a region are in one run.
class Values {
 public:
  Values(const Region& region, const nef_backend_tensor* tensors, char* const* data)
      : region_(region), tensors_(tensors), data_(data) {}
  const Region& region() const { return region_; }
  nef_dtype dtype(int32_t v) const { return region_.values[static_cast<size_t>(v)].dtype; }
  size_t element_size(int32_t v) const { return backends::dtype_size(dtype(v)); }
  Dims dims(int32_t v) const {
    Dims d;
    d.rank = region_.values[static_cast<size_t>(v)].rank();
    std::copy(tensors_[v].dims, tensors_[v].dims + d.rank, d.at);
    return d;
  }
  int64_t count(int32_t v) const {
    return backends::element_count(tensors_[v].dims, region_.values[static_cast<size_t>(v)].rank());
  }
  // Device memory of a value; null while only shapes are known.
  char* data(int32_t v) const { return data_ == nullptr ? nullptr : data_[v]; }
  // Integer i of a host input.
  int64_t host_int(int32_t v, int64_t i) const;
  // Any number of a host input as a double.
  double host_number(int32_t v, int64_t i) const;

 private:
  const char* host_data(int32_t v) const;

  const Region& region_;
  const nef_backend_tensor* tensors_;
  char* const* data_;
};

struct Run {
  const Values& values;
  Device& device;
  Stream& stream;
  char* scratch;          // this stage's own
  const char** faulting;  // set by stages whose kernels may note a fault: the name for its message

  void launch(Module& module, const char* name, const Grid& grid, const Params& params) const {
    if (!params.fits()) throw BackendError(NEF_LIMIT_EXCEEDED, "too many kernel parameters");
    device.launch(module.function(name), grid, params.data(), params.bytes(), stream);
    half_taken = grid.takes_half ? &stream : nullptr;
  }
};

// A constant matrix as `tile_matrix` lays it out. Steps of the matrix as it is given, in numbers:
// `across` from one output to the next, `along` the contraction.
struct TiledMatrix {
  int64_t outputs = 0, contracted = 0, across = 0, along = 0;
  size_t bytes() const {
    return static_cast<size_t>((outputs + 15) / 16 * ((contracted + 63) / 64)) * 2048;
  }
};

class Stage {
 public:
  virtual ~Stage() = default;
  // The text of its kernels; empty for stages without any.
  virtual std::string source() const { return {}; }
  virtual size_t scratch_bytes(const Values&) const { return 0; }
  // `module` is what `source` became; null without one.
  virtual void launch(const Run& run, Module* module) const = 0;
  // Does it serve these shapes? Asked only of a stage that stands for a whole region.
  virtual bool takes(const Values&) const { return true; }
  // Does it read this constant matrix by columns?
  virtual bool wants_turned(int32_t) const { return false; }
  // Does it, alone and in every run, read this constant matrix as tiles?
  virtual std::optional<TiledMatrix> tiled(int32_t) const { return std::nullopt; }
  // May its kernels note a fault?
  virtual bool may_fault() const { return false; }
  // For plans: "elementwise", "softmax".
  virtual const char* name() const = 0;
};
using Stages = std::vector<std::unique_ptr<Stage>>;

// Grid for `n` threads' worth of work in blocks of 256.
inline Grid grid_for(int64_t n) {
  constexpr int64_t kMostBlocks = int64_t{1} << 22;
  return {std::clamp<int64_t>((n + 255) / 256, 1, kMostBlocks), 1, 256};
}

// ---- attributes

inline std::string_view attr_string(const Node& node, unsigned slot) {
  const char* p = nef_attr_string(node.attrs(), slot);
  return p == nullptr ? std::string_view()
                      : std::string_view(p, nef_attr_count(node.attrs(), slot));
}
inline std::span<const int64_t> attr_ints(const Node& node, unsigned slot) {
  return {nef_attr_ints(node.attrs(), slot), nef_attr_count(node.attrs(), slot)};
}

// ---- families; each throws Refusal for what it does not serve

bool is_elementwise(nef_op op);
// The arithmetic of elementwise nodes: statements that return `out`. What they read is named x0,
// x1, ... in the order of `inputs`, in the types of registers.
struct ElementwiseText {
  std::string body;
  std::vector<int32_t> inputs;
};
ElementwiseText elementwise_text(const Region& region, std::span<const Node* const> nodes,
                                 int32_t out);
// Nodes that make the one value `out`; all are elementwise.
std::unique_ptr<Stage> elementwise_stage(const Region& region, std::span<const Node* const> nodes,
                                         int32_t out);
bool is_reduction(nef_op op);
std::unique_ptr<Stage> reduction_stage(const Region& region, const Node& node);
bool is_line_op(nef_op op);  // softmax, norms
std::unique_ptr<Stage> line_stage(const Region& region, const Node& node, const DeviceInfo& device);
bool is_movement(nef_op op);
std::unique_ptr<Stage> movement_stage(const Region& region, const Node& node);
bool is_attention(nef_op op);
// Nodes that make queries, keys and values by slices that are read where they lie; null = none.
using AttentionSlices = std::array<const Node*, 3>;
bool is_row_slice(const Region& region, const Node& node);
std::unique_ptr<Stage> attention_stage(const Region& region, const Node& node,
                                       const AttentionSlices& slices, const DeviceInfo& device);
bool is_product(nef_op op);
// Additions behind a product that it takes along: `bias` broadcasts to the product's shape,
// `residual` has it.
struct ProductTail {
  int32_t bias = -1, residual = -1;
  int32_t out = -1;  // -1: the node's own
};
// `turned`: its second matrix lies in memory by columns.
std::unique_ptr<Stage> product_stage(const Region& region, const Node& node,
                                     const ProductTail& tail, bool turned);

// The region as a product of float8 tensors; null where it is none, or the device has none.
std::unique_ptr<Stage> float8_product_stage(const Region& region, const DeviceInfo& device);

// Why an op is left to the CPU; null for one that a kernel serves.
const char* why_not(nef_op op);
constexpr const char* kNoReason = "no GPU kernel does this op";

// The stages of a region and where the values between them are.
class Plan {
 public:
  // Throws Refusal.
  Plan(Region region, const DeviceInfo& device);

  const Region& region() const { return region_; }
  // All stages that need code: those of the region in order, then those of which each stands for
  // them all where it takes the shapes at hand.
  const Stages& stages() const { return stages_; }
  // The first stage of a run, and the one behind its last.
  std::pair<size_t, size_t> range(const Values& values) const {
    const size_t way = short_way(values);
    return way == kNone ? std::pair{size_t{0}, stages_.size() - ways_} : std::pair{way, way + 1};
  }
  const std::string& name() const { return name_; }
  bool may_fault() const { return may_fault_; }
  // Of constants and literals: is its data needed on the device?
  bool on_device(int32_t value) const { return on_device_[static_cast<size_t>(value)]; }
  // Of a constant matrix: does it lie in device memory by columns?
  bool turned(int32_t value) const { return turned_[static_cast<size_t>(value)]; }
  std::optional<TiledMatrix> tiled(int32_t value) const;
  // Bytes behind `data` that a run needs; sets the entries of values between stages to places in
  // `scratch`, and *stage_scratch to what is left for the stages' own use. Both may be null.
  size_t place(const Values& values, char* scratch, char** data, char** stage_scratch) const;

 private:
  struct Between {
    int32_t value;
    int32_t output;  // may lie in that output's memory when of the same shape; -1 = none
  };
  void add_stages(const DeviceInfo& device);
  static constexpr size_t kNone = SIZE_MAX;
  // The stage that stands for all of them here.
  size_t short_way(const Values& values) const;
  size_t index_of(const Node& node) const {
    return static_cast<size_t>(&node - region_.nodes.data());
  }
  bool materialised(int32_t value) const;
  void add_elementwise(int32_t value);
  bool take_additions(size_t product);
  void take_slices(const Node& attention);
  AttentionSlices slices_of(const Node& attention) const;
  const Node* addition_behind(int32_t value) const;
  void find_between();

  Region region_;
  Stages stages_;
  std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>
      touched_;  // per stage: in, out
  std::vector<const Node*> producer_;
  std::vector<std::vector<const Node*>> users_;
  std::vector<bool> taken_;  // per node: part of a product or an attention
  std::vector<bool> on_device_, turned_;
  std::vector<Between> between_;
  std::string name_;
  size_t ways_ = 0;  // stages at the end that stand for all others
  bool may_fault_ = false;
};

// A copy from or to memory of `host_alloc` as a kernel of the default stream, which a recording
// launches in half the time that a copy of the driver's takes it. A module's function is there once
// it has been asked for; while a thread records is too late for that.
std::string host_copy_source();
void* host_copy_function(Module& module);
void launch_host_copy(Device& device, Module& module, void* dst, const void* src, size_t bytes);

// Copies elements of `size` bytes: `walk` has the steps of the destination, then of the source.
std::string strided_copy_source(size_t size);
void launch_strided_copy(const Run& run, Module& module, Walk walk, char* dst, const char* src,
                         size_t size);

}  // namespace nef::gpu
