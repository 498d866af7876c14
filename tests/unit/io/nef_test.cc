// SPDX-License-Identifier: Apache-2.0
#include "engine/io/nef.h"

#include <limits>
#include <thread>

#include "engine/build/builder.h"
#include "engine/io/dim_name.h"
#include "engine/io/safetensors.h"
#include "engine/ir/verify.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;

const std::string kData = std::string(NEF_TEST_DATA_DIR) + "/nef/";

std::vector<int64_t> attrs(nef_op op, const std::function<void(ir::AttrBuilder&)>& set) {
  ir::AttrBuilder b(op);
  set(b);
  return b.build();
}

// x [batch seq 16] -> matmul with a stored weight -> + inline bias -> split -> two outputs.
Graph sample() {
  Graph g;
  const Dim batch = g.pool().symbol("batch", 1, 32), seq = g.pool().symbol("seq", 1, 512);
  const ValueId x = g.add_input("x", NEF_FLOAT32, std::vector<Dim>{batch, seq, 16});
  std::vector<float> w(16 * 32), b(32);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i) / 7;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i) - 3;
  const ValueId vw = g.add_constant(NEF_FLOAT32, std::vector<Dim>{16, 32}, buffer_of(w));
  const ValueId vb = g.add_constant(NEF_FLOAT32, std::vector<Dim>{32}, buffer_of(b));
  g.value_names().set(vw, "weight");
  build::Builder build(g);
  const ValueId m = build.value(NEF_OP_MATMUL, std::vector{x, vw});
  const ValueId a = build.value(NEF_OP_ADD, std::vector{m, vb});
  const auto split = attrs(NEF_OP_SPLIT, [](ir::AttrBuilder& s) {
    s.set_int(NEF_SPLIT_AXIS, -1);
    s.set_int(NEF_SPLIT_NUM_OUTPUTS, 2);
  });
  const ir::NodeId s = build.add(NEF_OP_SPLIT, std::vector{a}, split, 2);
  g.node_names().set(s, "halves");
  g.node_devices().set(s, "gpu");
  g.add_output("low", g.output(s, 0));
  g.add_output("high", g.output(s, 1));
  return g;
}

void expect_same_constants(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.constant_count(), b.constant_count());
  for (size_t i = 0; i < a.constant_count(); ++i) {
    const auto& p = a.constant_data(a.constant_value(i));
    const auto& q = b.constant_data(b.constant_value(i));
    ASSERT_EQ(p->bytes(), q->bytes());
    EXPECT_EQ(std::memcmp(p->data(), q->data(), p->bytes()), 0);
  }
}

TEST(Nef, SampleSurvivesBothKinds) {
  const Graph g = sample();
  TempDir dir;
  for (const bool bundle : {false, true}) {
    const std::string path = dir / (bundle ? "b.nef" : "p.nef");
    save_nef(g, path, {.bundle = bundle});
    EXPECT_EQ(std::filesystem::exists(dir / "p.safetensors"), true);
    LoadInfo info;
    const auto back = load_nef(path, {.info = &info});
    EXPECT_NO_THROW(ir::verify(*back, "load"));
    EXPECT_EQ(info.stage, LoadInfo::Stage::Done);
    EXPECT_EQ(info.bundle, bundle);
    EXPECT_EQ(info.mapped_tensors, 1u);
    ASSERT_EQ(back->node_count(), 3u);
    EXPECT_EQ(back->input_name(0), "x");
    EXPECT_EQ(back->output_name(1), "high");
    EXPECT_EQ(back->type_str(back->graph_inputs()[0]), "float32 [batch seq 16]");
    EXPECT_EQ(back->type_str(back->graph_outputs()[0]), "float32 [batch seq 16]");
    EXPECT_EQ(back->pool().upper(back->dims(back->graph_inputs()[0])[1]), 512);
    EXPECT_EQ(back->node_names().get(2), "halves");
    EXPECT_EQ(back->node_devices().get(2), "gpu");
    EXPECT_EQ(back->attrs(2).i(NEF_SPLIT_AXIS), -1);
    EXPECT_EQ(back->value_names().get(back->constant_value(0)), "weight");
    expect_same_constants(g, *back);
  }
}

