// SPDX-License-Identifier: Apache-2.0
// What a reader refuses no writer writes: for each limit and check of docs/nef-format.md a graph
// that saves and loads, and one past it that neither takes. A save that fails leaves the old files.
#include <algorithm>

#include "engine/build/builder.h"
#include "engine/io/atomic_file.h"
#include "engine/io/limits.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

namespace fs = std::filesystem;
using ir::Dim;
using ir::Graph;
using ir::ValueId;
using Dims = std::vector<Dim>;

constexpr size_t kStored = kInlineBytes / sizeof(float) + 1;  // floats that go to the weights

ValueId weight(Graph& g, const char* name, size_t floats) {
  const ValueId w =
      g.add_constant(NEF_FLOAT32, Dims{Dim::of(floats)}, buffer_of(std::vector<float>(floats, 2)));
  g.value_names().set(w, name);
  return w;
}

Graph::Block doubled() {
  auto g = std::make_shared<Graph>();
  const ValueId x = g->add_input("x", NEF_FLOAT32, Dims{g->pool().symbol("n", 1, 64)});
  g->add_output("y", build::Builder(*g).value(NEF_OP_ADD, std::vector{x, x}));
  return g;
}

// Something of everything that is limited.
Graph everything() {
  Graph g;
  build::Builder build(g);
  const ValueId flag = g.add_input("flag", NEF_BOOL, Dims{});
  const ValueId x = g.add_input("x", NEF_FLOAT32, Dims{g.pool().symbol("n", 1, 64)});
  const ir::NodeId n =
      build.add_blocks(NEF_OP_IF, std::vector{flag, x}, {}, std::vector{doubled(), doubled()});
  const ValueId row = g.add_input("row", NEF_FLOAT32, Dims{Dim::of(kStored)});
  const ValueId y = build.value(NEF_OP_ADD, std::vector{row, weight(g, "stored", kStored)});
  const ValueId z = build.value(NEF_OP_MUL, std::vector{y, weight(g, "also stored", kStored)});
  const ValueId s = build.value(NEF_OP_SUM, std::vector{z, y, row, weight(g, "inline", 1)});
  g.add_output("if", g.output(n));
  g.add_output("sum", s);
  return g;
}

nef_code code_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e.code();
  }
  return NEF_OK;
}

std::vector<std::string> files_of(const TempDir& dir) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(dir.path())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

struct Row {
  const char* name;
  size_t Limits::*field;
};
constexpr Row kRows[] = {
    {"JSON bytes", &Limits::json_bytes},     {"JSON depth", &Limits::json_depth},
    {"JSON values", &Limits::json_values},   {"nodes", &Limits::nodes},
    {"tensors", &Limits::tensors},           {"operands", &Limits::operands},
    {"symbols", &Limits::symbols},           {"block depth", &Limits::block_depth},
    {"inline bytes", &Limits::inline_bytes}, {"data files", &Limits::data_files},
    {"header bytes", &Limits::header_bytes}, {"tensors of the weights", &Limits::container_tensors},
};

// Of each limit the least value with which the reader takes a file is the least with which the
// writer writes it.
TEST(Limits, WriterAndReaderStopAtTheSame) {
  static_assert(sizeof(kRows) / sizeof(kRows[0]) == sizeof(Limits) / sizeof(size_t));
  for (const bool bundle : {false, true}) {
    for (const Row& row : kRows) {
      if (bundle && row.field == &Limits::data_files) continue;
      SCOPED_TRACE(std::string(row.name) + (bundle ? ", bundle" : ", plain"));
      const Graph g = everything();
      TempDir dir;
      const std::string path = dir / "m.nef";
      save_nef(g, path, {.bundle = bundle, .edges = true});
      Limits limits;
      const auto loads = [&](size_t n) {
        limits.*row.field = n;
        return code_of([&] { load_nef(path, {.limits = limits}); });
      };
      size_t low = 0, high = kLimits.*row.field;  // refused, taken
      ASSERT_EQ(loads(low), NEF_LIMIT_EXCEEDED);
      while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        (loads(middle) == NEF_OK ? high : low) = middle;
      }
      EXPECT_EQ(loads(low), NEF_LIMIT_EXCEEDED);
      const auto old = read_file(path), weights = read_file(dir / "m.safetensors");
      const auto files = files_of(dir);

      limits.*row.field = low;
      const Error e =
          error_of([&] { save_nef(g, path, {.bundle = bundle, .edges = true, .limits = limits}); });
      EXPECT_EQ(e.code(), NEF_LIMIT_EXCEEDED) << e.message();
      EXPECT_EQ(e.op(), "save");
      EXPECT_EQ(read_file(path), old);
      EXPECT_EQ(read_file(dir / "m.safetensors"), weights);
      EXPECT_EQ(files_of(dir), files);

      limits.*row.field = high;
      EXPECT_NO_THROW(save_nef(g, path, {.bundle = bundle, .edges = true, .limits = limits}));
      EXPECT_NO_THROW(load_nef(path, {.limits = limits}));
    }
  }
}

