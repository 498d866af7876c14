// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph.h"

namespace nef::build {

class LazyNode;

// A dim of a placeholder: a number, or a symbol with bounds.
struct DimSpec {
  int64_t value = 0;
  std::string symbol;  // "" = the number above
  int64_t min = 0, max = ir::kUnbounded;
};

// One lazy value: output `index` of a LazyNode, and part of that node's memory. Handles count
// references on the node, so all outputs of a node live and die together.
struct LazyTensor {
  LazyNode* node;
  std::shared_ptr<ir::Buffer> data;  // guarded by lazy_mutex(); set = materialised
  uint32_t index;
  // In bytes from here, in the node's memory. Symbolic dims have room for numbers behind them, and
  // this moves there once a run has told them.
  std::atomic<uint32_t> dims_offset;
  nef_dtype dtype;
  uint32_t rank;

  // Symbols belong to lazy_pool().
  std::span<const ir::Dim> dims() const {
    const char* at =
        reinterpret_cast<const char*>(this) + dims_offset.load(std::memory_order_acquire);
    return {reinterpret_cast<const ir::Dim*>(at), rank};
  }
};

// An op call, a leaf (data), a placeholder (graph input), or a parameter (of a block's body): one
// heap block holding the outputs, input references, attributes and dims, in this order. Immutable
// but for `data` of its outputs and the release of its inputs once every output has data.
class LazyNode {
 public:
  enum class Kind : uint8_t { Op, Leaf, Placeholder, Parameter };

  Kind kind() const { return kind_; }
  nef_op op() const { return op_; }
  std::span<LazyTensor> outputs() { return {reinterpret_cast<LazyTensor*>(this + 1), n_outputs_}; }
  std::span<LazyTensor* const> inputs() { return {input_array(), inputs_gone_ ? 0 : n_inputs_}; }
  std::span<const int64_t> attr_words() {
    return {reinterpret_cast<int64_t*>(input_array() + n_inputs_), n_attrs_};
  }

 private:
  friend class LazyFactory;
  friend struct Capture;
  friend class BlockCapture;
  friend void retain(LazyTensor* t);
  friend void release(LazyTensor* t);
  friend void materialise(LazyTensor* t, std::shared_ptr<ir::Buffer> data,
                          std::span<const int64_t> dims);
  friend const std::vector<ir::Dim>* known_content(const LazyTensor* t);
  friend bool is_symbolic(const LazyTensor* t);
  friend class SymbolicNodes;
  LazyNode() = default;
  LazyTensor** input_array() {
    return reinterpret_cast<LazyTensor**>(reinterpret_cast<LazyTensor*>(this + 1) + n_outputs_);
  }

  // What few nodes have.
  struct Extra {
    std::string name;            // placeholder: input name; leaf: name of the weight
    std::vector<DimSpec> specs;  // placeholder: bounds are a matter of each graph
    std::string device;          // op: where its author wants it
    // Elements known symbolically, per output; null where they are not.
    std::vector<std::unique_ptr<std::vector<ir::Dim>>> contents;
    std::vector<ir::Graph::Block> blocks;  // op: what it runs
  };
  Extra& extra() {
    if (extra_ == nullptr) extra_ = std::make_unique<Extra>();
    return *extra_;
  }