TEST(Nef, RoundTripIsByteStable) {
  const Graph g = sample();
  TempDir dir;
  for (const bool bundle : {false, true}) {
    for (const bool edges : {false, true}) {
      const SaveOptions options{.bundle = bundle, .edges = edges};
      save_nef(g, dir / "m.nef", options);
      const std::string first = read_file(dir / "m.nef");
      const std::string weights = read_file(dir / "m.safetensors");
      const auto back = load_nef(dir / "m.nef");
      save_nef(*back, dir / "m.nef", {.bundle = bundle});  // over the file that is mapped
      EXPECT_EQ(read_file(dir / "m.nef"), first);
      EXPECT_EQ(read_file(dir / "m.safetensors"), weights);
      expect_same_constants(g, *back);
      EXPECT_EQ(nef_bytes(sample(), {.bundle = true}), nef_bytes(g, {.bundle = true}));
    }
  }
}

TEST(Nef, GoldenFilesStayReadableAndCanonical) {
  for (const char* name : {"golden_mlp.nef", "golden_mlp_bundle.nef", "golden_names.nef"}) {
    const std::string bytes = read_file(kData + name);
    ASSERT_FALSE(bytes.empty()) << name;
    LoadInfo info;
    const auto g = load_nef(kData + name, {.info = &info});
    EXPECT_EQ(nef_bytes(*g, {.bundle = info.bundle}), bytes) << name;
  }
}

TEST(Nef, SeedExampleCompletedLoads) {
  const auto g = load_nef(kData + "seed_completed.nef");
  ASSERT_EQ(g->node_count(), 2u);
  EXPECT_EQ(g->op(0), NEF_OP_MATMUL);
  EXPECT_EQ(g->node_devices().get(0), "gpu");
  ASSERT_EQ(g->graph_inputs().size(), 2u);
  EXPECT_EQ(g->input_name(0), "tensor_a");
  EXPECT_EQ(g->input_name(1), "tensor_b");
  ASSERT_EQ(g->graph_outputs().size(), 1u);
  EXPECT_EQ(g->output_name(0), "tensor_d");
  EXPECT_EQ(g->type_str(g->graph_outputs()[0]), "float16 [1024 8]");
  const std::string text = nef_bytes(*g);
  EXPECT_TRUE(contains(text, R"("compiler_cache": "embedded")"));
  EXPECT_TRUE(contains(text, R"({"from": "node_0", "to": "node_1"})"));
  EXPECT_EQ(nef_bytes(*load_text(text)), text);
}

TEST(Nef, AliasesAreReadAndSnakeCaseWritten) {
  const auto g = load_text(R"({"version":"1.0","nef_format":"graph-v1","graph":{"nodes":[
    {"id":"a","op":"layernorm","inputs":["x","s",""],"output":"y"},
    {"id":"b","op":"MatMul","inputs":["y","w"],"output":"z"}]},
    "tensors":{"x":{"shape":[2,4],"dtype":"float32"},"s":{"shape":[4],"dtype":"float32"},
    "w":{"shape":[4,4],"dtype":"float32"},"z":{"shape":[2,4],"dtype":"float32"}}})");
  EXPECT_EQ(g->op(0), NEF_OP_LAYER_NORMALIZATION);
  EXPECT_EQ(g->inputs(0)[2], ir::kNone);
  const std::string text = nef_bytes(*g);
  EXPECT_TRUE(contains(text, R"("op": "layer_normalization", "inputs": ["x", "s", ""])")) << text;
  EXPECT_TRUE(contains(text, R"("op": "matmul")"));
}

TEST(Nef, UnknownKeysComeBack) {
  const std::string text =
      R"({"version":"1.0","nef_format":"graph-v1","zeta":{"b":[1,2.5],"a":null},
    "graph":{"note/1":"keep","nodes":[{"id":"n/~","op":"relu","inputs":["x"],"output":"y","why":"x","cost":{"f":1e30,"g":18446744073709551616.0}}]},
    "tensors":{"x":{"shape":["n"],"dtype":"float32","axis":["n"]},"y":{"shape":["n"],"dtype":"float32"}},
    "symbols":{"n":{"min":1,"unit":"tokens"}},"target":"cuda:sm_90"})";
  const std::string once = nef_bytes(*load_text(text));
  for (const char* part :
       {R"("zeta": {"b": [1, 2.5], "a": null})", R"("note/1": "keep")", R"("why": "x")",
        R"("cost": {"f": 1e+30, "g": 18446744073709551616.0})", R"("axis": ["n"])",
        R"("n": {"min": 1, "unit": "tokens"})", R"("target": "cuda:sm_90")"}) {
    EXPECT_TRUE(contains(once, part)) << part << "\n" << once;
  }
  EXPECT_EQ(nef_bytes(*load_text(once)), once);
}

