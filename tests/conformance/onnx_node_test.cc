// SPDX-License-Identifier: Apache-2.0
// The node tests that ONNX publishes: an oracle that we did not write. They come with Debian's
// libonnx-testdata; NEF_ONNX_NODE_DIR names another folder of such cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/ir/dtype.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/onnx_convert.h"
#include "tests/conformance/runner.h"

namespace nef::conformance::onnx {
namespace {

namespace fs = std::filesystem;

fs::path node_dir() {
  const char* given = std::getenv("NEF_ONNX_NODE_DIR");
  return given != nullptr ? given : "/usr/share/libonnx-testdata/data/node";
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

struct NodeCase {
  std::string name, skip;
  Case test;
  std::vector<Tensor> expected;
};

// Tensors of a data set by the names they have in the model.
std::map<std::string, Tensor> read_set(const fs::path& set, const char* prefix,
                                       const std::vector<ValueInfo>& infos) {
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < infos.size(); ++i) {
    Tensor t = parse_tensor(read_file(set / (prefix + std::to_string(i) + ".pb")));
    // NumPy has no bfloat16, so the files hold its bits as uint16.
    if (infos[i].dtype == NEF_BFLOAT16 && t.dtype == NEF_UINT16) t.dtype = NEF_BFLOAT16;
    out[infos[i].name] = std::move(t);
  }
  return out;
}

// Published results that follow another rule than docs/numerics.md.
constexpr const char* kOtherRules[][2] = {
    {"test_cast_FLOAT_to_BFLOAT16", "bfloat16 was truncated, not rounded to nearest even"},
    {"test_castlike_FLOAT_to_BFLOAT16", "bfloat16 was truncated, not rounded to nearest even"},
    {"test_castlike_FLOAT_to_BFLOAT16_expanded",
     "bfloat16 was truncated, not rounded to nearest even"},
};

std::string reason_to_skip(const std::string& name, const Model& m) {
  for (const auto& [known, reason] : kOtherRules) {
    if (name == known) return reason;
  }
  if (m.nodes.size() != 1) return "not a single node";
  if (!m.nodes[0].domain.empty()) return "another operator domain";
  if (!m.tensors_only) return "sequences or optionals";
  if (!m.initializers.empty()) return "initializers";
  return "";
}

bool unknown_dtype(const std::map<std::string, Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& t) { return t.second.dtype == NEF_DTYPE_INVALID; });
}

// Outputs of ONNX 1.17 that later releases replaced: int8 results that wrapped where they have to
// saturate, and an average over padding that the window does not reach.
bool corrected_later(const std::string& name, const std::vector<Tensor>& published) {
  struct Fault {
    const char* name;
    int64_t element;
    double value;
  };
  static constexpr Fault kFaults[] = {
      {"test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True", 8, 0.084662},
      {"test_qlinearmatmul_2D_int8_float16", 5, 20},
      {"test_qlinearmatmul_2D_int8_float32", 5, 20},
      {"test_qlinearmatmul_3D_int8_float16", 1, 116},
      {"test_qlinearmatmul_3D_int8_float32", 1, 117}};
  for (const Fault& f : kFaults) {
    if (name != f.name || published.empty() || published[0].count() <= f.element) continue;
    if (std::fabs(float_at(published[0], f.element) - f.value) < 1e-5) return true;
  }
  return false;
}

NodeCase load_case(const fs::path& dir) {
  NodeCase out{dir.filename().string(), "", {}, {}};
  const Model model = parse_model(read_file(dir / "model.onnx"));
  out.skip = reason_to_skip(out.name, model);
  if (!out.skip.empty()) return out;
  const auto inputs = read_set(dir / "test_data_set_0", "input_", model.inputs);
  const auto expected = read_set(dir / "test_data_set_0", "output_", model.outputs);
  if (unknown_dtype(inputs) || unknown_dtype(expected)) {
    out.skip = "a dtype that NEF does not have";
    return out;
  }
  const Node& node = model.nodes[0];
  std::vector<Tensor> in;
  for (const std::string& name : node.inputs)
    in.push_back(name.empty() ? Tensor{} : inputs.at(name));
  for (const std::string& name : node.outputs) {
    if (!name.empty()) out.expected.push_back(expected.at(name));
  }
  if (corrected_later(out.name, out.expected)) {
    out.skip = "an output that ONNX corrected later";
    return out;
  }
  Converted converted = convert(node, model.opsets.at(""), std::move(in), out.expected);
  out.skip = converted.skip;
  out.test = std::move(converted.test);
  return out;
}

