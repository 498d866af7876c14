// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nef::io {

// What the readers accept at most; beyond it a file is refused with NEF_LIMIT_EXCEEDED before
// memory is spent on it. docs/nef-format.md lists these numbers for users.
constexpr size_t kMaxJsonBytes = size_t{512} << 20;  // graph text of a .nef
constexpr size_t kMaxHeaderBytes = 100'000'000;      // safetensors header, as its spec says
constexpr size_t kMaxJsonDepth = 128;                // nested arrays and objects
constexpr size_t kMaxJsonValues = size_t{1} << 24;   // values in one JSON text
constexpr size_t kMaxNodes = size_t{1} << 21;
constexpr size_t kMaxTensors = size_t{1} << 22;
constexpr size_t kMaxContainerTensors = size_t{1} << 20;  // tensors in one safetensors file
constexpr size_t kMaxOperands = size_t{1} << 16;          // inputs, and outputs, of one node
constexpr size_t kMaxNameBytes = 4096;                    // tensor, node, file and attribute names
constexpr size_t kMaxDimText = 4096;                      // one symbolic dim
constexpr size_t kMaxSymbols = size_t{1} << 16;
constexpr size_t kMaxInlineBytes = size_t{16} << 20;  // base64 data of one tensor, decoded
constexpr size_t kMaxDataFiles = 1024;                // files one graph may refer to

// Integers beyond this lose digits in most JSON readers, so they are written as strings.
constexpr int64_t kMaxJsonInt = int64_t{1} << 53;

// Constants up to this size are written inline, larger ones into the safetensors part.
constexpr size_t kInlineBytes = 1024;

}  // namespace nef::io
