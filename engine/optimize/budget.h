// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/ir/graph.h"

namespace nef::optimize {

// What one compile may compute ahead of the runs, and keep: one budget for a graph and all its
// blocks. What is over it stays for the run, where it can be cancelled. Not thread-safe.
class Budget {
 public:
  // In proportion to the constants that the graph itself brings along. `memory` is the caller's own
  // budget in bytes, 0 = none: a quarter of it may hold computed constants. `cancel` may be null.
  Budget(const ir::Graph& graph, uint64_t memory, const std::atomic<bool>* cancel);

  // Asks for a node's steps (see ir::work) over constants of `in` bytes, and for the `out` bytes
  // of its results. False = not granted, nothing is taken.
  bool take(double steps, uint64_t in, uint64_t out);
  // Gives back bytes that were taken.
  void give_back(uint64_t bytes) { bytes_ -= bytes < bytes_ ? bytes : bytes_; }
  // Bytes of computed constants that are still there.
  uint64_t bytes() const { return bytes_; }

  // Counts packed weights that a kernel keeps. Throws NEF_LIMIT_EXCEEDED when all of them together
  // take more than the graph's constants explain.
  void add_packed(uint64_t bytes);

  // Throws NEF_CANCELLED when the caller has cancelled the compile.
  void check_cancelled() const;

 private:
  const std::atomic<bool>* const cancel_;
  const uint64_t own_bytes_;
  double steps_left_;
  uint64_t most_bytes_;
  uint64_t bytes_ = 0, packed_ = 0;
};

}  // namespace nef::optimize
