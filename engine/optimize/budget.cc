// SPDX-License-Identifier: Apache-2.0
#include "engine/optimize/budget.h"

#include <algorithm>

#include "engine/ir/error.h"

namespace nef::optimize {

namespace {

// A step of the reference backend takes 2 to 5 ns. Any graph gets a tenth of a second; models get
// so many steps for each byte of their constants, as they take time to read anyway, but never more
// than about half a minute.
constexpr double kBaseSteps = 2e7, kStepsPerByte = 64, kMostSteps = 1e10;

// Bytes of computed constants, in proportion too: weights of few bits may become floats.
constexpr uint64_t kBaseBytes = uint64_t{16} << 20, kGrowth = 4;

// Of weights as kernels keep them. Padding and transforms (Winograd) take up to 8 bytes for one.
constexpr uint64_t kBasePacked = uint64_t{64} << 20, kPackedGrowth = 8;

// Recursion is bounded by how deep blocks are nested.
uint64_t constant_bytes(const ir::Graph& graph) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < graph.constant_count(); ++i) {
    bytes += graph.constant_data(graph.constant_value(i))->bytes();
  }
  for (ir::NodeId n = 0; graph.has_blocks() && n < graph.node_count(); ++n) {
    for (const ir::Graph::Block& block : graph.blocks(n)) bytes += constant_bytes(*block);
  }
  return bytes;
}

}  // namespace

Budget::Budget(const ir::Graph& graph, uint64_t memory, const std::atomic<bool>* cancel)
    : cancel_(cancel), own_bytes_(std::min(constant_bytes(graph), UINT64_MAX / 16)) {
  steps_left_ = std::min(kBaseSteps + kStepsPerByte * static_cast<double>(own_bytes_), kMostSteps);
  most_bytes_ = kBaseBytes + own_bytes_ * kGrowth;
  if (memory != 0) most_bytes_ = std::min(most_bytes_, memory / 4);
}

bool Budget::take(double steps, uint64_t in, uint64_t out) {
  // Nothing stops a node once it has begun: what takes longer than a look at its operands must be
  // short.
  const double longest = kBaseSteps + kStepsPerByte * static_cast<double>(in);
  if (steps > std::min(steps_left_, longest) || out > most_bytes_ - bytes_) return false;
  steps_left_ -= steps;
  bytes_ += out;
  return true;
}

void Budget::add_packed(uint64_t bytes) {
  packed_ += bytes;
  const uint64_t constants = own_bytes_ + std::min(bytes_, own_bytes_ + kBasePacked);
  const uint64_t limit = kBasePacked + kPackedGrowth * constants;
  if (packed_ <= limit) return;
  fail(NEF_LIMIT_EXCEEDED, "compile",
       cat("kernels would keep ", packed_, " bytes of packed weights; for a graph with ", constants,
           " bytes of constants the limit is ", limit,
           ". Make the weights inputs of the graph instead"));
}

void Budget::check_cancelled() const {
  if (cancel_ == nullptr || !cancel_->load(std::memory_order_relaxed)) return;
  fail(NEF_CANCELLED, "compile", "cancelled while compiling");
}

}  // namespace nef::optimize
