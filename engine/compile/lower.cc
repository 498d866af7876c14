// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/compile/program.h"
#include "engine/compile/region_desc.h"
#include "engine/ir/error.h"

namespace nef::compile {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;
using optimize::RegionValue;

namespace {

constexpr uint16_t kHost = 0;

class Lowering {
 public:
  explicit Lowering(Program& program)
      : p_(program), graph_(*program.graph), host_slot_(graph_.value_count(), ir::kNone) {}

  void run() {
    p_.slots.reserve(graph_.value_count());
    p_.steps.reserve(p_.regions.list.size());
    p_.step_values.reserve(p_.regions.values.size() + 2 * graph_.graph_outputs().size());
    external_slots();
    find_late_symbols();
    for (uint32_t r = 0; r < p_.regions.list.size(); ++r) lower_region(r);
    finish_outputs();
    if (late_) spread_levels();
  }

 private:
  uint16_t space_of(uint16_t device) const {
    return p_.devices[device]->host_memory() ? kHost : static_cast<uint16_t>(device + 1);
  }

  uint32_t now() const { return static_cast<uint32_t>(p_.steps.size()); }

  uint32_t add_slot(ValueId v, SlotKind kind, uint16_t space, uint32_t index = 0) {
    p_.slots.push_back({v, kind, space, index, now(), now()});
    return static_cast<uint32_t>(p_.slots.size() - 1);
  }

  void external_slots() {
    const auto inputs = graph_.graph_inputs();
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      host_slot_[inputs[i]] = add_slot(inputs[i], SlotKind::Input, kHost, i);
    }
    for (size_t i = 0; i < graph_.constant_count(); ++i) {
      const ValueId v = graph_.constant_value(i);
      if (graph_.uses(v) == 0) continue;
      host_slot_[v] = add_slot(v, SlotKind::Constant, kHost);
    }
    // The first graph output that names a node's value is that value's home.
    const auto outputs = graph_.graph_outputs();
    home_.assign(outputs.size(), false);
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const ValueId v = outputs[i];
      if (graph_.def(v) != ir::ValueDef::Node || host_slot_[v] != ir::kNone) continue;
      const nef_op op = graph_.op(graph_.producer(v));
      if (op == NEF_OP_SHAPE_EXPR || ir::spec(op).n_blocks != 0) continue;
      host_slot_[v] = add_slot(v, SlotKind::Output, kHost, i);
      home_[i] = true;
    }
  }

  uint32_t& device_slot(ValueId v, uint16_t space) {
    return device_slots_[(static_cast<uint64_t>(space) << 32) | v];
  }

  // The slot of a value in a memory space; copies it there when it is elsewhere.
  uint32_t slot_in(ValueId v, uint16_t space, uint16_t device) {
    if (space == kHost) {
      if (host_slot_[v] != ir::kNone && !(pending_host(v))) return host_slot_[v];
      return bring_home(v);
    }
    uint32_t& slot = device_slots_.try_emplace((static_cast<uint64_t>(space) << 32) | v, ir::kNone)
                         .first->second;
    if (slot != ir::kNone) return slot;
    const uint32_t from = slot_in(v, kHost, device);
    const uint32_t to = add_slot(v, SlotKind::Arena, space);
    add_copy(from, to, device);
    device_slots_[(static_cast<uint64_t>(space) << 32) | v] = to;
    return to;
  }

  // Made on a device, and its host slot (an output's memory) not filled yet?
  bool pending_host(ValueId v) const {
    return !made_on_.empty() && made_on_.count(v) != 0 && filled_.count(v) == 0;
  }

  uint32_t bring_home(ValueId v) {
    const auto made = made_on_.find(v);
    if (made == made_on_.end()) {
      fail(NEF_INTERNAL, "lower", cat(graph_.value_label(v), " is used before it is made"));
    }
    if (host_slot_[v] == ir::kNone) host_slot_[v] = add_slot(v, SlotKind::Arena, kHost);
    add_copy(made->second.slot, host_slot_[v], made->second.device);
    filled_[v] = true;
    return host_slot_[v];
  }

  void add_copy(uint32_t from, uint32_t to, uint16_t device) {
    p_.steps.push_back(
        {Step::Kind::Copy, device, 0, static_cast<uint32_t>(p_.step_values.size()), 2, nullptr, 0});
    for (uint32_t s : {from, to}) {
      p_.step_values.push_back({p_.slots[s].value, s});
      touch(s);
    }
    if (p_.slots[from].space != p_.slots[to].space) ++p_.transfer_count;
  }

