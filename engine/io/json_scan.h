// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/io/limits.h"

namespace nef::io {

struct JsonLimits {
  size_t bytes = kLimits.json_bytes;
  size_t depth = kLimits.json_depth;
  size_t values = kLimits.json_values;
};

// Checks a JSON text byte by byte, with memory bounded by its nesting and its widest object:
// RFC 8259 grammar, UTF-8, no NUL (bare or escaped), no lone surrogates, no key twice in one
// object (keys compared decoded), numbers that survive a float64, the limits. Throws NEF_PARSE,
// NEF_DUPLICATE_NAME, NEF_OUT_OF_RANGE or NEF_LIMIT_EXCEEDED; messages begin with `label` and
// name byte offset, line and column. Every later step relies on the text having passed.
void scan_json(std::string_view text, const std::string& label, const JsonLimits& limits = {});

// The text of a JSON string token without its quotes, decoded. The token has been scanned.
std::string decode_json_string(std::string_view token);

}  // namespace nef::io
