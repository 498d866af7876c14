/* SPDX-License-Identifier: Apache-2.0 */
/**
 * \file nef/nef.h
 * \brief The C API of NEF, the Neural Essence Format engine.
 *
 * Four nouns:
 *   - a **tensor** (::nef_tensor) is a handle on a lazy value: ops on tensors make graph nodes,
 *     nothing runs until a value is executed or read;
 *   - a **graph** (::nef_graph) is a closed, validated, immutable piece with named inputs and
 *     outputs, captured from tensors or loaded from a `.nef` file;
 *   - a **program** (::nef_program) is a graph optimised, planned and compiled for the devices
 *     at hand;
 *   - a **run** (::nef_run) is one execution of a program: synchronous or asynchronous,
 *     cancellable, traceable.
 *
 * Errors: a function that can fail returns ::nef_status*: NULL is success, anything else is
 * owned by the caller and given back with nef_status_release(). On failure out-parameters are
 * left untouched. No function prints, aborts, installs a signal handler, or lets a C++
 * exception out.
 *
 * Ownership: `_create`, `_load`, `_capture` and every op give the caller one reference,
 * `_retain` adds one, `_release` gives one back. Releasing NULL is a no-op. Objects keep what
 * they depend on alive, so any order of release is legal.
 *
 * Threads: all functions are safe to call from any thread, also on the same object, unless a
 * function says otherwise. The library needs no initialisation and no shutdown.
 *
 * Linking: `cc app.c $(pkg-config --cflags --libs nef-static)` has the whole engine within,
 * with `nef` it needs libnef.so.
 */
#ifndef NEF_NEF_H
#define NEF_NEF_H

#include <nef/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NEF_VERSION_MAJOR 0
#define NEF_VERSION_MINOR 1
#define NEF_VERSION_PATCH 0
#define NEF_VERSION_STRING "0.1.0"
/** Grows when a function or field is added; never for another reason. */
#define NEF_ABI_VERSION 1u

/* ==== library ========================================================================== */

/** "0.1.0" of the library that is linked (NEF_VERSION_STRING is the header's). */
NEF_API const char* nef_version(void);
/** ABI version of the library that is linked; at least the header's NEF_ABI_VERSION is needed. */
NEF_API uint32_t nef_abi_version(void);

/* ==== status =========================================================================== */

/** Code of a status; NEF_OK for NULL. */
NEF_API nef_code nef_status_code(const nef_status* status);
/** One sentence or more: what, where, expected, got, how to fix. "" for NULL. Lives as long as
 * the status. */
NEF_API const char* nef_status_message(const nef_status* status);
/** The op or stage that failed ("matmul", "load"); "" for NULL. */
NEF_API const char* nef_status_op(const nef_status* status);
NEF_API void nef_status_release(nef_status* status);
/** Stable spelling of a code: "shape_mismatch"; "unknown" for numbers that are no code. */
NEF_API const char* nef_code_name(nef_code code);

/* ==== dtypes and text ================================================================== */

/** Bytes per element; 0 for numbers that are no dtype. */
NEF_API size_t nef_dtype_size(nef_dtype dtype);
/** "float32"; "invalid" for numbers that are no dtype. */
NEF_API const char* nef_dtype_name(nef_dtype dtype);
/** NEF_DTYPE_INVALID when the name is none of ours. */
NEF_API nef_dtype nef_dtype_from_name(const char* name);
/** Frees a string that a function of this header allocated. NULL is fine. */
NEF_API void nef_string_free(char* text);

/* ==== tensors ========================================================================== */

/** One dim of an input: a number (symbol NULL) or a named symbol within [min, max]. */
typedef struct nef_dim {
  int64_t value;
  const char* symbol;
  int64_t min;
  int64_t max; /**< 0 = no upper bound */
} nef_dim;

/**
 * A tensor holding a copy of `data`.
 *
 * \param rank 0 (scalar) to 16; `shape` has that many dims >= 0 and may be NULL for rank 0.
 * \param data dense, row-major, native byte order; shape product times element size bytes. Of
 *   bools all bytes but 0 become 1.
 */
NEF_API NEF_NODISCARD nef_status* nef_tensor_create(nef_dtype dtype, size_t rank,
                                                    const int64_t* shape, const void* data,
                                                    nef_tensor** out);

