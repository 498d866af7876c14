// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

// Text to machine code through the library of a vendor: NVRTC and hiprtc have the same functions
// under other names.
namespace nef::gpu {

// Results are 0 when all is well.
struct CompilerCalls {
  int (*version)(int*, int*) = nullptr;
  const char* (*error_text)(int) = nullptr;
  int (*create)(void**, const char*, const char*, int, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(void*, int, const char* const*) = nullptr;
  int (*log_size)(void*, size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*code_size)(void*, size_t*) = nullptr;
  int (*code)(void*, char*) = nullptr;
  int (*destroy)(void**) = nullptr;
};

// Throws NEF_COMPILE_FAILED with the compiler's `name` and what it says.
std::vector<uint8_t> compile_text(const CompilerCalls& compiler, const char* name,
                                  const std::string& source, std::span<const char* const> options);

}  // namespace nef::gpu