  std::atomic<uint32_t> refs_{1};
  Kind kind_ = Kind::Op;
  bool symbolic_ = false;     // a dim or element of its inputs or outputs is an expression
  bool inputs_gone_ = false;  // guarded by lazy_mutex()
  uint16_t op_ = 0;
  uint32_t n_outputs_ = 0, n_inputs_ = 0, n_attrs_ = 0;
  uint32_t local_ = 0;        // first value in the graph of that capture
  uint32_t symbolic_at_ = 0;  // of a symbolic node: its place among them, guarded by lazy_mutex()
  uint32_t scope_ = 0;        // how many blocks had been begun when it was made
  uint64_t mark_ = 0;         // capture epoch, guarded by lazy_mutex()
  std::unique_ptr<Extra> extra_;
};

// All functions here are safe from any thread.
void retain(LazyTensor* t);
void release(LazyTensor* t);  // NULL is fine; never recursive

// A value with data. `dims` are numbers.
// `name`, if any, is what a saved graph calls it.
LazyTensor* make_leaf(nef_dtype dtype, std::span<const int64_t> dims,
                      std::shared_ptr<ir::Buffer> data, std::string_view name = {});

// A named input of a graph to be captured.
LazyTensor* make_placeholder(std::string_view name, nef_dtype dtype, std::span<const DimSpec> dims);

// Makes a node: infers types and checks everything inference can check. The node has
// `n_outputs` outputs (0 = the op's default); `outs` receives one reference to each. Nothing
// runs. `device` may be "".
void make_op(nef_op op, std::span<LazyTensor* const> inputs, std::vector<int64_t> attr_words,
             size_t n_outputs, std::string_view device, std::vector<LazyTensor*>* outs);

// ---- If, Loop and Scan

// A block is built by making its values: what was made since begin_block and leads to a result is
// inside; what is older, and graph inputs, is taken from outside. Values are pure, so where the
// line runs only decides what is computed anew.
struct BlockBody {
  uint32_t begin = 0;                            // what begin_block gave
  std::span<LazyTensor* const> parameters = {};  // values that the node hands in
  std::span<LazyTensor* const> results = {};
};
uint32_t begin_block();
// A parameter of the type of `like`; of its slices when `sliced_axis` >= 0.
LazyTensor* make_parameter(const LazyTensor* like, int64_t sliced_axis = -1);
LazyTensor* make_parameter(nef_dtype dtype);  // a scalar
// Makes an If, Loop or Scan. `inputs` are those before the captures, which are found here. Sizes of
// carried values that a body changes become unknown in it. An If whose condition is known gives
// the results of the branch it takes. Throws what ir::infer_blocks throws, NEF_INVALID_ARGUMENT
// for a parameter of another block.
void make_blocks(nef_op op, std::span<LazyTensor* const> inputs, std::vector<int64_t> attr_words,
                 std::span<const BlockBody> bodies, std::vector<LazyTensor*>* outs);

// The data of a value if it has been materialised.
std::shared_ptr<ir::Buffer> data_of(const LazyTensor* t);
// Gives an op's output its data; a node all of whose outputs have data lets its inputs go. `dims`
// are the numbers that a run found for it; static ones may be left out.
void materialise(LazyTensor* t, std::shared_ptr<ir::Buffer> data,
                 std::span<const int64_t> dims = {});

enum class LeafMode {
  Inputs,     // leaves become graph inputs (the lazy door: same program for new data), but for
              // host inputs, which shape the program
  AllInputs,  // those become graph inputs too
  Constants,  // leaves become constants (a graph to compile or save)
};
struct Captured {
  ir::Graph graph;
  // Where leaves are inputs: the data of each graph input, in order.
  std::vector<std::shared_ptr<ir::Buffer>> input_data;
};
// Copies what the outputs depend on into a graph, in topological order. `names` may be empty
// (lazy door). Placeholders become graph inputs in the order they are met; two placeholders of
// one name are an error. Throws NEF_INVALID_ARGUMENT for a placeholder where leaves are inputs.
Captured capture(std::span<LazyTensor* const> outputs, std::span<const std::string> names,
                 LeafMode mode);
// The same with the graph's inputs given, in this order, whether anything depends on them or not.
// Throws NEF_UNKNOWN_NAME when the outputs depend on another placeholder.
Captured capture(std::span<LazyTensor* const> inputs, std::span<LazyTensor* const> outputs,
                 std::span<const std::string> names);

std::string shape_str(const LazyTensor* t);
// "batch", "2*seq", "384".
std::string dim_str(ir::Dim d);

// Elements of an integer vector or scalar that follow from shapes, where all of them are numbers;
// empty and false where they are not known so.
bool known_ints(const LazyTensor* t, std::vector<int64_t>* out);

// Handles alive now, and expressions that lazy dims hold, for leak tests.
uint64_t live_nodes();
uint64_t live_expressions();

}  // namespace nef::build