// ONNX's own measure: 1e-3 relative (for bfloat16 two units of its precision) plus 1e-7; dtype and
// shape exact. Of a Fourier transform, what should cancel is judged by the largest element.
std::string difference(nef_op op, const Tensor& got, const Tensor& want) {
  if (got.dtype != want.dtype || got.dims != want.dims) {
    return std::string(ir::dtype_name(got.dtype)) + " [" + dims_name(got.dims) + "] instead of " +
           ir::dtype_name(want.dtype) + " [" + dims_name(want.dims) + "]";
  }
  const double relative = want.dtype == NEF_BFLOAT16 ? 2 * epsilon(want.dtype) : 1e-3;
  double absolute = 1e-7;
  for (int64_t i = 0; op == NEF_OP_DFT && i < want.count(); ++i) {
    absolute = std::max(absolute, 1e-7 * std::fabs(float_at(want, i)));
  }
  for (int64_t i = 0; i < want.count(); ++i) {
    const double g = float_at(got, i), w = float_at(want, i);
    if (!is_float(want.dtype) && int_at(got, i) == int_at(want, i)) continue;
    if (is_float(want.dtype) && (g == w || (std::isnan(g) && std::isnan(w)))) continue;
    if (is_float(want.dtype) && std::fabs(g - w) <= absolute + relative * std::fabs(w)) continue;
    return "element " + std::to_string(i) + ": got " + std::to_string(g) + ", want " +
           std::to_string(w);
  }
  return "";
}

std::string judge(const nef_backend& backend, const NodeCase& c, const Mode& mode) {
  const RunResult result = run_case(backend, c.test, mode);
  if (result.refused) return "refused: " + result.message;
  if (result.code != NEF_OK) return "code " + std::to_string(result.code) + ": " + result.message;
  for (size_t i = 0; i < c.expected.size(); ++i) {
    const std::string fault = difference(c.test.nodes[0].op, result.outputs.at(i), c.expected[i]);
    if (!fault.empty()) return "output " + std::to_string(i) + " " + fault;
  }
  return "";
}

std::vector<NodeCase> load_all() {
  std::vector<fs::path> dirs;
  for (const auto& entry : fs::directory_iterator(node_dir())) {
    if (fs::exists(entry.path() / "model.onnx")) dirs.push_back(entry.path());
  }
  std::sort(dirs.begin(), dirs.end());
  std::vector<NodeCase> out;
  for (const fs::path& dir : dirs) {
    try {
      out.push_back(load_case(dir));
    } catch (const std::exception& e) {
      out.push_back({dir.filename().string(), std::string("ERROR ") + e.what(), {}, {}});
    }
  }
  return out;
}

void print_skipped(const std::vector<NodeCase>& cases) {
  std::map<std::string, int> reasons;
  for (const NodeCase& c : cases) {
    if (!c.skip.empty()) ++reasons[c.skip];
  }
  for (const auto& [reason, count] : reasons)
    std::printf("  skipped %d: %s\n", count, reason.c_str());
}

TEST(OnnxNodes, EveryBackendAgreesWithThePublishedCases) {
  if (!fs::exists(node_dir())) GTEST_SKIP() << node_dir() << " is absent: install libonnx-testdata";
  const std::vector<NodeCase> cases = load_all();
  print_skipped(cases);
  for (const NodeCase& c : cases) {
    if (c.skip.rfind("ERROR", 0) == 0) ADD_FAILURE() << c.name << ": " << c.skip;
  }
  for (const nef_backend* backend : backends()) {
    int applicable = 0, passed = 0;
    for (const NodeCase& c : cases) {
      if (!c.skip.empty()) continue;
      ++applicable;
      std::string fault;
      for (const Mode& mode : kModes) {
        if (fault.empty()) fault = judge(*backend, c, mode);
      }
      if (fault.empty()) ++passed;
      else ADD_FAILURE() << backend->name << " " << c.name << ": " << fault;
    }
    std::printf("%s: ONNX node cases passed/applicable %d/%d of %zu\n", backend->name, passed,
                applicable, cases.size());
  }
}

}  // namespace
}  // namespace nef::conformance::onnx
