/* SPDX-License-Identifier: Apache-2.0 */
/**
 * \file nef/backend.h
 * \brief The ABI between the NEF engine and a backend, built in or loaded with dlopen.
 *
 * A backend is one table of C functions (::nef_backend). A plugin exports one symbol,
 * `nef_backend_entry`, that returns its table; the engine checks `abi_version` and
 * `struct_size` before it reads anything else.
 *
 * Life of a kernel: the engine hands over a *region* (one node, or a fused group) as plain
 * arrays; `compile` turns its structure into a kernel that is cached and shared between
 * programs; `prepare` binds a kernel to the constants of one program (here weights are
 * packed); `launch` runs a prepared kernel on concrete tensors.
 *
 * Threads: unless `NEF_BACKEND_SERIAL` is set, every function except `init` and `shutdown`
 * may be called from several threads at once (on the same kernel too); a serial backend is
 * called by one thread at a time. No function may throw, abort, print, or install a handler.
 *
 * Errors: a function returns a ::nef_code and, when it is not NEF_OK, writes a message of at
 * most `err->capacity` bytes (NUL included) into `err->message`.
 */
#ifndef NEF_BACKEND_H
#define NEF_BACKEND_H

#include <nef/op_ids.h>
#include <nef/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NEF_BACKEND_ABI_VERSION 1u

/** Dims a tensor may have at most. */
#define NEF_MAX_RANK 16

/** A dim that is only known at launch (in nef_backend_value.dims). */
#define NEF_DIM_UNKNOWN (-1)

typedef struct nef_backend_error {
  char* message;
  size_t capacity;
} nef_backend_error;

/* ---- attributes ---------------------------------------------------------------------- */

/**
 * Attributes of a node: a relocatable block of 64-bit words, NULL when the op has none.
 * Word 0 is a bit mask: bit i set = attribute slot i is present. Word 1+i holds slot i:
 * int, bool, dtype: the value; float: the bits of a double; ints, floats, string: the word
 * offset of the payload (from word 0) in the upper, the element (string: byte) count in the
 * lower 32 bits. Slot numbers are NEF_<OP>_<ATTR> of op_ids.h. Attributes with a default are
 * always present.
 */
static inline int nef_attr_has(const int64_t* attrs, unsigned slot) {
  return attrs != NULL && (((uint64_t)attrs[0] >> slot) & 1u) != 0;
}
static inline int64_t nef_attr_int(const int64_t* attrs, unsigned slot, int64_t fallback) {
  return nef_attr_has(attrs, slot) ? attrs[1 + slot] : fallback;
}
static inline double nef_attr_float(const int64_t* attrs, unsigned slot, double fallback) {
  union {
    int64_t i;
    double d;
  } u;
  if (!nef_attr_has(attrs, slot)) return fallback;
  u.i = attrs[1 + slot];
  return u.d;
}
/** Number of elements of an ints, floats or string attribute; 0 when absent. */
static inline size_t nef_attr_count(const int64_t* attrs, unsigned slot) {
  return nef_attr_has(attrs, slot) ? (size_t)((uint64_t)attrs[1 + slot] & 0xffffffffu) : 0;
}
static inline const int64_t* nef_attr_ints(const int64_t* attrs, unsigned slot) {
  return nef_attr_has(attrs, slot) ? attrs + ((uint64_t)attrs[1 + slot] >> 32) : NULL;
}
static inline const double* nef_attr_floats(const int64_t* attrs, unsigned slot) {
  return (const double*)(const void*)nef_attr_ints(attrs, slot);
}
/** Bytes of a string attribute, not NUL-terminated; its length is nef_attr_count. */
static inline const char* nef_attr_string(const int64_t* attrs, unsigned slot) {
  return (const char*)(const void*)nef_attr_ints(attrs, slot);
}

/* ---- regions ------------------------------------------------------------------------- */

typedef int32_t nef_value_kind;
enum {
  NEF_VALUE_INPUT = 0,    /**< given to launch */
  NEF_VALUE_OUTPUT = 1,   /**< written by launch */
  NEF_VALUE_INTERNAL = 2, /**< made and used inside the region; no memory is given for it */
  NEF_VALUE_CONSTANT = 3, /**< data known when `prepare` is called (weights) */
  NEF_VALUE_LITERAL = 4   /**< small host constant, part of the structure; data in `literal` */
};

/** One value of a region. All tensors are dense and row-major. */
typedef struct nef_backend_value {
  nef_value_kind kind;
  nef_dtype dtype;
  int32_t rank;
  int32_t reserved;
  const int64_t* dims; /**< NEF_DIM_UNKNOWN where only launch knows */
  const void* literal; /**< NEF_VALUE_LITERAL only */
} nef_backend_value;

