// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/nef/malformed is refused with the code and words that malformed.tsv
// gives for it, from its path and from memory alike.
#include <set>
#include <sstream>

#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

const std::string kData = std::string(NEF_TEST_DATA_DIR) + "/nef/";

struct Case {
  std::string file, code, says;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  std::istringstream lines(read_file(kData + "malformed.tsv"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t a = line.find('\t'), b = line.find('\t', a + 1);
    out.push_back({line.substr(0, a), line.substr(a + 1, b - a - 1), line.substr(b + 1)});
  }
  return out;
}

TEST(Malformed, EachHasItsCodeAndWords) {
  std::set<std::string> codes;
  for (const Case& c : cases()) {
    const std::string path = kData + "malformed/" + c.file;
    const Error e = error_of([&] { load_nef(path); });
    EXPECT_EQ(code_name(e.code()), c.code) << c.file << ": " << e.message();
    EXPECT_TRUE(contains(e.message(), c.says)) << c.file << ": " << e.message();
    EXPECT_TRUE(contains(e.message(), c.file)) << "does not name the file: " << e.message();
    codes.insert(c.code);
  }
  std::cout << "malformed files refused: " << cases().size() << ", with " << codes.size()
            << " codes\n";
  EXPECT_GE(codes.size(), 13u);
}

// From memory there is no folder, so what refers to files is refused before anything is opened.
TEST(Malformed, FromMemoryToo) {
  for (const Case& c : cases()) {
    const std::string bytes = read_file(kData + "malformed/" + c.file);
    const Error e = error_of([&] { load_text(bytes); });
    const std::string code = c.file == "data_missing_file.nef" ? "unsafe_path" : c.code;
    EXPECT_EQ(code_name(e.code()), code) << c.file << ": " << e.message();
  }
}

TEST(Malformed, EveryFileIsListed) {
  std::set<std::string> listed;
  for (const Case& c : cases()) listed.insert(c.file);
  for (const auto& entry : std::filesystem::directory_iterator(kData + "malformed")) {
    EXPECT_TRUE(listed.contains(entry.path().filename().string())) << entry.path();
  }
}

// Any prefix of a good file is refused: nothing half-read passes for a graph.
TEST(Malformed, EveryPrefixOfAGoodFile) {
  std::string text = read_file(kData + "seed_completed.nef");
  ASSERT_NO_THROW(load_text(text));
  while (!text.empty() && text.back() != '}') text.pop_back();
  for (size_t n = 0; n < text.size(); ++n) {
    EXPECT_EQ(error_of([&] { load_text(text.substr(0, n)); }).code(), NEF_PARSE) << n;
  }
}

TEST(Malformed, CycleMessageShowsThePath) {
  const Error e = error_of([&] { load_nef(kData + "malformed/cycle_edges.nef"); });
  EXPECT_EQ(e.code(), NEF_GRAPH_CYCLE);
  EXPECT_TRUE(contains(e.message(),
                       "graph cycle: node_3 (add) -> node_7 (mul) -> node_3; a graph must be "
                       "acyclic, the edge that closes it is input 1 of node_3, tensor 'm' "
                       "(graph.edges[2])"))
      << e.message();
}

std::string chain_document(int nodes, bool closed) {
  std::string text =
      R"({"version":"1.0","nef_format":"graph-v1","graph":{"outputs":["t0"],"nodes":[)";
  // Last node first, so that the order of the file is of no help.
  for (int i = nodes - 1; i >= 0; --i) {
    const std::string in = i > 0 ? "t" + std::to_string(i - 1)
                                 : (closed ? "t" + std::to_string(nodes - 1) : std::string("x"));
    text += (i == nodes - 1 ? "" : ",") + std::string(R"({"id":"n)") + std::to_string(i) +
            R"(","op":"relu","inputs":[")" + in + R"("],"output":"t)" + std::to_string(i) + R"("})";
  }
  return text +
         R"(]},"tensors":{"x":{"shape":[2],"dtype":"float32"},"t0":{"shape":[2],"dtype":"float32"}}})";
}

TEST(Malformed, LongCyclesAreFoundAndAbbreviated) {
  EXPECT_NO_THROW(load_text(chain_document(20000, false)));
  const Error e = error_of([] { load_text(chain_document(20000, true)); });
  EXPECT_EQ(e.code(), NEF_GRAPH_CYCLE);
  EXPECT_TRUE(contains(e.message(), "more) -> n")) << e.message();
  EXPECT_LT(e.message().size(), 1000u);
}

}  // namespace
}  // namespace nef::io
