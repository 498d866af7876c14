// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/compile/program.h"

namespace nef::runtime {

// A program with numbers for its symbols: all dims, the memory plan of each arena, scratch.
// Immutable. A static program has exactly one.
struct Binding {
  std::vector<int64_t> symbols;       // the key: value of each symbol, in Layout's order
  std::vector<int64_t> dims;          // dims of all shapes, one after another
  std::vector<uint64_t> slot_offset;  // Arena slots: offset; Shape slots: index into shape_data
  std::vector<int64_t> shape_data;    // elements of Shape slots
  struct Space {
    uint16_t space;
    const plan::Device* device;  // who allocates it
    uint64_t arena_bytes = 0, sum_bytes = 0;
  };
  std::vector<Space> spaces;
  std::vector<uint64_t> scratch_offset;  // per step, in the arena of the step's space
  std::vector<uint64_t> output_bytes;    // per graph output
};

// What all bindings of a program share: where symbols come from and where dims are stored.
class Layout {
 public:
  explicit Layout(const compile::Program& program);

  struct Symbol {
    uint32_t expr;         // id in the graph's pool
    uint32_t input, axis;  // where its value is read from
  };
  std::span<const Symbol> symbols() const { return symbols_; }
  // Where the dims of a value begin in Binding::dims; values of one shape share them.
  uint32_t dims_begin(ir::ValueId v) const { return dims_begin_[program_.graph->shape_id(v)]; }
  const compile::Program& program() const { return program_; }
  // Index into Binding::spaces of a memory space.
  uint32_t space_index(uint16_t space) const { return space_index_[space]; }
  // Memory space a step's scratch comes from.
  uint16_t step_space(const compile::Step& step) const;

  // Evaluates all dims for these symbol values and plans memory. Throws NEF_SHAPE_MISMATCH,
  // NEF_LIMIT_EXCEEDED.
  std::shared_ptr<const Binding> bind(std::vector<int64_t> symbols) const;

 private:
  const compile::Program& program_;
  std::vector<Symbol> symbols_;
  std::vector<uint32_t> dims_begin_;  // per shape
  std::vector<uint16_t> spaces_;
  std::vector<uint32_t> space_index_;
};

}  // namespace nef::runtime
