// SPDX-License-Identifier: Apache-2.0
#include "engine/build/lazy.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "engine/build/lazy_internal.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/ir/infer.h"

namespace nef::build {

using ir::Dim;
using ir::ValueId;

// Guards materialised data, capture marks, and the symbols of lazy dims.
std::mutex& lazy_mutex() {
  static std::mutex* m = new std::mutex;  // never destroyed: handles may outlive static storage
  return *m;
}
ir::DimPool& lazy_pool() {
  static auto* pool = new ir::DimPool;
  return *pool;
}
namespace {

uint64_t g_epoch = 0;  // guarded by lazy_mutex()
std::atomic<uint64_t> g_live{0};
std::atomic<uint32_t> g_scope{0};

}  // namespace

uint64_t next_epoch() { return ++g_epoch; }
uint32_t begin_block() { return g_scope.fetch_add(1, std::memory_order_relaxed) + 1; }

const std::vector<Dim>* known_content(const LazyTensor* t) {
  const LazyNode::Extra* extra = t->node->extra_.get();
  return extra == nullptr || t->index >= extra->contents.size() ? nullptr
                                                                : extra->contents[t->index].get();
}
// Does a dim or an element of its node's values depend on a symbol?
bool is_symbolic(const LazyTensor* t) { return t->node->symbolic_; }

// Lays a node out in one block: node | outputs | input pointers | attributes | dims.
class LazyFactory {
 public:
  // Outputs are described by something with a dtype and a shape.
  template <typename Output>
  static LazyNode* create(LazyNode::Kind kind, nef_op op, std::span<LazyTensor* const> inputs,
                          std::span<const int64_t> attrs, std::span<const Output> outputs) {
    static_assert(sizeof(LazyNode) % 8 == 0 && sizeof(LazyTensor) % 8 == 0);
    size_t n_dims = 0;
    for (const Output& o : outputs) {
      const std::span<const Dim> d = o.shape.view();
      n_dims += ir::dims_static(d) ? d.size() : 2 * d.size();
    }
    const size_t at_inputs = sizeof(LazyNode) + outputs.size() * sizeof(LazyTensor);
    const size_t at_attrs = at_inputs + inputs.size() * sizeof(LazyTensor*);
    const size_t at_dims = at_attrs + attrs.size_bytes();
    char* block = static_cast<char*>(::operator new(at_dims + n_dims * sizeof(Dim)));
    auto* node = new (block) LazyNode;
    node->kind_ = kind;
    node->op_ = static_cast<uint16_t>(op);
    node->scope_ = g_scope.load(std::memory_order_relaxed);
    node->n_outputs_ = static_cast<uint32_t>(outputs.size());
    node->n_inputs_ = static_cast<uint32_t>(inputs.size());
    node->n_attrs_ = static_cast<uint32_t>(attrs.size());
    LazyTensor** refs = node->input_array();
    for (LazyTensor* in : inputs) {
      *refs++ = in;
      if (in == nullptr) continue;
      retain(in);
      node->symbolic_ = node->symbolic_ || in->node->symbolic_;
    }
    if (!attrs.empty()) std::memcpy(block + at_attrs, attrs.data(), attrs.size_bytes());
    LazyTensor* out = node->outputs().data();
    char* dims = block + at_dims;
    for (uint32_t i = 0; i < outputs.size(); ++i, ++out) {
      const std::span<const Dim> d = outputs[i].shape.view();
      new (out) LazyTensor{node,
                           nullptr,
                           i,
                           static_cast<uint32_t>(dims - reinterpret_cast<char*>(out)),
                           outputs[i].dtype,
                           static_cast<uint32_t>(d.size())};
      if (!d.empty()) std::memcpy(dims, d.data(), d.size_bytes());
      const bool symbolic = !ir::dims_static(d);
      dims += symbolic ? 2 * d.size_bytes() : d.size_bytes();
      node->symbolic_ = node->symbolic_ || symbolic;
    }
    g_live.fetch_add(1, std::memory_order_relaxed);
    return node;
  }

