// SPDX-License-Identifier: Apache-2.0
// Copies to the host that come in pieces, with the step behind them computing on those that are
// there.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/compile/program.h"
#include "engine/compile/region_desc.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::compile {

using ir::Dim;
using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

constexpr uint16_t kStreams = 4;  // the first one, and those of pieces on their way

// Which values of a region have the rows of one of its inputs as their first axis, where each row
// of its outputs depends on that row only.
class Rows {
 public:
  Rows(const Graph& graph, ValueId from) : graph_(graph), rows_(graph.dims(from)[0]) {
    has_rows_[from] = true;
  }

  bool follow(std::span<const NodeId> nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId n) {
      if (ir::spec(graph_.op(n)).cls == ir::OpClass::Elementwise) return elementwise(n);
      return ir::spec(graph_.op(n)).infer == ir::InferRule::kReduce && reduction(n);
    });
  }
  bool has(ValueId v) const {
    const auto it = has_rows_.find(v);
    return it != has_rows_.end() && it->second;
  }

 private:
  size_t rank(ValueId v) const { return graph_.dims(v).size(); }

  bool elementwise(NodeId n) {
    const ValueId out = graph_.output(n);
    for (ValueId v : graph_.inputs(n)) {
      if (v == ir::kNone) continue;
      const bool first = rank(v) == rank(out) && rank(v) > 0 && graph_.dims(v)[0] == rows_;
      if (rank(v) == rank(out) && rank(v) > 0 && !first && graph_.dims(v)[0] != 1) return false;
      if (has_rows_.emplace(v, first).first->second != first) return false;
    }
    return becomes_rows(out);
  }
  bool reduction(NodeId n) {
    const auto inputs = graph_.inputs(n);
    if (!has(inputs[0]) || inputs.size() < 2 || inputs[1] == ir::kNone) return false;
    const std::span<const int64_t> axes = known_numbers(inputs[1]);
    const auto r = static_cast<int64_t>(rank(inputs[0]));
    if (axes.empty() ||
        std::any_of(axes.begin(), axes.end(), [&](int64_t a) { return a == 0 || a == -r; })) {
      return false;
    }
    return becomes_rows(graph_.output(n));
  }
  std::span<const int64_t> known_numbers(ValueId v) const {
    if (graph_.has_content(v)) {
      const auto content = graph_.content(v);
      if (!ir::dims_static(content)) return {};
      return ir::numbers(content);
    }
    if (graph_.def(v) != ir::ValueDef::Constant || graph_.dtype(v) != NEF_INT64) return {};
    const auto* data = static_cast<const int64_t*>(graph_.constant_data(v)->data());
    return {data, static_cast<size_t>(ir::element_count(graph_.dims(v)))};
  }
  bool becomes_rows(ValueId out) {
    if (rank(out) == 0 || graph_.dims(out)[0] != rows_) return false;
    return has_rows_.emplace(out, true).first->second;
  }

  const Graph& graph_;
  const Dim rows_;
  std::map<ValueId, bool> has_rows_;
};

bool sends_pieces(const plan::Device& d) {
  const nef_backend& b = *d.backend;
  return !d.host_memory() && b.stream_create != nullptr && b.stream_destroy != nullptr &&
         b.stream_synchronize != nullptr && b.stream_wait != nullptr && b.stream_copy != nullptr &&
         b.host_alloc != nullptr;
}

// Is step `s` a copy to memory of the run in the host, and the next one a launch there?
bool is_pair(const Program& p, uint32_t s) {
  const Step &copy = p.steps[s], &next = p.steps[s + 1];
  if (copy.kind != Step::Kind::Copy || next.kind != Step::Kind::Launch) return false;
  if (!sends_pieces(*p.devices[copy.device]) || !p.devices[next.device]->host_memory())
    return false;
  const Slot& from = p.slots[p.step_values[copy.first_value].slot];
  const Slot& to = p.slots[p.step_values[copy.first_value + 1].slot];
  return from.space != 0 && to.space == 0 && to.kind == SlotKind::Arena &&
         !p.graph->dims(to.value).empty();
}

// Which values of the launch behind copy `s` have its rows; none where it is not to be cut.
std::optional<std::vector<bool>> rows_of(const Program& p, uint32_t s) {
  const Step& launch = p.steps[s + 1];
  const uint32_t slot = p.step_values[p.steps[s].first_value + 1].slot;
  const auto& region = p.regions.list[launch.region];
  const auto values = p.regions.values_of(region);
  uint32_t from = launch.value_count;
  for (uint32_t i = 0; i < launch.value_count; ++i) {
    if (p.step_values[launch.first_value + i].slot != slot) continue;
    if (from != launch.value_count || values[i].host != 0) return std::nullopt;
    from = i;
  }
  // A view has other dims than what is copied.
  if (from == launch.value_count || values[from].value != p.slots[slot].value) return std::nullopt;
  Rows rows(*p.graph, values[from].value);
  if (!rows.follow(p.regions.nodes_of(region))) return std::nullopt;
  std::vector<bool> out;
  for (const optimize::RegionValue& v : values) {
    const bool has = rows.has(v.value) && v.host == 0;
    const bool constant = v.kind == NEF_VALUE_CONSTANT || v.kind == NEF_VALUE_LITERAL;
    if ((has && constant) || (v.kind == NEF_VALUE_OUTPUT && !has)) return std::nullopt;
    out.push_back(has);
  }
  return out;
}

std::unique_ptr<Prepared> kernel_for_rows(const Program& p, const Step& launch,
                                          const std::vector<bool>& rows, const Environment& env) {
  RegionDesc desc;
  desc.set(*p.graph, p.regions, p.regions.list[launch.region], p.options.precision);
  desc.forget_first_dims(rows);
  auto kernel = env.kernels->get(*p.devices[launch.device], desc);
  return std::make_unique<Prepared>(kernel, constants_of(*p.graph, desc));
}

}  // namespace

void form_pieces(Program& p, const Environment& env) {
  if (p.options.parallel_branches > 1 || p.levels > 1 || most_streams(p.options) < 3) return;
  for (uint32_t s = 0; s + 1 < p.steps.size(); ++s) {
    if (!is_pair(p, s)) continue;
    std::optional<std::vector<bool>> rows = rows_of(p, s);
    if (!rows) continue;
    try {
      auto kernel = kernel_for_rows(p, p.steps[s + 1], *rows, env);
      p.packed_bytes += kernel->bytes();
      p.in_pieces.push_back({s, std::move(*rows), std::move(kernel)});
    } catch (const Error&) {
      continue;  // a kernel for these dims only: what is copied is copied whole
    }
    if (p.streams.size() < p.devices.size()) p.streams.resize(p.devices.size(), 1);
    uint16_t& streams = p.streams[p.steps[s].device];
    streams = std::max<uint16_t>(streams, std::min(most_streams(p.options), kStreams));
  }
}

}  // namespace nef::compile
