// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/build/builder.h"
#include "engine/ir/graph.h"
#include "tests/fuzz/graph/choices.h"

namespace nef::fuzz {

// Per op: nodes that inference took and that it refused, over the whole process.
struct OpTally {
  uint64_t taken = 0, refused = 0;
};
using Tallies = std::array<OpTally, NEF_OP_COUNT_>;
Tallies& tallies();

struct MakerOptions {
  bool large = false;  // shapes and counts that are refused or dear
  int depth = 0;       // of the block that is made
};

// Turns choices into a graph of nodes that inference takes: ops of the whole table, with values
// that fit where the op says which do, and with extreme numbers, shapes and attributes.
class Maker {
 public:
  Maker(Choices& choices, MakerOptions options);

  // Adds nodes until the choices end, then names the outputs.
  void make();

  ir::Graph& graph() { return graph_; }
  // What the run may choose for a symbol of the graph's inputs, by name.
  const std::map<std::string, int64_t>& symbols() const { return symbols_; }

 private:
  using Sizes = std::vector<int64_t>;
  using Letters = std::map<char, int64_t>;
  struct Attr {
    std::string_view name, text;
  };
  // A node on its way.
  struct Draft {
    nef_op op;
    nef_dtype variables[8];  // dtypes of type variables, 0 = open
    Letters letters;
    std::vector<Attr> forced;
    std::vector<ir::ValueId> inputs;
  };

  void step();
  void add_op(nef_op op);
  void draft_inputs(Draft& d);
  ir::ValueId input_from_word(Draft& d, size_t i, std::string_view word);
  ir::ValueId input_without_pattern(Draft& d, size_t i);
  std::optional<ir::ValueId> add(nef_op op, const std::vector<ir::ValueId>& inputs,
                                 std::span<const int64_t> words, size_t outputs = 0);
  std::vector<int64_t> attributes(const Draft& d);
  void set_attribute(ir::AttrBuilder& b, const Draft& d, unsigned slot);
  bool set_forced(ir::AttrBuilder& b, const Draft& d, unsigned slot, const Attr& attr);
  Sizes list_attribute(const Draft& d, std::string_view name);
  std::string text_attribute(std::string_view name);

  nef_dtype dtype_for(Draft& d, size_t i);
  int64_t size_of(Draft& d, std::string_view token);
  Sizes shape_from(Draft& d, std::string_view word);
  Sizes host_numbers(const Draft& d, std::string_view name, bool one);
  ir::ValueId host_value(Draft& d, size_t i, Sizes numbers, bool scalar);

  // Values
  std::optional<ir::ValueId> existing(uint32_t dtypes, int rank = -1);
  ir::ValueId fresh(nef_dtype dtype, const Sizes& shape);
  ir::ValueId constant(nef_dtype dtype, const Sizes& shape);
  ir::ValueId constant_numbers(nef_dtype dtype, const Sizes& shape, const Sizes& numbers);
  ir::ValueId input(nef_dtype dtype, const Sizes& shape, bool symbolic);
  ir::ValueId filled(nef_dtype dtype, const Sizes& shape);
  ir::Dim dim(int64_t size, bool symbolic);
  Sizes sizes(ir::ValueId v) const;
  Sizes any_shape();
  Sizes like(const Sizes& shape);

  // Whole pieces
  void growing_chain();
  void shape_chain();
  void add_if();
  void add_loop();
  void add_scan();
  std::vector<ir::ValueId> captures();
  void name_outputs();

  Choices& c_;
  const MakerOptions options_;
  ir::Graph graph_;
  build::Builder builder_{graph_};
  std::vector<ir::ValueId> values_;
  std::map<std::string, int64_t> symbols_;
};

}  // namespace nef::fuzz