/**
 * A tensor over the caller's memory, without a copy. The memory must stay valid and unchanged
 * until `release(data, user)` is called, from whatever thread drops the last use; it is also
 * called when this function fails. `release` may be NULL for memory that outlives everything.
 * Bools of other bytes than 0 and 1 are copied as 1; then `release` is called before the return.
 * \param bytes size of `data`; must be what the shape needs.
 */
NEF_API NEF_NODISCARD nef_status* nef_tensor_wrap(nef_dtype dtype, size_t rank,
                                                  const int64_t* shape, void* data, size_t bytes,
                                                  void (*release)(void* data, void* user),
                                                  void* user, nef_tensor** out);

/**
 * A tensor over a range of an open regular file, mapped read-only and not read: for weights that
 * lie in files of other formats. Saving a graph streams such tensors through a small window, so
 * that models larger than memory can be written; where the range is not aligned to the element
 * size, a copy is made when a program is compiled, and of bools that are not 0 or 1 at once. A file
 * that is cut short while it is mapped ends the process with SIGBUS, as it does for every mapping.
 *
 * \param fd      stays the caller's and may be closed at once.
 * \param offset  of the first byte; the file must hold all bytes that the shape needs.
 * \param name    what a saved graph calls the tensor; NULL or "" for none.
 */
NEF_API NEF_NODISCARD nef_status* nef_tensor_map(nef_dtype dtype, size_t rank, const int64_t* shape,
                                                 int32_t fd, uint64_t offset, const char* name,
                                                 nef_tensor** out);

/** A placeholder: the named input of a graph to be captured. It has no data. */
NEF_API NEF_NODISCARD nef_status* nef_tensor_input(const char* name, nef_dtype dtype, size_t rank,
                                                   const nef_dim* dims, nef_tensor** out);

/** Adds a reference and returns its argument. */
NEF_API nef_tensor* nef_tensor_retain(nef_tensor* tensor);
NEF_API void nef_tensor_release(nef_tensor* tensor);

NEF_API nef_dtype nef_tensor_dtype(const nef_tensor* tensor);
NEF_API size_t nef_tensor_rank(const nef_tensor* tensor);
/** Writes min(capacity, rank) dims, -1 for symbolic ones, and returns the rank. */
NEF_API size_t nef_tensor_shape(const nef_tensor* tensor, int64_t* shape, size_t capacity);
/** Dim `axis` as text ("batch", "2*seq", "384"), to be freed with nef_string_free; NULL when
 * axis is out of range or memory is short. */
NEF_API char* nef_tensor_dim(const nef_tensor* tensor, size_t axis);
/** The elements of an integer scalar or vector that follow from the shapes and constants it was
 * made of, whatever the placeholders behind it hold: writes min(capacity, count) of them, `out`
 * may be NULL for none, and returns their count; -1 where they are not all known. */
NEF_API int64_t nef_tensor_known_ints(const nef_tensor* tensor, int64_t* out, size_t capacity);
/** 1 when the value has been computed or was given. */
NEF_API int32_t nef_tensor_ready(const nef_tensor* tensor);

/** Computes the value now: optimise, plan, compile (both cached) and run. */
NEF_API NEF_NODISCARD nef_status* nef_execute(nef_tensor* tensor);
/** Computes several values in one program. */
NEF_API NEF_NODISCARD nef_status* nef_execute_all(nef_tensor* const* tensors, size_t count);
/** Executes if need be and copies all elements to `out`; `bytes` must be exactly their size. */
NEF_API NEF_NODISCARD nef_status* nef_tensor_read(nef_tensor* tensor, void* out, size_t bytes);
/** Executes if need be and gives a read-only view, valid until the tensor is released. */
NEF_API NEF_NODISCARD nef_status* nef_tensor_data(nef_tensor* tensor, const void** out_data,
                                                  size_t* out_bytes);

/* ==== ops by name ====================================================================== */

/** An attribute: set the member that the op's table says. Zero-initialise before use. */
typedef struct nef_attr {
  size_t struct_size; /**< sizeof(nef_attr) */
  const char* name;
  int32_t type; /**< NEF_ATTR_... */
  int32_t reserved;
  int64_t i; /**< int, bool (0/1), dtype */
  double f;
  const char* s;
  const int64_t* ints;
  const double* floats;
  size_t count; /**< of ints or floats */
} nef_attr;
enum {
  NEF_ATTR_INT = 1,
  NEF_ATTR_FLOAT = 2,
  NEF_ATTR_STRING = 3,
  NEF_ATTR_INTS = 4,
  NEF_ATTR_FLOATS = 5
};

