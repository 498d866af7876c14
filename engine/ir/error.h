// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/types.h>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>

namespace nef {

// The one exception of the engine. It never crosses the C boundary: capi turns it into a
// nef_status. `op` names the operation or stage ("matmul", "load"), `message` says what, where,
// expected, got and how to fix.
class Error : public std::exception {
 public:
  Error(nef_code code, std::string op, std::string message)
      : code_(code), op_(std::move(op)), message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  nef_code code() const noexcept { return code_; }
  const std::string& op() const noexcept { return op_; }
  const std::string& message() const noexcept { return message_; }

 private:
  nef_code code_;
  std::string op_;
  std::string message_;
};

// The stable spelling of a code: "shape_mismatch".
const char* code_name(nef_code code) noexcept;

// Joins anything with a std::string, const char*, number or char into one string.
namespace detail {
inline void append(std::string& out, const std::string& v) { out += v; }
inline void append(std::string& out, const char* v) { out += v; }
inline void append(std::string& out, char v) { out += v; }
template <typename T>
requires std::is_arithmetic_v<T>
void append(std::string& out, T v) { out += std::to_string(v); }
}  // namespace detail
template <typename... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

[[noreturn]] inline void fail(nef_code code, std::string op, std::string message) {
  throw Error(code, std::move(op), std::move(message));
}

}  // namespace nef
