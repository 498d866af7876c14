// SPDX-License-Identifier: Apache-2.0
// Nested blocks in files: what is written reads back to the same bytes, in both kinds of file.
#include "engine/build/builder.h"
#include "engine/ir/verify.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;
using Dims = std::vector<Dim>;

std::shared_ptr<ir::Buffer> filled(size_t floats, float value) {
  auto data = ir::Buffer::allocate(4 * floats);
  for (size_t i = 0; i < floats; ++i)
    std::memcpy(static_cast<char*>(data->data()) + 4 * i, &value, 4);
  return data;
}

// x [n 32] -> x * a weight that is large enough to be stored
Graph::Block scaled(float value) {
  auto g = std::make_shared<Graph>();
  const ValueId x = g->add_input("x", NEF_FLOAT32, Dims{g->pool().symbol("n", 1, 64), 32});
  const ValueId w = g->add_constant(NEF_FLOAT32, Dims{16, 1, 32}, filled(512, value));
  g->value_names().set(w, "weight");
  const ValueId y = build::Builder(*g).value(NEF_OP_MUL, std::vector{x, w});
  g->add_output("y", y);
  g->extras()["/note"] = "\"kept\"";
  return g;
}

Graph nested() {
  auto body = std::make_shared<Graph>();
  body->add_input("i", NEF_INT64, Dims{});
  const ValueId c = body->add_input("c", NEF_BOOL, Dims{});
  const ValueId x = body->add_input("x", NEF_FLOAT32, Dims{body->pool().symbol("n", 1, 64), 32});
  const ValueId flag = body->add_input("flag", NEF_BOOL, Dims{});
  const ir::NodeId n = build::Builder(*body).add_blocks(NEF_OP_IF, std::vector{flag, x}, {},
                                                        std::vector{scaled(2), scaled(3)});
  body->add_output("c", c);
  body->add_output("x", x);
  body->add_output("part", body->output(n));

  Graph g;
  const ValueId trips = g.add_input("trips", NEF_INT64, Dims{});
  const ValueId outer_x = g.add_input("x", NEF_FLOAT32, Dims{g.pool().symbol("rows", 1, 64), 32});
  const ValueId outer_flag = g.add_input("flag", NEF_BOOL, Dims{});
  ir::AttrBuilder attrs(NEF_OP_LOOP);
  attrs.set_int(NEF_LOOP_CARRIED, 1);
  const ir::NodeId loop =
      build::Builder(g).add_blocks(NEF_OP_LOOP, std::vector{trips, ir::kNone, outer_x, outer_flag},
                                   attrs.build(), std::vector<Graph::Block>{body});
  g.add_output("last", g.output(loop, 0));
  g.add_output("parts", g.output(loop, 1));
  return g;
}

TEST(NefBlocks, RoundTripGivesTheSameBytes) {
  const Graph g = nested();
  ir::verify(g, "test");
  TempDir dir;
  for (const bool bundle : {false, true}) {
    const std::string path = dir / (bundle ? "b.nef" : "p.nef");
    save_nef(g, path, {.bundle = bundle});
    const auto back = load_nef(path);
    EXPECT_NO_THROW(ir::verify(*back, "load"));
    EXPECT_EQ(back->block_depth(), 2u);
    const Graph& inner = *back->blocks(0)[0]->blocks(0)[1];
    EXPECT_EQ(inner.extras().at("/note"), "\"kept\"");
    float value = 0;
    std::memcpy(&value, inner.constant_data(inner.constant_value(0))->data(), 4);
    EXPECT_EQ(value, 3.f);
    const std::string again = dir / "again.nef";
    save_nef(*back, again, {.bundle = bundle});
    if (bundle) {
      EXPECT_EQ(read_file(path), read_file(again));
    }
    const auto twice = load_nef(again);
    EXPECT_EQ(nef_bytes(*twice), nef_bytes(*back));
    EXPECT_EQ(nef_bytes(*back), nef_bytes(g));
  }
}

}  // namespace
}  // namespace nef::io
