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

using compile::Slot;
using compile::SlotKind;
using compile::Step;
using ir::Dim;
using ir::DimPool;
using ir::Graph;
using ir::ValueId;

namespace {

// An expression is bound when everything it refers to is; it refers to earlier ones only.
void spread_bound(const DimPool& pool, std::vector<bool>& bound) {
  const auto known = [&](Dim d) { return !ir::is_expr(d) || bound[ir::expr_id(d)]; };
  for (uint32_t id = 0; id < pool.size(); ++id) {
    const DimPool::Expr& e = pool.expr(DimPool::dim_of(id));
    if (e.kind == DimPool::Kind::Symbol) continue;
    bool all = known(e.a) && known(e.b);
    for (const DimPool::Term& t : e.terms) {
      for (uint32_t atom : t.atoms) all = all && bound[atom];
    }
    bound[id] = all;
  }
}

}  // namespace

Layout::Layout(const compile::Program& program) : program_(program) {
  const Graph& graph = *program.graph;
  const DimPool& pool = graph.pool();
  std::vector<bool> bound(pool.size(), false);
  const auto inputs = graph.graph_inputs();
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto dims = graph.dims(inputs[i]);
    for (uint32_t axis = 0; axis < dims.size(); ++axis) {
      if (!pool.is_symbol(dims[axis]) || bound[ir::expr_id(dims[axis])]) continue;
      bound[ir::expr_id(dims[axis])] = true;
      symbols_.push_back({ir::expr_id(dims[axis]), i, axis});
    }
  }
  spread_bound(pool, bound);
  const auto check_bound = [&](ValueId v, std::span<const Dim> dims) {
    for (Dim d : dims) {
      if (!ir::is_expr(d) || bound[ir::expr_id(d)]) continue;
      fail(NEF_UNSUPPORTED, "compile",
           cat(graph.value_label(v), " has a size that depends on data (", graph.type_str(v),
               "); this version plans only sizes that follow from the inputs' shapes"));
    }
  };
  uint32_t at = 0;
  for (ir::ShapeId shape = 0; shape < graph.shapes().size(); ++shape) {
    dims_begin_.push_back(at);
    at += static_cast<uint32_t>(graph.shapes().rank(shape));
  }
  for (ValueId v = 0; pool.size() > 0 && v < graph.value_count(); ++v) {
    check_bound(v, graph.dims(v));
  }
  space_index_.assign(program.devices.size() + 1, ir::kNone);
  const auto use_space = [&](uint16_t space) {
    if (space_index_[space] != ir::kNone) return;
    space_index_[space] = static_cast<uint32_t>(spaces_.size());
    spaces_.push_back(space);
  };
  use_space(0);
  for (const Slot& s : program.slots) {
    use_space(s.space);
    // The elements of a computed shape may be all that is left of a value of unknown size.
    if (s.kind == SlotKind::Shape) check_bound(s.value, graph.content(s.value));
  }
  for (const Step& s : program.steps) use_space(step_space(s));
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

class Binder {
 public:
  Binder(const Layout& layout, std::span<const uint16_t> spaces, std::vector<int64_t> symbols)
      : layout_(layout), p_(layout.program()), graph_(*p_.graph) {
    out_ = std::make_shared<Binding>();
    out_->symbols = std::move(symbols);
    for (uint16_t space : spaces) out_->spaces.push_back({space, allocator_of(p_, space)});
  }

  std::shared_ptr<const Binding> run() {
    evaluate_dims();
    shape_slots();
    plan_arenas();
    for (ValueId v : graph_.graph_outputs()) {
      out_->output_bytes.push_back(static_cast<uint64_t>(bytes_of(v)));
    }
    return out_;
  }

 private:
  void evaluate_dims() {
    const DimPool& pool = graph_.pool();
    exprs_.assign(pool.size(), DimPool::kUnset);
    for (size_t i = 0; i < layout_.symbols().size(); ++i) {
      exprs_[layout_.symbols()[i].expr] = out_->symbols[i];
    }
    if (pool.size() > 0) pool.eval(exprs_);
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

  std::span<const int64_t> dims_of(ValueId v) const {
    return {out_->dims.data() + layout_.dims_begin(v), graph_.rank(v)};
  }
  int64_t bytes_of(ValueId v) {
    int64_t& n = elements_[graph_.shape_id(v)];
    if (n < 0) n = ir::element_count(dims_of(v));
    int64_t bytes = 0;
    const auto size = static_cast<int64_t>(ir::dtype_size(graph_.dtype(v)));
    return ir::checked_mul(n, size, &bytes) ? bytes : ir::byte_count(graph_.dtype(v), dims_of(v));
  }

  void shape_slots() {
    out_->slot_offset.assign(p_.slots.size(), 0);
    for (size_t s = 0; s < p_.slots.size(); ++s) {
      if (p_.slots[s].kind != SlotKind::Shape) continue;
      out_->slot_offset[s] = out_->shape_data.size();
      for (Dim d : graph_.content(p_.slots[s].value)) {
        out_->shape_data.push_back(DimPool::value(d, exprs_));
      }
    }
  }

  size_t scratch_of(const Step& step) {
    // A program that is only planned, not compiled, has no kernels to ask.
    if (step.kind != Step::Kind::Launch || step.prepared == nullptr) return 0;
    const nef_backend* backend = p_.devices[step.device]->backend;
    if (backend->scratch_bytes == nullptr) return 0;
    tensors_.clear();
    for (uint32_t i = 0; i < step.value_count; ++i) {
      const ValueId v = p_.step_values[step.first_value + i].value;
      tensors_.push_back({nullptr, out_->dims.data() + layout_.dims_begin(v)});
    }
    const auto lock = p_.devices[step.device]->lock();
    return backend->scratch_bytes(step.prepared->handle(), tensors_.data());
  }

  void plan_arenas() {
    out_->scratch_offset.assign(p_.steps.size(), 0);
    for (uint32_t i = 0; i < p_.steps.size(); ++i) {
      if (const size_t bytes = scratch_of(p_.steps[i]); bytes != 0) scratch_.push_back({i, bytes});
    }
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
      for (; next < scratch_.size() && p_.wave[scratch_[next].step] < wave; ++next) {
        const uint32_t step = scratch_[next].step;
        if (layout_.space_index(layout_.step_space(p_.steps[step])) != k) continue;
        add(scratch_[next].bytes, p_.wave[step], p_.wave[step], &out_->scratch_offset[step]);
      }
    };
    for (size_t s = 0; s < p_.slots.size(); ++s) {
      const Slot& slot = p_.slots[s];
      if (slot.kind != SlotKind::Arena || layout_.space_index(slot.space) != k) continue;
      add_scratch_before(slot.first);
      add(static_cast<uint64_t>(bytes_of(slot.value)), slot.first, slot.last,
          &out_->slot_offset[s]);
    }
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
    uint32_t step;
    uint64_t bytes;
  };

  const Layout& layout_;
  const compile::Program& p_;
  const Graph& graph_;
  std::shared_ptr<Binding> out_;
  std::vector<int64_t> exprs_;
  std::vector<int64_t> elements_;  // per shape, -1 = not counted yet
  std::vector<nef_backend_tensor> tensors_;
  ir::Array<Scratch> scratch_;  // by step
  ir::Array<plan::MemoryRequest> requests_;
  ir::Array<uint64_t*> offsets_;  // where the plan of each goes
};

}  // namespace

std::shared_ptr<const Binding> Layout::bind(std::vector<int64_t> symbols) const {
  return Binder(*this, spaces_, std::move(symbols)).run();
}

}  // namespace nef::runtime
