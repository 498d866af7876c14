/* SPDX-License-Identifier: Apache-2.0 */
/**
 * \file nef/types.h
 * \brief Types shared by the public API (nef.h) and the backend ABI (backend.h).
 *
 * Plain C11, no dependencies beyond the C library's own headers. Every enumeration here is
 * append-only: a number, once released, keeps its meaning.
 */
#ifndef NEF_TYPES_H
#define NEF_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#error "NEF does not support Windows yet"
#elif defined(NEF_BUILDING_LIBRARY) || defined(__GNUC__)
#define NEF_API __attribute__((visibility("default")))
#else
#define NEF_API
#endif

/* Not [[nodiscard]] where it can be avoided: clang refuses that after another attribute. */
#if defined(__GNUC__)
#define NEF_NODISCARD __attribute__((warn_unused_result))
#elif defined(__cplusplus) && __cplusplus >= 201703L
#define NEF_NODISCARD [[nodiscard]]
#else
#define NEF_NODISCARD
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Element types. Names and encodings follow ONNX and DLPack; all little-endian. */
typedef int32_t nef_dtype;
enum {
  NEF_DTYPE_INVALID = 0,
  NEF_BOOL = 1, /**< one byte, 0 or 1 */
  NEF_INT8 = 2,
  NEF_UINT8 = 3,
  NEF_INT16 = 4,
  NEF_UINT16 = 5,
  NEF_INT32 = 6,
  NEF_UINT32 = 7,
  NEF_INT64 = 8,
  NEF_UINT64 = 9,
  NEF_FLOAT16 = 10,       /**< IEEE 754 binary16 */
  NEF_BFLOAT16 = 11,      /**< upper half of a binary32 */
  NEF_FLOAT32 = 12,       /**< IEEE 754 binary32 */
  NEF_FLOAT64 = 13,       /**< IEEE 754 binary64 */
  NEF_FLOAT8_E4M3FN = 14, /**< 4 bits of exponent, 3 of mantissa, no infinity; for storage */
  NEF_FLOAT8_E5M2 = 15    /**< 5 bits of exponent, 2 of mantissa; for storage */
};

/** What went wrong. The message beside it names the thing and the way out. */
typedef int32_t nef_code;
enum {
  NEF_OK = 0,
  NEF_INVALID_ARGUMENT = 1,      /**< a value no call accepts: NULL, bad enum, bad axis */
  NEF_SHAPE_MISMATCH = 2,        /**< shapes that do not fit each other or the op */
  NEF_DTYPE_MISMATCH = 3,        /**< dtypes that do not fit each other or the op */
  NEF_OUT_OF_RANGE = 4,          /**< an index or dim outside its bounds */
  NEF_UNKNOWN_OP = 5,            /**< an op name this version does not know */
  NEF_UNSUPPORTED = 6,           /**< understood, but not done by this version or device */
  NEF_GRAPH_CYCLE = 7,           /**< a graph that is not acyclic */
  NEF_UNKNOWN_NAME = 8,          /**< a tensor, node, input or output name that is not there */
  NEF_DUPLICATE_NAME = 9,        /**< a name or JSON key defined twice */
  NEF_PARSE = 10,                /**< bytes that are not the format they claim to be */
  NEF_LIMIT_EXCEEDED = 11,       /**< a size, depth or count over a documented limit */
  NEF_UNSAFE_PATH = 12,          /**< a file reference that leaves its folder */
  NEF_IO = 13,                   /**< the operating system refused: open, read, write, map */
  NEF_OUT_OF_MEMORY = 14,        /**< host memory */
  NEF_DEVICE_OUT_OF_MEMORY = 15, /**< device memory */
  NEF_COMPILE_FAILED = 16,       /**< a backend could not compile a region */
  NEF_BACKEND_UNAVAILABLE = 17,  /**< a backend that is absent; the message says why */
  NEF_ABI_MISMATCH = 18,         /**< a plugin or header of another ABI version */
  NEF_CANCELLED = 19,            /**< the run was cancelled */
  NEF_DEVICE_LOST = 20,          /**< a device stopped answering */
  NEF_FALLBACK_FORBIDDEN = 21,   /**< strict mode forbade the fallback that was needed */
  NEF_INTERNAL = 22              /**< a bug in NEF; please report it */
};

/** What a device is. Kinds are open: a backend may offer any of them. */
typedef int32_t nef_device_kind;
enum { NEF_DEVICE_CPU = 1, NEF_DEVICE_GPU = 2, NEF_DEVICE_NPU = 3 };

/** How exact contractions are. No backend of this version has fast kernels: fast is accepted and
 * computed exactly. */
typedef int32_t nef_precision;
enum {
  NEF_PRECISION_EXACT = 0, /**< float32 stays float32 (default) */
  NEF_PRECISION_FAST = 1 /**< float32 contractions may round their operands, see docs/numerics.md */
};

typedef struct nef_status nef_status;
typedef struct nef_tensor nef_tensor;
typedef struct nef_graph nef_graph;
typedef struct nef_program nef_program;
typedef struct nef_run nef_run;

#ifdef __cplusplus
}
#endif

#endif /* NEF_TYPES_H */