/** One node. Nodes are in topological order. */
typedef struct nef_backend_node {
  nef_op op;
  int32_t n_inputs;
  int32_t n_outputs;
  int32_t n_attr_words;   /**< length of `attrs`, 0 when NULL */
  const int32_t* inputs;  /**< value indices; -1 = optional input that is absent */
  const int32_t* outputs; /**< value indices; -1 = optional output that nobody wants */
  const int64_t* attrs;
} nef_backend_node;

/** What the optimiser fused. A backend may refuse any kind but NEF_REGION_SINGLE. */
typedef int32_t nef_region_kind;
enum {
  NEF_REGION_SINGLE = 0,      /**< one node */
  NEF_REGION_ELEMENTWISE = 1, /**< a tree of elementwise nodes, one output */
  NEF_REGION_EPILOGUE = 2,    /**< [slices, transposes,] a contraction or norm, elementwise nodes */
  NEF_REGION_REDUCTION = 3,   /**< elementwise producers, then one reduction or norm */
  /** Several of the above, one behind the other: a norm, the contractions that read it and the
   * elementwise nodes on their results; or what makes the queries of an attention, and it. Only
   * devices with NEF_DEVICE_CHAINS are asked. */
  NEF_REGION_CHAIN = 4
};

typedef struct nef_backend_region {
  size_t struct_size;
  nef_region_kind kind;
  nef_precision precision;
  int32_t n_values;
  int32_t n_nodes;
  const nef_backend_value* values;
  const nef_backend_node* nodes;
} nef_backend_region;

/** A value at launch: `data` is NULL for internal values. A kernel writes bools as 0 or 1 and reads
 * any byte but 0 as true; of what a plugin writes the engine makes 1 before a run gives it out. */
typedef struct nef_backend_tensor {
  void* data;
  const int64_t* dims;
} nef_backend_tensor;

/* ---- the host's services ------------------------------------------------------------- */

/** Runs fn(arg, begin, end) over [0, n) in chunks of at least `grain`, on the caller and the
 * shared pool; returns when all is done. Safe from any thread, may nest (then it is serial).
 * `grain` is worth waking a thread for: a loop of no more is shared only with threads that are
 * awake, in chunks down to an eighth of it. */
typedef void (*nef_parallel_fn)(void* arg, int64_t begin, int64_t end);

typedef struct nef_backend_host {
  size_t struct_size;
  void (*parallel_for)(int64_t n, int64_t grain, nef_parallel_fn fn, void* arg);
  int32_t (*num_threads)(void);
} nef_backend_host;

/* ---- devices ------------------------------------------------------------------------- */

enum {
  NEF_BACKEND_SERIAL = 1u /**< not thread-safe: the engine serialises every call */
};
enum {
  NEF_DEVICE_HOST_MEMORY = 1u, /**< its memory is ordinary host memory: no transfers needed */
  NEF_DEVICE_CHAINS = 2u       /**< it serves regions of kind NEF_REGION_CHAIN */
};

typedef struct nef_backend_device {
  size_t struct_size;
  nef_device_kind kind;
  uint32_t flags;
  const char* description;      /**< "Intel Xeon ..., AVX-512, AMX"; lives as long as the backend */
  const char* arch;             /**< part of cache keys: "x86-64/AVX3_SPR", "sm_90 nvrtc 13.0" */
  uint64_t memory_bytes;        /**< 0 = unknown */
  double flops_per_second;      /**< float32, rough; used by the planner */
  double bytes_per_second;      /**< memory bandwidth, rough */
  double link_bytes_per_second; /**< host <-> device; ignored for host memory */
  double launch_seconds;        /**< cost of one launch, rough */
} nef_backend_device;

/** What launches and copies cost on a device, found out there. */
typedef struct nef_backend_costs {
  size_t struct_size;           /**< set by the caller */
  double launch_seconds;        /**< of one launch among many */
  double link_seconds;          /**< of a small copy between host and device, waited for */
  double link_bytes_per_second; /**< of a large one */
} nef_backend_costs;

typedef struct nef_backend_kernel nef_backend_kernel;       /**< defined by the backend */
typedef struct nef_backend_prepared nef_backend_prepared;   /**< defined by the backend */
typedef struct nef_backend_stream nef_backend_stream;       /**< defined by the backend */
typedef struct nef_backend_recording nef_backend_recording; /**< defined by the backend */

typedef int32_t nef_copy_kind;
enum { NEF_COPY_HOST_TO_DEVICE = 0, NEF_COPY_DEVICE_TO_HOST = 1, NEF_COPY_ON_DEVICE = 2 };

