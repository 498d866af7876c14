// SPDX-License-Identifier: Apache-2.0
// Sizes that become known in a run: what data decides, and the bindings that follow from it.
#include <algorithm>
#include <cstring>

#include "engine/ir/error.h"
#include "engine/ir/infer.h"
#include "engine/runtime/executor.h"

namespace nef::runtime {

using compile::Slot;
using compile::SlotKind;
using compile::Step;
using ir::DimPool;
using ir::ValueId;

// A step that finds sizes, or runs blocks and thereby finds sizes.
void Executor::run_alone(const Run& run, uint32_t index) {
  const Step& step = program_->steps[index];
  const int64_t begin = run.control.trace == nullptr ? 0 : Trace::now();
  if (step.kind == Step::Kind::Size) {
    adopt_sizes(run, step, find_sizes(run, index));
  } else {
    std::vector<TensorResult> results = run_blocks(run, index);
    std::vector<ir::Sizes> sizes;
    for (const TensorResult& r : results) sizes.emplace_back(r.dims);
    adopt_sizes(run, step, sizes);
    hold(run, step, results);
  }
  if (run.control.trace != nullptr) {
    run.control.trace->spans[index] = {index, 0, begin, Trace::now()};
  }
}

std::vector<ir::Sizes> Executor::find_sizes(const Run& run, uint32_t index) const {
  const Step& step = program_->steps[index];
  return step.prepared != nullptr ? sizes_by_backend(run.frame, index)
                                  : sizes_by_inference(run.frame, step.opens - 1, step);
}

void Executor::adopt_sizes(const Run& run, const Step& step, std::span<const ir::Sizes> sizes) {
  std::vector<int64_t> symbols = symbols_of(sizes, step);
  if (step.opens != 0) open_level(run, step.opens, std::move(symbols));
  // What else follows from the symbols must agree with what was found.
  const ir::NodeId root = program_->regions.root(program_->regions.list[step.region]);
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const ValueId v = program_->graph->output(root, i);
    const Level level = layout_.level(v);
    const auto bound = layout_.dims(run.frame.bound(level), level, v);
    if (std::equal(bound.begin(), bound.end(), sizes[i].dims, sizes[i].dims + sizes[i].rank)) {
      continue;
    }
    fail(NEF_SHAPE_MISMATCH, ir::spec(program_->graph->op(root)).snake,
         cat(program_->graph->node_label(root), " makes ", program_->graph->type_str(v),
             ", which is ", dims_text(bound), " beside the other values; the data says ",
             dims_text(sizes[i])));
  }
}

std::vector<ir::Sizes> Executor::sizes_by_backend(const Frame& frame, uint32_t index) const {
  const Step& step = program_->steps[index];
  const plan::Device& device = *program_->devices[step.device];
  const ir::NodeId root = program_->regions.root(program_->regions.list[step.region]);
  std::vector<ir::Sizes> sizes(program_->graph->output_count(root));
  std::vector<int64_t*> out_dims(step.value_count, nullptr);
  const nef_backend_tensor* known = frame.tensors.data() + step.first_value;
  std::vector<nef_backend_tensor> tensors(known, known + step.value_count);
  for (uint32_t i = 0; i < step.value_count; ++i) {
    const ValueId v = program_->step_values[step.first_value + i].value;
    if (program_->graph->producer(v) != root) continue;
    ir::Sizes& shape = sizes[v - program_->graph->first_output(root)];
    shape.rank = static_cast<int32_t>(program_->graph->dims(v).size());
    std::fill(shape.dims, shape.dims + shape.rank, 0);
    out_dims[i] = shape.dims;
    tensors[i] = {nullptr, kUnknownDims};
  }
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = device.lock();
  // The launch comes right after, and has the scratch of both.
  const nef_code code =
      device.backend->output_dims(step.prepared->handle(), nullptr, tensors.data(),
                                  frame.scratch[index + 1], out_dims.data(), &err);
  if (code == NEF_OK) return sizes;
  fail(code, ir::spec(program_->graph->op(root)).snake,
       cat(program_->graph->node_label(root), " on ", device.name, ": ", message));
}

namespace {

// What inference may know of a value once it has data; host inputs are in host memory.
struct OperandStorage {
  ir::Shape shape;
  std::vector<ir::Dim> content;
};
ir::Operand operand_with_data(nef_dtype dtype, std::span<const int64_t> dims, const void* data,
                              OperandStorage* storage) {
  storage->shape = ir::shape_of(dims);
  ir::Operand o;
  o.present = true;
  o.dtype = dtype;
  o.dims = storage->shape;
  const bool small =
      dims.empty() || (dims.size() == 1 && dims[0] <= static_cast<int64_t>(ir::kMaxContent));
  if (data == nullptr || !small) return o;
  o.data = data;
  ir::read_content(o, dims.empty() ? 1 : static_cast<size_t>(dims[0]), &storage->content);
  return o;
}

}  // namespace