TEST(Limits, AreThoseOfTheDocs) {
  const std::string page = read_file(std::string(NEF_TEST_DATA_DIR) + "/../../docs/nef-format.md");
  for (const char* line :
       {"| JSON text | 512 MiB, 2^24 values, nested 128 deep |", "| nodes, tensors | 2^21, 2^22 |",
        "| inputs or outputs of one node | 65536 |",
        "| a name; a symbol; a dim as text | 4096; 256; 4096 bytes |", "| symbols | 65536 |",
        "| blocks within blocks | 24 deep |", "| rank | 16 |",
        "| inline data of one tensor | 16 MiB |", "| data files of one graph | 1024 |",
        "| safetensors header | 100,000,000 bytes, 2^20 tensors |"}) {
    EXPECT_TRUE(contains(page, line)) << line;
  }
  EXPECT_EQ(kLimits.json_bytes, size_t{512} << 20);
  EXPECT_EQ(kLimits.json_values, size_t{1} << 24);
  EXPECT_EQ(kLimits.json_depth, 128u);
  EXPECT_EQ(kLimits.nodes, size_t{1} << 21);
  EXPECT_EQ(kLimits.tensors, size_t{1} << 22);
  EXPECT_EQ(kLimits.operands, 65536u);
  EXPECT_EQ(kMaxNameBytes, 4096u);
  EXPECT_EQ(kMaxDimText, 4096u);
  EXPECT_EQ(kLimits.symbols, 65536u);
  EXPECT_EQ(kLimits.block_depth, 24u);
  EXPECT_EQ(kLimits.inline_bytes, size_t{16} << 20);
  EXPECT_EQ(kLimits.data_files, 1024u);
  EXPECT_EQ(kLimits.header_bytes, 100'000'000u);
  EXPECT_EQ(kLimits.container_tensors, size_t{1} << 20);
}

// ---- limits that can be reached

// `at` loads as it was saved. `past` is not saved, and a writer of wider limits makes of it what
// the reader refuses.
void expect_edge(const Graph& at, const Graph& past, Limits wider) {
  EXPECT_NO_THROW(load_text(nef_bytes(at)));
  const Error e = error_of([&] { nef_bytes(past); });
  EXPECT_EQ(e.code(), NEF_LIMIT_EXCEEDED) << e.message();
  const std::string text = nef_bytes(past, {.limits = wider});
  EXPECT_EQ(error_of([&] { load_text(text); }).code(), NEF_LIMIT_EXCEEDED);
}

Graph sum_of(size_t operands) {
  Graph g;
  const ValueId x = g.add_input("x", NEF_FLOAT32, Dims{1});
  g.add_output("y", build::Builder(g).value(NEF_OP_SUM, std::vector<ValueId>(operands, x)));
  return g;
}

TEST(Limits, Operands) {
  expect_edge(sum_of(65536), sum_of(65537), {.operands = 65537});
  const Error e = error_of([] { nef_bytes(sum_of(65537)); });
  EXPECT_TRUE(contains(e.message(), "node 'node_0' has 65537 inputs")) << e.message();
}

Graph with_symbols(size_t count) {
  Graph g;
  for (size_t i = 0; i < count; i += 16) {
    Dims dims;
    for (size_t k = i; k < std::min(count, i + 16); ++k) {
      dims.push_back(g.pool().symbol("s" + std::to_string(k)));
    }
    g.add_output("y" + std::to_string(i), g.add_input("x" + std::to_string(i), NEF_BOOL, dims));
  }
  return g;
}

TEST(Limits, Symbols) { expect_edge(with_symbols(65536), with_symbols(65537), {.symbols = 65537}); }

