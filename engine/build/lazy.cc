// SPDX-License-Identifier: Apache-2.0
#include "engine/build/lazy.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "engine/build/builder.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/infer.h"

namespace nef::build {

using ir::Dim;
using ir::ValueId;

namespace {

// Guards materialised data, capture marks, and the symbols of lazy dims.
std::mutex& lazy_mutex() {
  static std::mutex* m = new std::mutex;  // never destroyed: handles may outlive static storage
  return *m;
}
ir::DimPool& lazy_pool() {
  static auto* pool = new ir::DimPool;
  return *pool;
}
uint64_t g_epoch = 0;  // guarded by lazy_mutex()
std::atomic<uint64_t> g_live{0};

size_t align8(size_t n) { return (n + 7) & ~size_t{7}; }

bool is_symbolic(const LazyTensor* t) {
  if (!ir::dims_static(t->dims())) return true;
  return t->content != nullptr && !ir::dims_static(*t->content);
}

}  // namespace

// Lays a node out in one block: node | outputs | input pointers | attributes | dims.
class LazyFactory {
 public:
  struct Output {
    nef_dtype dtype;
    std::span<const Dim> dims;
  };

  static LazyNode* create(LazyNode::Kind kind, nef_op op, std::span<LazyTensor* const> inputs,
                          std::span<const int64_t> attrs, std::span<const Output> outputs) {
    size_t n_dims = 0;
    for (const Output& o : outputs) n_dims += o.dims.size();
    const size_t at_outputs = align8(sizeof(LazyNode));
    const size_t at_inputs = at_outputs + align8(outputs.size() * sizeof(LazyTensor));
    const size_t at_attrs = at_inputs + inputs.size() * sizeof(LazyTensor*);
    const size_t at_dims = at_attrs + attrs.size() * sizeof(int64_t);
    char* block = static_cast<char*>(::operator new(at_dims + n_dims * sizeof(Dim)));
    auto* node = new (block) LazyNode;
    node->kind_ = kind;
    node->op_ = op;
    node->n_outputs_ = static_cast<uint32_t>(outputs.size());
    node->n_inputs_ = static_cast<uint32_t>(inputs.size());
    node->n_attrs_ = static_cast<uint32_t>(attrs.size());
    node->outputs_ = reinterpret_cast<LazyTensor*>(block + at_outputs);
    node->inputs_ = reinterpret_cast<LazyTensor**>(block + at_inputs);
    node->attrs_ = reinterpret_cast<int64_t*>(block + at_attrs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      node->inputs_[i] = inputs[i];
      if (inputs[i] != nullptr) retain(inputs[i]);
    }
    if (!attrs.empty()) std::memcpy(node->attrs_, attrs.data(), attrs.size_bytes());
    auto* dims = reinterpret_cast<Dim*>(block + at_dims);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto& d = outputs[i].dims;
      new (node->outputs_ + i) LazyTensor{node,
                                          static_cast<uint32_t>(i),
                                          outputs[i].dtype,
                                          static_cast<uint32_t>(d.size()),
                                          dims,
                                          nullptr,
                                          nullptr};
      if (!d.empty()) std::memcpy(dims, d.data(), d.size_bytes());
      dims += d.size();
    }
    g_live.fetch_add(1, std::memory_order_relaxed);
    return node;
  }

  static void set_name(LazyNode* node, std::string_view name, std::span<const DimSpec> dims) {
    node->extra_ = std::make_unique<LazyNode::Extra>();
    node->extra_->name = name;
    node->extra_->specs.assign(dims.begin(), dims.end());
  }
  static void set_device(LazyNode* node, std::string_view device) {
    node->extra_ = std::make_unique<LazyNode::Extra>();
    node->extra_->device = device;
  }
  // The creator's reference becomes one reference per output handed out.
  static void add_refs(LazyNode* node, uint32_t n) { node->refs_.fetch_add(n); }
};