/**
 * Any op by its name (snake case, ONNX spelling or alias), for importers and bindings. The
 * typed functions of nef/ops.h are the same thing with the arguments spelt out.
 *
 * \param inputs  NULL entries are absent optional inputs. Shape-like inputs (axes, pads, ...)
 *                are int64 tensors here.
 * \param n_outs  how many outputs are wanted, in the op's order; `outs` has room for them.
 * \param device  "", or where the author wants it: "cpu", "gpu", "cuda:1".
 */
NEF_API NEF_NODISCARD nef_status* nef_op_call(const char* op, const nef_tensor* const* inputs,
                                              size_t n_inputs, const nef_attr* attrs,
                                              size_t n_attrs, const char* device, size_t n_outs,
                                              nef_tensor** outs);

/* ==== if, loop, scan =================================================================== */

/**
 * The body of a block: what its values were made of since nef_body_begin, from its parameters and
 * from any other values, which are taken from outside as they are. Bodies may be nested.
 *
 *     nef_body body;
 *     nef_body_begin(&body, sizeof body);
 *     ... make parameters, and values from them ...
 *     body.parameters = parameters; body.n_parameters = 3;
 *     body.results = results;       body.n_results = 2;
 *     nef_loop(trips, NULL, initial, 1, &body, outs, 1)
 *
 * A body is made once, whatever it is later run on: sizes of carried values that it changes become
 * unknown in it. The lists are read during the call only; references stay the caller's.
 */
typedef struct nef_body {
  size_t struct_size;
  uint32_t mark; /**< set by nef_body_begin */
  uint32_t reserved;
  const nef_tensor* const* parameters; /**< in the order that the block takes them */
  size_t n_parameters;
  const nef_tensor* const* results; /**< in the order that the block gives them */
  size_t n_results;
} nef_body;
/** Clears the struct and marks where the body begins. */
NEF_API void nef_body_begin(nef_body* body, size_t struct_size);
/** A parameter of the dtype and shape of `like`; with `sliced_axis` >= 0 without that axis (what a
 * scan hands in). It has meaning within its body only. */
NEF_API NEF_NODISCARD nef_status* nef_body_parameter(const nef_tensor* like, int64_t sliced_axis,
                                                     nef_tensor** out);
/** A parameter that is a scalar: a loop's iteration number (int64) and condition (bool). */
NEF_API NEF_NODISCARD nef_status* nef_body_scalar(nef_dtype dtype, nef_tensor** out);

/**
 * One of two bodies, neither with parameters, by a condition of one element. Both give as many
 * results (`n_outs`), of the same dtypes and ranks. A condition known now leaves no node behind.
 */
NEF_API NEF_NODISCARD nef_status* nef_if(const nef_tensor* condition, const nef_body* then_body,
                                         const nef_body* else_body, nef_tensor** outs,
                                         size_t n_outs);
/**
 * Runs the body while the condition holds, at most `trip_count` (int64, one element) times; NULL =
 * no such limit. Parameters: iteration number (int64 scalar), condition (bool scalar), the carried
 * values. Results: the next condition, the next carried values, then values to be stacked along
 * a new first axis. Outputs: the last carried values, the stacks.
 */
NEF_API NEF_NODISCARD nef_status* nef_loop(const nef_tensor* trip_count,
                                           const nef_tensor* condition,
                                           const nef_tensor* const* initial, size_t n_initial,
                                           const nef_body* body, nef_tensor** outs, size_t n_outs);

/** Axes and directions (1 = backwards) of a scan; NULL lists mean 0. */
typedef struct nef_scan_options {
  size_t struct_size;
  const int64_t* input_axes;
  size_t n_input_axes;
  const int64_t* input_directions;
  size_t n_input_directions;
  const int64_t* output_axes;
  size_t n_output_axes;
  const int64_t* output_directions;
  size_t n_output_directions;
} nef_scan_options;
NEF_API void nef_scan_options_init(nef_scan_options* options, size_t struct_size);
/**
 * Runs the body for each slice of `inputs` (at least one; all as long along their axes).
 * Parameters: the carried values, a slice of each input. Results: the next carried values, then
 * values to be stacked. Outputs: the last carried values, the stacks. NULL options = defaults.
 */
