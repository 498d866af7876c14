// SPDX-License-Identifier: Apache-2.0
// From a region to stages. Elementwise nodes are computed where they are used; a value is stored
// only when it leaves the region or an op of another kind makes or reads it.
#include <set>

#include "backends/gpu/kernel.h"

namespace nef::gpu {
namespace {

constexpr size_t kAlign = 256;
size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Inputs that the op table marks as host inputs, of the ops served here.
bool is_host_input(nef_op op, size_t i) {
  if (const OpKernel* k = find_kernel(op)) return i < 32 && (k->host_inputs >> i & 1) != 0;
  if (is_reduction(op)) return i == 1;
  switch (op) {
    case NEF_OP_RESHAPE:
    case NEF_OP_SQUEEZE:
    case NEF_OP_UNSQUEEZE:
    case NEF_OP_EXPAND:
    case NEF_OP_TILE:
    case NEF_OP_SPLIT:
    case NEF_OP_TRILU: return i == 1;
    case NEF_OP_SLICE: return i >= 1;
    case NEF_OP_PAD: return i == 1 || i == 3;
    case NEF_OP_CONSTANT_OF_SHAPE: return i == 0;
    default: return false;
  }
}

bool same_dims(const Value& a, const Value& b) { return a.dims == b.dims; }

}  // namespace

const char* why_not(nef_op op) {
  if (is_elementwise(op) || is_product(op) || is_reduction(op) || is_line_op(op) ||
      is_attention(op) || is_movement(op) || find_kernel(op) != nullptr) {
    return nullptr;
  }
  switch (op) {
    case NEF_OP_NONZERO:
    case NEF_OP_COMPRESS:
    case NEF_OP_UNIQUE:
    case NEF_OP_NON_MAX_SUPPRESSION:
      return "the size of its result depends on data, which the host must know first";
    case NEF_OP_HANN_WINDOW:
    case NEF_OP_HAMMING_WINDOW:
    case NEF_OP_BLACKMAN_WINDOW:
    case NEF_OP_MEL_WEIGHT_MATRIX: return "a small tensor made of numbers that the host has";
    case NEF_OP_DFT:
    case NEF_OP_STFT: return "no GPU kernel does Fourier transforms";
    case NEF_OP_DET: return "elimination goes column by column, too little at once for a GPU";
    case NEF_OP_RANDOM_NORMAL:
      return "its numbers are the same on every device, and a GPU's logarithm rounds otherwise";
    case NEF_OP_MULTINOMIAL: return "its picks follow sums in order, the same on every device";
    case NEF_OP_TF_IDF_VECTORIZER: return "it looks words up, which a GPU does no faster";
    default: return kNoReason;
  }
}

Plan::Plan(Region region) : region_(std::move(region)) {
  const size_t n = region_.values.size();
  producer_.resize(n);
  users_.resize(n);
  on_device_.resize(n);
  taken_.resize(region_.nodes.size());
  for (const Node& node : region_.nodes) {
    for (int32_t v : node.outputs) {
      if (v >= 0) producer_[static_cast<size_t>(v)] = &node;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] < 0) continue;
      const auto v = static_cast<size_t>(node.inputs[i]);
      users_[v].push_back(&node);
      if (!is_host_input(node.op, i)) on_device_[v] = true;
    }
  }
  add_stages();
  find_between();
}

bool Plan::materialised(int32_t value) const {
  const auto v = static_cast<size_t>(value);
  if (region_.values[v].kind == NEF_VALUE_OUTPUT) return true;
  for (const Node* user : users_[v]) {
    if (!is_elementwise(user->op)) return true;
  }
  return false;
}

void Plan::add_stages() {
  for (size_t i = 0; i < region_.nodes.size(); ++i) {
    const Node& node = region_.nodes[i];
    if (taken_[i]) continue;
    if (is_elementwise(node.op) && node.op != NEF_OP_IDENTITY) {
      if (materialised(node.outputs[0])) add_elementwise(node.outputs[0]);
      continue;
    }
    std::vector<int32_t> in, out;
    for (int32_t v : node.inputs) {
      if (v >= 0) in.push_back(v);
    }
    for (int32_t v : node.outputs) {
      if (v >= 0) out.push_back(v);
    }
    if (is_product(node.op) && take_bias(i)) continue;
    if (is_product(node.op)) stages_.push_back(product_stage(region_, node, {}));
    else if (is_reduction(node.op)) stages_.push_back(reduction_stage(region_, node));
    else if (is_line_op(node.op)) stages_.push_back(line_stage(region_, node));
    else if (is_attention(node.op)) stages_.push_back(attention_stage(region_, node));
    else if (is_movement(node.op)) stages_.push_back(movement_stage(region_, node));
    else if (const OpKernel* k = find_kernel(node.op))
      stages_.push_back(kernel_stage(*k, region_, node));
    else throw Refusal{why_not(node.op)};
    touched_.push_back({in, out});
  }
  for (const auto& stage : stages_) {
    if (!name_.empty()) name_ += " + ";
    name_ += stage->name();
    may_fault_ = may_fault_ || stage->may_fault();
  }
}

