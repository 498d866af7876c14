// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/io/safetensors.h"
#include "engine/ir/graph.h"

namespace nef::io {

// Where the bytes of constants go.
struct Placement {
  bool store_large = true;  // constants over kInlineBytes go to `stored`, else all are inline
  std::string file;         // data file they are referred to in; "" = the bundle itself
};

// The JSON text of a graph; what has to stand in the safetensors part is appended to `stored`,
// whose data points into the graph. Refuses what a reader with these limits would, where it can
// say more of it than the reader.
std::string nef_text(const ir::Graph& graph, const Placement& placement, bool edges,
                     const Limits& limits, std::vector<StTensor>* stored);

// Names of all values and nodes as a file gives them: unique, the graph's own where it has some.
struct FileNames {
  std::vector<std::string> values;
  std::vector<std::string> nodes;
};
FileNames file_names(const ir::Graph& graph);

}  // namespace nef::io
