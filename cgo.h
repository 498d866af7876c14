// SPDX-License-Identifier: Apache-2.0

/* What the Go files of package nef include: the C API, and calls shaped for cgo. Handles cross as
 * uintptr_t, so that cgo need not search Go arrays of them for Go pointers, and whatever holds
 * pointers in C (attributes, dims, options) is put together here from flat arguments. */
#ifndef NEF_CGO_H
#define NEF_CGO_H

#if !__has_include(<nef/nef.h>)
#error "NEF: no nef/nef.h. Run ./dev build, use a release tag, or build with -tags nef_system"
#else

#include <nef/nef.h>

#include <stdlib.h>
#include <string.h>

enum { NEFGO_MAX_RANK = 16, NEFGO_MAX_ATTRS = 16 };

/* ---- tensors */

typedef struct nefgo_meta {
  nef_dtype dtype;
  int32_t ready;
  size_t rank;
  int64_t shape[NEFGO_MAX_RANK];
} nefgo_meta;

static inline void nefgo_tensor_meta(uintptr_t tensor, nefgo_meta* out) {
  const nef_tensor* t = (const nef_tensor*)tensor;
  out->dtype = nef_tensor_dtype(t);
  out->ready = nef_tensor_ready(t);
  out->rank = nef_tensor_shape(t, out->shape, NEFGO_MAX_RANK);
}

static inline nef_status* nefgo_tensor_create(nef_dtype dtype, size_t rank, const int64_t* shape,
                                              const void* data, uintptr_t* out) {
  nef_tensor* t = NULL;
  nef_status* st = nef_tensor_create(dtype, rank, shape, data, &t);
  *out = (uintptr_t)t;
  return st;
}

static inline nef_status* nefgo_tensor_map(nef_dtype dtype, size_t rank, const int64_t* shape,
                                           int32_t fd, uint64_t offset, const char* name,
                                           uintptr_t* out) {
  nef_tensor* t = NULL;
  nef_status* st = nef_tensor_map(dtype, rank, shape, fd, offset, name, &t);
  *out = (uintptr_t)t;
  return st;
}

static inline void nefgo_free_data(void* data, void* user) {
  (void)user;
  free(data);
}

/* Memory for a tensor of so many bytes; NULL when there is none. */
static inline void* nefgo_data_alloc(size_t bytes) {
  void* data = NULL;
  return posix_memalign(&data, 64, bytes == 0 ? 64 : bytes) == 0 ? data : NULL;
}

/* A tensor that takes over what nefgo_data_alloc returned. */
static inline nef_status* nefgo_tensor_adopt(nef_dtype dtype, size_t rank, const int64_t* shape,
                                             void* data, size_t bytes, uintptr_t* out) {
  nef_tensor* t = NULL;
  nef_status* st = nef_tensor_wrap(dtype, rank, shape, data, bytes, nefgo_free_data, NULL, &t);
  *out = (uintptr_t)t;
  return st;
}

/* Symbol i is the text at names + name_at[i]; name_at[i] < 0 means a number. */
static inline nef_status* nefgo_tensor_input(const char* name, nef_dtype dtype, size_t rank,
                                             const int64_t* value, const int64_t* min,
                                             const int64_t* max, const int64_t* name_at,
                                             const char* names, uintptr_t* out) {
  nef_dim dims[NEFGO_MAX_RANK];
  nef_tensor* t = NULL;
  memset(dims, 0, sizeof dims);
  for (size_t i = 0; i < rank && i < NEFGO_MAX_RANK; ++i) {
    dims[i].value = value[i];
    dims[i].symbol = name_at[i] < 0 ? NULL : names + name_at[i];
    dims[i].min = min[i];
    dims[i].max = max[i];
  }
  nef_status* st = nef_tensor_input(name, dtype, rank, dims, &t);
  *out = (uintptr_t)t;
  return st;
}

