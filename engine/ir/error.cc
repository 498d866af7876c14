// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/error.h"

namespace nef {

const char* code_name(nef_code code) noexcept {
  switch (code) {
    case NEF_OK: return "ok";
    case NEF_INVALID_ARGUMENT: return "invalid_argument";
    case NEF_SHAPE_MISMATCH: return "shape_mismatch";
    case NEF_DTYPE_MISMATCH: return "dtype_mismatch";
    case NEF_OUT_OF_RANGE: return "out_of_range";
    case NEF_UNKNOWN_OP: return "unknown_op";
    case NEF_UNSUPPORTED: return "unsupported";
    case NEF_GRAPH_CYCLE: return "graph_cycle";
    case NEF_UNKNOWN_NAME: return "unknown_name";
    case NEF_DUPLICATE_NAME: return "duplicate_name";
    case NEF_PARSE: return "parse";
    case NEF_LIMIT_EXCEEDED: return "limit_exceeded";
    case NEF_UNSAFE_PATH: return "unsafe_path";
    case NEF_IO: return "io";
    case NEF_OUT_OF_MEMORY: return "out_of_memory";
    case NEF_DEVICE_OUT_OF_MEMORY: return "device_out_of_memory";
    case NEF_COMPILE_FAILED: return "compile_failed";
    case NEF_BACKEND_UNAVAILABLE: return "backend_unavailable";
    case NEF_ABI_MISMATCH: return "abi_mismatch";
    case NEF_CANCELLED: return "cancelled";
    case NEF_DEVICE_LOST: return "device_lost";
    case NEF_FALLBACK_FORBIDDEN: return "fallback_forbidden";
    case NEF_INTERNAL: return "internal";
    default: return "unknown";
  }
}

}  // namespace nef