void retain(LazyTensor* t) { t->node->refs_.fetch_add(1, std::memory_order_relaxed); }

void release(LazyTensor* t) {
  if (t == nullptr) return;
  // Chains of nodes can be a million long: a worklist instead of recursion. The common case
  // (nothing dies) does not touch it.
  if (t->node->refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::vector<LazyNode*> dead{t->node};
  while (!dead.empty()) {
    LazyNode* node = dead.back();
    dead.pop_back();
    for (LazyTensor* in : node->inputs()) {
      if (in == nullptr) continue;
      if (in->node->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) dead.push_back(in->node);
    }
    for (LazyTensor& out : node->outputs()) out.~LazyTensor();
    node->~LazyNode();
    ::operator delete(node);
    g_live.fetch_sub(1, std::memory_order_relaxed);
  }
}

uint64_t live_nodes() { return g_live.load(std::memory_order_relaxed); }

LazyTensor* make_leaf(nef_dtype dtype, std::span<const int64_t> dims,
                      std::shared_ptr<ir::Buffer> data, std::string_view name) {
  if (!ir::dtype_valid(dtype)) {
    fail(NEF_INVALID_ARGUMENT, "tensor", cat("dtype number ", dtype, " is not a dtype of NEF"));
  }
  if (dims.size() > NEF_MAX_RANK) {
    fail(NEF_LIMIT_EXCEEDED, "tensor",
         cat("a tensor has at most ", NEF_MAX_RANK, " dims, got ", dims.size()));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0) continue;
    fail(NEF_INVALID_ARGUMENT, "tensor", cat("dim ", i, " is ", dims[i], ", must be 0 or more"));
  }
  const int64_t bytes = ir::byte_count(dtype, dims);
  if (static_cast<size_t>(bytes) != data->bytes()) {
    fail(NEF_SHAPE_MISMATCH, "tensor",
         cat("shape ", ir::shape_str(dims, lazy_pool()), " of ", ir::dtype_name(dtype), " needs ",
             bytes, " bytes, got ", data->bytes()));
  }
  const LazyFactory::Output out{dtype, dims};
  LazyNode* node = LazyFactory::create(LazyNode::Kind::Leaf, 0, {}, {}, {&out, 1});
  node->outputs()[0].data = std::move(data);
  if (!name.empty()) LazyFactory::set_name(node, name, {});
  return &node->outputs()[0];
}

LazyTensor* make_placeholder(std::string_view name, nef_dtype dtype,
                             std::span<const DimSpec> dims) {
  if (name.empty()) fail(NEF_INVALID_ARGUMENT, "input", "an input needs a name");
  if (!ir::dtype_valid(dtype)) {
    fail(NEF_INVALID_ARGUMENT, "input",
         cat("input \"", std::string(name), "\": dtype number ", dtype, " is not a dtype of NEF"));
  }
  ir::Shape shape;
  {
    std::lock_guard lock(lazy_mutex());
    for (const DimSpec& d : dims) {
      if (!d.symbol.empty()) {
        if (d.min < 0 || d.max < d.min) {
          fail(NEF_INVALID_ARGUMENT, "input",
               cat("input \"", std::string(name), "\": the bounds of dim \"", d.symbol, "\" are [",
                   d.min, ", ", d.max, "]; they must satisfy 0 <= min <= max"));
        }
        // Without bounds here: two graphs may give one name different ones.
        shape.push(lazy_pool().symbol(d.symbol));
        continue;
      }
      if (d.value < 0) {
        fail(NEF_INVALID_ARGUMENT, "input",
             cat("input \"", std::string(name), "\": dim ", d.value,
                 " is negative; name a symbol for a dim that varies"));
      }
      shape.push(d.value);
    }
  }
  const LazyFactory::Output out{dtype, shape.view()};
  LazyNode* node = LazyFactory::create(LazyNode::Kind::Placeholder, 0, {}, {}, {&out, 1});
  LazyFactory::set_name(node, name, dims);
  return &node->outputs()[0];
}