static inline int64_t nefgo_tensor_known_ints(uintptr_t tensor, int64_t* out, size_t capacity) {
  return nef_tensor_known_ints((const nef_tensor*)tensor, out, capacity);
}

static inline nef_status* nefgo_execute(const uintptr_t* tensors, size_t count) {
  if (count == 1) return nef_execute((nef_tensor*)tensors[0]);
  return nef_execute_all((nef_tensor* const*)tensors, count);
}

static inline nef_status* nefgo_tensor_data(uintptr_t tensor, const void** out_data,
                                            size_t* out_bytes) {
  return nef_tensor_data((nef_tensor*)tensor, out_data, out_bytes);
}

static inline char* nefgo_tensor_dim(uintptr_t tensor, size_t axis) {
  return nef_tensor_dim((const nef_tensor*)tensor, axis);
}

/* ---- ops */

typedef struct nefgo_attr {
  uintptr_t name;
  int32_t type;
  int32_t reserved;
  int64_t i;
  double f;
  size_t at;    /* where its ints, floats or text begin */
  size_t count; /* of ints or floats */
} nefgo_attr;

static inline nef_status* nefgo_op_call(const char* op, const uintptr_t* inputs, size_t n_inputs,
                                        const nefgo_attr* given, size_t n_attrs,
                                        const int64_t* ints, const double* floats, const char* text,
                                        uintptr_t* outs, size_t n_outs) {
  static const int64_t no_int;
  static const double no_float;
  nef_attr attrs[NEFGO_MAX_ATTRS];
  memset(attrs, 0, sizeof attrs);
  for (size_t i = 0; i < n_attrs && i < NEFGO_MAX_ATTRS; ++i) {
    attrs[i].struct_size = sizeof attrs[i];
    attrs[i].name = (const char*)given[i].name;
    attrs[i].type = given[i].type;
    attrs[i].i = given[i].i;
    attrs[i].f = given[i].f;
    attrs[i].s = given[i].type == NEF_ATTR_STRING ? text + given[i].at : NULL;
    /* An empty list is not NULL: that would mean an absent one. */
    if (given[i].type == NEF_ATTR_INTS) attrs[i].ints = ints ? ints + given[i].at : &no_int;
    if (given[i].type == NEF_ATTR_FLOATS) {
      attrs[i].floats = floats ? floats + given[i].at : &no_float;
    }
    attrs[i].count = given[i].count;
  }
  return nef_op_call(op, (const nef_tensor* const*)inputs, n_inputs, attrs, n_attrs, "", n_outs,
                     (nef_tensor**)outs);
}

/* ---- if, loop, scan */

static inline uint32_t nefgo_body_begin(void) {
  nef_body body;
  nef_body_begin(&body, sizeof body);
  return body.mark;
}

/* A parameter like a tensor, or (like 0) a scalar of that dtype. */
static inline nef_status* nefgo_body_parameter(uintptr_t like, int64_t sliced_axis, nef_dtype dtype,
                                               uintptr_t* out) {
  nef_tensor* t = NULL;
  nef_status* st = like != 0 ? nef_body_parameter((const nef_tensor*)like, sliced_axis, &t)
                             : nef_body_scalar(dtype, &t);
  *out = (uintptr_t)t;
  return st;
}

static inline nef_body nefgo_body(uint32_t mark, const uintptr_t* values, size_t n_parameters,
                                  size_t n_results) {
  nef_body body;
  memset(&body, 0, sizeof body);
  body.struct_size = sizeof body;
  body.mark = mark;
  body.parameters = (const nef_tensor* const*)values;
  body.n_parameters = n_parameters;
  body.results = (const nef_tensor* const*)values + n_parameters;
  body.n_results = n_results;
  return body;
}

/* The results of both branches one after the other, n_outs each. */
static inline nef_status* nefgo_if(uintptr_t condition, uint32_t then_mark, uint32_t else_mark,
                                   const uintptr_t* results, size_t n_then, size_t n_else,
                                   uintptr_t* outs) {
  const nef_body a = nefgo_body(then_mark, results, 0, n_then);
  const nef_body b = nefgo_body(else_mark, results + n_then, 0, n_else);
  return nef_if((const nef_tensor*)condition, &a, &b, (nef_tensor**)outs, n_then);
}

