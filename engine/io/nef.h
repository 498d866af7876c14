// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "engine/io/limits.h"
#include "engine/ir/graph.h"

namespace nef::io {

// What a load did, also when it failed.
struct LoadInfo {
  enum class Stage : uint8_t {
    Bytes,      // opening, reading, telling the kind of file
    Syntax,     // the JSON text is well formed
    Structure,  // every key has the right form; names, types and data come next
    Done
  };
  Stage stage = Stage::Bytes;
  bool bundle = false;
  uint64_t mapped_tensors = 0;  // constants that are windows of a mapped file
  uint64_t copied_tensors = 0;  // constants copied from a file, for alignment or by option
};

struct LoadOptions {
  // A folder whose files and links are trusted: data files may then be links, as in a Hugging
  // Face cache, as long as they end beneath it. Empty: no links at all.
  std::string data_root = {};
  // false: weights are read into memory, safe from later changes of the file.
  bool map_weights = true;
  // Names the bytes in messages; a path names itself.
  std::string label = "graph";
  LoadInfo* info = nullptr;
  Limits limits = {};
};

struct SaveOptions {
  bool bundle = false;    // one safetensors file with graph and weights, else JSON (+ weights)
  bool edges = false;     // also write graph.edges, which follow from the nodes
  size_t alignment = 64;  // of weights in the file; 256 suits GPUs
  Limits limits = {};
};

// Reads a .nef file of either kind, told apart by content, and checks all of it.
//
// NEF_PARSE malformed text or structure; NEF_DUPLICATE_NAME, NEF_UNKNOWN_NAME, NEF_UNKNOWN_OP,
// NEF_GRAPH_CYCLE, NEF_UNSAFE_PATH, NEF_LIMIT_EXCEEDED, NEF_OUT_OF_RANGE as they say;
// NEF_SHAPE_MISMATCH / NEF_DTYPE_MISMATCH when a declared type is not the inferred one, or data
// does not fit; NEF_UNSUPPORTED for another version of the format; NEF_IO from the system.
std::shared_ptr<const ir::Graph> load_nef(const std::string& path, const LoadOptions& options = {});

// The same from memory, which is only used during the call. Data files are refused unless
// data_root says where they are.
std::shared_ptr<const ir::Graph> load_nef_bytes(std::span<const std::byte> bytes,
                                                const LoadOptions& options = {});

// Writes a graph. The file appears complete and readable or not at all: it is written beside its
// place and read back by the reader before it gets its name. Plain JSON with constants over 1 KiB
// puts them into "<stem>.safetensors" beside it, which is replaced first, and only if NEF wrote
// it; where the graph then cannot follow, the old weights come back. Same graph, same bytes.
// NEF_UNSUPPORTED for a graph with internal ops (save before optimising), NEF_INVALID_ARGUMENT for
// names and bools a file cannot hold, NEF_LIMIT_EXCEEDED, NEF_IO from the system, else the code
// with which the reader refuses the file.
void save_nef(const ir::Graph& graph, const std::string& path, const SaveOptions& options = {});

// The bytes of such a file. Plain JSON then keeps all constants inline, up to 16 MiB each.
std::string nef_bytes(const ir::Graph& graph, const SaveOptions& options = {});

}  // namespace nef::io
