// SPDX-License-Identifier: Apache-2.0
// Every backend reads any byte of a bool but 0 as true: cases with bool inputs give the same with
// other bytes than 1. No door of the engine lets such bytes in; a kernel is not to depend on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backends/reference/reference.h"
#include "engine/ir/ops.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/runner.h"

namespace nef::conformance {
namespace {

constexpr uint8_t kTrue[] = {2, 1, 255, 128};

bool is_input(const CaseValue& v) { return v.role == Role::Input || v.role == Role::HostInput; }

// False when the case has no bool that is true.
bool make_odd(Case& c) {
  bool any = false;
  size_t k = 0;
  for (CaseValue& v : c.values) {
    if (!is_input(v) || v.tensor.dtype != NEF_BOOL) continue;
    for (uint8_t& b : v.tensor.bytes) {
      if (b == 0) continue;
      b = kTrue[k++ % std::size(kTrue)];
      any = true;
    }
  }
  return any;
}

Tensor cleaned(Tensor t) {
  if (t.dtype == NEF_BOOL) {
    for (uint8_t& b : t.bytes) b = b != 0;
  }
  return t;
}

bool takes_bools(nef_op op) {
  return ir::op_valid(op) && op != NEF_OP_SHAPE_EXPR && op != NEF_OP_BIT_CAST &&
         ir::spec(op).n_blocks == 0;
}

// How many cases there were.
int check(const nef_backend& backend, const Case& clean) {
  Case odd = clean;
  if (clean.expect != NEF_OK || !make_odd(odd)) return 0;
  const RunResult got = run_case(backend, odd, kModes[0]);
  if (got.refused) return 0;
  const RunResult want = run_case(*nef_backend_reference(), clean, kModes[0]);
  EXPECT_EQ(got.code, NEF_OK) << got.message;
  EXPECT_EQ(want.code, NEF_OK) << want.message;
  EXPECT_EQ(got.outputs.size(), want.outputs.size());
  for (size_t i = 0; i < std::min(got.outputs.size(), want.outputs.size()); ++i) {
    double worst = 0;
    const std::string differs =
        compare(cleaned(got.outputs[i]), want.outputs[i], clean.tolerance, &worst);
    EXPECT_EQ(differs, "") << backend.name << " " << clean.name << " output " << i;
  }
  return 1;
}

TEST(OddBools, AnyByteButZeroIsTrue) {
  for (const nef_backend* backend : backends()) {
    int cases = 0;
    for (nef_op op = 1; op < NEF_OP_COUNT_; ++op) {
      if (!takes_bools(op)) continue;
      SCOPED_TRACE(ir::spec(op).snake);
      const CaseList list = cases_for(op);
      for (const Case* c : chosen(list, bounds())) cases += check(*backend, *c);
    }
    EXPECT_GT(cases, bounds().names.empty() ? 100 : 0) << backend->name;
  }
}

// The results themselves, in long rows and their ends.
TEST(OddBools, ResultsAreBools) {
  constexpr size_t kElements = 515;
  Tensor a{NEF_BOOL, {kElements}, {}}, b = a;
  const uint8_t bytes[] = {0, 2, 1, 255, 128};
  for (size_t i = 0; i < kElements; ++i) {
    a.bytes.push_back(bytes[i % 5]);
    b.bytes.push_back(bytes[i / 5 % 5]);
  }
  const struct {
    nef_op op;
    bool (*of)(bool, bool);
  } kOps[] = {
      {NEF_OP_AND, [](bool x, bool y) { return x && y; }},
      {NEF_OP_OR, [](bool x, bool y) { return x || y; }},
      {NEF_OP_XOR, [](bool x, bool y) { return x != y; }},
      {NEF_OP_EQUAL, [](bool x, bool y) { return x == y; }},
  };
  for (const nef_backend* backend : backends()) {
    for (const auto& op : kOps) {
      const RunResult r = run_case(*backend, single("odd", op.op, {a, b}), kModes[0]);
      ASSERT_EQ(r.code, NEF_OK) << backend->name << " " << r.message;
      for (size_t i = 0; i < kElements; ++i) {
        ASSERT_EQ(r.outputs[0].bytes[i], op.of(a.bytes[i] != 0, b.bytes[i] != 0))
            << backend->name << " " << ir::spec(op.op).snake << " " << i;
      }
    }
    for (const nef_dtype to : {NEF_INT8, NEF_UINT8, NEF_INT16, NEF_UINT16, NEF_INT32, NEF_UINT32,
                               NEF_INT64, NEF_UINT64, NEF_FLOAT16, NEF_BFLOAT16, NEF_FLOAT32,
                               NEF_FLOAT64, NEF_FLOAT8_E4M3FN, NEF_FLOAT8_E5M2}) {
      const auto words = attrs(NEF_OP_CAST).set_int(NEF_CAST_TO, to).build();
      const RunResult r = run_case(*backend, single("odd", NEF_OP_CAST, {a}, words), kModes[0]);
      ASSERT_EQ(r.code, NEF_OK) << backend->name << " " << r.message;
      for (int64_t i = 0; i < static_cast<int64_t>(kElements); ++i) {
        const bool on = a.bytes[static_cast<size_t>(i)] != 0;
        const double number = is_float(to) || to >= NEF_FLOAT8_E4M3FN
                                  ? float_at(r.outputs[0], i)
                                  : static_cast<double>(int_at(r.outputs[0], i));
        ASSERT_EQ(number, on ? 1 : 0) << backend->name << " to " << to << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace nef::conformance