/* A body's parameters, then its results. */
static inline nef_status* nefgo_loop(uintptr_t trips, uintptr_t condition, const uintptr_t* initial,
                                     size_t n_initial, uint32_t mark, const uintptr_t* values,
                                     size_t n_parameters, size_t n_results, uintptr_t* outs) {
  const nef_body body = nefgo_body(mark, values, n_parameters, n_results);
  return nef_loop((const nef_tensor*)trips, (const nef_tensor*)condition,
                  (const nef_tensor* const*)initial, n_initial, &body, (nef_tensor**)outs,
                  n_results - 1);
}

/* inputs: the initial values, then the scan inputs; axes: n_inputs axes and as many directions,
 * then n_stacked axes and as many directions. */
static inline nef_status* nefgo_scan(const uintptr_t* inputs, size_t n_initial, size_t n_inputs,
                                     const int64_t* axes, size_t n_stacked, uint32_t mark,
                                     const uintptr_t* values, size_t n_parameters, size_t n_results,
                                     uintptr_t* outs) {
  nef_scan_options options;
  nef_scan_options_init(&options, sizeof options);
  options.input_axes = axes;
  options.input_directions = axes + n_inputs;
  options.output_axes = axes + 2 * n_inputs;
  options.output_directions = options.output_axes + n_stacked;
  options.n_input_axes = options.n_input_directions = n_inputs;
  options.n_output_axes = options.n_output_directions = n_stacked;
  const nef_body body = nefgo_body(mark, values, n_parameters, n_results);
  return nef_scan((const nef_tensor* const*)inputs, n_initial,
                  (const nef_tensor* const*)inputs + n_initial, n_inputs, &options, &body,
                  (nef_tensor**)outs, n_results);
}

/* ---- graphs */

/* names holds count texts, one after the other, each ending in NUL. inputs may be NULL: then they
 * are those that are met. */
static inline nef_status* nefgo_graph_capture(const uintptr_t* inputs, size_t n_inputs,
                                              const uintptr_t* outputs, const char* names,
                                              size_t count, uintptr_t* out) {
  nef_graph* g = NULL;
  const char** list = (const char**)calloc(count + 1, sizeof *list);
  if (list == NULL) return nef_graph_capture(NULL, NULL, 0, &g); /* never succeeds */
  for (size_t i = 0; i < count; ++i, names += strlen(names) + 1) list[i] = names;
  nef_status* st =
      inputs == NULL ? nef_graph_capture((const nef_tensor* const*)outputs, list, count, &g)
                     : nef_graph_capture_inputs((const nef_tensor* const*)inputs, n_inputs,
                                                (const nef_tensor* const*)outputs, list, count, &g);
  free(list);
  *out = (uintptr_t)g;
  return st;
}

static inline nef_status* nefgo_graph_load(const char* path, const char* data_root,
                                           uintptr_t* out) {
  nef_load_options options;
  nef_graph* g = NULL;
  nef_load_options_init(&options, sizeof options);
  options.data_root = data_root;
  nef_status* st = nef_graph_load(path, &options, &g);
  *out = (uintptr_t)g;
  return st;
}

static inline nef_status* nefgo_graph_load_bytes(const void* data, size_t size,
                                                 const char* data_root, uintptr_t* out) {
  nef_load_options options;
  nef_graph* g = NULL;
  nef_load_options_init(&options, sizeof options);
  options.data_root = data_root;
  nef_status* st = nef_graph_load_bytes(data, size, &options, &g);
  *out = (uintptr_t)g;
  return st;
}

static inline nef_status* nefgo_graph_save(uintptr_t graph, const char* path, int32_t bundle) {
  nef_save_options options;
  nef_save_options_init(&options, sizeof options);
  options.bundle = bundle;
  return nef_graph_save((const nef_graph*)graph, path, &options);
}