// Names found in real model files, and worse.
TEST(Nef, HostileNamesRoundTrip) {
  const std::vector<std::string> names = {R"({"1": "1_minute_timer", "2": "x"})",
                                          "a\"b\\c/d",
                                          "\\u0000",
                                          "tab\tnewline\nreturn\r",
                                          "\x01\x1f\x7f",
                                          "\xf0\x9f\x98\x80 emoji",
                                          "\xe2\x80\xa8",
                                          "nef.graph",
                                          "nef.pad.0",
                                          "__metadata__",
                                          " ",
                                          "~1/~0",
                                          "..",
                                          std::string(4096, 'n'),
                                          "e\xcc\x81",
                                          "\xc3\xa9"};
  Graph g;
  build::Builder build(g);
  for (const std::string& name : names) {
    const ValueId in =
        g.add_input("in " + name.substr(0, 4000), NEF_FLOAT32, std::vector<Dim>{512});
    const ValueId c = g.add_constant(NEF_FLOAT32, std::vector<Dim>{512},
                                     buffer_of(std::vector<float>(512, static_cast<float>(in))));
    g.value_names().set(c, name);
    const ValueId sum = build.value(NEF_OP_ADD, std::vector{in, c});
    g.node_names().set(g.producer(sum), name);
    g.add_output("out " + name.substr(0, 4000), sum);
  }
  TempDir dir;
  for (const bool bundle : {false, true}) {
    save_nef(g, dir / "n.nef", {.bundle = bundle});
    const auto back = load_nef(dir / "n.nef");
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(back->value_names().get(back->constant_value(i)), names[i]);
      EXPECT_EQ(back->node_names().get(static_cast<ir::NodeId>(i)), names[i]);
      EXPECT_EQ(back->output_name(i), "out " + names[i].substr(0, 4000));
    }
    expect_same_constants(g, *back);
  }
}

TEST(Nef, NamesAFileCannotHoldAreRefusedByName) {
  const auto save_with = [](const std::function<void(Graph&)>& spoil) {
    Graph g = sample();
    spoil(g);
    return error_of([&] { nef_bytes(g, {.bundle = true}); });
  };
  const Error nul =
      save_with([](Graph& g) { g.value_names().set(1, std::string_view("a\0b", 3)); });
  EXPECT_EQ(nul.code(), NEF_INVALID_ARGUMENT);
  EXPECT_TRUE(contains(nul.message(), "'a\\x00b' holds a NUL byte")) << nul.message();
  const Error utf = save_with([](Graph& g) { g.node_names().set(0, "\xed\xa0\x80"); });
  EXPECT_TRUE(contains(utf.message(), "is not valid UTF-8")) << utf.message();
  const Error out = save_with([](Graph& g) { g.add_output("", g.graph_outputs()[0]); });
  EXPECT_TRUE(contains(out.message(), "is empty")) << out.message();
  const Error twice = save_with([](Graph& g) { g.add_input("x", NEF_INT8, {}); });
  EXPECT_EQ(twice.code(), NEF_DUPLICATE_NAME);
}

// An input that is an output, a value that is two outputs, an output that is a constant.
TEST(Nef, OutputsMayAliasAnything) {
  Graph g;
  build::Builder build(g);
  const ValueId x = g.add_input("x", NEF_FLOAT32, std::vector<Dim>{2});
  const ValueId y = build.value(NEF_OP_RELU, std::vector{x});
  const ValueId c = g.add_constant(NEF_INT64, {}, buffer_of(std::vector<int64_t>{3}));
  g.value_names().set(y, "x");  // taken by the input
  g.add_output("x", x);
  g.add_output("again", x);
  g.add_output("y1", y);
  g.add_output("y2", y);
  g.add_output("three", c);
  const std::string text = nef_bytes(g);
  const auto back = load_text(text);
  EXPECT_EQ(nef_bytes(*back), text);
  ASSERT_EQ(back->graph_outputs().size(), 5u);
  EXPECT_EQ(back->graph_outputs()[0], back->graph_inputs()[0]);
  EXPECT_EQ(back->graph_outputs()[1], back->graph_inputs()[0]);
  EXPECT_EQ(back->graph_outputs()[2], back->graph_outputs()[3]);
  EXPECT_EQ(back->output_name(1), "again");
  EXPECT_TRUE(back->is_constant(back->graph_outputs()[4]));
}