  // Extends a slot's life to the step just added.
  void touch(uint32_t slot) { p_.slots[slot].last = now() - 1; }

  void lower_region(uint32_t r) {
    const optimize::Region& region = p_.regions.list[r];
    const NodeId root = p_.regions.root(region);
    if (graph_.op(root) == NEF_OP_SHAPE_EXPR) {
      const ValueId v = graph_.output(root);
      if (graph_.uses(v) == 0) return;
      host_slot_[v] = add_slot(v, SlotKind::Shape, kHost, shape_count_++);
      return;
    }
    const uint16_t device = p_.placement.device[r];
    if (p_.placement.reason[r] == plan::Reason::Blocks) return lower_blocks(r, root, device);
    if (p_.placement.reason[r] == plan::Reason::View) return alias(r, root, device);
    const uint16_t space = space_of(device);
    const std::span<const RegionValue> values = p_.regions.values_of(region);
    // Inputs first: bringing them over may add steps. Host inputs stay where the host can read.
    region_slots_.resize_unset(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const RegionValue& v = values[i];
      uint32_t& slot = region_slots_[i];
      switch (v.kind) {
        case NEF_VALUE_INPUT: slot = slot_in(v.value, v.host != 0 ? kHost : space, device); break;
        case NEF_VALUE_CONSTANT:
        case NEF_VALUE_LITERAL: slot = host_slot_[v.value]; break;
        default: slot = ir::kNone; break;
      }
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].kind != NEF_VALUE_OUTPUT) continue;
      region_slots_[i] = output_slot(values[i].value, space, device);
    }
    const auto first_value = static_cast<uint32_t>(p_.step_values.size());
    const auto count = static_cast<uint32_t>(values.size());
    if (opens_level(root)) add_size(r, device, first_value, count);
    p_.steps.push_back({Step::Kind::Launch, device, r, first_value, count, nullptr, 0});
    for (size_t i = 0; i < values.size(); ++i) {
      p_.step_values.push_back({values[i].value, region_slots_[i]});
      if (region_slots_[i] != ir::kNone) touch(region_slots_[i]);
    }
  }

  // ---- sizes that become known in a run

  // Levels of the expressions that are known from the start; nothing to do when all are.
  void find_late_symbols() {
    const ir::DimPool& pool = graph_.pool();
    if (pool.size() == 0) return;
    std::vector<Level>& level = p_.expr_level;
    level.assign(pool.size(), kNoLevel);
    for (ValueId v : graph_.graph_inputs()) {
      for (ir::Dim d : graph_.dims(v)) {
        if (pool.is_symbol(d)) level[ir::expr_id(d)] = 0;
      }
    }
    spread_levels();
    late_ = std::find(level.begin(), level.end(), kNoLevel) != level.end();
    if (!late_) level.clear();
  }

  // An expression is known when everything it refers to is; it refers to earlier ones only.
  void spread_levels() {
    const ir::DimPool& pool = graph_.pool();
    std::vector<Level>& level = p_.expr_level;
    for (uint32_t id = 0; id < level.size(); ++id) {
      const ir::DimPool::Expr& e = pool.expr(ir::DimPool::dim_of(id));
      if (e.kind == ir::DimPool::Kind::Symbol) continue;
      Level most = 0;
      for (ir::Dim d : {e.a, e.b}) {
        if (ir::is_expr(d)) most = std::max(most, level[ir::expr_id(d)]);
      }
      for (const ir::DimPool::Term& t : e.terms) {
        for (uint32_t atom : t.atoms) most = std::max(most, level[atom]);
      }
      level[id] = most;
    }
  }

  // Does the node make values of sizes that were not known before it? Then they are from now on.
  bool opens_level(NodeId root) {
    if (!late_) return false;
    bool opens = false;
    for (uint32_t i = 0; i < graph_.output_count(root); ++i) {
      for (ir::Dim d : graph_.dims(graph_.output(root, i))) {
        if (!graph_.pool().is_symbol(d) || p_.expr_level[ir::expr_id(d)] != kNoLevel) continue;
        p_.expr_level[ir::expr_id(d)] = p_.levels;
        opens = true;
      }
    }
    if (opens) ++p_.levels;
    return opens;
  }

  void add_size(uint32_t r, uint16_t device, uint32_t first_value, uint32_t count) {
    p_.steps.push_back({Step::Kind::Size, device, r, first_value, count, nullptr, p_.levels - 1});
  }

  // Blocks take their inputs from host memory and leave their results there.
  void lower_blocks(uint32_t r, NodeId root, uint16_t device) {
    std::vector<StepValue> values;
    for (ValueId v : graph_.inputs(root)) {
      if (v == ir::kNone) values.push_back({graph_.output(root), ir::kNone});
      else values.push_back({v, slot_in(v, kHost, device)});
    }
    for (uint32_t i = 0; i < graph_.output_count(root); ++i) {
      const ValueId v = graph_.output(root, i);
      if (graph_.uses(v) != 0) host_slot_[v] = add_slot(v, SlotKind::Held, kHost, held_count_++);
      values.push_back({v, host_slot_[v]});
    }
    const auto first_value = static_cast<uint32_t>(p_.step_values.size());
    const Level opened = opens_level(root) ? p_.levels - 1 : 0;
    p_.steps.push_back({Step::Kind::Blocks, device, r, first_value,
                        static_cast<uint32_t>(values.size()), nullptr, opened});
    p_.step_values.append(values);
    for (const StepValue& v : values) {
      if (v.slot != ir::kNone) touch(v.slot);
    }
  }

  // A view is no launch: the step that finds its dims has values of its own.
  void size_view(uint32_t r, NodeId root, uint16_t device) {
    const auto inputs = graph_.inputs(root);
    std::vector<StepValue> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool read = inputs[i] != ir::kNone && ir::is_host_input(graph_.op(root), i);
      values.push_back({inputs[i] == ir::kNone ? graph_.output(root) : inputs[i],
                        read ? slot_in(inputs[i], kHost, device) : ir::kNone});
    }
    values.push_back({graph_.output(root), ir::kNone});
    p_.step_values.append(values);
    const auto count = static_cast<uint32_t>(values.size());
    add_size(r, device, static_cast<uint32_t>(p_.step_values.size()) - count, count);
    for (const StepValue& v : values) {
      if (v.slot != ir::kNone) touch(v.slot);
    }
  }

  // A view shares its input's slots; only a graph output needs bytes of its own.
  void alias(uint32_t r, NodeId root, uint16_t device) {
    if (opens_level(root)) size_view(r, root, device);
    const ValueId in = graph_.inputs(root)[0], out = graph_.output(root);
    if (host_slot_[out] != ir::kNone) {
      const uint32_t from = slot_in(in, kHost, device);
      p_.slots[host_slot_[out]].first = now();
      add_copy(from, host_slot_[out], device);
      return;
    }
    if (!pending_host(in)) {
      host_slot_[out] = slot_in(in, kHost, device);
      return;
    }
    const Made made = made_on_.at(in);
    made_on_[out] = made;
    device_slot(out, p_.slots[made.slot].space) = made.slot;
  }

  uint32_t output_slot(ValueId v, uint16_t space, uint16_t device) {
    if (space == kHost) {
      if (host_slot_[v] == ir::kNone) host_slot_[v] = add_slot(v, SlotKind::Arena, kHost);
      p_.slots[host_slot_[v]].first = now();
      return host_slot_[v];
    }
    const uint32_t slot = add_slot(v, SlotKind::Arena, space);
    device_slot(v, space) = slot;
    made_on_[v] = {slot, device};
    return slot;
  }

  // Graph outputs that no step wrote in place: device results, inputs, constants, repeats.
  void finish_outputs() {
    const auto outputs = graph_.graph_outputs();
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const ValueId v = outputs[i];
      if (home_[i]) {
        if (pending_host(v)) bring_home(v);
        continue;
      }
      const uint32_t from = slot_in(v, kHost, 0);
      const uint32_t to = add_slot(v, SlotKind::Output, kHost, i);
      add_copy(from, to, host_device());
    }
  }

  uint16_t host_device() const {
    for (uint16_t d = 0; d < p_.devices.size(); ++d) {
      if (p_.devices[d]->host_memory()) return d;
    }
    return 0;
  }

  struct Made {
    uint32_t slot;
    uint16_t device;
  };

  Program& p_;
  const Graph& graph_;
  ir::Array<uint32_t> host_slot_;                        // per value
  std::unordered_map<uint64_t, uint32_t> device_slots_;  // (space, value) -> slot
  std::unordered_map<ValueId, Made> made_on_;            // values made in device memory
  std::unordered_map<ValueId, bool> filled_;             // of those, copied to the host
  std::vector<bool> home_;                               // per graph output
  uint32_t shape_count_ = 0, held_count_ = 0;
  bool late_ = false;                 // are there sizes that only a run can tell?
  ir::Array<uint32_t> region_slots_;  // of the region at hand
};

}  // namespace

void lower(Program& program) { Lowering(program).run(); }

}  // namespace nef::compile
