// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/matmul_view.h"

#include <algorithm>
#include <cstring>

namespace nef::cpu {
namespace {

int64_t literal_at(const Value& v, size_t i) {
  if (v.dtype == NEF_INT32) {
    int32_t x;
    std::memcpy(&x, v.literal.data() + i * sizeof x, sizeof x);
    return x;
  }
  int64_t x;
  std::memcpy(&x, v.literal.data() + i * sizeof x, sizeof x);
  return x;
}

bool parse_cuts(const Region& region, const Node& node, std::vector<OperandView::Cut>* cuts) {
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.has_input(i) && region.input(node, i).kind != NEF_VALUE_LITERAL) return false;
  }
  const Value& starts = region.input(node, 1);
  const int rank = region.input(node, 0).rank();
  const size_t size = starts.dtype == NEF_INT32 ? sizeof(int32_t) : sizeof(int64_t);
  for (size_t i = 0; i < starts.literal.size() / size; ++i) {
    int64_t axis =
        node.has_input(3) ? literal_at(region.input(node, 3), i) : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    cuts->push_back({axis, literal_at(starts, i),
                     node.has_input(4) ? literal_at(region.input(node, 4), i) : 1});
  }
  return true;
}

const Node* maker(const Region& region, size_t head, int32_t value) {
  for (size_t i = 0; i < head; ++i) {
    if (region.nodes[i].outputs[0] == value) return &region.nodes[i];
  }
  return nullptr;
}

// Is one of the last two axes of what is read still the one whose elements are neighbours?
bool keeps_lines(const OperandView& view, int rank) {
  int64_t axis = rank - 1;
  for (const OperandView::Step& step : view.steps) {
    if (step.perm.empty()) continue;
    axis = std::find(step.perm.begin(), step.perm.end(), axis) - step.perm.begin();
  }
  return rank > 1 && axis >= rank - 2;
}

int64_t first_of(int64_t start, int64_t step, int64_t n) {
  if (start < 0) start += n;
  return std::clamp<int64_t>(start, 0, std::max<int64_t>(step > 0 ? n : n - 1, 0));
}

}  // namespace

bool parse_view(const Region& region, size_t head, int32_t operand, OperandView* out,
                std::string* why) {
  int32_t at = operand;
  for (const Node* node = maker(region, head, at); node != nullptr;
       node = maker(region, head, at)) {
    OperandView::Step step{node->inputs[0], at, {}, {}};
    if (node->op == NEF_OP_TRANSPOSE) {
      step.perm = attr_ints(node->attrs(), NEF_TRANSPOSE_PERM);
      const int rank = region.values[at].rank();
      for (int i = rank; step.perm.empty() && i-- > 0;) step.perm.push_back(i);
    } else if (node->op != NEF_OP_SLICE || !parse_cuts(region, *node, &step.cuts)) {
      *why = "product: op id " + std::to_string(node->op) + " before it is not read in place";
      return false;
    }
    at = step.from;
    out->steps.insert(out->steps.begin(), std::move(step));
  }
  if (at == operand) return true;
  out->source = at;
  if (keeps_lines(*out, region.values[operand].rank())) return true;
  *why = "product: the lines of an operand are not its rows or columns";
  return false;
}

Strides view_strides(const ValueTable& table, const Tensor* values, int32_t operand,
                     const OperandView& view) {
  Strides s;
  const int32_t source = view.viewed() ? view.source : operand;
  int64_t stride = 1;
  for (int i = table.rank(source); i-- > 0;) {
    s.by[i] = stride;
    stride *= values[source].dims[i];
  }
  for (const OperandView::Step& step : view.steps) {
    const Strides before = s;
    for (size_t i = 0; i < step.perm.size(); ++i) s.by[i] = before.by[step.perm[i]];
    for (const OperandView::Cut& cut : step.cuts) {
      s.first += first_of(cut.start, cut.step, values[step.from].dims[cut.axis]) * s.by[cut.axis];
      // Only taken where there is a second element, and then it cannot overflow.
      s.by[cut.axis] *= values[step.to].dims[cut.axis] > 1 ? cut.step : 1;
    }
  }
  return s;
}

}  // namespace nef::cpu
