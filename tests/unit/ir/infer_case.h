// SPDX-License-Identifier: Apache-2.0
// Shape tests as text, so that a table of them reads like documentation.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace nef::ir {

// op      any spelling
// attrs   "axis=1 perm=[0 2 1] mode=linear"
// inputs  types separated by ", ": "f32[batch 3]"; "-" is absent. "i64[2]={batch -1}" also gives
//         the elements, "f32[2]={1 0.5}" likewise.
//         Symbols: B >= 1, S in [1, 512], H in [2, 64]; any other name is >= 0.
// want    types of the outputs in the same spelling, contents where they are known, "?" for an
//         unknown dim; or "!code part of the message".
struct InferCase {
  const char* op;
  const char* attrs;
  const char* inputs;
  const char* want;
};

// What inference says, in the spelling of `want`; the full message after an error's code.
std::string run_case(const InferCase& c);

// Makes a table known to the test that every op has a shape test; returns it unchanged.
std::vector<InferCase> register_cases(std::initializer_list<InferCase> cases);
const std::vector<InferCase>& registered_cases();

// Runs every case of a table, one failure per wrong one.
void check_cases(const std::vector<InferCase>& cases);

}  // namespace nef::ir
