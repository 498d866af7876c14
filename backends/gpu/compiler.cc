// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/compiler.h"

#include "backends/shared/region.h"

namespace nef::gpu {

using backends::BackendError;

std::vector<uint8_t> compile_text(const CompilerCalls& c, const char* name,
                                  const std::string& source, std::span<const char* const> options) {
  void* program = nullptr;
  if (c.create(&program, source.c_str(), "nef.cu", 0, nullptr, nullptr) != 0) {
    throw BackendError(NEF_COMPILE_FAILED, std::string(name) + " made no program");
  }
  const int result = c.compile(program, static_cast<int>(options.size()), options.data());
  std::vector<uint8_t> code;
  std::string why;
  size_t size = 0;
  if (result == 0) {
    if (c.code_size(program, &size) == 0 && size > 0) {
      code.resize(size);
      c.code(program, reinterpret_cast<char*>(code.data()));
    }
  } else {
    c.log_size(program, &size);
    why.resize(size);
    if (size > 0) c.log(program, why.data());
    why = std::string(c.error_text(result)) + ": " + why.substr(0, 600);
  }
  c.destroy(&program);
  if (code.empty()) throw BackendError(NEF_COMPILE_FAILED, std::string(name) + ": " + why);
  return code;
}

}  // namespace nef::gpu