TEST(Nef, GeneratedNamesNeverTakeGivenOnes) {
  Graph g;
  build::Builder build(g);
  const ValueId x = g.add_input("v2", NEF_FLOAT32, std::vector<Dim>{2});
  ValueId v = build.value(NEF_OP_RELU, std::vector{x});
  for (int i = 0; i < 3; ++i) v = build.value(NEF_OP_NEG, std::vector{v});
  g.value_names().set(3, "v1");
  g.node_names().set(2, "node_1");
  g.add_output("node_0", v);
  const std::string text = nef_bytes(g);
  const auto back = load_text(text);
  EXPECT_EQ(nef_bytes(*back), text);
  EXPECT_EQ(back->value_names().get(3), "v1");
  EXPECT_EQ(back->node_names().get(2), "node_1");
}

TEST(Nef, AttributesKeepEveryBit) {
  Graph g;
  build::Builder build(g);
  const ValueId x = g.add_input("x", NEF_FLOAT32, std::vector<Dim>{2, 3});
  const auto unary = [&](nef_op op, const std::function<void(ir::AttrBuilder&)>& set) {
    g.add_output("o" + std::to_string(g.graph_outputs().size()),
                 build.value(op, std::vector{x}, attrs(op, set)));
  };
  for (const double alpha :
       {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 1e22, 123456.0, 9007199254740994.0,
        -18446744073709551616.0, std::numeric_limits<double>::infinity()}) {
    unary(NEF_OP_ELU, [&](ir::AttrBuilder& b) { b.set_float(NEF_ELU_ALPHA, alpha); });
  }
  unary(NEF_OP_ELU, [&](ir::AttrBuilder& b) {
    b.set_float(NEF_ELU_ALPHA, std::numeric_limits<double>::quiet_NaN());
  });
  unary(NEF_OP_TRANSPOSE, [](ir::AttrBuilder& b) {
    b.set_ints(NEF_TRANSPOSE_PERM, std::vector<int64_t>{1, 0});
  });
  unary(NEF_OP_CAST, [](ir::AttrBuilder& b) { b.set_int(NEF_CAST_TO, NEF_BFLOAT16); });
  unary(NEF_OP_GELU, [](ir::AttrBuilder& b) { b.set_string(NEF_GELU_APPROXIMATE, "tanh"); });
  const std::string text = nef_bytes(g);
  const auto back = load_text(text);
  ASSERT_EQ(back->node_count(), g.node_count());
  for (ir::NodeId n = 0; n < g.node_count(); ++n) {
    const auto a = g.attrs(n).words(), b = back->attrs(n).words();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << text;
  }
}

TEST(Nef, SharedWeightsStayShared) {
  Graph g;
  build::Builder build(g);
  const auto data = buffer_of(std::vector<float>(4096, 1.5f));
  const ValueId a = g.add_constant(NEF_FLOAT32, std::vector<Dim>{64, 64}, data);
  const ValueId b = g.add_constant(NEF_FLOAT32, std::vector<Dim>{64, 64}, data);
  g.add_output("y", build.value(NEF_OP_MATMUL, std::vector{a, b}));
  TempDir dir;
  save_nef(g, dir / "s.nef", {.bundle = true});
  EXPECT_LT(std::filesystem::file_size(dir / "s.nef"), 20000u);
  const auto back = load_nef(dir / "s.nef");
  EXPECT_EQ(back->constant_data(0)->data(), back->constant_data(1)->data());
  save_nef(*back, dir / "t.nef", {.bundle = true});
  EXPECT_EQ(read_file(dir / "t.nef"), read_file(dir / "s.nef"));
}

TEST(Nef, BundleWeightsAreAligned) {
  for (const size_t alignment : {size_t{64}, size_t{256}}) {
    const std::string bytes = nef_bytes(sample(), {.bundle = true, .alignment = alignment});
    const auto st = SafeTensors::from_bytes(std::as_bytes(std::span(bytes)), "b");
    EXPECT_EQ(st->find("weight")->begin % alignment, 0u);
    EXPECT_EQ((bytes.size() - st->entries().back().end) % alignment, 0u);
  }
}