Graph with_constant(size_t bytes) {
  Graph g;
  const ValueId c =
      g.add_constant(NEF_UINT8, Dims{Dim::of(bytes)}, buffer_of(std::vector<uint8_t>(bytes, 7)));
  g.value_names().set(c, "heavy");
  g.add_output("y", build::Builder(g).value(NEF_OP_IDENTITY, std::vector{c}));
  return g;
}

TEST(Limits, InlineData) {
  constexpr size_t kMost = size_t{16} << 20;
  expect_edge(with_constant(kMost), with_constant(kMost + 1), {.inline_bytes = kMost + 1});
  const Error e = error_of([] { nef_bytes(with_constant(kMost + 1)); });
  EXPECT_TRUE(contains(e.message(), "'heavy'")) << e.message();
}

Graph named(const std::string& name) {
  Graph g;
  g.add_output(name, g.add_input(name, NEF_FLOAT32, Dims{1}));
  return g;
}

TEST(Limits, Names) {
  const std::string longest(4096, 'n');
  const std::string text = nef_bytes(named(longest));
  EXPECT_NO_THROW(load_text(text));
  EXPECT_EQ(error_of([&] { nef_bytes(named(longest + "n")); }).code(), NEF_LIMIT_EXCEEDED);
  std::string past = text;
  for (size_t at = 0; (at = past.find(longest, at)) != std::string::npos; at += 4097) {
    past.insert(at, "n");
  }
  EXPECT_EQ(error_of([&] { load_text(past); }).code(), NEF_LIMIT_EXCEEDED);
}

Graph with_dim(size_t bytes) {
  // 15 signs and 16 names
  constexpr size_t kNames = 16;
  size_t rest = bytes - (kNames - 1);
  Graph g;
  std::string text;
  for (size_t i = 0; i < kNames; ++i) {
    const size_t n = rest / (kNames - i);
    rest -= n;
    text += (i == 0 ? "" : "+") + std::string(n - 1, 's') + static_cast<char>('a' + i);
  }
  g.add_output("y", g.add_input("x", NEF_FLOAT32, Dims{g.pool().parse(text)}));
  return g;
}

TEST(Limits, DimText) {
  const std::string text = nef_bytes(with_dim(4096));
  EXPECT_NO_THROW(load_text(text));
  EXPECT_EQ(error_of([] { nef_bytes(with_dim(4097)); }).code(), NEF_LIMIT_EXCEEDED);
  std::string past = text;
  const size_t dim = past.find("\"shape\": [\"");
  ASSERT_NE(dim, std::string::npos);
  past.insert(dim + 11, " ");
  EXPECT_EQ(error_of([&] { load_text(past); }).code(), NEF_LIMIT_EXCEEDED);
}

TEST(Limits, SymbolNamesAndRanksHaveOneDoor) {
  Graph g;
  const Dim n = g.pool().symbol(std::string(256, 'n'));
  g.add_output("y", g.add_input("x", NEF_FLOAT32, Dims(16, n)));
  std::string text = nef_bytes(g);
  EXPECT_NO_THROW(load_text(text));
  EXPECT_THROW(g.pool().symbol(std::string(257, 'n')), Error);
  EXPECT_EQ(error_of([&] { g.add_input("z", NEF_FLOAT32, Dims(17, 1)); }).code(),
            NEF_LIMIT_EXCEEDED);
  const std::string name = '"' + std::string(256, 'n') + '"';
  std::string rank = text;
  rank.insert(rank.find("[" + name) + 1, name + ", ");
  EXPECT_EQ(error_of([&] { load_text(rank); }).code(), NEF_LIMIT_EXCEEDED);
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size() + 1) {
    text.insert(at + 1, "n");
  }
  EXPECT_NE(code_of([&] { load_text(text); }), NEF_OK);
}

Graph::Block nested(size_t depth) {
  auto g = std::make_shared<Graph>();
  const ValueId flag = g->add_input("flag", NEF_BOOL, Dims{});
  const ValueId x = g->add_input("x", NEF_FLOAT32, Dims{1});
  if (depth == 0) {
    g->add_output("y", build::Builder(*g).value(NEF_OP_ADD, std::vector{x, x}));
    return g;
  }
  const auto inner = nested(depth - 1);
  const ir::NodeId n = build::Builder(*g).add_blocks(NEF_OP_IF, std::vector{flag, flag, x}, {},
                                                     std::vector{inner, inner});
  g->add_output("y", g->output(n));
  return g;
}

