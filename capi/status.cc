// SPDX-License-Identifier: Apache-2.0
#include "capi/status.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "engine/io/text.h"
#include "engine/ir/dtype.h"

struct nef_status {
  nef_code code;
  std::string op, message;
};

namespace nef::capi {

namespace {
std::atomic<uint64_t> g_live{0};

// Returned when there is no memory for a real one; never freed.
nef_status* out_of_memory() {
  static auto* status =
      new nef_status{NEF_OUT_OF_MEMORY, "status", "out of host memory (also for the message)"};
  return status;
}
// Made before memory can be short.
[[maybe_unused]] nef_status* const g_reserve = out_of_memory();
}  // namespace

// Messages hold names of models and reasons of backends: whoever prints one is safe.
nef_status* make_status(nef_code code, const char* op, const char* message) noexcept {
  try {
    auto* status = new nef_status{code, io::printable(op), io::printable(message)};
    g_live.fetch_add(1, std::memory_order_relaxed);
    return status;
  } catch (...) {
    return out_of_memory();
  }
}

uint64_t live_statuses() noexcept { return g_live.load(std::memory_order_relaxed); }

char* copy_string(const std::string& text) {
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) throw std::bad_alloc();
  std::memcpy(out, text.c_str(), text.size() + 1);
  return out;
}

}  // namespace nef::capi

using nef::capi::g_reserve;

nef_code nef_status_code(const nef_status* status) {
  return status == nullptr ? NEF_OK : status->code;
}
const char* nef_status_message(const nef_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}
const char* nef_status_op(const nef_status* status) {
  return status == nullptr ? "" : status->op.c_str();
}
void nef_status_release(nef_status* status) {
  if (status == nullptr || status == g_reserve) return;
  nef::capi::g_live.fetch_sub(1, std::memory_order_relaxed);
  delete status;
}
const char* nef_code_name(nef_code code) { return nef::code_name(code); }

size_t nef_dtype_size(nef_dtype dtype) { return nef::ir::dtype_size(dtype); }
const char* nef_dtype_name(nef_dtype dtype) { return nef::ir::dtype_name(dtype); }
nef_dtype nef_dtype_from_name(const char* name) {
  return name == nullptr ? NEF_DTYPE_INVALID : nef::ir::dtype_from_name(name);
}
void nef_string_free(char* text) { std::free(text); }

const char* nef_version(void) { return NEF_VERSION_STRING; }
uint32_t nef_abi_version(void) { return NEF_ABI_VERSION; }
