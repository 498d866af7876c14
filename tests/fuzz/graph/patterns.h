// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace nef::fuzz {

// Inputs of an op that fit each other: one word per input, behind a bar what attributes are to be.
//   n,c,4h,2  a shape: letters stand for sizes, the same one everywhere in the pattern
//   -         a scalar
//   *         any value
//   _         an absent input
//   [4,h]     a constant vector of int64 (or whatever the input takes)
//   {5}       a constant scalar
//   ?         a host input made up by its name
// The inputs that a pattern does not name are optional ones, and absent.
struct Pattern {
  std::string_view op, text;
};

// Of one op; empty where any values that broadcast will do.
std::span<const Pattern> patterns(std::string_view op);

}  // namespace nef::fuzz
