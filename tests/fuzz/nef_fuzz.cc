// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .nef file: refused with an Error, or a graph that verifies and survives being
// written and read again byte for byte.
#include <span>

#include "engine/io/nef.h"
#include "engine/ir/error.h"
#include "engine/ir/verify.h"
#include "tests/fuzz/fuzz_counts.h"
#include "tests/fuzz/json_mutator.h"

namespace {

using nef::fuzz::require;
using nef::io::LoadInfo;

nef::fuzz::Counts counts;

std::shared_ptr<const nef::ir::Graph> load(std::span<const std::byte> bytes, LoadInfo* info) {
  try {
    auto graph = nef::io::load_nef_bytes(bytes, {.info = info});
    ++counts.past_parsing;
    ++counts.accepted;
    return graph;
  } catch (const nef::Error& e) {
    require(e.code() != NEF_INTERNAL && !e.message().empty(), "an error says what is wrong");
    if (info->stage >= LoadInfo::Stage::Syntax) ++counts.past_parsing;
    return nullptr;
  }
}

void round_trip(const nef::ir::Graph& graph, bool bundle) {
  std::string first;
  try {
    first = nef::io::nef_bytes(graph, {.bundle = bundle});
  } catch (const nef::Error& e) {
    // A plain file holds less than a bundle; nothing else may be in the way.
    require(e.code() == NEF_LIMIT_EXCEEDED, "what was loaded can be saved");
    return;
  }
  const auto back = nef::io::load_nef_bytes(std::as_bytes(std::span(first)));
  require(nef::io::nef_bytes(*back, {.bundle = bundle}) == first, "round trips are byte-stable");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ++counts.runs;
  LoadInfo info;
  const auto graph = load(std::as_bytes(std::span(data, size)), &info);
  // Texts with faults of form are tried, but not kept to mutate further: nearly all of their
  // offspring has the same fault.
  if (info.stage < LoadInfo::Stage::Structure) return -1;
  if (!graph) return 0;
  nef::ir::verify(*graph, "load");
  round_trip(*graph, false);
  round_trip(*graph, true);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t capacity,
                                          unsigned seed) {
  return nef::fuzz::JsonMutator(data, size, capacity, seed).run();
}