NEF_API NEF_NODISCARD nef_status* nef_scan(const nef_tensor* const* initial, size_t n_initial,
                                           const nef_tensor* const* inputs, size_t n_inputs,
                                           const nef_scan_options* options, const nef_body* body,
                                           nef_tensor** outs, size_t n_outs);

/* ==== graphs =========================================================================== */

/** What a graph input or output looks like. Pointers live as long as the graph. */
typedef struct nef_tensor_info {
  size_t struct_size; /**< set by the caller: sizeof(nef_tensor_info) */
  const char* name;
  nef_dtype dtype;
  uint32_t rank;
  const int64_t* dims;          /**< -1 where symbolic */
  const char* const* dim_names; /**< every dim as text: "batch", "384" */
  const int64_t* dim_min;
  const int64_t* dim_max; /**< INT64_MAX = no upper bound */
} nef_tensor_info;

/** Captures what `outputs` depend on. Placeholders become inputs in the order they are met,
 * tensors with data become constants (shared, not copied). Output names must differ. */
NEF_API NEF_NODISCARD nef_status* nef_graph_capture(const nef_tensor* const* outputs,
                                                    const char* const* names, size_t count,
                                                    nef_graph** out);

/** The same with the graph's inputs given: placeholders, in this order, whether an output depends
 * on them or not. Depending on a placeholder that is not listed is an error. */
NEF_API NEF_NODISCARD nef_status* nef_graph_capture_inputs(const nef_tensor* const* inputs,
                                                           size_t n_inputs,
                                                           const nef_tensor* const* outputs,
                                                           const char* const* names,
                                                           size_t n_outputs, nef_graph** out);

typedef struct nef_load_options {
  size_t struct_size;
  const char* data_root; /**< folder in which weight files may lie, symlinks allowed; NULL = the
                              file's own folder, no symlinks */
} nef_load_options;
NEF_API void nef_load_options_init(nef_load_options* options, size_t struct_size);

/** Loads and validates a `.nef` file (JSON or bundle). Weights are mapped, not read. */
NEF_API NEF_NODISCARD nef_status* nef_graph_load(const char* path, const nef_load_options* options,
                                                 nef_graph** out);
/** The same from memory, which is copied. File references need `data_root`. */
NEF_API NEF_NODISCARD nef_status* nef_graph_load_bytes(const void* data, size_t size,
                                                       const nef_load_options* options,
                                                       nef_graph** out);

typedef struct nef_save_options {
  size_t struct_size;
  int32_t bundle; /**< 1 = one file with the weights inside; 0 = JSON, large weights in a
                       safetensors file beside it */
} nef_save_options;
NEF_API void nef_save_options_init(nef_save_options* options, size_t struct_size);

/** Writes a `.nef` file: all of it or nothing. The same graph gives the same bytes. */
NEF_API NEF_NODISCARD nef_status* nef_graph_save(const nef_graph* graph, const char* path,
                                                 const nef_save_options* options);

NEF_API nef_graph* nef_graph_retain(nef_graph* graph);
NEF_API void nef_graph_release(nef_graph* graph);

NEF_API size_t nef_graph_input_count(const nef_graph* graph);
NEF_API size_t nef_graph_output_count(const nef_graph* graph);
NEF_API size_t nef_graph_node_count(const nef_graph* graph);
NEF_API NEF_NODISCARD nef_status* nef_graph_input(const nef_graph* graph, size_t index,
                                                  nef_tensor_info* out);
NEF_API NEF_NODISCARD nef_status* nef_graph_output(const nef_graph* graph, size_t index,
                                                   nef_tensor_info* out);
/** The graph as JSON text for tools: nodes, inputs, types (no weights). Free with
 * nef_string_free. */
NEF_API NEF_NODISCARD nef_status* nef_graph_describe(const nef_graph* graph, char** out_json);

/* ==== programs ========================================================================= */

