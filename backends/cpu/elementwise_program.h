// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/elementwise_tiles.h"
#include "backends/cpu/kernel.h"

// An elementwise region as a flat program over tiles.
namespace nef::cpu {

// Loads tile `t` of an input into a slot, or (fn set) runs a tile function on slots.
struct TileStep {
  TileFn fn = nullptr;
  int input = -1;            // loads: index into TileProgram::inputs
  int out = -1;              // slot
  int in[3] = {-1, -1, -1};  // slots; of a function with fewer inputs the first again
  double p0 = 0, p1 = 0;
  bool fetches = false;  // looks after TileArgs::ahead, unlike conversions
};

struct TileInput {
  int value;  // of the region
  size_t element_size;
};

struct TileProgram {
  std::vector<TileInput> inputs;
  std::vector<TileStep> steps;  // the last one makes the output
  int slots = 0;
  size_t max_element_size = 1;  // over all slots
  int output = -1;              // value of the region
  size_t output_size = 1;
  double nanoseconds_per_element = 0;  // rough, to size parallel chunks
};

// Most slots a program may use: with 64-element tiles of 8 bytes they fit the tile arena.
inline constexpr int kMaxTileSlots = 64;

// Null, with the reason, when an op or dtype is not served.
std::optional<TileProgram> build_tile_program(const Region& region, std::string* why);

// Is this op elementwise, so that it may stand in such a program?
bool is_tile_op(nef_op op);

}  // namespace nef::cpu