  static void set_name(LazyNode* node, std::string_view name, std::span<const DimSpec> dims) {
    node->extra().name = name;
    node->extra().specs.assign(dims.begin(), dims.end());
  }
  static void set_blocks(LazyNode* node, std::vector<ir::Graph::Block> blocks) {
    node->extra().blocks = std::move(blocks);
  }
  static void set_device(LazyNode* node, std::string_view device) { node->extra().device = device; }
  static void set_content(LazyNode* node, uint32_t output, std::vector<Dim> content) {
    node->symbolic_ = node->symbolic_ || !ir::dims_static(content);
    auto& all = node->extra().contents;
    if (all.size() <= output) all.resize(output + 1);
    all[output] = std::make_unique<std::vector<Dim>>(std::move(content));
  }
  // Under lazy_mutex(), since before its expressions were made.
  static void register_symbolic(LazyNode* node);
  // The creator's reference becomes one reference per output handed out.
  static void add_refs(LazyNode* node, uint32_t n) {
    if (n != 0) node->refs_.fetch_add(n, std::memory_order_relaxed);
  }
};

// An output of a leaf or placeholder, for LazyFactory::create.
struct LeafOutput {
  nef_dtype dtype;
  ir::Shape shape;
};

// The nodes that need expressions of lazy_pool(), so that it can forget all others: each NonZero,
// say, has a size of its own. All under lazy_mutex().
class SymbolicNodes {
 public:
  static SymbolicNodes& get() {
    static auto* all = new SymbolicNodes;
    return *all;
  }
  void add(LazyNode* node) {
    node->symbolic_at_ = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(node);
  }
  void remove(LazyNode* node) {
    nodes_[node->symbolic_at_] = nodes_.back();
    nodes_[node->symbolic_at_]->symbolic_at_ = node->symbolic_at_;
    nodes_.pop_back();
  }
  // Before an expression is added: forgets what nobody needs, once that may be half of them.
  void make_room() {
    if (lazy_pool().used() < limit_) return;
    std::vector<Dim> roots;
    for (LazyNode* node : nodes_) {
      for (const LazyTensor& out : node->outputs()) {
        for (Dim d : out.dims()) keep(roots, d);
        const std::vector<Dim>* content = known_content(&out);
        for (size_t i = 0; content != nullptr && i < content->size(); ++i) {
          keep(roots, (*content)[i]);
        }
      }
    }
    lazy_pool().keep_only(roots);
    limit_ = std::max(kLeast, 2 * lazy_pool().used());
  }

 private:
  static void keep(std::vector<Dim>& roots, Dim d) {
    if (ir::is_expr(d)) roots.push_back(d);
  }
  static constexpr size_t kLeast = 1024;
  std::vector<LazyNode*> nodes_;
  size_t limit_ = kLeast;
};

void LazyFactory::register_symbolic(LazyNode* node) {
  if (node->symbolic_) SymbolicNodes::get().add(node);
}

void make_room_for_expressions() { SymbolicNodes::get().make_room(); }

void retain(LazyTensor* t) { t->node->refs_.fetch_add(1, std::memory_order_relaxed); }

void release(LazyTensor* t) {
  if (t == nullptr) return;
  // Chains of nodes can be a million long: a worklist instead of recursion. The common cases
  // (nothing dies, or one node) do not touch it.
  if (t->node->refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::vector<LazyNode*> dead;
  for (LazyNode* node = t->node; node != nullptr;) {
    for (LazyTensor* in : node->inputs()) {
      if (in == nullptr) continue;
      if (in->node->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) dead.push_back(in->node);
    }
    if (node->symbolic_) {
      std::lock_guard lock(lazy_mutex());
      SymbolicNodes::get().remove(node);
    }
    for (LazyTensor& out : node->outputs()) out.~LazyTensor();
    node->~LazyNode();
    ::operator delete(node);
    g_live.fetch_sub(1, std::memory_order_relaxed);
    node = dead.empty() ? nullptr : dead.back();
    if (node != nullptr) dead.pop_back();
  }
}

uint64_t live_expressions() {
  std::lock_guard lock(lazy_mutex());
  return lazy_pool().used();
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
         cat("shape ", ir::shape_str(dims), " of ", ir::dtype_name(dtype), " needs ", bytes,
             " bytes, got ", data->bytes()));
  }
  const LeafOutput out{dtype, ir::shape_of(dims)};
  LazyNode* node = LazyFactory::create<LeafOutput>(LazyNode::Kind::Leaf, 0, {}, {}, {&out, 1});
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
  std::lock_guard lock(lazy_mutex());
  make_room_for_expressions();
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
    shape.push(Dim::of(d.value));
  }
  const LeafOutput out{dtype, shape};
  LazyNode* node =
      LazyFactory::create<LeafOutput>(LazyNode::Kind::Placeholder, 0, {}, {}, {&out, 1});
  LazyFactory::set_name(node, name, dims);
  LazyFactory::register_symbolic(node);
  return &node->outputs()[0];
}

