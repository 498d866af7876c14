// SPDX-License-Identifier: Apache-2.0
// Files that are well formed and mean harm: they load, compile and run, or are errors.
#include <filesystem>
#include <map>

#include "tests/support/handles.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

const std::string kHostile = std::string(NEF_TEST_DATA_DIR) + "/nef/hostile/";

// "out_of_range", or the element of the first output as text.
std::string outcome(const std::string& path, const char* device) {
  test::Graph graph;
  if (nef_status* s = nef_graph_load(path.c_str(), nullptr, graph.out()); s != nullptr) {
    return nef_code_name(test::take(s).code);
  }
  // For humans: never a crash, whatever the dims are.
  char* text = nullptr;
  test::ok(nef_graph_describe(graph.get(), &text));
  nef_string_free(text);
  const nef_compile_options options = test::options(device);
  test::Program program;
  if (nef_status* s = nef_graph_compile(graph.get(), &options, program.out()); s != nullptr) {
    return nef_code_name(test::take(s).code);
  }
  std::vector<test::Tensor> in, out;
  if (nef_graph_input_count(graph.get()) != 0)
    in.push_back(test::tensor(test::noise(256), {16, 16}));
  if (nef_status* s = test::try_run(program, in, &out); s != nullptr) {
    return nef_code_name(test::take(s).code);
  }
  if (nef_tensor_dtype(out[0].get()) == NEF_INT64) {
    int64_t n = 0;
    test::ok(nef_tensor_read(out[0].get(), &n, sizeof n));
    return std::to_string(n);
  }
  return std::to_string(test::floats(out[0]).at(0));
}

// -INT64_MAX + 1000 and -INT64_MAX, worked out from two constants, once read as names of
// expressions.
TEST(Nef, HostileNumbersNameNoExpression) {
  const std::map<std::string, std::string> want = {
      {"quotient_constant_of_shape.nef", "out_of_range"},
      {"quotient_expand.nef", "out_of_range"},
      {"quotient_gather.nef", "out_of_range"},
      {"quotient_output.nef", "-9223372036854774807"},
      {"quotient_reshape.nef", "out_of_range"},
      {"quotient_reshape_symbols.nef", "out_of_range"},
      {"quotient_slice.nef", "10.000000"},
      {"quotient_tile.nef", "out_of_range"},
  };
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kHostile)) {
    const std::string name = entry.path().filename().string();
    for (const char* device : {"reference", "cpu"}) {
      EXPECT_EQ(outcome(entry.path().string(), device), want.at(name)) << name << " on " << device;
    }
    ++files;
  }
  EXPECT_EQ(files, want.size());
}

}  // namespace
}  // namespace nef::io
