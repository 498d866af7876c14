// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/batch.h"

#include <algorithm>

#include "engine/compile/region_desc.h"

namespace nef::runtime {

using ir::Dim;
using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

constexpr int kNoBatch = -1;
constexpr int kEntangled = -2;  // the batch twice, or in an expression

class Finder {
 public:
  Finder(const Graph& graph, std::string_view symbol) : graph_(graph), symbol_(symbol) {}

  Batch run() {
    axis_.reserve(graph_.value_count());
    for (ValueId v = 0; v < graph_.value_count(); ++v) axis_.push_back(axis_of(v));
    Batch out;
    for (ValueId v : graph_.graph_inputs()) {
      out.input_axis.push_back(axis_[v]);
      if (axis_[v] < 0) continue;
      out.splittable = true;
      out.least =
          std::max<int64_t>(1, graph_.pool().lower(graph_.dims(v)[static_cast<size_t>(axis_[v])]));
    }
    for (ValueId v : graph_.graph_outputs()) {
      out.output_axis.push_back(axis_[v]);
      out.splittable = out.splittable && axis_[v] >= 0;
    }
    for (int a : axis_) out.splittable = out.splittable && a != kEntangled;
    for (NodeId n = 0; out.splittable && n < graph_.node_count(); ++n) {
      out.splittable = keeps_rows_apart(n);
    }
    return out;
  }

 private:
  bool mentions_batch(Dim d) const {
    return ir::is_expr(d) && graph_.pool().str(d).find(symbol_) != std::string::npos;
  }

  int axis_of(ValueId v) const {
    const ir::DimPool& pool = graph_.pool();
    const auto dims = graph_.dims(v);
    int axis = kNoBatch;
    for (size_t a = 0; a < dims.size(); ++a) {
      if (!mentions_batch(dims[a])) continue;
      const bool plain = pool.is_symbol(dims[a]) && pool.expr(dims[a]).name == symbol_;
      if (!plain || axis != kNoBatch) return kEntangled;
      axis = static_cast<int>(a);
    }
    return axis;
  }