namespace {

ir::Operand lazy_operand(const LazyTensor* t, bool host, std::vector<Dim>* storage) {
  ir::Operand o;
  if (t == nullptr) return o;
  o.present = true;
  o.dtype = t->dtype;
  o.dims = t->dims();
  if (t->content != nullptr) {
    o.has_content = true;
    o.content = *t->content;
    return o;
  }
  const bool index = t->dtype == NEF_INT64 || t->dtype == NEF_INT32;
  const bool real = host && (t->dtype == NEF_FLOAT32 || t->dtype == NEF_FLOAT64);
  if (t->rank > 1 || (!index && !real)) return o;
  const size_t n = t->rank == 0 ? 1 : static_cast<size_t>(t->dims_begin[0]);
  if (n > ir::kMaxContent) return o;
  const auto data = data_of(t);
  if (data == nullptr) return o;
  // A materialised tensor keeps its data for as long as the caller holds it, that is this call.
  o.data = data->data();
  if (real) return o;
  storage->resize(n);
  for (size_t i = 0; i < n; ++i) {
    if (t->dtype == NEF_INT64) {
      std::memcpy(&(*storage)[i], static_cast<const char*>(data->data()) + 8 * i, 8);
    } else {
      int32_t x;
      std::memcpy(&x, static_cast<const char*>(data->data()) + 4 * i, 4);
      (*storage)[i] = x;
    }
    if (ir::is_expr((*storage)[i])) return o;
  }
  o.has_content = true;
  o.content = *storage;
  return o;
}

}  // namespace

void make_op(nef_op op, std::span<LazyTensor* const> inputs, std::vector<int64_t> attr_words,
             size_t n_outputs, std::string_view device, std::vector<LazyTensor*>* outs) {
  std::vector<ir::Operand> operands(inputs.size());
  std::vector<std::vector<Dim>> contents(inputs.size());
  bool symbolic = op == NEF_OP_NONZERO;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool host = ir::op_valid(op) && ir::spec(op).n_inputs > i && ir::spec(op).inputs[i].host;
    operands[i] = lazy_operand(inputs[i], host, &contents[i]);
    symbolic = symbolic || (inputs[i] != nullptr && is_symbolic(inputs[i]));
  }
  const ir::Attrs attrs(attr_words);
  std::vector<ir::Inferred> results;
  const auto run_inference = [&](ir::DimPool& pool) {
    if (n_outputs == 0) n_outputs = ir::default_output_count(op, attrs, operands);
    results.resize(n_outputs);
    ir::infer(op, attrs, operands, pool, results);
  };
  if (symbolic) {
    std::lock_guard lock(lazy_mutex());
    run_inference(lazy_pool());
  } else {
    // Static shapes make no expressions; a private pool saves the lock.
    thread_local ir::DimPool scratch;
    run_inference(scratch);
    if (scratch.size() != 0) {
      // A dim that depends on data: it needs a name in the pool that all tensors share.
      scratch = ir::DimPool();
      std::lock_guard lock(lazy_mutex());
      run_inference(lazy_pool());
    }
  }
  std::vector<LazyFactory::Output> outputs;
  outputs.reserve(results.size());
  for (const ir::Inferred& r : results) outputs.push_back({r.dtype, r.shape.view()});
  LazyNode* node = LazyFactory::create(LazyNode::Kind::Op, op, inputs, attr_words, outputs);
  if (!device.empty()) LazyFactory::set_device(node, device);
  LazyFactory::add_refs(node, static_cast<uint32_t>(results.size()) - 1);
  for (size_t i = 0; i < results.size(); ++i) {
    LazyTensor& t = node->outputs()[i];
    if (results[i].has_content) {
      t.content = std::make_unique<std::vector<Dim>>(std::move(results[i].content));
    }
    outs->push_back(&t);
  }
}