TEST(Nef, BytesAreOnlyNeededDuringTheCall) {
  std::string bytes = nef_bytes(sample(), {.bundle = true});
  const auto g = load_text(bytes);
  std::fill(bytes.begin(), bytes.end(), '\xff');
  expect_same_constants(sample(), *g);
}

TEST(Nef, WeightsCanBeReadInsteadOfMapped) {
  TempDir dir;
  save_nef(sample(), dir / "m.nef");
  LoadInfo info;
  const auto g = load_nef(dir / "m.nef", {.map_weights = false, .info = &info});
  EXPECT_EQ(info.mapped_tensors, 0u);
  std::filesystem::resize_file(dir / "m.safetensors", 0);
  expect_same_constants(sample(), *g);
}

TEST(Nef, SymbolicDimsReadTheSameAfterARoundTrip) {
  Graph g;
  // Known in an order that is not that of the names, products and quotients before symbols.
  auto& p = g.pool();
  const Dim w = p.symbol("w"), h = p.symbol("h", 2), odd = p.symbol("odd name `x`");
  const Dim wq = p.floordiv(p.add(w, 1), 2), hq = p.floordiv(p.add(h, 1), 2);
  const std::vector<Dim> dims = {
      p.mul(wq, hq), p.sub(p.mul(p.mul(w, h), 3), 5), p.max(w, h),
      odd,           p.floordiv(p.mul(w, w), h),      p.min(p.mul(hq, wq), 7)};
  const ValueId x = g.add_input("x", NEF_FLOAT32, dims);
  build::Builder build(g);
  g.add_output("y", build.value(NEF_OP_RELU, std::vector{x}));
  const std::string text = nef_bytes(g);
  const auto back = load_text(text);
  EXPECT_EQ(nef_bytes(*back), text);
  EXPECT_TRUE(contains(text, "\"((h+1)/2)*((w+1)/2)\"")) << text;
  EXPECT_TRUE(contains(text, "\"3*h*w-5\"")) << text;
  const auto again = back->dims(back->graph_inputs()[0]);
  for (size_t i = 0; i < dims.size(); ++i) {
    EXPECT_EQ(dim_name(back->pool(), again[i]), dim_name(g.pool(), dims[i]));
  }
}

TEST(Nef, UnknownDimsStayUnknown) {
  const auto g = load_text(R"({"version":"1.0","nef_format":"graph-v1","graph":{"nodes":[
    {"id":"a","op":"relu","inputs":["x"],"output":"y"}]},"tensors":{
    "x":{"shape":["?","?"],"dtype":"float32"},"y":{"shape":["?",  "?"],"dtype":"float32"}}})");
  const auto dims = g->dims(g->graph_inputs()[0]);
  EXPECT_NE(dims[0], dims[1]);
  const std::string text = nef_bytes(*g);
  EXPECT_EQ(nef_bytes(*load_text(text)), text);
}

// What is made from an unknown dim is another unknown dim after each load.
TEST(Nef, ExpressionsOfUnknownDimsAreNotCompared) {
  Graph g;
  const ValueId x = g.add_input("x", NEF_FLOAT32, std::vector<Dim>{g.pool().unknown(), 6});
  build::Builder build(g);
  const auto axis = attrs(NEF_OP_CONCAT, [](ir::AttrBuilder& a) { a.set_int(NEF_CONCAT_AXIS, 0); });
  g.add_output("y", build.value(NEF_OP_CONCAT, std::vector{x, x}, axis));
  const std::string text = nef_bytes(g);
  EXPECT_TRUE(contains(text, R"("y": {"shape": ["?", 6])")) << text;
  EXPECT_EQ(nef_bytes(*load_text(text)), text);
}

// Two names of one size: whichever inference keeps, the file loads again and says the same.
TEST(Nef, DimsThatMustBeEqualMayHaveTwoNames) {
  const auto g = load_text(R"({"version":"1.0","nef_format":"graph-v1","graph":{"nodes":[
    {"id":"a","op":"matmul","inputs":["x","y"],"output":"z"},
    {"id":"b","op":"relu","inputs":["z"],"output":"r"}]},"tensors":{
    "x":{"shape":["s","k"],"dtype":"float32"},"y":{"shape":["m","b"],"dtype":"float32"},
    "r":{"shape":["rows",  "b"],"dtype":"float32"}}})");
  const std::string text = nef_bytes(*g);
  EXPECT_EQ(nef_bytes(*load_text(text)), text);
  // k = m and rows = s are checked when it runs.
  std::vector<int64_t> values(g->pool().size(), ir::kUnbounded);
  const auto bind = [&](const char* name, int64_t v) {
    for (uint32_t id = 0; id < g->pool().size(); ++id) {
      const auto& e = g->pool().expr(ir::DimPool::dim_of(id));
      if (e.kind == ir::DimPool::Kind::Symbol && e.name == name) values[id] = v;
    }
  };
  bind("s", 2), bind("k", 3), bind("m", 3), bind("b", 4), bind("rows", 2);
  EXPECT_NO_THROW(g->pool().eval(values));
  bind("rows", 5);
  EXPECT_EQ(error_of([&] { g->pool().eval(values); }).code(), NEF_SHAPE_MISMATCH);
}