static LazyTensor* new_parameter(const LeafOutput& out) {
  LazyNode* node = LazyFactory::create<LeafOutput>(LazyNode::Kind::Parameter, 0, {}, {}, {&out, 1});
  LazyFactory::register_symbolic(node);
  return &node->outputs()[0];
}

LazyTensor* make_parameter(nef_dtype dtype) { return new_parameter({dtype, ir::Shape()}); }

LazyTensor* make_parameter(const LazyTensor* like, int64_t sliced_axis) {
  std::lock_guard lock(lazy_mutex());
  const std::span<const Dim> dims = like->dims();
  LeafOutput out{like->dtype, ir::Shape()};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (static_cast<int64_t>(i) != sliced_axis) out.shape.push(dims[i]);
  }
  return new_parameter(out);
}

LazyNode* make_block_node(nef_op op, std::span<LazyTensor* const> inputs,
                          std::span<const int64_t> attr_words, std::vector<ir::Graph::Block> blocks,
                          std::span<const ir::Inferred> results) {
  LazyNode* node =
      LazyFactory::create<ir::Inferred>(LazyNode::Kind::Op, op, inputs, attr_words, results);
  LazyFactory::set_blocks(node, std::move(blocks));
  LazyFactory::register_symbolic(node);
  LazyFactory::add_refs(node, static_cast<uint32_t>(results.size()) - 1);
  return node;
}

ir::Operand lazy_operand(const LazyTensor* t, bool host, std::vector<Dim>* storage) {
  ir::Operand o;
  if (t == nullptr) return o;
  o.present = true;
  o.dtype = t->dtype;
  o.dims = t->dims();
  // Elements that were dims of unknown size are numbers once there is data.
  const std::vector<Dim>* content = known_content(t);
  if (content != nullptr && (ir::dims_static(*content) || data_of(t) == nullptr)) {
    o.has_content = true;
    o.content = *content;
    return o;
  }
  const bool index = t->dtype == NEF_INT64 || t->dtype == NEF_INT32;
  const bool real = host && (t->dtype == NEF_FLOAT32 || t->dtype == NEF_FLOAT64);
  if (t->rank > 1 || (!index && !real) || !ir::dims_static(o.dims)) return o;
  const size_t n = t->rank == 0 ? 1 : static_cast<size_t>(o.dims[0].number());
  if (n > ir::kMaxContent) return o;
  const auto data = data_of(t);
  if (data == nullptr) return o;
  // A materialised tensor keeps its data for as long as the caller holds it, that is this call.
  o.data = data->data();
  ir::read_content(o, n, storage);
  return o;
}

// A few elements without a heap block, or many with one.
template <typename T, size_t kInline>
class Few {
 public:
  explicit Few(size_t n) : size_(n) {
    if (n > kInline) heap_.resize(n);
  }
  std::span<T> all() { return {size_ > kInline ? heap_.data() : few_, size_}; }

 private:
  T few_[kInline];
  std::vector<T> heap_;
  size_t size_;
};