static inline size_t nefgo_graph_counts(uintptr_t graph, size_t* inputs, size_t* outputs) {
  *inputs = nef_graph_input_count((const nef_graph*)graph);
  *outputs = nef_graph_output_count((const nef_graph*)graph);
  return nef_graph_node_count((const nef_graph*)graph);
}

static inline nef_status* nefgo_graph_info(uintptr_t graph, int32_t output, size_t index,
                                           nef_tensor_info* out) {
  const nef_graph* g = (const nef_graph*)graph;
  memset(out, 0, sizeof *out);
  out->struct_size = sizeof *out;
  return output ? nef_graph_output(g, index, out) : nef_graph_input(g, index, out);
}

static inline nef_status* nefgo_graph_describe(uintptr_t graph, char** out_json) {
  return nef_graph_describe((const nef_graph*)graph, out_json);
}

static inline nef_status* nefgo_cancel_create(uintptr_t* out) {
  nef_cancel* cancel = NULL;
  nef_status* st = nef_cancel_create(&cancel);
  *out = (uintptr_t)cancel;
  return st;
}
static inline void nefgo_cancel_request(uintptr_t cancel) {
  nef_cancel_request((nef_cancel*)cancel);
}
static inline void nefgo_cancel_release(uintptr_t cancel) {
  nef_cancel_release((nef_cancel*)cancel);
}

typedef struct nefgo_compile {
  uint64_t memory_budget;
  nef_precision precision;
  int32_t threads;
  int32_t strict;
  int32_t parallel_branches;
} nefgo_compile;

static inline nef_status* nefgo_graph_compile(uintptr_t graph, const nefgo_compile* given,
                                              const char* device, const char* disabled_passes,
                                              const char* batch_symbol, uintptr_t cancel,
                                              uintptr_t* out) {
  nef_compile_options options;
  nef_program* p = NULL;
  nef_compile_options_init(&options, sizeof options);
  options.precision = given->precision;
  options.threads = given->threads;
  options.memory_budget = given->memory_budget;
  options.strict = given->strict;
  options.parallel_branches = given->parallel_branches;
  options.cancel = (const nef_cancel*)cancel;
  if (device[0] != '\0') options.device = device;
  if (disabled_passes[0] != '\0') options.disabled_passes = disabled_passes;
  if (batch_symbol[0] != '\0') options.batch_symbol = batch_symbol;
  nef_status* st = nef_graph_compile((const nef_graph*)graph, &options, &p);
  *out = (uintptr_t)p;
  return st;
}

/* ---- programs and runs */

static inline int64_t nefgo_tensor_bytes(uintptr_t tensor) {
  int64_t shape[NEFGO_MAX_RANK];
  const nef_tensor* t = (const nef_tensor*)tensor;
  const size_t rank = nef_tensor_shape(t, shape, NEFGO_MAX_RANK);
  int64_t bytes = (int64_t)nef_dtype_size(nef_tensor_dtype(t));
  for (size_t i = 0; i < rank; ++i) bytes *= shape[i];
  return bytes < 0 ? 0 : bytes; /* a dim that is not known is -1 */
}

/* out_bytes is the size of all outputs together. */
static inline nef_status* nefgo_program_run(uintptr_t program, const uintptr_t* inputs,
                                            size_t n_inputs, uintptr_t* outs, size_t n_outs,
                                            int64_t* out_bytes) {
  nef_status* st = nef_program_run((nef_program*)program, (nef_tensor* const*)inputs, n_inputs,
                                   (nef_tensor**)outs, n_outs);
  *out_bytes = 0;
  for (size_t i = 0; st == NULL && i < n_outs; ++i) *out_bytes += nefgo_tensor_bytes(outs[i]);
  return st;
}

static inline nef_status* nefgo_program_plan(uintptr_t program, char** out_json) {
  return nef_program_plan((const nef_program*)program, out_json);
}

