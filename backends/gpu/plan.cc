// SPDX-License-Identifier: Apache-2.0
// From a region to stages. Elementwise nodes are computed where they are used; a value is stored
// only when it leaves the region or an op of another kind makes or reads it.
#include <set>

#include "backends/gpu/decode.h"
#include "backends/gpu/kernel.h"
#include "backends/gpu/product_pieces.h"
#include "backends/gpu/product_tiles.h"

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

Plan::Plan(Region region, const DeviceInfo& device) : region_(std::move(region)) {
  const size_t n = region_.values.size();
  producer_.resize(n);
  users_.resize(n);
  on_device_.resize(n);
  turned_.resize(n);
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
  // In the order in which they are asked.
  Stages ways;
  for (const auto make : {gemv_stage, decode_attention_stage, float8_product_stage,
                          product_tiles_stage, product_pieces_stage}) {
    if (auto way = make(region_, device)) ways.push_back(std::move(way));
  }
  for (size_t v = 0; v < n; ++v) {
    turned_[v] = std::any_of(ways.begin(), ways.end(), [v](const auto& way) {
      return way->wants_turned(static_cast<int32_t>(v));
    });
  }
  add_stages(device);
  find_between();
  ways_ = ways.size();
  for (size_t i = ways_; i > 0; --i) name_ = std::string(ways[i - 1]->name()) + " or " + name_;
  std::move(ways.begin(), ways.end(), std::back_inserter(stages_));
}

size_t Plan::short_way(const Values& values) const {
  for (size_t s = stages_.size() - ways_; s < stages_.size(); ++s) {
    if (stages_[s]->takes(values)) return s;
  }
  return kNone;
}

std::optional<TiledMatrix> Plan::tiled(int32_t value) const {
  for (size_t s = stages_.size() - ways_; s < stages_.size(); ++s) {
    if (auto tiles = stages_[s]->tiled(value)) return tiles;
  }
  return std::nullopt;
}

bool Plan::materialised(int32_t value) const {
  const auto v = static_cast<size_t>(value);
  if (region_.values[v].kind == NEF_VALUE_OUTPUT) return true;
  for (const Node* user : users_[v]) {
    if (!is_elementwise(user->op)) return true;
  }
  return false;
}

// Slices of rows that only this attention reads need no stage.
void Plan::take_slices(const Node& attention) {
  for (size_t i : {0, 1, 2}) {
    const auto v = static_cast<size_t>(attention.inputs[i]);
    const Node* maker = producer_[v];
    if (maker == nullptr || region_.values[v].kind != NEF_VALUE_INTERNAL) continue;
    if (users_[v].size() != 1 || region_.values[v].rank() != 3) continue;
    if (is_row_slice(region_, *maker)) taken_[index_of(*maker)] = true;
  }
}
AttentionSlices Plan::slices_of(const Node& attention) const {
  AttentionSlices out = {};
  if (attention.op != NEF_OP_ATTENTION) return out;
  for (size_t i : {0, 1, 2}) {
    const Node* maker = producer_[static_cast<size_t>(attention.inputs[i])];
    if (maker != nullptr && taken_[index_of(*maker)] && maker->op == NEF_OP_SLICE) out[i] = maker;
  }
  return out;
}

void Plan::add_stages(const DeviceInfo& device) {
  for (const Node& node : region_.nodes) {
    if (node.op == NEF_OP_ATTENTION) take_slices(node);
  }
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
    if (is_product(node.op) && take_additions(i)) continue;
    if (is_product(node.op)) {
      stages_.push_back(product_stage(region_, node, {}, turned(node.inputs[1])));
    } else if (is_reduction(node.op)) stages_.push_back(reduction_stage(region_, node));
    else if (is_line_op(node.op)) stages_.push_back(line_stage(region_, node, device));
    else if (is_attention(node.op)) {
      const AttentionSlices slices = slices_of(node);
      for (const Node* slice : slices) {
        if (slice != nullptr) in.push_back(slice->inputs[0]);
      }
      stages_.push_back(attention_stage(region_, node, slices, device));
    } else if (is_movement(node.op)) stages_.push_back(movement_stage(region_, node));
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

// The one addition that reads a value which nothing else wants; null when there is none, or it
// gives the result another shape.
const Node* Plan::addition_behind(int32_t value) const {
  const auto v = static_cast<size_t>(value);
  if (region_.values[v].kind != NEF_VALUE_INTERNAL || users_[v].size() != 1) return nullptr;
  const Node& sum = *users_[v][0];
  if (sum.op != NEF_OP_ADD || sum.inputs[0] == sum.inputs[1]) return nullptr;
  return same_dims(region_.values[v], region_.output(sum, 0)) ? &sum : nullptr;
}

// product + vector + tensor, or one of them.
bool Plan::take_additions(size_t product) {
  const Node& node = region_.nodes[product];
  const Value& made = region_.output(node, 0);
  if (node.has_input(2) || made.rank() == 0) return false;
  ProductTail tail;
  tail.out = node.outputs[0];
  std::vector<int32_t> in = {node.inputs[0], node.inputs[1]};
  while (const Node* sum = addition_behind(tail.out)) {
    const int32_t other = sum->inputs[0] == tail.out ? sum->inputs[1] : sum->inputs[0];
    const Value& o = region_.values[static_cast<size_t>(other)];
    if (o.kind == NEF_VALUE_INTERNAL) break;
    // Dims that only a run knows may turn out to broadcast.
    const bool known = std::count(made.dims.begin(), made.dims.end(), NEF_DIM_UNKNOWN) == 0;
    const bool quick = known && (made.dtype == NEF_FLOAT32 || is_narrow(made.dtype));
    // A bias before a residual must be one that the library adds on its own.
    const bool plain =
        tail.bias < 0 || region_.values[static_cast<size_t>(tail.bias)].dims[0] == made.dims.back();
    if (tail.bias < 0 && tail.residual < 0 && o.rank() == 1) tail.bias = other;
    else if (tail.residual < 0 && quick && plain && made.dims.back() > 1 && same_dims(o, made)) {
      tail.residual = other;
    } else break;
    in.push_back(other);
    tail.out = sum->outputs[0];
    taken_[index_of(*sum)] = true;
    producer_[static_cast<size_t>(tail.out)] = &node;  // no elementwise node any more
  }
  if (tail.bias < 0 && tail.residual < 0) return false;
  stages_.push_back(product_stage(region_, node, tail, turned(node.inputs[1])));
  touched_.push_back({std::move(in), {tail.out}});
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
  if (const size_t way = short_way(values); way != kNone) {
    if (stage_scratch != nullptr) *stage_scratch = scratch;
    return stages_[way]->scratch_bytes(values);
  }
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
  for (size_t s = 0; s < stages_.size() - ways_; ++s) {
    most = std::max(most, stages_[s]->scratch_bytes(values));
  }
  return used + most;
}

}  // namespace nef::gpu
