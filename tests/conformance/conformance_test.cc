// SPDX-License-Identifier: Apache-2.0
// Every backend against the reference, op by op.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "backends/reference/reference.h"
#include "engine/ir/dtype.h"
#include "engine/ir/ops.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/runner.h"

namespace nef::conformance {
namespace {

// ShapeExpr is worked out by the engine and never reaches a backend.
bool reaches_backends(nef_op op) {
  return ir::op_valid(op) && op != NEF_OP_SHAPE_EXPR && ir::spec(op).n_blocks == 0;
}

std::vector<nef_op> all_ops() {
  std::vector<nef_op> out;
  for (nef_op op = 1; op < NEF_OP_COUNT_; ++op) {
    if (reaches_backends(op)) out.push_back(op);
  }
  return out;
}

// "cpu Softmax: 204/204 float32 4.20 ulp"
void print(const nef_backend& backend, const char* what, const Report& report) {
  Tally total;
  std::string worst;
  for (const auto& [dtype, tally] : report.by_dtype) {
    total.run += tally.run;
    total.passed += tally.passed;
    total.refused += tally.refused;
    if (tally.worst_ulps == 0) continue;
    char text[64];
    std::snprintf(text, sizeof text, " %s %.2f ulp", ir::dtype_name(dtype), tally.worst_ulps);
    worst += text;
  }
  std::printf("%s %s: %d/%d%s", backend.name, what, total.passed, total.run, worst.c_str());
  if (total.refused > 0)
    std::printf(", %d refused, such as %s", total.refused, report.refusals.front().c_str());
  std::printf("\n");
}

void check(const nef_backend& backend, const char* what, const CaseList& cases) {
  constexpr size_t kShown = 5;
  const Report report = conform(backend, cases, bounds());
  print(backend, what, report);
  for (size_t i = 0; i < report.failures.size() && i < kShown; ++i) {
    ADD_FAILURE() << backend.name << " " << what << " " << report.failures[i];
  }
  if (report.failures.size() > kShown) {
    ADD_FAILURE() << backend.name << " " << what << ": " << report.failures.size() << " failures";
  }
  // The reference must serve everything; another backend may refuse, and the engine goes round it.
  if (&backend == nef_backend_reference() && !report.refusals.empty()) {
    ADD_FAILURE() << "the reference refused " << report.refusals.front();
  }
}

class Conformance : public ::testing::TestWithParam<nef_op> {};

TEST_P(Conformance, Op) {
  const CaseList cases = cases_for(GetParam());
  ASSERT_FALSE(cases.empty()) << "no conformance case for " << ir::spec(GetParam()).name;
  for (const nef_backend* b : backends()) check(*b, ir::spec(GetParam()).name, cases);
}

// Every dtype that the table allows for the first input of an op has a case.
TEST(Coverage, EveryDtypeOfEveryOp) {
  size_t n_cases = 0, n_pairs = 0;
  for (nef_op op : all_ops()) {
    std::set<nef_dtype> seen;
    const CaseList cases = cases_for(op);
    for (const Case& c : cases) seen.insert(c.values.front().tensor.dtype);
    n_cases += cases.size();
    for (nef_dtype t : allowed_dtypes(op)) {
      EXPECT_TRUE(seen.count(t) != 0)
          << ir::spec(op).name << " has no case of " << ir::dtype_name(t);
      ++n_pairs;
    }
  }
  std::printf("%zu ops, %zu pairs of op and dtype, %zu cases in %zu modes\n", all_ops().size(),
              n_pairs, n_cases, std::size(kModes));
}

// Fused regions, by kind: a backend may refuse them, and the engine then runs their nodes singly.
// Fused regions give what their nodes give one by one.
void check_regions(nef_region_kind kind, const char* name) {
  const CaseList cases = region_cases();
  for (const nef_backend* b : backends()) {
    CaseList some;
    for (const Case& c : cases) {
      if (c.kind == kind) some.push_back(c);
    }
    check(*b, name, some);
  }
}
TEST(Regions, Elementwise) { check_regions(NEF_REGION_ELEMENTWISE, "elementwise regions"); }
TEST(Regions, Epilogues) { check_regions(NEF_REGION_EPILOGUE, "epilogue regions"); }
TEST(Regions, Reductions) { check_regions(NEF_REGION_REDUCTION, "reduction regions"); }
TEST(Regions, Chains) { check_regions(NEF_REGION_CHAIN, "chains"); }

INSTANTIATE_TEST_SUITE_P(All, Conformance, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return std::string(ir::spec(info.param).name); });

}  // namespace
}  // namespace nef::conformance
