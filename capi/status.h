// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/nef.h>

#include <new>
#include <string>
#include <utility>

#include "engine/ir/error.h"

namespace nef::capi {

// A status on the heap; never fails: when memory is short it is a static one.
nef_status* make_status(nef_code code, const char* op, const char* message) noexcept;
uint64_t live_statuses() noexcept;

// Runs `body` at the C boundary: NULL when it returns, else a status for what it threw.
template <typename Body>
nef_status* guard(const char* op, Body&& body) noexcept {
  try {
    body();
    return nullptr;
  } catch (const Error& e) {
    return make_status(e.code(), e.op().c_str(), e.what());
  } catch (const std::bad_alloc&) {
    return make_status(NEF_OUT_OF_MEMORY, op, "out of host memory");
  } catch (const std::exception& e) {
    return make_status(NEF_INTERNAL, op, e.what());
  } catch (...) {
    return make_status(NEF_INTERNAL, op, "unknown exception");
  }
}

// The caller passed NULL where a thing is needed.
[[noreturn]] inline void null_argument(const char* op, const char* what) {
  fail(NEF_INVALID_ARGUMENT, op, cat(what, " is NULL"));
}
inline void need(const void* pointer, const char* op, const char* what) {
  if (pointer == nullptr) null_argument(op, what);
}

// A copy for nef_string_free.
char* copy_string(const std::string& text);

}  // namespace nef::capi
