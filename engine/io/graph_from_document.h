// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/io/data_source.h"
#include "engine/io/document.h"

namespace nef::io {

// Settles what the names of a document refer to and adds everything to the graph, types
// inferred and compared with those the file declares.
void graph_from_document(Document doc, DataSource& data, ir::Graph& graph);

}  // namespace nef::io