/** A flag that one thread sets to stop what another one does. Thread-safe. */
typedef struct nef_cancel nef_cancel;
NEF_API NEF_NODISCARD nef_status* nef_cancel_create(nef_cancel** out);
/** Asks for the stop; it stays asked for. Never blocks. */
NEF_API void nef_cancel_request(nef_cancel* cancel);
NEF_API void nef_cancel_release(nef_cancel* cancel);

typedef struct nef_compile_options {
  size_t struct_size;
  nef_precision precision;
  int32_t threads;             /**< most threads a run uses; 0 = all of the pool */
  uint64_t memory_budget;      /**< bytes a run may hold at one time, 0 = no limit. On the host:
                                    arena, outputs, results of blocks, and constants that compiling
                                    computed (which may take a quarter of it); on each other device:
                                    arena. Weights, also as kernels pack them, do not count */
  const char* device;          /**< where everything should go: "cpu", "gpu", "reference", "cuda:1";
                                    NULL or "auto" = the planner's choice. Of several GPUs "gpu" is
                                    the first, and the next ones for what it has no room for */
  int32_t strict;              /**< 1 = no fallback: fail instead */
  int32_t parallel_branches;   /**< most branches run side by side; 0 or 1 = one after another */
  const char* disabled_passes; /**< comma-separated optimiser passes to leave out; NULL = none */
  const char* batch_symbol;    /**< the dim a run may be split along when device memory is short;
                                    NULL = a symbol named "batch" when there is one */
  const nef_cancel* cancel;    /**< stops the compile, which then fails with NEF_CANCELLED; read
                                    only while it goes on; NULL = nothing does */
} nef_compile_options;
NEF_API void nef_compile_options_init(nef_compile_options* options, size_t struct_size);

/** Optimises, plans and compiles. NULL options = defaults. Constants are computed ahead of runs up
 * to a bound on time and memory that grows with the graph's own constants; the rest stays for the
 * run. */
NEF_API NEF_NODISCARD nef_status* nef_graph_compile(const nef_graph* graph,
                                                    const nef_compile_options* options,
                                                    nef_program** out);

NEF_API nef_program* nef_program_retain(nef_program* program);
NEF_API void nef_program_release(nef_program* program);

/** What the planner did, as JSON: regions (nodes, device, reason, FLOPs, bytes, kernel), memory
 * (arena_bytes of a run; packed_bytes, computed_bytes of constants). Free with nef_string_free. */
NEF_API NEF_NODISCARD nef_status* nef_program_plan(const nef_program* program, char** out_json);
/** Fallbacks so far, oldest first, as a JSON list of {what, why, from, to}. Free with
 * nef_string_free. */
NEF_API NEF_NODISCARD nef_status* nef_program_events(const nef_program* program, char** out_json);

/** The same for nef_execute, whose programs have no handle: the last 1,000 fallbacks of the
 * process. Free with nef_string_free. */
NEF_API NEF_NODISCARD nef_status* nef_lazy_events(char** out_json);

/**
 * Runs on the calling thread (and the pool): inputs in the order of the graph's inputs, fresh
 * outputs in the order of the graph's outputs. Lazy inputs are executed first.
 */
NEF_API NEF_NODISCARD nef_status* nef_program_run(nef_program* program, nef_tensor* const* inputs,
                                                  size_t n_inputs, nef_tensor** outs,
                                                  size_t n_outs);

/* ==== runs ============================================================================= */

/** A run to be set up, started, watched and cancelled. Set inputs from one thread at a time. */
NEF_API NEF_NODISCARD nef_status* nef_run_create(nef_program* program, nef_run** out);
NEF_API NEF_NODISCARD nef_status* nef_run_set_input(nef_run* run, size_t index, nef_tensor* tensor);
/** Records a timeline; call before the run starts. */
NEF_API void nef_run_enable_trace(nef_run* run);
/** Runs on the calling thread and returns when done. A run executes once. */
NEF_API NEF_NODISCARD nef_status* nef_run_execute(nef_run* run);
/** Starts on a thread of the library and returns at once. */
NEF_API NEF_NODISCARD nef_status* nef_run_start(nef_run* run);
/** Blocks until a started run is done; returns its failure, if any (each call a fresh copy). */
NEF_API NEF_NODISCARD nef_status* nef_run_wait(nef_run* run);
/** Asks the run to stop before its next step; it then fails with NEF_CANCELLED. Never blocks;
 * a no-op when done. */