// Both branches would double at each level: one is enough.
Graph::Block chain(size_t depth) {
  auto g = std::make_shared<Graph>();
  const ValueId trips = g->add_input("i", NEF_INT64, Dims{});
  const ValueId c = g->add_input("c", NEF_BOOL, Dims{});
  const ValueId x = g->add_input("x", NEF_FLOAT32, Dims{1});
  ValueId y = x;
  if (depth > 0) {
    ir::AttrBuilder attrs(NEF_OP_LOOP);
    attrs.set_int(NEF_LOOP_CARRIED, 1);
    y = g->output(build::Builder(*g).add_blocks(NEF_OP_LOOP, std::vector{trips, c, x},
                                                attrs.build(), std::vector{chain(depth - 1)}));
  }
  g->add_output("c", c);
  g->add_output("y", y);
  return g;
}

TEST(Limits, BlockDepth) {
  EXPECT_NO_THROW(load_text(nef_bytes(*nested(3))));
  EXPECT_NO_THROW(load_text(nef_bytes(*chain(24))));
  EXPECT_EQ(error_of([] { chain(25); }).code(), NEF_LIMIT_EXCEEDED);
}

// A graph whose constants lie in `count` files.
std::string in_files(const TempDir& dir, size_t count) {
  std::string tensors, inputs;
  for (size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    write_file(dir / ("w" + n + ".safetensors"),
               raw_safetensors(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                               std::string(4, '\0')));
    tensors += "\"w" + n + R"(":{"shape":[1],"dtype":"float32","data":{"file":"w)" + n +
               R"(.safetensors","name":"w"}},)";
    inputs += (i == 0 ? "\"w" : ",\"w") + n + "\"";
  }
  return R"({"version":"1.0","nef_format":"graph-v1","graph":{"nodes":[{"id":"n","op":"sum",
    "inputs":[)" +
         inputs + R"(],"output":"y"}],"outputs":["y"]},"tensors":{)" + tensors +
         R"("y":{"shape":[1],"dtype":"float32"}}})";
}

TEST(Limits, DataFiles) {
  TempDir dir;
  write_file(dir / "at.nef", in_files(dir, 1024));
  write_file(dir / "past.nef", in_files(dir, 1025));
  const auto g = load_nef(dir / "at.nef");
  EXPECT_EQ(g->constant_count(), 1024u);
  EXPECT_NO_THROW(save_nef(*g, dir / "again.nef"));
  EXPECT_NO_THROW(load_nef(dir / "again.nef"));
  EXPECT_EQ(error_of([&] { load_nef(dir / "past.nef"); }).code(), NEF_LIMIT_EXCEEDED);
}

// ---- checks that are no numbers

struct Refused {
  const char* what;
  std::function<void(Graph&)> spoil;
};

// A good graph that one change makes unfit for a file.
TEST(Save, RefusesWhatNoFileHoldsAndKeepsTheOldOne) {
  const Refused kRefused[] = {
      {"'bools'",
       [](Graph& g) {
         const ValueId b =
             g.add_constant(NEF_BOOL, Dims{4}, buffer_of(std::vector<uint8_t>{0, 2, 1, 255}));
         g.value_names().set(b, "bools");
         g.add_output("b", build::Builder(g).value(NEF_OP_NOT, std::vector{b}));
       }},
      {"NUL", [](Graph& g) { g.value_names().set(1, std::string_view("a\0b", 3)); }},
      {"UTF-8", [](Graph& g) { g.node_names().set(0, "\xff"); }},
      {"device", [](Graph& g) { g.node_devices().set(0, "gpu\xc3"); }},
      {"device", [](Graph& g) { g.node_devices().set(0, std::string(4097, 'g')); }},
      {"duplicate",
       [](Graph& g) {
         g.extras()["/graph/nodes/n/op"] = "\"relu\"";
         g.node_names().set(0, "n");
       }},
      {"expected", [](Graph& g) { g.extras()["/note"] = "{"; }},
  };
  for (const Refused& r : kRefused) {
    for (const bool bundle : {false, true}) {
      SCOPED_TRACE(r.what);
      TempDir dir;
      const std::string path = dir / "m.nef";
      Graph g;
      const ValueId x = g.add_input("x", NEF_FLOAT32, Dims{Dim::of(kStored)});
      const ValueId w = weight(g, "w", kStored);
      g.add_output("y", build::Builder(g).value(NEF_OP_ADD, std::vector{x, w}));
      save_nef(g, path, {.bundle = bundle});
      const auto old = read_file(path), weights = read_file(dir / "m.safetensors");
      const auto files = files_of(dir);
      r.spoil(g);
      static_cast<float*>(g.constant_data(w)->data())[0] = 3;  // other weights than before
      const Error e = error_of([&] { save_nef(g, path, {.bundle = bundle}); });
      EXPECT_EQ(e.op(), "save");
      EXPECT_TRUE(contains(e.message(), r.what)) << e.message();
      EXPECT_EQ(read_file(path), old);
      EXPECT_EQ(read_file(dir / "m.safetensors"), weights);
      EXPECT_EQ(files_of(dir), files);
    }
  }
}

