// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/ir/graph.h"
#include "engine/ir/infer.h"

namespace nef::io {

constexpr size_t kMaxNameBytes = 4096;  // tensor, node, file and attribute names
constexpr size_t kMaxDimText = 4096;    // one symbolic dim

// What a file holds at most. Readers and writers take the same list: beyond it a file is refused
// with NEF_LIMIT_EXCEEDED before memory is spent on it, and not written. docs/nef-format.md lists
// these numbers for users. They are fields so that tests can lower what is too large to reach.
struct Limits {
  size_t json_bytes = size_t{512} << 20;       // graph text of a .nef
  size_t json_depth = 128;                     // nested arrays and objects
  size_t json_values = size_t{1} << 24;        // values in one JSON text
  size_t nodes = size_t{1} << 21;              // of a graph, and of a block
  size_t tensors = size_t{1} << 22;            // likewise; inputs, outputs and edges too
  size_t operands = ir::kMaxOperands;          // inputs, and outputs, of one node
  size_t symbols = size_t{1} << 16;            // of a graph, and of a block
  size_t block_depth = ir::kMaxBlockDepth;     // blocks within blocks
  size_t inline_bytes = size_t{16} << 20;      // base64 data of one tensor, decoded
  size_t data_files = 1024;                    // files one graph may refer to
  size_t header_bytes = 100'000'000;           // safetensors header, as its spec says
  size_t container_tensors = size_t{1} << 20;  // tensors in one safetensors file
};
inline constexpr Limits kLimits;

// Integers beyond this lose digits in most JSON readers, so they are written as strings.
constexpr int64_t kMaxJsonInt = int64_t{1} << 53;

// Constants up to this size are written inline, larger ones into the safetensors part.
constexpr size_t kInlineBytes = 1024;

}  // namespace nef::io