void make_op(nef_op op, std::span<LazyTensor* const> inputs, std::vector<int64_t> attr_words,
             size_t n_outputs, std::string_view device, std::vector<LazyTensor*>* outs) {
  Few<ir::Operand, 4> operand_storage(inputs.size());
  Few<std::vector<Dim>, 4> content_storage(inputs.size());
  const std::span<ir::Operand> operands = operand_storage.all();
  const bool valid = ir::op_valid(op);
  bool symbolic = valid && ir::spec(op).sized_by_data;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool host = valid && ir::spec(op).n_inputs > i && ir::spec(op).inputs[i].host;
    operands[i] = lazy_operand(inputs[i], host, &content_storage.all()[i]);
    symbolic = symbolic || (inputs[i] != nullptr && is_symbolic(inputs[i]));
  }
  const ir::Attrs attrs(attr_words);
  if (n_outputs == 0) n_outputs = ir::default_output_count(op, attrs, operands);
  Few<ir::Inferred, 2> result_storage(n_outputs);
  const std::span<ir::Inferred> results = result_storage.all();
  const auto run_inference = [&](ir::DimPool& pool) {
    ir::infer(op, attrs, operands, pool, results);
  };
  // Held until the node is known to need its expressions.
  std::unique_lock lock(lazy_mutex(), std::defer_lock);
  if (!symbolic) {
    // Static shapes make no expressions; a private pool saves the lock.
    thread_local ir::DimPool scratch;
    run_inference(scratch);
    // A dim that depends on data: it needs a name in the pool that all tensors share.
    symbolic = scratch.size() != 0;
    if (symbolic) scratch = ir::DimPool();
  }
  if (symbolic) {
    lock.lock();
    make_room_for_expressions();
    run_inference(lazy_pool());
  }
  LazyNode* node =
      LazyFactory::create<ir::Inferred>(LazyNode::Kind::Op, op, inputs, attr_words, results);
  if (!device.empty()) LazyFactory::set_device(node, device);
  LazyFactory::add_refs(node, static_cast<uint32_t>(results.size()) - 1);
  for (uint32_t i = 0; i < results.size(); ++i) {
    if (results[i].has_content) {
      LazyFactory::set_content(node, i, std::move(results[i].content));
    }
    outs->push_back(&node->outputs()[i]);
  }
  if (symbolic) LazyFactory::register_symbolic(node);
}

std::shared_ptr<ir::Buffer> data_of(const LazyTensor* t) {
  if (t->node->kind() == LazyNode::Kind::Leaf) return t->data;  // set before anybody saw it
  std::lock_guard lock(lazy_mutex());
  return t->data;
}

void materialise(LazyTensor* t, std::shared_ptr<ir::Buffer> data, std::span<const int64_t> dims) {
  std::vector<LazyTensor*> let_go;
  {
    std::lock_guard lock(lazy_mutex());
    // Another thread was first: views of its data are out already.
    if (t->data != nullptr) return;
    if (!ir::dims_static(t->dims())) {
      const uint32_t numbers = t->dims_offset + t->rank * static_cast<uint32_t>(sizeof(Dim));
      std::transform(dims.begin(), dims.end(),
                     reinterpret_cast<Dim*>(reinterpret_cast<char*>(t) + numbers), Dim::of);
      t->dims_offset.store(numbers, std::memory_order_release);
    }
    t->data = std::move(data);
    LazyNode* node = t->node;
    for (const LazyTensor& out : node->outputs()) {
      if (out.data == nullptr) return;
    }
    let_go.assign(node->inputs().begin(), node->inputs().end());
    node->inputs_gone_ = true;
  }
  for (LazyTensor* in : let_go) release(in);
}

bool known_ints(const LazyTensor* t, std::vector<int64_t>* out) {
  out->clear();
  const std::vector<Dim>* content = known_content(t);
  if (content == nullptr || !ir::dims_static(*content)) return false;
  const auto known = ir::numbers(*content);
  out->assign(known.begin(), known.end());
  return true;
}

std::string shape_str(const LazyTensor* t) {
  std::lock_guard lock(lazy_mutex());
  return ir::shape_str(t->dims(), lazy_pool());
}

std::string dim_str(Dim d) {
  std::lock_guard lock(lazy_mutex());
  return lazy_pool().str(d);
}

}  // namespace nef::build