// Names within the limit, of which the container makes one beyond it.
TEST(Save, StoresWeightsOfBlocksWithLongNames) {
  auto block = std::make_shared<Graph>();
  const ValueId x = block->add_input("x", NEF_FLOAT32, Dims{Dim::of(kStored)});
  const ValueId w = weight(*block, std::string(4096, 'w').c_str(), kStored);
  block->add_output("y", build::Builder(*block).value(NEF_OP_ADD, std::vector{x, w}));
  Graph g;
  const ValueId flag = g.add_input("flag", NEF_BOOL, Dims{});
  const ValueId in = g.add_input("x", NEF_FLOAT32, Dims{Dim::of(kStored)});
  const ir::NodeId n = build::Builder(g).add_blocks(NEF_OP_IF, std::vector{flag, in}, {},
                                                    std::vector<Graph::Block>{block, block});
  g.node_names().set(n, std::string(4096, 'i'));
  g.add_output("y", g.output(n));
  TempDir dir;
  for (const bool bundle : {false, true}) {
    save_nef(g, dir / "m.nef", {.bundle = bundle});
    EXPECT_NO_THROW(load_nef(dir / "m.nef"));
  }
}

// Texts of attributes may be longer than names.
TEST(Save, KeepsLongTexts) {
  Graph g;
  const ValueId x = g.add_input("x", NEF_FLOAT32, Dims{2});
  ir::AttrBuilder attrs(NEF_OP_EINSUM);
  attrs.set_string(NEF_EINSUM_EQUATION, "i" + std::string(5000, ' ') + "->i");
  g.add_output("y", build::Builder(g).value(NEF_OP_EINSUM, std::vector{x}, attrs.build()));
  const auto back = load_text(nef_bytes(g));
  EXPECT_EQ(back->attrs(0).s(NEF_EINSUM_EQUATION).size(), 5004u);
}

TEST(Save, OldWeightsComeBackWhereTheGraphCannotFollow) {
  TempDir dir;
  for (const bool old : {true, false}) {
    const std::string weights = dir / (old ? "m.safetensors" : "n.safetensors");
    const std::string graph = dir / (old ? "m.nef" : "n.nef");
    if (old) write_file(weights, "old");
    AtomicFile first(weights), second(graph);
    first.write(std::as_bytes(std::span("new", 3)));
    second.write(std::as_bytes(std::span("graph", 5)));
    fs::create_directory(graph);  // nothing can be renamed to it
    EXPECT_EQ(error_of([&] { AtomicFile::commit_both(first, second); }).code(), NEF_IO);
    EXPECT_EQ(fs::exists(weights), old);
    EXPECT_EQ(read_file(weights), old ? "old" : "");
    fs::remove(graph);
  }
  EXPECT_LE(files_of(dir).size(), 3u);  // the old file, and what the two that failed still own
}

TEST(Save, BothFilesAreReplaced) {
  TempDir dir;
  write_file(dir / "w", "old");
  write_file(dir / "g", "old");
  {
    AtomicFile first(dir / "w"), second(dir / "g");
    first.write(std::as_bytes(std::span("new", 3)));
    second.write(std::as_bytes(std::span("graph", 5)));
    AtomicFile::commit_both(first, second);
  }
  EXPECT_EQ(read_file(dir / "w"), "new");
  EXPECT_EQ(read_file(dir / "g"), "graph");
  EXPECT_EQ(files_of(dir).size(), 2u);
}

}  // namespace
}  // namespace nef::io
