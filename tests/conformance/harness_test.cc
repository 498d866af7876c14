// SPDX-License-Identifier: Apache-2.0
// The suite must notice a backend that is wrong: the reference, spoilt in one way at a time.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "backends/reference/reference.h"
#include "tests/conformance/case.h"
#include "tests/conformance/runner.h"

namespace nef::conformance {
namespace {

constexpr int64_t kCount = 16;  // the case under test: y = -x, float32 [16]; value 0 is x, 1 is y

float* floats(const nef_backend_tensor* values, int i) {
  return static_cast<float*>(values[i].data);
}

template <void (*kSpoil)(const nef_backend_tensor*)>
nef_code spoilt_launch(nef_backend_prepared* prepared, nef_backend_stream* stream,
                       const nef_backend_tensor* values, void* scratch, nef_backend_error* err) {
  const nef_code code = nef_backend_reference()->launch(prepared, stream, values, scratch, err);
  kSpoil(values);
  return code;
}

void last_bit(const nef_backend_tensor* values) {
  auto* bits = static_cast<uint8_t*>(values[1].data);
  bits[4 * (kCount - 1)] ^= 1;
}
void write_past_end(const nef_backend_tensor* values) { floats(values, 1)[kCount] = 0; }
void write_before(const nef_backend_tensor* values) { floats(values, 1)[-1] = 0; }
void change_input(const nef_backend_tensor* values) { floats(values, 0)[0] += 1; }
void leave_unwritten(const nef_backend_tensor* values) {
  std::memset(values[1].data, 0xA5, sizeof(float));
}
void nothing(const nef_backend_tensor*) {}

template <void (*kSpoil)(const nef_backend_tensor*)>
std::vector<std::string> failures() {
  nef_backend backend = *nef_backend_reference();
  backend.launch = spoilt_launch<kSpoil>;
  const CaseList cases = {single("x", NEF_OP_NEG, {make(NEF_FLOAT32, {kCount}, Fill::Small)})};
  return conform(backend, cases).failures;
}

TEST(Harness, AcceptsTheUnspoilt) { EXPECT_TRUE(failures<nothing>().empty()); }
TEST(Harness, SeesALastBit) { EXPECT_EQ(failures<last_bit>().size(), std::size(kModes)); }
TEST(Harness, SeesWritesPastTheEnd) {
  EXPECT_EQ(failures<write_past_end>().size(), std::size(kModes));
}
TEST(Harness, SeesWritesBeforeTheStart) {
  EXPECT_EQ(failures<write_before>().size(), std::size(kModes));
}
TEST(Harness, SeesChangedInputs) { EXPECT_EQ(failures<change_input>().size(), std::size(kModes)); }
TEST(Harness, SeesUnwrittenOutputs) {
  EXPECT_EQ(failures<leave_unwritten>().size(), std::size(kModes));
}

TEST(Harness, SeesAnErrorThatShouldHaveBeen) {
  Case c = single("x", NEF_OP_NEG, {make(NEF_FLOAT32, {kCount}, Fill::Small)});
  c.expect = NEF_OUT_OF_RANGE;
  EXPECT_EQ(conform(*nef_backend_reference(), {c}).failures.size(), std::size(kModes));
}

TEST(Harness, BoundsTakeWhatHasTheName) {
  const auto negate = [](std::string name, int64_t n) {
    return single(std::move(name), NEF_OP_NEG, {make(NEF_FLOAT32, {n}, Fill::Small)});
  };
  const CaseList cases = {negate("none", 0), negate("line9", 9), negate("line70000", 70000),
                          negate("scalar", 1), negate("line300", 300)};
  const auto names = [&](const Bounds& bounds) {
    std::string out;
    for (const Case* c : chosen(cases, bounds)) out += c->name + " ";
    return out;
  };
  EXPECT_EQ(names({}), "none line9 line70000 scalar line300 ");
  EXPECT_EQ(names({"^line[0-9]$|none", 0}), "none line9 ");
  EXPECT_EQ(names({"line", 0, "0$|scalar"}), "line9 ");
  EXPECT_EQ(names({"", 1}), "line300 line70000 line9 scalar ");
  const Report few = conform(*nef_backend_reference(), cases, {"", 2});
  EXPECT_EQ(few.by_dtype.at(NEF_FLOAT32).run, 2 * std::ssize(kModes));
}

TEST(Compare, TolerancesAndSpecialNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto fault = [](nef_dtype t, double got, double want, Tolerance tolerance) {
    double worst = 0;
    return compare(scalar(t, got), scalar(t, want), tolerance, &worst);
  };
  EXPECT_EQ(fault(NEF_FLOAT32, nan, nan, {}), "");
  EXPECT_EQ(fault(NEF_FLOAT32, -0.0, 0.0, {}), "");
  EXPECT_EQ(fault(NEF_FLOAT32, inf, inf, {}), "");
  EXPECT_NE(fault(NEF_FLOAT32, inf, -inf, {4, 0}), "");
  EXPECT_NE(fault(NEF_FLOAT32, nan, 1, {4, 0}), "");
  EXPECT_NE(fault(NEF_FLOAT32, 1, nan, {4, 0}), "");
  EXPECT_EQ(fault(NEF_FLOAT32, 1 + 0x1p-23, 1, {1, 0}), "");
  EXPECT_NE(fault(NEF_FLOAT32, 1 + 0x1p-22, 1, {1, 0}), "");
  EXPECT_EQ(fault(NEF_FLOAT32, 0x1p-23, 0, {1, 1}), "");
  EXPECT_NE(fault(NEF_FLOAT32, 0x1p-23, 0, {1, 0}), "");
  EXPECT_NE(fault(NEF_INT32, 1, 2, {4, 4}), "");
  double worst = 0;
  EXPECT_NE(compare(make(NEF_FLOAT32, {2}, Fill::Small), make(NEF_FLOAT32, {2, 1}, Fill::Small), {},
                    &worst),
            "");
}

}  // namespace
}  // namespace nef::conformance