// Inputs the fuzzer found unstable or unloadable stay fixed, and the other seeds stay sound.
TEST(Nef, FuzzSeedsAreStable) {
  size_t loaded = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(NEF_SOURCE_DIR) +
                                                               "/tests/fuzz/corpus/nef")) {
    std::shared_ptr<const Graph> g;
    try {
      g = load_text(read_file(entry.path()));
    } catch (const Error&) {
      continue;  // some are there to be refused
    }
    ++loaded;
    const std::string text = nef_bytes(*g);
    EXPECT_EQ(nef_bytes(*load_text(text)), text) << entry.path();
  }
  EXPECT_GE(loaded, 20u);
}

TEST(Nef, NodeOrderInTheFileIsFree) {
  const auto g =
      load_text(R"({"version":"1.0","nef_format":"graph-v1","graph":{"outputs":["d"],"nodes":[
    {"id":"3","op":"add","inputs":["b","c"],"output":"d"},{"id":"2","op":"neg","inputs":["b"],"output":"c"},
    {"id":"1","op":"relu","inputs":["a"],"output":"b"}]},"tensors":{"a":{"shape":[1],"dtype":"float32"},
    "d":{"shape":[1],"dtype":"float32"}}})");
  EXPECT_NO_THROW(ir::verify(*g, "load"));
  EXPECT_EQ(g->node_names().get(0), "1");
  EXPECT_EQ(g->node_names().get(2), "3");
}

TEST(Nef, InternalOpsAreNotSaved) {
  Graph g;
  build::Builder build(g);
  const ValueId x = g.add_input("x", NEF_FLOAT32, std::vector<Dim>{g.pool().symbol("n")});
  const ir::Graph::Type type{NEF_INT64, g.shapes().intern(std::vector<Dim>{1})};
  const ir::NodeId n = g.add_node(NEF_OP_SHAPE_EXPR, {}, {}, std::vector{type});
  g.add_output("s", g.output(n));
  g.add_output("x", x);
  EXPECT_EQ(error_of([&] { nef_bytes(g); }).code(), NEF_UNSUPPORTED);
  EXPECT_EQ(error_of([&] { nef_bytes(Graph()); }).code(), NEF_INVALID_ARGUMENT);
}

// 256 KiB of stack carries a graph of a million nodes through a file and back.
TEST(Nef, AMillionNodesOnASmallStack) {
  static constexpr uint32_t kNodes = 1'000'000;
  const auto body = [] {
    Graph g;
    g.reserve({.nodes = kNodes, .values = kNodes + 1});
    build::Builder build(g);
    ValueId v = g.add_input("x", NEF_FLOAT32, std::vector<Dim>{g.pool().symbol("n"), 4});
    for (uint32_t i = 0; i < kNodes; ++i) v = build.value(NEF_OP_NEG, std::vector{v});
    g.add_output("y", v);
    TempDir dir;
    save_nef(g, dir / "long.nef", {.bundle = true});
    const auto back = load_nef(dir / "long.nef");
    ASSERT_EQ(back->node_count(), kNodes);
    EXPECT_EQ(nef_bytes(*back, {.bundle = true}), read_file(dir / "long.nef"));
  };
  pthread_attr_t attr;
  pthread_attr_init(&attr);
  ASSERT_EQ(pthread_attr_setstacksize(&attr, size_t{256} << 10), 0);
  pthread_t thread;
  std::function<void()> run = body;
  ASSERT_EQ(pthread_create(
                &thread, &attr,
                [](void* arg) -> void* {
                  (*static_cast<std::function<void()>*>(arg))();
                  return nullptr;
                },
                &run),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
}

}  // namespace
}  // namespace nef::io