std::shared_ptr<ir::Buffer> data_of(const LazyTensor* t) {
  std::lock_guard lock(lazy_mutex());
  return t->data;
}

void materialise(LazyTensor* t, std::shared_ptr<ir::Buffer> data) {
  std::vector<LazyTensor*> let_go;
  {
    std::lock_guard lock(lazy_mutex());
    // Another thread was first: views of its data are out already.
    if (t->data != nullptr) return;
    t->data = std::move(data);
    LazyNode* node = t->node;
    for (const LazyTensor& out : node->outputs()) {
      if (out.data == nullptr) return;
    }
    let_go.assign(node->inputs().begin(), node->inputs().end());
    node->n_inputs_ = 0;
  }
  for (LazyTensor* in : let_go) release(in);
}

std::string shape_str(const LazyTensor* t) {
  std::lock_guard lock(lazy_mutex());
  return ir::shape_str(t->dims(), lazy_pool());
}

std::string dim_str(Dim d) {
  std::lock_guard lock(lazy_mutex());
  return lazy_pool().str(d);
}

// One walk over lazy nodes, under lazy_mutex().
struct Capture {
  Capture(LeafMode mode, size_t n_hint) : mode(mode) { values.reserve(n_hint); }

  LeafMode mode;
  Captured out;
  std::vector<ValueId> values;  // first value of each visited node, by local id
  std::unordered_map<std::string, ValueId> placeholders;
  std::vector<ValueId> input_ids;
  std::vector<ir::Graph::Type> types;

  ValueId leaf(const LazyTensor& t, bool constant) {
    if (constant || mode == LeafMode::Constants) {
      const ValueId v = out.graph.add_constant(t.dtype, t.dims(), t.data);
      const LazyNode& node = *t.node;
      if (node.kind_ == LazyNode::Kind::Leaf && node.extra_ != nullptr) {
        out.graph.value_names().set(v, node.extra_->name);
      }
      return v;
    }
    out.input_data.push_back(t.data);
    return out.graph.add_input("", t.dtype, t.dims());
  }

  ValueId placeholder(const LazyNode& node) {
    if (mode == LeafMode::Inputs) {
      fail(NEF_INVALID_ARGUMENT, "execute",
           cat("the value depends on input \"", node.extra_->name,
               "\", which has no data; capture a graph and run it with that input"));
    }
    const LazyTensor& t = node.outputs_[0];
    ir::Shape shape;
    for (const DimSpec& d : node.extra_->specs) {
      shape.push(d.symbol.empty() ? d.value : out.graph.pool().symbol(d.symbol, d.min, d.max));
    }
    const ValueId v = out.graph.add_input(node.extra_->name, t.dtype, shape);
    if (!placeholders.emplace(node.extra_->name, v).second) {
      fail(NEF_DUPLICATE_NAME, "graph", cat("two inputs are named \"", node.extra_->name, "\""));
    }
    out.graph.value_names().set(v, node.extra_->name);
    return v;
  }

  void op(LazyNode& node) {
    const ir::OpSpec& s = ir::spec(node.op_);
    input_ids.clear();
    for (uint32_t i = 0; i < node.n_inputs_; ++i) {
      LazyTensor* in = node.inputs_[i];
      input_ids.push_back(in == nullptr ? ir::kNone : value_of(*in, is_host(s, i)));
    }
    const ir::NodeId n = is_symbolic(node) ? add_inferred(node) : add_static(node);
    if (node.extra_ != nullptr) out.graph.node_devices().set(n, node.extra_->device);
    values[node.local_] = out.graph.first_output(n);
  }

  // A static result can still hang on a symbol: [batch 4] joined with [4 4] needs batch = 4.
  static bool is_symbolic(LazyNode& node) {
    for (const LazyTensor* t : node.inputs()) {
      if (t != nullptr && build::is_symbolic(t)) return true;
    }
    for (const LazyTensor& t : node.outputs()) {
      if (build::is_symbolic(&t)) return true;
    }
    return false;
  }

