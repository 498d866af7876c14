// SPDX-License-Identifier: Apache-2.0
#include <unordered_set>

#include "engine/io/limits.h"
#include "engine/io/nef_text.h"
#include "engine/io/text.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

void check(std::string_view name, const char* what) {
  if (const char* fault = name_fault(name)) {
    fail(name.size() > kMaxNameBytes ? NEF_LIMIT_EXCEEDED : NEF_INVALID_ARGUMENT, "save",
         cat("the name of ", what, " ", in_quotes(name), " ", fault));
  }
}

class Namer {
 public:
  explicit Namer(const ir::Graph& graph) : graph_(graph) {}

  FileNames run() {
    names_.values.resize(graph_.value_count());
    names_.nodes.resize(graph_.node_count());
    used_.reserve(graph_.value_count());
    name_inputs();
    name_outputs();
    fill(names_.values, graph_.value_names(), "tensor", "v");
    used_.clear();
    fill(names_.nodes, graph_.node_names(), "node", "node_");
    return std::move(names_);
  }

 private:
  // False when something else has the name already.
  bool take(std::string& slot, std::string_view name) {
    slot = name;
    if (used_.insert(slot).second) return true;
    slot.clear();
    return false;
  }

  void take_generated(std::string& slot, const char* prefix, uint32_t id) {
    for (std::string name = cat(prefix, id); !take(slot, name); name += '_') {
    }
  }

  void name_inputs() {
    const auto inputs = graph_.graph_inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      check(graph_.input_name(i), "input");
      if (take(names_.values[inputs[i]], graph_.input_name(i))) continue;
      fail(NEF_DUPLICATE_NAME, "save",
           cat("two inputs are called ", in_quotes(graph_.input_name(i))));
    }
  }

  // A value is called after the first output it is, where nothing else is called so.
  void name_outputs() {
    const auto outputs = graph_.graph_outputs();
    for (size_t i = 0; i < outputs.size(); ++i) {
      check(graph_.output_name(i), "output");
      std::string& slot = names_.values[outputs[i]];
      if (slot.empty()) take(slot, graph_.output_name(i));
    }
  }

  // Own names first: a generated one must not take what belongs to a later thing.
  void fill(std::vector<std::string>& slots, const ir::NameTable& own, const char* what,
            const char* prefix) {
    for (uint32_t i = 0; i < slots.size(); ++i) {
      const std::string_view name = own.get(i);
      if (!slots[i].empty() || name.empty()) continue;
      check(name, what);
      take(slots[i], name);
    }
    for (uint32_t i = 0; i < slots.size(); ++i) {
      if (slots[i].empty()) take_generated(slots[i], prefix, i);
    }
  }

  const ir::Graph& graph_;
  FileNames names_;
  std::unordered_set<std::string_view> used_;  // views of names_, whose strings never move
};

}  // namespace

FileNames file_names(const ir::Graph& graph) { return Namer(graph).run(); }

}  // namespace nef::io
