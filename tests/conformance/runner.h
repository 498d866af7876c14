// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/conformance/case.h"

namespace nef::conformance {

// How the values of a case are handed to a backend.
struct Mode {
  const char* name;
  bool constant_weights;  // inputs after the first as NEF_VALUE_CONSTANT
  bool literal_host;      // host inputs as NEF_VALUE_LITERAL instead of NEF_VALUE_INPUT
  bool unknown_dims;      // NEF_DIM_UNKNOWN for all dims at compile time
};
inline constexpr Mode kModes[] = {
    {"plain", false, true, false},
    {"constants", true, true, false},
    {"late shapes", true, false, true},
};

struct RunResult {
  nef_code code = NEF_OK;
  bool refused = false;  // the backend's `supports` said no
  std::string message;   // why, or what went wrong with memory (then code is NEF_INTERNAL)
  std::vector<Tensor> outputs;
};
// Runs a case twice on a backend, with guard bytes around every buffer.
RunResult run_case(const nef_backend& backend, const Case& c, const Mode& mode);

// Empty when `got` is within tolerance of `want`, else where and how it differs. `worst` keeps
// the greatest error seen, in units in the last place.
std::string compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance,
                    double* worst);

struct Tally {
  int run = 0, passed = 0, refused = 0;
  double worst_ulps = 0;
};
struct Report {
  std::map<nef_dtype, Tally> by_dtype;
  std::vector<std::string> failures;
  std::vector<std::string> refusals;
};
// What is taken of a list of cases.
struct Bounds {
  std::string names = "";    // an extended regular expression that names match; "" = all
  int fewest = 0;            // of each dtype no more than the backend serves of these; 0 = all
  std::string without = "";  // an extended regular expression of names that are left out; "" = none
};
// Those of these names; where only few of them are to run, in the order in which they are tried:
// the fewest elements first that give threads something to share, none without elements.
std::vector<const Case*> chosen(const CaseList& cases, const Bounds& bounds);

// Runs the cases in every mode on `backend` and on the reference, and compares.
Report conform(const nef_backend& backend, const CaseList& cases, const Bounds& bounds = {});

// Starts a backend with test services (a parallel_for that hands out chunks out of order).
// Returns why it is absent, "" when it is there.
std::string start(const nef_backend& backend);

}  // namespace nef::conformance
