// SPDX-License-Identifier: Apache-2.0
// A plugin that takes other bytes than 1 for true: what a run gives out are bools all the same.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/support/handles.h"

namespace nef::test {
namespace {

std::vector<uint8_t> bytes_of(const Tensor& t) {
  const void* data = nullptr;
  size_t size = 0;
  ok(nef_tensor_data(t.get(), &data, &size));
  const auto* p = static_cast<const uint8_t*>(data);
  return {p, p + size};
}

TEST(OddPlugin, ItsBoolsComeOutAsZeroAndOne) {
  load_plugin(NEF_TEST_PLUGIN_DIR "/odd_bools.so");
  const Tensor x = input("x", {dim(4)}, NEF_BOOL);
  // The plugin serves Not, and nothing else.
  const Tensor y = op("not", {x}, {}, "odd:0");
  const Tensor z = op("cast", {y}, {int_attr("to", NEF_FLOAT32)}, "cpu");
  const Tensor joined = op("concat", {y, y}, {int_attr("axis", 0)}, "cpu");
  const Program p = compile(capture({y, z, joined}));
  ASSERT_NE(placement(p).find("odd:0"), std::string::npos) << placement(p);
  const uint8_t in[] = {1, 0, 1, 0};
  const int64_t four = 4;
  Tensor t;
  ok(nef_tensor_create(NEF_BOOL, 1, &four, in, t.out()));
  const auto outs = run(p, {t}, 3);
  EXPECT_EQ(bytes_of(outs[0]), (std::vector<uint8_t>{0, 1, 0, 1}));
  EXPECT_EQ(floats(outs[1]), (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(bytes_of(outs[2]), (std::vector<uint8_t>{0, 1, 0, 1, 0, 1, 0, 1}));
  // It did write other bytes.
  void* library = ::dlopen(NEF_TEST_PLUGIN_DIR "/odd_bools.so", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto* written = static_cast<const long*>(::dlsym(library, "nef_odd_bools_written"));
  ASSERT_NE(written, nullptr);
  EXPECT_GT(*written, 0);
}

}  // namespace
}  // namespace nef::test
