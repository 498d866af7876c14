// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/binding.h"

#include <algorithm>
#include <numeric>

#include "engine/ir/array.h"
#include "engine/ir/checked.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/plan/memory.h"

namespace nef::runtime {

using compile::kNoLevel;
using compile::Slot;
using compile::SlotKind;
using compile::Step;
using ir::Dim;
using ir::DimPool;
using ir::Graph;
using ir::ValueId;

Layout::Layout(const compile::Program& program) : program_(program) {
  find_symbols();
  place_values();
  space_index_.assign(program.devices.size() + 1, ir::kNone);
  const auto use_space = [&](uint16_t space) {
    if (space_index_[space] != ir::kNone) return;
    space_index_[space] = static_cast<uint32_t>(spaces_.size());
    spaces_.push_back(space);
  };
  use_space(0);
  for (const Slot& s : program.slots) use_space(s.space);
  for (const Step& s : program.steps) use_space(step_space(s));
  if (late()) find_parts();
}

void Layout::find_symbols() {
  const Graph& graph = *program_.graph;
  const DimPool& pool = graph.pool();
  symbols_.resize(levels());
  if (pool.size() == 0) return;
  std::vector<bool> found(pool.size(), false);
  const auto add = [&](Level level, ValueId v, uint32_t place) {
    const auto dims = graph.dims(v);
    for (uint32_t axis = 0; axis < dims.size(); ++axis) {
      if (!pool.is_symbol(dims[axis]) || found[ir::expr_id(dims[axis])]) continue;
      found[ir::expr_id(dims[axis])] = true;
      symbols_[level].push_back({ir::expr_id(dims[axis]), place, axis});
    }
  };
  const auto inputs = graph.graph_inputs();
  for (uint32_t i = 0; i < inputs.size(); ++i) add(0, inputs[i], i);
  if (!late()) return;
  for (const Step& s : program_.steps) {
    if (s.opens == 0) continue;
    const ir::NodeId root = program_.regions.root(program_.regions.list[s.region]);
    for (uint32_t i = 0; i < graph.output_count(root); ++i) add(s.opens, graph.output(root, i), i);
  }
}

// Levels of values, and where their dims stand among those of their level.
void Layout::place_values() {
  const Graph& graph = *program_.graph;
  const std::vector<Level>& expr_level = program_.expr_level;
  const auto level_of = [&](ValueId v, std::span<const Dim> dims) {
    Level most = 0;
    for (Dim d : dims) {
      if (!ir::is_expr(d)) continue;
      const Level level = expr_level[ir::expr_id(d)];
      if (level == kNoLevel) {
        fail(NEF_UNSUPPORTED, "compile",
             cat(graph.value_label(v), " has a size that nothing in the graph tells (",
                 graph.type_str(v), ")"));
      }
      most = std::max(most, level);
    }
    return most;
  };
  const bool symbolic = !expr_level.empty();
  if (!late()) place_shapes();
  if (!symbolic) return;
  std::vector<uint32_t> at(levels(), 0);
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const auto dims = graph.dims(v);
    Level level = level_of(v, dims);
    // The elements of a computed shape may be known later than its length.
    const bool shape =
        graph.def(v) == ir::ValueDef::Node && graph.op(graph.producer(v)) == NEF_OP_SHAPE_EXPR;
    if (shape) level = std::max(level, level_of(v, graph.content(v)));
    if (!late()) continue;
    dims_begin_.push_back(at[level]);
    at[level] += static_cast<uint32_t>(dims.size());
    value_level_.push_back(level);
  }
}

void Layout::place_shapes() {
  const ir::ShapeTable& shapes = program_.graph->shapes();
  uint32_t at = 0;
  for (ir::ShapeId shape = 0; shape < shapes.size(); ++shape) {
    dims_begin_.push_back(at);
    at += static_cast<uint32_t>(shapes.rank(shape));
  }
}