/** The table. Optional entries may be NULL and say so. */
typedef struct nef_backend {
  uint32_t abi_version; /**< NEF_BACKEND_ABI_VERSION */
  uint32_t flags;
  size_t struct_size;  /**< sizeof(nef_backend) of the backend's header */
  const char* name;    /**< "cpu", "cuda", ... : lower case, unique */
  const char* version; /**< part of cache keys: change it when kernels change */

  /** Once, before anything else. A failure makes the backend absent, with the message as
   * reason. `host` stays valid until `shutdown`. */
  nef_code (*init)(const nef_backend_host* host, nef_backend_error* err);
  /** Optional; this version never calls it: backends live as long as the process. */
  void (*shutdown)(void);

  int32_t (*device_count)(void);
  nef_code (*device_info)(int32_t device, nef_backend_device* out, nef_backend_error* err);
  /** Free bytes now, those that the backend caches included; 0 = unknown. Optional: NULL = all of
   * `memory_bytes`. A graph that needs more than the first GPU has is spread over those like it. */
  uint64_t (*memory_available)(int32_t device);

  /** Memory aligned to at least 64 bytes. */
  nef_code (*alloc)(int32_t device, size_t bytes, void** out, nef_backend_error* err);
  void (*free)(int32_t device, void* ptr, size_t bytes);
  /** Synchronous copy; optional for host-memory devices. */
  nef_code (*copy)(int32_t device, void* dst, const void* src, size_t bytes, nef_copy_kind kind,
                   nef_backend_error* err);
  /** Drops whatever the backend caches, to make room; optional. */
  void (*evict)(int32_t device);

  /** Can this region run here? Returns 0 when not (and says why in err), else 1. For a region of
   * one node the answer may depend on op, dtypes, ranks, attributes, and which inputs are constant
   * or the same value, not on dims or literals: it is remembered by those. For one of several nodes
   * it may depend on dims too. A value that is read as data and as a host input is two values. */
  int32_t (*supports)(int32_t device, const nef_backend_region* region, nef_backend_error* err);

  /**
   * Compiles a region. `blob` is what `serialize` returned for the same cache key earlier, or
   * NULL; a blob that does not fit is ignored, never trusted. The region is only valid during
   * the call: copy what is kept.
   */
  nef_code (*compile)(int32_t device, const nef_backend_region* region, const void* blob,
                      size_t blob_size, nef_backend_kernel** out, nef_backend_error* err);
  void (*kernel_free)(nef_backend_kernel* kernel);
  /** One short word or phrase for plans: "gemm 6x16", "reference". */
  const char* (*kernel_name)(const nef_backend_kernel* kernel);
  /** Bytes worth keeping on disk; writes at most `capacity`, returns the size needed (0 =
   * nothing). Optional. */
  size_t (*serialize)(const nef_backend_kernel* kernel, void* out, size_t capacity);

  /**
   * Binds a kernel to constants: `values` has one entry per region value; only
   * NEF_VALUE_CONSTANT and NEF_VALUE_LITERAL entries have data (host memory that outlives the
   * prepared kernel).
   */
  nef_code (*prepare)(nef_backend_kernel* kernel, const nef_backend_tensor* values,
                      nef_backend_prepared** out, nef_backend_error* err);
  void (*prepared_free)(nef_backend_prepared* prepared);
  /** Bytes of packed constants held by it. Optional. */
  uint64_t (*prepared_bytes)(const nef_backend_prepared* prepared);

  /** Scratch bytes one launch needs for these shapes (`data` is not looked at). Optional: NULL =
   * none. */
  size_t (*scratch_bytes)(const nef_backend_prepared* prepared, const nef_backend_tensor* values);

  /**
   * Runs it, or queues it on `stream` (NULL for a backend without streams): one entry per
   * region value, shapes always given. `scratch` is 64-byte aligned. Outputs never overlap
   * inputs unless `in_place` allowed it. Must not allocate per call. Inputs that the op table
   * marks as host inputs are in host memory on every device.
   */
  nef_code (*launch)(nef_backend_prepared* prepared, nef_backend_stream* stream,
                     const nef_backend_tensor* values, void* scratch, nef_backend_error* err);

  /** May output `output` share memory with input `input` (value indices)? Optional: NULL = no.
   * This version does not ask: outputs never overlap inputs. */
  int32_t (*in_place)(const nef_backend_kernel* kernel, int32_t input, int32_t output);

  /** Streams beside the one that NULL names, on which `copy` works; all three optional together.
   * The engine makes some for branches of a graph side by side, where there is `stream_wait`. */
  nef_code (*stream_create)(int32_t device, nef_backend_stream** out, nef_backend_error* err);
  void (*stream_destroy)(nef_backend_stream* stream);
  /** Blocks until everything queued on the stream is done; returns the first failure. */
  nef_code (*stream_synchronize)(nef_backend_stream* stream, nef_backend_error* err);

  /**
   * Works out the dims of a region's outputs where they depend on data (ops that the op table calls
   * "sized by data": NonZero). Called right before `launch` with the same values, except that
   * what the entries of outputs hold means nothing yet, and with the same scratch, sized by
   * `scratch_bytes` for output dims of NEF_DIM_UNKNOWN: what is left in it is there for `launch`.
   * `out_dims` has one entry per region value, NULL unless it is an output, else room for its
   * dims. Optional: NULL = the backend serves no such op.
   */
  nef_code (*output_dims)(nef_backend_prepared* prepared, nef_backend_stream* stream,
                          const nef_backend_tensor* values, void* scratch, int64_t* const* out_dims,
                          nef_backend_error* err);

  /**
   * Launches that run again and again with the same tensors and scratch; all four optional
   * together. Between `record_begin` and `record_end`, which one thread calls one after the other,
   * each `launch` of that thread on stream NULL is noted instead of run. `record_end` gives what
   * was noted, or drops it when `out` is NULL; after a failure of either nothing is noted any
   * more. `replay` queues all of it: memory that the launches were given must still be there, and
   * what host inputs held then is what counts.
   */
  nef_code (*record_begin)(int32_t device, nef_backend_error* err);
  nef_code (*record_end)(int32_t device, nef_backend_recording** out, nef_backend_error* err);
  nef_code (*replay)(nef_backend_recording* recording, nef_backend_error* err);
  void (*recording_free)(nef_backend_recording* recording);

  /** Host memory that `copy` reaches without a detour (pinned), aligned to at least 64 bytes:
   * values that pass between the host and the device live there. Both optional together; a failure
   * of `host_alloc` is none of the run: ordinary memory serves as well. */
  nef_code (*host_alloc)(int32_t device, size_t bytes, void** out, nef_backend_error* err);
  void (*host_free)(int32_t device, void* ptr, size_t bytes);
  /** Blocks until all that was queued on stream NULL is done; traced runs do so behind every
   * launch, so that a step's time is that of its work. Optional: NULL = launches are synchronous.
   */
  nef_code (*synchronize)(int32_t device, nef_backend_error* err);
  /** Notes a copy to the device between `record_begin` and `record_end`: each replay copies what
   * `src`, which is memory of `host_alloc`, holds until that replay is done. Optional. A backend
   * with `replay_wait` takes copies to the host as well: then `dst` is memory of `host_alloc`. */
  nef_code (*record_copy)(int32_t device, void* dst, const void* src, size_t bytes,
                          nef_backend_error* err);
  /** Measures what `device_info` states roughly: milliseconds, once for a device before the first
   * plan that weighs it. Optional; where it fails, what is stated counts. */
  nef_code (*measure)(int32_t device, nef_backend_costs* out, nef_backend_error* err);
  /** What is queued on `stream` from now on comes behind what `other` holds now; NULL for either
   * is the device's first stream. Blocks nothing, and may be noted between `record_begin` and
   * `record_end`: then launches on the streams that wait for stream NULL are noted too, until it
   * waits for them. Optional. */
  nef_code (*stream_wait)(int32_t device, nef_backend_stream* stream, nef_backend_stream* other,
                          nef_backend_error* err);
  /** Queues a copy from the device to memory of `host_alloc`, and returns at once: what computes on
   * it may begin with the first piece. Optional. */
  nef_code (*stream_copy)(int32_t device, nef_backend_stream* stream, void* dst, const void* src,
                          size_t bytes, nef_backend_error* err);
  /** Copies to the host what is there behind the last `replay`, and waits for nothing that other
   * threads have queued since; the thread that replayed has queued nothing since. Optional: NULL =
   * `copy`. */
  nef_code (*replay_copy)(nef_backend_recording* recording, void* dst, const void* src,
                          size_t bytes, nef_backend_error* err);
  /** The same as `replay`, and blocks until all of it is done, with the copies to the host that
   * were noted, whatever other threads queue behind it. Optional: NULL = none is noted. */
  nef_code (*replay_wait)(nef_backend_recording* recording, nef_backend_error* err);
} nef_backend;

/** The one symbol a plugin exports. The table must live as long as the process. */
typedef const nef_backend* (*nef_backend_entry_fn)(void);
#define NEF_BACKEND_ENTRY_SYMBOL "nef_backend_entry"

#ifdef __cplusplus
}
#endif

#endif /* NEF_BACKEND_H */