  // Inferred again in the graph's own pool: there the symbols have this graph's bounds, and the
  // pool gets the checks that bind the symbols.
  ir::NodeId add_inferred(LazyNode& node) {
    return Builder(out.graph).add(node.op_, input_ids, node.attr_words(), node.n_outputs_);
  }

  ir::NodeId add_static(LazyNode& node) {
    types.clear();
    for (const LazyTensor& t : node.outputs()) {
      types.push_back({t.dtype, out.graph.shapes().intern(t.dims())});
    }
    const ir::NodeId n = out.graph.add_node(node.op_, input_ids, node.attr_words(), types);
    if (!content_is_structure(node)) return n;
    for (const LazyTensor& t : node.outputs()) {
      if (t.content != nullptr) out.graph.set_content(out.graph.output(n, t.index), *t.content);
    }
    return n;
  }

  // Elements may be known because leaves have data. Where leaves are inputs, the program runs
  // again with other data: only elements that follow from shapes and constants are part of it.
  bool content_is_structure(const LazyNode& node) const {
    if (mode == LeafMode::Constants || node.op_ == NEF_OP_SHAPE || node.op_ == NEF_OP_SIZE) {
      return true;
    }
    return std::all_of(input_ids.begin(), input_ids.end(), [this](ValueId v) {
      return v == ir::kNone || out.graph.is_constant(v) || out.graph.has_content(v);
    });
  }

  static bool is_host(const ir::OpSpec& s, uint32_t i) {
    if (s.n_inputs == 0) return false;
    return s.inputs[std::min<uint32_t>(i, s.n_inputs - 1u)].host;
  }

  // The graph value of a visited tensor; materialised ones are leaves wherever they come from.
  ValueId value_of(LazyTensor& t, bool host) {
    if (t.data == nullptr) return values[t.node->local_] + t.index;
    // A host input shapes the program, so its data is part of the graph.
    if (host && mode == LeafMode::Inputs) return leaf(t, true);
    LazyNode* node = t.node;
    if (node->kind_ == LazyNode::Kind::Leaf) {
      if (node->mark_ != g_epoch) {
        node->mark_ = g_epoch;
        node->local_ = leaf(t, false);
      }
      return node->local_;
    }
    auto& known = computed[&t];
    if (known == 0) known = leaf(t, false) + 1;
    return known - 1;
  }
  std::unordered_map<const LazyTensor*, ValueId> computed;  // op outputs that have data

  void visit(LazyTensor* root) {
    struct Frame {
      LazyNode* node;
      uint32_t next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](LazyTensor* t) {
      if (t == nullptr || t->data != nullptr || t->node->mark_ == g_epoch) return;
      LazyNode* node = t->node;
      node->mark_ = g_epoch;
      node->local_ = static_cast<uint32_t>(values.size());
      values.push_back(ir::kNone);
      if (node->kind_ == LazyNode::Kind::Placeholder) {
        values[node->local_] = placeholder(*node);
        return;
      }
      stack.push_back({node, 0});
    };
    enter(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.node->n_inputs_) {
        enter(top.node->inputs_[top.next++]);
        continue;
      }
      op(*top.node);
      stack.pop_back();
    }
  }
};

Captured capture(std::span<LazyTensor* const> outputs, std::span<const std::string> names,
                 LeafMode mode) {
  std::lock_guard lock(lazy_mutex());
  ++g_epoch;
  Capture c(mode, 64);
  for (LazyTensor* t : outputs) c.visit(t);
  std::unordered_set<std::string_view> known;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!names.empty() && !known.insert(names[i]).second) {
      fail(NEF_DUPLICATE_NAME, "graph", cat("two outputs are named \"", names[i], "\""));
    }
    c.out.graph.add_output(names.empty() ? std::string_view() : names[i],
                           c.value_of(*outputs[i], false));
  }
  return std::move(c.out);
}

}  // namespace nef::build