void Layout::find_parts() {
  const compile::Program& p = program_;
  parts_.resize(levels());
  for (uint32_t id = 0; id < p.expr_level.size(); ++id) {
    if (p.expr_level[id] != kNoLevel) parts_[p.expr_level[id]].exprs.push_back(id);
  }
  for (ValueId v = 0; v < p.graph->value_count(); ++v) {
    parts_[value_level_[v]].values.push_back(v);
  }
  const auto add = [](std::vector<uint32_t>& list, uint32_t i) {
    list.push_back(i);
    return static_cast<uint32_t>(list.size() - 1);
  };
  for (uint32_t s = 0; s < p.slots.size(); ++s) {
    slot_place_.push_back(add(parts_[level(p.slots[s].value)].slots, s));
  }
  for (uint32_t s = 0; s < p.steps.size(); ++s) {
    step_place_.push_back(add(parts_[scratch_level(p.steps[s])].steps, s));
  }
  for (uint32_t i = 0; i < p.step_values.size(); ++i) add(parts_[tensor_level(i)].tensors, i);
}

Level Layout::tensor_level(uint32_t i) const {
  if (!late()) return 0;
  const compile::StepValue& sv = program_.step_values[i];
  const Level own = level(sv.value);
  return sv.slot == ir::kNone ? own : std::max(own, level(program_.slots[sv.slot].value));
}

// A kernel that says how large its outputs are has its scratch before that.
Level Layout::scratch_level(const Step& step) const {
  if (!late()) return 0;
  Level most = 0;
  const bool sizing = step.kind != Step::Kind::Copy && step.prepared != nullptr;
  const ir::NodeId root = program_.regions.root(program_.regions.list[step.region]);
  const bool asked = sizing && ir::spec(program_.graph->op(root)).sized_by_data;
  for (uint32_t i = 0; i < step.value_count; ++i) {
    const ValueId v = program_.step_values[step.first_value + i].value;
    if (!asked || program_.graph->producer(v) != root) most = std::max(most, level(v));
  }
  return most;
}

std::span<const int64_t> Layout::dims(const Binding& binding, Level bound, ValueId v) const {
  const Binding* b = &binding;
  for (Level k = level(v); k < bound; ++k) b = b->before.get();
  return {b->dims.data() + dims_begin(v), program_.graph->dims(v).size()};
}

uint16_t Layout::step_space(const Step& step) const {
  return program_.devices[step.device]->host_memory() ? 0 : static_cast<uint16_t>(step.device + 1);
}

namespace {

// The device that allocates the host arena: the first one with host memory.
const plan::Device* allocator_of(const compile::Program& program, uint16_t space) {
  if (space > 0) return program.devices[space - 1];
  for (const plan::Device* d : program.devices) {
    if (d->host_memory()) return d;
  }
  fail(NEF_BACKEND_UNAVAILABLE, "bind", "no device with host memory is present");
}

// The numbers from 0 on, or those of a list.
template <typename Each>
void for_part(bool all, size_t count, const std::vector<uint32_t>* list, Each each) {
  if (all) {
    for (uint32_t i = 0; i < count; ++i) each(i);
  } else {
    for (uint32_t i : *list) each(i);
  }
}

class Binder {
 public:
  Binder(const Layout& layout, std::vector<int64_t> symbols, Level level,
         std::shared_ptr<const Binding> before)
      : layout_(layout),
        p_(layout.program()),
        graph_(*p_.graph),
        level_(level),
        part_(layout.late() ? &layout.part(level) : nullptr) {
    out_ = std::make_shared<Binding>();
    out_->symbols = std::move(symbols);
    out_->before = std::move(before);
    for (uint16_t space : layout.spaces()) out_->spaces.push_back({space, allocator_of(p_, space)});
  }

  std::shared_ptr<const Binding> run() {
    evaluate_exprs();
    evaluate_dims();
    shape_slots();
    plan_arenas();
    if (layout_.late()) out_->exprs = std::move(exprs_);
    return out_;
  }

 private:
  bool all() const { return part_ == nullptr; }