// Shape rules know all they need once host inputs have data.
std::vector<ir::Sizes> Executor::sizes_by_inference(const Frame& frame, Level bound,
                                                    const Step& step) const {
  const ir::Graph& graph = *program_->graph;
  const ir::NodeId root = program_->regions.root(program_->regions.list[step.region]);
  const auto inputs = graph.inputs(root);
  std::vector<ir::Operand> operands(inputs.size());
  std::vector<OperandStorage> storage(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == ir::kNone) continue;
    const void* data = nullptr;
    for (uint32_t k = 0; ir::is_host_input(graph.op(root), i) && k < step.value_count; ++k) {
      if (program_->step_values[step.first_value + k].value != inputs[i]) continue;
      data = frame.tensors[step.first_value + k].data;
    }
    operands[i] =
        operand_with_data(graph.dtype(inputs[i]),
                          layout_.dims(frame.bound(bound), bound, inputs[i]), data, &storage[i]);
  }
  std::vector<ir::Inferred> results(graph.output_count(root));
  ir::DimPool pool;
  try {
    ir::infer(graph.op(root), graph.attrs(root), operands, pool, results);
  } catch (const Error& e) {
    throw Error(e.code(), e.op(), cat(graph.node_label(root), ": ", e.message()));
  }
  std::vector<ir::Sizes> sizes;
  for (const ir::Inferred& r : results) {
    if (!ir::dims_static(r.shape)) {
      fail(NEF_UNSUPPORTED, ir::spec(graph.op(root)).snake,
           cat(graph.node_label(root),
               ": its size cannot be told from its inputs: ", ir::shape_str(r.shape, pool)));
    }
    sizes.emplace_back(ir::numbers(r.shape));
  }
  return sizes;
}

std::vector<int64_t> Executor::symbols_of(std::span<const ir::Sizes> sizes,
                                          const Step& step) const {
  const ir::Graph& graph = *program_->graph;
  const ir::NodeId root = program_->regions.root(program_->regions.list[step.region]);
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    const auto dims = graph.dims(graph.output(root, i));
    if (static_cast<size_t>(sizes[i].rank) == dims.size()) continue;
    fail(NEF_SHAPE_MISMATCH, ir::spec(graph.op(root)).snake,
         cat(graph.node_label(root), " makes ", dims_text(sizes[i]), ", its type is ",
             graph.type_str(graph.output(root, i))));
  }
  std::vector<int64_t> symbols;
  if (step.opens == 0) return symbols;
  for (const Layout::Symbol& s : layout_.symbols(step.opens)) {
    const int64_t n = sizes[s.place].dims[s.axis];
    const DimPool::Expr& e = graph.pool().expr(DimPool::dim_of(s.expr));
    if (n < e.lo || n > e.hi) {
      fail(NEF_OUT_OF_RANGE, ir::spec(graph.op(root)).snake,
           cat(graph.node_label(root), ": dim ", s.axis, " of output ", s.place, " is ", n,
               ", which cannot be"));
    }
    symbols.push_back(n);
  }
  return symbols;
}

void Executor::open_level(const Run& run, Level level, std::vector<int64_t> symbols) {
  Frame& frame = run.frame;
  const auto& before = level == 1 ? frame.binding : frame.later[level - 2];
  std::shared_ptr<const Binding>& bound = frame.later[level - 1];
  if (bound == nullptr || bound->before != before || bound->symbols != symbols) {
    bound = later_binding(before, level, std::move(symbols));
    try {
      run.arenas.add(bound->host_bytes(), "an arena of sizes found in it");
      reserve(frame, level, run.control);
    } catch (const Error&) {
      bound = nullptr;  // its arenas are not there
      throw;
    }
    fill(frame, level);
  } else {
    run.arenas.add(bound->host_bytes(), "an arena of sizes found in it");
  }
  for (uint32_t i : patches_[level].made) make_output(run, i, level);
  patch(run, level);
}

std::shared_ptr<const Binding> Executor::later_binding(const std::shared_ptr<const Binding>& before,
                                                       Level level, std::vector<int64_t> symbols) {
  {
    std::lock_guard lock(mutex_);
    for (auto it = later_bindings_.begin(); it != later_bindings_.end(); ++it) {
      if ((*it)->before != before || (*it)->symbols != symbols) continue;
      later_bindings_.splice(later_bindings_.begin(), later_bindings_, it);
      return later_bindings_.front();
    }
  }
  std::shared_ptr<const Binding> binding = layout_.bind(std::move(symbols), level, before);
  std::lock_guard lock(mutex_);
  later_bindings_.push_front(binding);
  if (later_bindings_.size() > kMaxLaterBindings) later_bindings_.pop_back();
  return binding;
}

// Dims that repeat a symbol, or are expressions of symbols, must agree with the binding.
void Executor::check_bound_dims(const Binding& binding, size_t i, const TensorArg& arg) const {
  const ir::Graph& graph = *program_->graph;
  const ValueId v = graph.graph_inputs()[i];
  const int64_t* bound = binding.dims.data() + layout_.dims_begin(v);  // inputs are of level 0
  if (std::equal(arg.dims.begin(), arg.dims.end(), bound)) return;
  fail(NEF_SHAPE_MISMATCH, "run",
       cat("input ", i, " \"", std::string(graph.input_name(i)), "\" is ", graph.type_str(v),
           ", which is ", dims_text({bound, arg.dims.size()}), " beside the other inputs; got ",
           dims_text(arg.dims)));
}

}  // namespace nef::runtime
