// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nef::io {

// Length of the well-formed UTF-8 sequence at the start of `s` (1 to 4), 0 when there is none:
// overlong forms, surrogates and numbers past U+10FFFF are not well formed.
size_t utf8_sequence(std::string_view s);

// Why `name` cannot be written as a name in a file: "is empty", "holds a NUL byte", ...;
// nullptr when it can.
const char* name_fault(std::string_view name);

// Text that does nothing to a terminal: controls, newlines, marks of direction, what is invisible
// and broken UTF-8 become \x1b, \u202e or \U000e0001. Printable text stays as it is.
std::string printable(std::string_view text);

// Why a text, of an attribute say, cannot be written: as name_fault, but it may be empty and long.
const char* text_fault(std::string_view text);

// A name as it appears in messages: printable, quoted, long ones cut.
std::string in_quotes(std::string_view name);

// Appends `s` as a JSON string with quotes. `s` is valid UTF-8.
void append_json_string(std::string& out, std::string_view s);

}  // namespace nef::io