  void evaluate_exprs() {
    const DimPool& pool = graph_.pool();
    if (out_->before != nullptr) exprs_ = out_->before->exprs;
    else exprs_.assign(pool.size(), DimPool::kUnset);
    const auto symbols = layout_.symbols(level_);
    for (size_t i = 0; i < symbols.size(); ++i) exprs_[symbols[i].expr] = out_->symbols[i];
    if (pool.size() == 0) return;
    if (all()) pool.eval(exprs_);
    else pool.eval(part_->exprs, exprs_);
  }

  void evaluate_dims() {
    if (all()) return evaluate_shapes();
    for (ValueId v : part_->values) {
      for (Dim d : graph_.dims(v)) out_->dims.push_back(DimPool::value(d, exprs_));
      check_dims(v);
    }
  }

  void evaluate_shapes() {
    const ir::ShapeTable& shapes = graph_.shapes();
    bool negative = false;
    for (ir::ShapeId shape = 0; shape < shapes.size(); ++shape) {
      for (Dim d : shapes.dims(shape)) {
        out_->dims.push_back(DimPool::value(d, exprs_));
        negative = negative || out_->dims.back() < 0;
      }
    }
    elements_.assign(shapes.size(), -1);
    // A shape that no value has any more may be anything.
    for (ValueId v = 0; negative && v < graph_.value_count(); ++v) check_dims(v);
  }

  void check_dims(ValueId v) const {
    for (int64_t n : dims_of(v)) {
      if (n >= 0) continue;
      fail(NEF_SHAPE_MISMATCH, "bind",
           cat(graph_.value_label(v), " would have a dim of ", n, ": ", graph_.type_str(v)));
    }
  }

  std::span<const int64_t> dims_of(ValueId v) const { return layout_.dims(*out_, level_, v); }
  int64_t bytes_of(ValueId v) {
    if (!all()) return ir::byte_count(graph_.dtype(v), dims_of(v));
    int64_t& n = elements_[graph_.shape_id(v)];
    if (n < 0) n = ir::element_count(dims_of(v));
    int64_t bytes = 0;
    const auto size = static_cast<int64_t>(ir::dtype_size(graph_.dtype(v)));
    return ir::checked_mul(n, size, &bytes) ? bytes : ir::byte_count(graph_.dtype(v), dims_of(v));
  }

  template <typename Each>
  void for_slots(Each each) const {
    for_part(all(), p_.slots.size(), all() ? nullptr : &part_->slots, each);
  }

  void shape_slots() {
    out_->slot_offset.assign(all() ? p_.slots.size() : part_->slots.size(), 0);
    for_slots([&](uint32_t s) {
      if (p_.slots[s].kind != SlotKind::Shape) return;
      out_->slot_offset[layout_.slot_place(s)] = out_->shape_data.size();
      for (Dim d : graph_.content(p_.slots[s].value)) {
        out_->shape_data.push_back(DimPool::value(d, exprs_));
      }
    });
  }

  size_t scratch_of(const Step& step) {
    // A program that is only planned, not compiled, has no kernels to ask.
    if (step.kind != Step::Kind::Launch || step.prepared == nullptr) return 0;
    const nef_backend* backend = p_.devices[step.device]->backend;
    if (backend->scratch_bytes == nullptr) return 0;
    tensors_.clear();
    for (uint32_t i = 0; i < step.value_count; ++i) {
      const ValueId v = p_.step_values[step.first_value + i].value;
      const bool known = layout_.level(v) <= level_;
      tensors_.push_back({nullptr, known ? dims_of(v).data() : kUnknownDims});
    }
    const auto lock = p_.devices[step.device]->lock();
    return backend->scratch_bytes(step.prepared->handle(), tensors_.data());
  }

  void plan_arenas() {
    out_->scratch_offset.assign(all() ? p_.steps.size() : part_->steps.size(), 0);
    for_part(all(), p_.steps.size(), all() ? nullptr : &part_->steps, [&](uint32_t i) {
      const size_t bytes = scratch_of(p_.steps[i]);
      if (bytes == 0) return;
      // The step before a launch that asked how large the outputs are used the same scratch.
      const bool asked = i > 0 && p_.steps[i - 1].kind == Step::Kind::Size;
      scratch_.push_back({i, p_.wave[asked ? i - 1 : i], bytes});
    });
    for (size_t k = 0; k < out_->spaces.size(); ++k) plan_arena(k);
  }

