// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace nef::io {

// Standard alphabet with padding, no line breaks.
void append_base64(std::string& out, std::span<const std::byte> bytes);

// Decoded size of `text`, or false when its length or padding is wrong.
bool base64_size(std::string_view text, size_t* out);

// Decodes into `out`, which has base64_size bytes. Only the canonical form is accepted: returns
// the offset of the first bad character, or npos when all is well.
size_t decode_base64(std::string_view text, std::byte* out);

}  // namespace nef::io