static inline nef_status* nefgo_lazy_events(char** out_json) { return nef_lazy_events(out_json); }
static inline nef_status* nefgo_program_events(uintptr_t program, char** out_json) {
  return nef_program_events((const nef_program*)program, out_json);
}

/* A run with all its inputs. */
static inline nef_status* nefgo_run_prepare(uintptr_t program, const uintptr_t* inputs,
                                            size_t n_inputs, int32_t trace, uintptr_t* out) {
  nef_run* run = NULL;
  nef_status* st = nef_run_create((nef_program*)program, &run);
  for (size_t i = 0; st == NULL && i < n_inputs; ++i) {
    st = nef_run_set_input(run, i, (nef_tensor*)inputs[i]);
  }
  if (st != NULL) {
    nef_run_release(run);
    return st;
  }
  if (trace) nef_run_enable_trace(run);
  *out = (uintptr_t)run;
  return NULL;
}

static inline nef_status* nefgo_run_execute(uintptr_t run) {
  return nef_run_execute((nef_run*)run);
}
static inline nef_status* nefgo_run_start(uintptr_t run) { return nef_run_start((nef_run*)run); }
static inline nef_status* nefgo_run_wait(uintptr_t run) { return nef_run_wait((nef_run*)run); }
static inline void nefgo_run_cancel(uintptr_t run) { nef_run_cancel((nef_run*)run); }
static inline int32_t nefgo_run_done(uintptr_t run) { return nef_run_done((const nef_run*)run); }

static inline nef_status* nefgo_run_outputs(uintptr_t run, uintptr_t* outs, size_t n_outs,
                                            int64_t* out_bytes) {
  *out_bytes = 0;
  for (size_t i = 0; i < n_outs; ++i) {
    nef_tensor* t = NULL;
    nef_status* st = nef_run_output((nef_run*)run, i, &t);
    if (st != NULL) {
      while (i > 0) nef_tensor_release((nef_tensor*)outs[--i]);
      return st;
    }
    outs[i] = (uintptr_t)t;
    *out_bytes += nefgo_tensor_bytes(outs[i]);
  }
  return NULL;
}

static inline nef_status* nefgo_run_trace(uintptr_t run, char** out_json) {
  return nef_run_trace((const nef_run*)run, out_json);
}

/* ---- weights */

static inline nef_status* nefgo_weights_open(const char* path, uintptr_t* out) {
  nef_weights* w = NULL;
  nef_status* st = nef_weights_open(path, &w);
  *out = (uintptr_t)w;
  return st;
}

static inline size_t nefgo_weights_count(uintptr_t weights) {
  return nef_weights_count((const nef_weights*)weights);
}
static inline const char* nefgo_weights_name(uintptr_t weights, size_t index) {
  return nef_weights_name((const nef_weights*)weights, index);
}
static inline nef_status* nefgo_weights_tensor(uintptr_t weights, const char* name,
                                               uintptr_t* out) {
  nef_tensor* t = NULL;
  nef_status* st = nef_weights_tensor((const nef_weights*)weights, name, &t);
  *out = (uintptr_t)t;
  return st;
}

/* ---- releases, one signature */

typedef enum nefgo_kind {
  NEFGO_TENSOR,
  NEFGO_GRAPH,
  NEFGO_PROGRAM,
  NEFGO_RUN,
  NEFGO_WEIGHTS
} nefgo_kind;

static inline void nefgo_release(int32_t kind, uintptr_t object) {
  switch (kind) {
    case NEFGO_TENSOR: nef_tensor_release((nef_tensor*)object); break;
    case NEFGO_GRAPH: nef_graph_release((nef_graph*)object); break;
    case NEFGO_PROGRAM: nef_program_release((nef_program*)object); break;
    case NEFGO_RUN: nef_run_release((nef_run*)object); break;
    case NEFGO_WEIGHTS: nef_weights_release((nef_weights*)object); break;
    default: break;
  }
}

#endif
#endif