void Plan::add_elementwise(int32_t value) {
  std::set<const Node*> members;
  std::vector<int32_t> open = {value};
  std::set<int32_t> inputs;
  while (!open.empty()) {
    const int32_t v = open.back();
    open.pop_back();
    const Node* node = producer_[static_cast<size_t>(v)];
    const bool inside =
        node != nullptr && is_elementwise(node->op) && (v == value || !materialised(v));
    if (!inside) {
      inputs.insert(v);
      continue;
    }
    if (!members.insert(node).second) continue;
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->has_input(i)) open.push_back(node->inputs[i]);
    }
  }
  std::vector<const Node*> ordered;
  for (const Node& node : region_.nodes) {
    if (members.count(&node) != 0) ordered.push_back(&node);
  }
  stages_.push_back(elementwise_stage(region_, ordered, value));
  touched_.push_back({{inputs.begin(), inputs.end()}, {value}});
}

// product + vector, where nobody else wants the product alone.
bool Plan::take_bias(size_t product) {
  const Node& node = region_.nodes[product];
  const auto made = static_cast<size_t>(node.outputs[0]);
  if (node.has_input(2) || region_.values[made].kind != NEF_VALUE_INTERNAL) return false;
  if (users_[made].size() != 1) return false;
  const Node& sum = *users_[made][0];
  if (sum.op != NEF_OP_ADD || sum.inputs[0] == sum.inputs[1]) return false;
  const int32_t bias = sum.inputs[0] == node.outputs[0] ? sum.inputs[1] : sum.inputs[0];
  const Value& b = region_.values[static_cast<size_t>(bias)];
  const int32_t out = sum.outputs[0];
  if (b.kind == NEF_VALUE_INTERNAL || b.rank() != 1) return false;
  if (region_.values[made].rank() == 0) return false;
  if (!same_dims(region_.values[made], region_.values[static_cast<size_t>(out)])) return false;
  stages_.push_back(product_stage(region_, node, {bias, out}));
  touched_.push_back({{node.inputs[0], node.inputs[1], bias}, {out}});
  for (size_t i = 0; i < region_.nodes.size(); ++i) {
    if (&region_.nodes[i] == &sum) taken_[i] = true;
  }
  producer_[static_cast<size_t>(out)] = &node;  // no elementwise node any more
  return true;
}

void Plan::find_between() {
  for (size_t s = 0; s < stages_.size(); ++s) {
    for (int32_t v : touched_[s].second) {
      if (region_.values[static_cast<size_t>(v)].kind != NEF_VALUE_INTERNAL) continue;
      Between b{v, -1};
      std::vector<size_t> readers;
      for (size_t r = s + 1; r < stages_.size(); ++r) {
        const auto& in = touched_[r].first;
        if (std::find(in.begin(), in.end(), v) != in.end()) readers.push_back(r);
      }
      // An elementwise kernel reads each place before it writes it.
      if (readers.size() == 1 && std::string_view(stages_[readers[0]]->name()) == "elementwise") {
        const int32_t out = touched_[readers[0]].second[0];
        const Value& o = region_.values[static_cast<size_t>(out)];
        const bool first =
            std::none_of(between_.begin(), between_.end(),
                         [out](const Between& other) { return other.output == out; });
        if (first && o.kind == NEF_VALUE_OUTPUT &&
            o.dtype == region_.values[static_cast<size_t>(v)].dtype) {
          b.output = out;
        }
      }
      between_.push_back(b);
    }
  }
}

size_t Plan::place(const Values& values, char* scratch, char** data, char** stage_scratch) const {
  size_t used = 0;
  for (const Between& b : between_) {
    if (b.output >= 0) {
      const Dims here = values.dims(b.value), there = values.dims(b.output);
      if (here.rank == there.rank && std::equal(here.at, here.at + here.rank, there.at)) {
        if (data != nullptr) data[b.value] = data[b.output];
        continue;
      }
    }
    if (data != nullptr) data[b.value] = scratch + used;
    used += aligned(static_cast<size_t>(values.count(b.value)) * values.element_size(b.value));
  }
  if (stage_scratch != nullptr) *stage_scratch = scratch + used;
  size_t most = 0;
  for (const auto& stage : stages_) most = std::max(most, stage->scratch_bytes(values));
  return used + most;
}

}  // namespace nef::gpu