  bool keeps_rows_apart(NodeId n) const {
    if (graph_.op(n) == NEF_OP_SHAPE_EXPR) return true;
    bool reads_batch = false;
    const auto inputs = graph_.inputs(n);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == ir::kNone || ir::is_host_input(graph_.op(n), i)) continue;
      if (knows_batch_size(inputs[i])) return false;
      reads_batch = reads_batch || axis_[inputs[i]] >= 0;
    }
    bool writes_batch = false;
    for (uint32_t i = 0; i < graph_.output_count(n); ++i) {
      writes_batch = writes_batch || axis_[graph_.output(n, i)] >= 0;
    }
    if (!reads_batch && !writes_batch) return true;
    if (ir::spec(graph_.op(n)).cls == ir::OpClass::Elementwise) return aligned(n);
    return leads_everywhere(n) && is_local(n);
  }

  // A tensor of numbers that change with the size of the batch.
  bool knows_batch_size(ValueId v) const {
    if (!graph_.has_content(v)) return false;
    const auto content = graph_.content(v);
    return std::any_of(content.begin(), content.end(), [this](Dim d) { return mentions_batch(d); });
  }

  // Elementwise with broadcasting: the batch is the same dim, counted from the end.
  bool aligned(NodeId n) const {
    const ValueId out = graph_.output(n);
    const auto rank = [this](ValueId v) { return static_cast<int>(graph_.dims(v).size()); };
    for (ValueId v : graph_.inputs(n)) {
      if (v == ir::kNone || axis_[v] < 0) continue;
      if (axis_[out] != axis_[v] + rank(out) - rank(v)) return false;
    }
    return axis_[out] >= 0;
  }

  // The batch is the first dim of every result, and of every operand that has it.
  bool leads_everywhere(NodeId n) const {
    for (ValueId v : graph_.inputs(n)) {
      if (v != ir::kNone && axis_[v] > 0) return false;
    }
    for (uint32_t i = 0; i < graph_.output_count(n); ++i) {
      if (axis_[graph_.output(n, i)] != 0) return false;
    }
    return true;
  }

  int64_t axis_attr(NodeId n) const {
    const ir::OpSpec& s = ir::spec(graph_.op(n));
    const auto rank = static_cast<int64_t>(graph_.dims(graph_.inputs(n)[0]).size());
    for (unsigned slot = 0; slot < s.n_attrs; ++slot) {
      if (std::string_view(s.attrs[slot].name) != "axis") continue;
      const int64_t axis = graph_.attrs(n).i(slot);
      return axis < 0 ? axis + rank : axis;
    }
    return 0;
  }

  // Given that the batch leads, does each of its elements depend on itself only? Ops that are
  // not listed may not. Ops that would shrink or drop the batch had no such result.
  bool is_local(NodeId n) const {
    const ValueId first = graph_.inputs(n).empty() ? ir::kNone : graph_.inputs(n)[0];
    switch (graph_.op(n)) {
      case NEF_OP_MATMUL:
      case NEF_OP_FUSED_MATMUL:
      case NEF_OP_GEMM:
      case NEF_OP_CONV:
      case NEF_OP_CONV_TRANSPOSE:
      case NEF_OP_AVERAGE_POOL:
      case NEF_OP_MAX_POOL:
      case NEF_OP_GLOBAL_AVERAGE_POOL:
      case NEF_OP_GLOBAL_MAX_POOL:
      case NEF_OP_REDUCE_L1:
      case NEF_OP_REDUCE_L2:
      case NEF_OP_REDUCE_LOG_SUM:
      case NEF_OP_REDUCE_LOG_SUM_EXP:
      case NEF_OP_REDUCE_MAX:
      case NEF_OP_REDUCE_MEAN:
      case NEF_OP_REDUCE_MIN:
      case NEF_OP_REDUCE_PROD:
      case NEF_OP_REDUCE_SUM:
      case NEF_OP_REDUCE_SUM_SQUARE:
      case NEF_OP_ARGMAX:
      case NEF_OP_ARGMIN:
      case NEF_OP_BATCH_NORMALIZATION:
      case NEF_OP_GROUP_NORMALIZATION:
      case NEF_OP_INSTANCE_NORMALIZATION:
      case NEF_OP_LRN:
      case NEF_OP_ATTENTION:
      case NEF_OP_ROTARY_EMBEDDING:
      case NEF_OP_IDENTITY:
      case NEF_OP_RESHAPE:
      case NEF_OP_FLATTEN:
      case NEF_OP_SQUEEZE:
      case NEF_OP_UNSQUEEZE:
      case NEF_OP_TRANSPOSE:
      case NEF_OP_CONCAT:
      case NEF_OP_SPLIT:
      case NEF_OP_EXPAND:
      case NEF_OP_CONSTANT_OF_SHAPE:
      case NEF_OP_DEPTH_TO_SPACE:
      case NEF_OP_SPACE_TO_DEPTH: return true;
      case NEF_OP_SOFTMAX:
      case NEF_OP_LOG_SOFTMAX:
      case NEF_OP_HARDMAX:
      case NEF_OP_LP_NORMALIZATION:
      case NEF_OP_LAYER_NORMALIZATION:
      case NEF_OP_RMS_NORMALIZATION: return axis_attr(n) != 0;
      case NEF_OP_GATHER: return axis_[first] < 0 || axis_attr(n) != 0;
      case NEF_OP_TRILU: return graph_.dims(first).size() > 2;
      case NEF_OP_SLICE: return slices_other_axes(n);
      default: return false;
    }
  }

  bool slices_other_axes(NodeId n) const {
    const auto inputs = graph_.inputs(n);
    if (inputs.size() < 4 || inputs[3] == ir::kNone || !graph_.has_content(inputs[3])) return false;
    const auto rank = static_cast<int64_t>(graph_.dims(inputs[0]).size());
    const auto axes = graph_.content(inputs[3]);
    return std::none_of(axes.begin(), axes.end(), [&](Dim a) { return a == 0 || a == -rank; });
  }

  const Graph& graph_;
  const std::string_view symbol_;
  std::vector<int> axis_;  // per value
};

}  // namespace

Batch find_batch(const Graph& graph, std::string_view symbol) {
  return Finder(graph, symbol).run();
}

}  // namespace nef::runtime