  // What a space has to hold, values and scratch, by the step that needs it first.
  void collect_requests(size_t k) {
    requests_.clear();
    offsets_.clear();
    const auto add = [this](uint64_t bytes, uint32_t first, uint32_t last, uint64_t* offset) {
      requests_.push_back({bytes, first, last});
      offsets_.push_back(offset);
    };
    size_t next = 0;  // scratch
    const auto add_scratch_before = [&](uint32_t wave) {
      for (; next < scratch_.size() && scratch_[next].first < wave; ++next) {
        const uint32_t step = scratch_[next].step;
        if (layout_.space_index(layout_.step_space(p_.steps[step])) != k) continue;
        add(scratch_[next].bytes, scratch_[next].first, p_.wave[step],
            &out_->scratch_offset[layout_.step_place(step)]);
      }
    };
    for_slots([&](uint32_t s) {
      const Slot& slot = p_.slots[s];
      if (slot.kind != SlotKind::Arena || layout_.space_index(slot.space) != k) return;
      add_scratch_before(slot.first);
      add(static_cast<uint64_t>(bytes_of(slot.value)), slot.first, slot.last,
          &out_->slot_offset[layout_.slot_place(s)]);
    });
    add_scratch_before(ir::kNone);
  }

  // Slots stand in the order of their steps, but for the few that copies fill.
  void sort_requests() {
    const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (std::is_sorted(requests_.begin(), requests_.end(), earlier)) return;
    std::vector<uint32_t> order(requests_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return earlier(requests_[a], requests_[b]); });
    ir::Array<plan::MemoryRequest> requests;
    ir::Array<uint64_t*> offsets;
    for (uint32_t i : order) {
      requests.push_back(requests_[i]);
      offsets.push_back(offsets_[i]);
    }
    requests_ = std::move(requests);
    offsets_ = std::move(offsets);
  }

  void plan_arena(size_t k) {
    collect_requests(k);
    sort_requests();
    const plan::MemoryPlan plan = plan::plan_memory(requests_);
    if (p_.options.verify) {
      const std::string wrong = plan::check_memory(requests_, plan);
      if (!wrong.empty()) fail(NEF_INTERNAL, "plan", wrong);
    }
    for (size_t i = 0; i < offsets_.size(); ++i) *offsets_[i] = plan.offset[i];
    // A value without elements still has an address in its own memory.
    const uint64_t least = requests_.empty() ? 0 : plan::kMemoryAlignment;
    out_->spaces[k].arena_bytes = std::max(plan.arena_bytes, least);
    out_->spaces[k].sum_bytes = plan.sum_bytes;
  }

  struct Scratch {
    uint32_t step, first;  // first: the wave that needs it first
    uint64_t bytes;
  };

  const Layout& layout_;
  const compile::Program& p_;
  const Graph& graph_;
  const Level level_;
  const Layout::Part* part_;  // null: there is one level, everything belongs to it
  std::shared_ptr<Binding> out_;
  std::vector<int64_t> exprs_;
  std::vector<int64_t> elements_;  // per shape, -1 = not counted yet
  std::vector<nef_backend_tensor> tensors_;
  ir::Array<Scratch> scratch_;  // by step
  ir::Array<plan::MemoryRequest> requests_;
  ir::Array<uint64_t*> offsets_;  // where the plan of each goes
};

}  // namespace

std::shared_ptr<const Binding> Layout::bind(std::vector<int64_t> symbols, Level level,
                                            std::shared_ptr<const Binding> before) const {
  return Binder(*this, std::move(symbols), level, std::move(before)).run();
}

std::string dims_text(std::span<const int64_t> dims) { return ir::shape_str(dims); }

}  // namespace nef::runtime
