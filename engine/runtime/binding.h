// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/program.h"

namespace nef::runtime {

using compile::Level;

// Dims of a tensor whose size is not known yet.
inline constexpr int64_t kUnknownDims[] = {
    NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN,
    NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN,
    NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN,
    NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN, NEF_DIM_UNKNOWN};
static_assert(std::size(kUnknownDims) == NEF_MAX_RANK);

// Numbers for what a program knows of its sizes at one level: dims, the memory plan of each arena,
// scratch. Immutable. Level 0 is bound to the shapes of the inputs, and is all there is where no
// size depends on data; each later one to the sizes that a step found, on top of the one before.
struct Binding {
  std::vector<int64_t> symbols;           // the key: value of each symbol, in Layout's order
  std::shared_ptr<const Binding> before;  // part of the key; null at level 0
  std::vector<int64_t> exprs;             // of the pool, as far as known; only where levels follow
  std::vector<int64_t> dims;              // of all shapes; where levels follow, of its values
  // By place in the level. Arena slots: offset; Shape slots: index into shape_data.
  std::vector<uint64_t> slot_offset;
  std::vector<int64_t> shape_data;  // elements of Shape slots
  struct Space {
    uint16_t space;
    const plan::Device* device;  // who allocates it
    uint64_t arena_bytes = 0, sum_bytes = 0;
  };
  std::vector<Space> spaces;
  // Of its arenas in host memory.
  uint64_t host_bytes() const {
    uint64_t bytes = 0;
    for (const Space& s : spaces) bytes += s.device->host_memory() ? s.arena_bytes : 0;
    return bytes;
  }
  std::vector<uint64_t> scratch_offset;  // by place of the step, in the arena of the step's space
};

// What all bindings of a program share: where symbols come from, what belongs to which level, and
// where in a level it stands.
class Layout {
 public:
  explicit Layout(const compile::Program& program);

  struct Symbol {
    uint32_t expr;         // id in the graph's pool
    uint32_t place, axis;  // of which input (level 0) or output of the sizing node it is a dim
  };
  // What belongs to a level, in order. Only filled where there is more than one.
  struct Part {
    std::vector<uint32_t> exprs, slots, steps, tensors;
    std::vector<ir::ValueId> values;
  };

  Level levels() const { return program_.levels; }
  bool late() const { return program_.levels > 1; }
  const Part& part(Level k) const { return parts_[k]; }
  std::span<const Symbol> symbols(Level k = 0) const { return symbols_[k]; }
  Level level(ir::ValueId v) const { return late() ? value_level_[v] : 0; }
  // Of the entry `i` of Program::step_values, and of a step's scratch.
  Level tensor_level(uint32_t i) const;
  Level scratch_level(const compile::Step& step) const;
  uint32_t slot_place(uint32_t slot) const { return late() ? slot_place_[slot] : slot; }
  uint32_t step_place(uint32_t step) const { return late() ? step_place_[step] : step; }

  // Dims of a value whose level is bound by `binding` or one before it.
  std::span<const int64_t> dims(const Binding& binding, Level bound, ir::ValueId v) const;
  // Where they begin in Binding::dims; values of one shape share them where there is one level.
  uint32_t dims_begin(ir::ValueId v) const {
    return dims_begin_[late() ? v : program_.graph->shape_id(v)];
  }
  const compile::Program& program() const { return program_; }
  std::span<const uint16_t> spaces() const { return spaces_; }
  // Index into Binding::spaces of a memory space.
  uint32_t space_index(uint16_t space) const { return space_index_[space]; }
  // Memory space a step's scratch comes from.
  uint16_t step_space(const compile::Step& step) const;

  // Evaluates the dims of a level for these symbol values and plans memory. `before` binds the
  // level before, null for level 0. Throws NEF_SHAPE_MISMATCH, NEF_LIMIT_EXCEEDED.
  std::shared_ptr<const Binding> bind(std::vector<int64_t> symbols, Level level = 0,
                                      std::shared_ptr<const Binding> before = nullptr) const;

 private:
  void find_symbols();
  void place_values();
  void place_shapes();
  void find_parts();

  const compile::Program& program_;
  std::vector<std::vector<Symbol>> symbols_;  // per level
  std::vector<Part> parts_;                   // per level
  std::vector<Level> value_level_;
  std::vector<uint32_t> dims_begin_;  // per shape; with levels per value
  std::vector<uint32_t> slot_place_, step_place_;
  std::vector<uint16_t> spaces_;
  std::vector<uint32_t> space_index_;
};

// "[2 3]"
std::string dims_text(std::span<const int64_t> dims);

}  // namespace nef::runtime