NEF_API void nef_run_cancel(nef_run* run);
/** 1 when finished (well or not). */
NEF_API int32_t nef_run_done(const nef_run* run);
/** An output of a finished run; the caller owns the reference. */
NEF_API NEF_NODISCARD nef_status* nef_run_output(nef_run* run, size_t index, nef_tensor** out);
/** The timeline in Chrome's trace_event JSON (opens in Perfetto). Free with nef_string_free. */
NEF_API NEF_NODISCARD nef_status* nef_run_trace(const nef_run* run, char** out_json);
NEF_API nef_run* nef_run_retain(nef_run* run);
/** Releasing a started run before it is done cancels it and waits (on the run's own thread, from
 * a release callback of nef_tensor_wrap: does not wait). */
NEF_API void nef_run_release(nef_run* run);

/* ==== weights ========================================================================== */

typedef struct nef_weights nef_weights;

/** Opens and validates a safetensors file; its tensors are mapped, not read. */
NEF_API NEF_NODISCARD nef_status* nef_weights_open(const char* path, nef_weights** out);
NEF_API size_t nef_weights_count(const nef_weights* weights);
/** Name of tensor `index` in file order; NULL when out of range. Lives as long as the object. */
NEF_API const char* nef_weights_name(const nef_weights* weights, size_t index);
/** A tensor over the mapping, which it keeps alive; a copy where the file has it unaligned, or has
 * bools that are not 0 or 1 (they become 1). */
NEF_API NEF_NODISCARD nef_status* nef_weights_tensor(const nef_weights* weights, const char* name,
                                                     nef_tensor** out);
NEF_API void nef_weights_release(nef_weights* weights);

/* ==== devices and backends ============================================================= */

/** A device, or a backend that is absent. Pointers live until the process ends. */
typedef struct nef_device_info {
  size_t struct_size;      /**< set by the caller: sizeof(nef_device_info) */
  const char* name;        /**< "cpu:0" */
  const char* backend;     /**< "cpu" */
  const char* description; /**< "Intel Xeon ..., AVX-512, AMX"; "" when absent */
  nef_device_kind kind;
  int32_t available;     /**< 0 = the backend is absent, see reason */
  uint64_t memory_bytes; /**< 0 = unknown */
  const char* reason;    /**< why it is absent; "" when it is there */
  /* What plans count with; 0 when absent. */
  double launch_seconds;        /**< one launch among many */
  double link_seconds;          /**< a small copy between it and the host, waited for */
  double link_bytes_per_second; /**< a large one; 0 = it computes in host memory */
  const char* costs;            /**< "measured", or "stated: " and why; "" when absent */
} nef_device_info;

NEF_API size_t nef_device_count(void);
NEF_API NEF_NODISCARD nef_status* nef_device(size_t index, nef_device_info* out);
/** Measures the costs of a device now, some milliseconds once its driver is up; the first plan that
 * weighs it would do the same. They are kept with compiled kernels, for the device and its driver.
 * What cannot be measured costs what its backend states, which is no error: nef_device says why. */
NEF_API NEF_NODISCARD nef_status* nef_device_measure(size_t index);
/** Loads a backend plugin from an explicit path. A plugin of another ABI version is refused
 * with NEF_ABI_MISMATCH before anything of it runs; one whose probe fails stays listed as
 * absent with the reason, and this returns NEF_BACKEND_UNAVAILABLE. */
NEF_API NEF_NODISCARD nef_status* nef_backend_load(const char* path);

/* ==== counters ========================================================================= */

typedef struct nef_counters {
  size_t struct_size; /**< set by the caller: sizeof(nef_counters) */
  uint64_t programs_compiled;
  uint64_t program_cache_hits, program_cache_misses; /**< nef_execute */
  uint64_t kernel_cache_hits, kernel_cache_misses;   /**< in memory */
  uint64_t disk_cache_hits, disk_cache_misses;       /**< of the memory misses */
  uint64_t runs;
  uint64_t live_tensors, live_graphs, live_programs, live_runs, live_statuses;
} nef_counters;
/** Counts since the process began, and objects alive now. */
NEF_API void nef_counters_read(nef_counters* out);

#include <nef/ops.h>

#ifdef __cplusplus
}
#endif

#endif /* NEF_NEF_H */
