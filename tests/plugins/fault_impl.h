/* SPDX-License-Identifier: Apache-2.0 */
/* The fault-injecting backend of fault.h. A plugin defines FAULT_NAME, and may define
 * FAULT_FLAGS, FAULT_DEVICES, FAULT_PROBE_FAILURE (the reason), then includes this and exports
 * a table made of fault_table. */
#include <math.h>
#include <nef/backend.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"

#ifndef FAULT_FLAGS
#define FAULT_FLAGS 0u
#endif
#ifndef FAULT_DEVICES
#define FAULT_DEVICES 1
#endif

#define FAULT_EXPORT __attribute__((visibility("default")))

/* ---- bookkeeping --------------------------------------------------------------------- */

static nef_fault_counts fault_counts;
static long fault_inside; /* calls of a serial backend going on */

static long fault_add(long* counter, long n) {
  return __atomic_add_fetch(counter, n, __ATOMIC_SEQ_CST);
}
static void fault_enter(void) {
  if ((FAULT_FLAGS & NEF_BACKEND_SERIAL) == 0) return;
  if (fault_add(&fault_inside, 1) != 1) fault_add(&fault_counts.overlaps, 1);
}
static void fault_leave(void) {
  if ((FAULT_FLAGS & NEF_BACKEND_SERIAL) != 0) fault_add(&fault_inside, -1);
}

FAULT_EXPORT void nef_fault_read(nef_fault_counts* out);
FAULT_EXPORT void nef_fault_reset(void);

void nef_fault_read(nef_fault_counts* out) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  *out = fault_counts;
}
void nef_fault_reset(void) {
  const long bytes = fault_counts.bytes;
  memset(&fault_counts, 0, sizeof fault_counts);
  fault_counts.bytes = fault_counts.most_bytes = bytes;
}

static nef_code fault_fail(nef_backend_error* err, nef_code code, const char* what,
                           const char* detail) {
  if (err != NULL && err->capacity > 0) {
    snprintf(err->message, err->capacity, "%s%s", what, detail);
  }
  return code;
}

static long fault_number(const char* name, long fallback) {
  const char* text = getenv(name);
  return text == NULL || *text == '\0' ? fallback : strtol(text, NULL, 10);
}

/* ---- memory -------------------------------------------------------------------------- */

/* A device address is the host's with its top bits changed, which also tell the device: arithmetic
 * works, reading it from the host is an address fault. */
#define FAULT_ADDRESS_MASK ((uintptr_t)0x00ff000000000000u)

static uintptr_t fault_address_bits(int32_t device) { return (uintptr_t)(0xf0 + device) << 48; }
static char* fault_host(const void* device) {
  return (char*)((uintptr_t)device & ~FAULT_ADDRESS_MASK);
}
static int fault_on_device(int32_t device, const void* p) {
  return ((uintptr_t)p & FAULT_ADDRESS_MASK) == fault_address_bits(device);
}

static long fault_cached; /* bytes of the pretended cache */

static nef_code fault_take(size_t bytes, nef_backend_error* err) {
  const long limit = fault_number("NEF_FAULT_MEMORY", 0);
  const long cache = fault_number("NEF_FAULT_CACHE", 0);
  if (cache > 0 && fault_cached == 0 && fault_counts.evictions == 0) {
    fault_cached = cache;
    fault_add(&fault_counts.bytes, cache);
  }
  const long now = fault_add(&fault_counts.bytes, (long)bytes);
  if (limit > 0 && now > limit) {
    fault_add(&fault_counts.bytes, -(long)bytes);
    char detail[96];
    snprintf(detail, sizeof detail, "%zu bytes wanted, %ld of %ld in use", bytes, now - (long)bytes,
             limit);
    return fault_fail(err, NEF_DEVICE_OUT_OF_MEMORY, "fault: device memory is short: ", detail);
  }
  if (now > fault_counts.most_bytes) fault_counts.most_bytes = now;
  return NEF_OK;
}

/* LeakSanitizer cannot see an address that is disguised; what is freed is counted instead. */
#if defined(__GNUC__)
extern void __lsan_ignore_object(const void* p) __attribute__((weak));
#define FAULT_HIDE_FROM_LSAN(p) (__lsan_ignore_object ? __lsan_ignore_object(p) : (void)0)
#else
#define FAULT_HIDE_FROM_LSAN(p) ((void)0)
#endif

static nef_code fault_alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err) {
  fault_enter();
  nef_code code = fault_take(bytes, err);
  if (code == NEF_OK) {
    void* p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (p == NULL) {
      code = fault_fail(err, NEF_DEVICE_OUT_OF_MEMORY, "fault: the host has no memory left", "");
    } else {
      fault_add(&fault_counts.allocs, 1);
      FAULT_HIDE_FROM_LSAN(p);
      *out = (void*)((uintptr_t)p | fault_address_bits(device));
    }
  }
  fault_leave();
  return code;
}

static void fault_free(int32_t device, void* ptr, size_t bytes) {
  (void)device;
  fault_enter();
  fault_add(&fault_counts.frees, 1);
  fault_add(&fault_counts.bytes, -(long)bytes);
  free(fault_host(ptr));
  fault_leave();
}

static nef_code fault_copy(int32_t device, void* dst, const void* src, size_t bytes,
                           nef_copy_kind kind, nef_backend_error* err) {
  (void)err;
  fault_enter();
  const int to = kind != NEF_COPY_DEVICE_TO_HOST, from = kind != NEF_COPY_HOST_TO_DEVICE;
  if (fault_on_device(device, dst) != to || fault_on_device(device, src) != from) {
    fault_add(&fault_counts.host_pointers, 1);
  }
  fault_add(to ? &fault_counts.to_device : &fault_counts.from_device, 1);
  memcpy(fault_host(dst), fault_host(src), bytes);
  fault_leave();
  return NEF_OK;
}

static nef_code fault_host_alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err) {
  (void)device;
  if (fault_number("NEF_FAULT_PIN", 1) == 0) {
    return fault_fail(err, NEF_OUT_OF_MEMORY, "fault: nothing can be pinned", "");
  }
  *out = aligned_alloc(64, (bytes + 127) / 64 * 64);
  return *out == NULL ? NEF_OUT_OF_MEMORY : NEF_OK;
}
static void fault_host_free(int32_t device, void* ptr, size_t bytes) {
  (void)device;
  (void)bytes;
  free(ptr);
}

static void fault_evict(int32_t device) {
  (void)device;
  fault_enter();
  fault_add(&fault_counts.evictions, 1);
  fault_add(&fault_counts.bytes, -fault_cached);
  fault_cached = 0;
  fault_leave();
}

/* ---- devices ------------------------------------------------------------------------- */

static nef_code fault_init(const nef_backend_host* host, nef_backend_error* err) {
  (void)host;
#ifdef FAULT_PROBE_FAILURE
  return fault_fail(err, NEF_BACKEND_UNAVAILABLE, FAULT_PROBE_FAILURE, "");
#else
  (void)err;
  return NEF_OK;
#endif
}
static void fault_shutdown(void) {}
static int32_t fault_device_count(void) { return FAULT_DEVICES; }

/* The engine asks when a graph might be spread over several devices. */
static uint64_t fault_memory_available(int32_t device) {
  (void)device;
  return (uint64_t)fault_number("NEF_FAULT_ROOM", 1L << 30);
}

static nef_code fault_device_info(int32_t device, nef_backend_device* out, nef_backend_error* err) {
  (void)device;
  (void)err;
  out->kind = NEF_DEVICE_GPU;
  out->flags = 0;
  out->description = "a device that fails when it is told to";
  out->arch = "fault";
  out->memory_bytes = 1u << 30;
  out->flops_per_second = 1e15;
  out->bytes_per_second = 1e13;
  out->link_bytes_per_second = 1e10;
  out->launch_seconds = 1e-6;
  return NEF_OK;
}

/* ---- kernels ------------------------------------------------------------------------- */

#define FAULT_MAX_VALUES 3

struct nef_backend_kernel {
  nef_op op;
  int32_t device;
  int in[2], out; /* value indices */
  int32_t rank[FAULT_MAX_VALUES];
  nef_value_kind kind[FAULT_MAX_VALUES];
  int exact_gelu;
};
struct nef_backend_prepared {
  const nef_backend_kernel* kernel;
  float* constant[FAULT_MAX_VALUES]; /* copies in device memory */
  size_t bytes;
};

static const char* fault_op_name(nef_op op) {
  switch (op) {
    case NEF_OP_MATMUL: return "matmul";
    case NEF_OP_ADD: return "add";
    case NEF_OP_SUB: return "sub";
    case NEF_OP_MUL: return "mul";
    case NEF_OP_RELU: return "relu";
    case NEF_OP_GELU: return "gelu";
    default: return NULL;
  }
}

static int fault_asked(const char* variable, nef_op op) {
  const char* name = getenv(variable);
  return name != NULL && strcmp(name, fault_op_name(op)) == 0;
}

static int32_t fault_supports(int32_t device, const nef_backend_region* region,
                              nef_backend_error* err) {
  (void)device;
  fault_enter();
  const char* why = NULL;
  if (region->kind != NEF_REGION_SINGLE) {
    why = "no fused regions here";
  } else if (fault_op_name(region->nodes[0].op) == NULL) {
    why = "an op that the fault backend does not have";
  } else if (fault_asked("NEF_FAULT_REFUSE", region->nodes[0].op)) {
    why = "told to refuse this op";
  } else {
    for (int32_t i = 0; i < region->n_values; ++i) {
      if (region->values[i].dtype != NEF_FLOAT32) why = "float32 only";
      if (region->nodes[0].op == NEF_OP_MATMUL && region->values[i].rank < 2) why = "matrices only";
    }
  }
  if (why != NULL) fault_fail(err, NEF_UNSUPPORTED, why, "");
  fault_leave();
  return why == NULL;
}

static nef_code fault_compile(int32_t device, const nef_backend_region* region, const void* blob,
                              size_t blob_size, nef_backend_kernel** out, nef_backend_error* err) {
  (void)blob;
  (void)blob_size;
  fault_enter();
  fault_add(&fault_counts.compiles, 1);
  const nef_backend_node* node = &region->nodes[0];
  nef_code code = NEF_OK;
  nef_backend_kernel* k = NULL;
  if (fault_asked("NEF_FAULT_COMPILE", node->op)) {
    code = fault_fail(err, NEF_COMPILE_FAILED, "fault: the compiler crashed on ",
                      fault_op_name(node->op));
  } else if ((k = calloc(1, sizeof *k)) == NULL) {
    code = fault_fail(err, NEF_OUT_OF_MEMORY, "fault: no memory for a kernel", "");
  } else {
    k->op = node->op;
    k->device = device;
    k->in[0] = node->inputs[0];
    k->in[1] = node->n_inputs > 1 ? node->inputs[1] : node->inputs[0];
    k->out = node->outputs[0];
    k->exact_gelu =
        node->op == NEF_OP_GELU && nef_attr_count(node->attrs, NEF_GELU_APPROXIMATE) == 4;
    for (int32_t i = 0; i < region->n_values; ++i) {
      k->rank[i] = region->values[i].rank;
      k->kind[i] = region->values[i].kind;
    }
    *out = k;
  }
  fault_leave();
  return code;
}
static void fault_kernel_free(nef_backend_kernel* kernel) {
  fault_enter();
  free(kernel);
  fault_leave();
}
static const char* fault_kernel_name(const nef_backend_kernel* kernel) {
  fault_enter();
  const char* name = fault_op_name(kernel->op);
  fault_leave();
  return name;
}

static int64_t fault_elements(const int64_t* dims, int32_t rank) {
  int64_t n = 1;
  for (int32_t i = 0; i < rank; ++i) n *= dims[i];
  return n;
}

static void fault_drop(nef_backend_prepared* p) {
  for (int i = 0; i < FAULT_MAX_VALUES; ++i) free(p->constant[i]);
  fault_add(&fault_counts.bytes, -(long)p->bytes);
  free(p);
}

static nef_code fault_prepare(nef_backend_kernel* kernel, const nef_backend_tensor* values,
                              nef_backend_prepared** out, nef_backend_error* err) {
  fault_enter();
  fault_add(&fault_counts.prepares, 1);
  nef_code code = NEF_OK;
  nef_backend_prepared* p = calloc(1, sizeof *p);
  if (p == NULL) {
    code = fault_fail(err, NEF_OUT_OF_MEMORY, "fault: no memory for a prepared kernel", "");
  } else if (fault_asked("NEF_FAULT_PREPARE", kernel->op)) {
    code = fault_fail(err, NEF_DEVICE_OUT_OF_MEMORY, "fault: no room for the weights of ",
                      fault_op_name(kernel->op));
  } else {
    p->kernel = kernel;
    for (int i = 0; i < FAULT_MAX_VALUES && code == NEF_OK; ++i) {
      if (kernel->kind[i] != NEF_VALUE_CONSTANT) continue;
      const size_t bytes = (size_t)fault_elements(values[i].dims, kernel->rank[i]) * sizeof(float);
      code = fault_take(bytes, err);
      if (code != NEF_OK) break;
      p->bytes += bytes;
      p->constant[i] = malloc(bytes + 1);
      if (p->constant[i] == NULL) {
        code = fault_fail(err, NEF_OUT_OF_MEMORY, "fault: no memory for weights", "");
      } else {
        memcpy(p->constant[i], values[i].data, bytes);
      }
    }
  }
  if (code == NEF_OK) {
    *out = p;
  } else if (p != NULL) {
    fault_drop(p);
  }
  fault_leave();
  return code;
}
static void fault_prepared_free(nef_backend_prepared* p) {
  fault_enter();
  fault_drop(p);
  fault_leave();
}
static uint64_t fault_prepared_bytes(const nef_backend_prepared* p) {
  fault_enter();
  const uint64_t bytes = p->bytes;
  fault_leave();
  return bytes;
}
static size_t fault_scratch_bytes(const nef_backend_prepared* p, const nef_backend_tensor* values) {
  (void)values;
  fault_enter();
  const size_t bytes = p->kernel->op == NEF_OP_MATMUL ? 64 : 0;
  fault_leave();
  return bytes;
}

/* Offset in a tensor of `rank` dims of what the output's flat index reads, with broadcasting.
 * `skip` trailing dims are not part of it. */
static int64_t fault_offset(int64_t flat, const int64_t* out_dims, int32_t out_rank,
                            const int64_t* dims, int32_t rank, int32_t skip) {
  int64_t offset = 0, stride = 1;
  for (int32_t i = 1 + skip; i <= out_rank; ++i) {
    const int64_t at = flat % out_dims[out_rank - i];
    flat /= out_dims[out_rank - i];
    if (i > rank) continue;
    const int64_t dim = dims[rank - i];
    if (dim != 1) offset += at * stride;
    stride *= dim;
  }
  return offset;
}

static void fault_elementwise(const nef_backend_kernel* k, const nef_backend_tensor* v,
                              const float* a, const float* b, float* out) {
  const int64_t* dims = v[k->out].dims;
  const int32_t rank = k->rank[k->out];
  const int64_t n = fault_elements(dims, rank);
  for (int64_t i = 0; i < n; ++i) {
    const float x = a[fault_offset(i, dims, rank, v[k->in[0]].dims, k->rank[k->in[0]], 0)];
    const float y = b[fault_offset(i, dims, rank, v[k->in[1]].dims, k->rank[k->in[1]], 0)];
    switch (k->op) {
      case NEF_OP_ADD: out[i] = x + y; break;
      case NEF_OP_SUB: out[i] = x - y; break;
      case NEF_OP_MUL: out[i] = x * y; break;
      case NEF_OP_RELU: out[i] = x > 0 || x != x ? x : 0; break;
      default:
        out[i] = k->exact_gelu ? 0.5f * x * (1 + erff(x * 0.70710678f))
                               : 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
  }
}

/* Ranks of 2 and more. */
static void fault_matmul(const nef_backend_kernel* k, const nef_backend_tensor* v, const float* a,
                         const float* b, float* out) {
  const int32_t ra = k->rank[k->in[0]], rb = k->rank[k->in[1]], ro = k->rank[k->out];
  const int64_t *da = v[k->in[0]].dims, *db = v[k->in[1]].dims, *dims = v[k->out].dims;
  const int64_t m = dims[ro - 2], n = dims[ro - 1], depth = da[ra - 1];
  const int64_t batches = fault_elements(dims, ro - 2);
  for (int64_t i = 0; i < batches; ++i) {
    const float* x = a + fault_offset(i, dims, ro, da, ra, 2) * m * depth;
    const float* y = b + fault_offset(i, dims, ro, db, rb, 2) * depth * n;
    float* z = out + i * m * n;
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t d = 0; d < depth; ++d) {
          sum += (double)x[row * depth + d] * y[d * n + column];
        }
        z[row * n + column] = (float)sum;
      }
    }
  }
}

static nef_code fault_launch(nef_backend_prepared* p, nef_backend_stream* stream,
                             const nef_backend_tensor* values, void* scratch,
                             nef_backend_error* err) {
  (void)stream;
  fault_enter();
  const nef_backend_kernel* k = p->kernel;
  const long lost = fault_number("NEF_FAULT_LOST", 0);
  const long launch = fault_add(&fault_counts.launches, 1);
  nef_code code = NEF_OK;
  if (lost > 0 && launch >= lost) {
    code = fault_fail(err, NEF_DEVICE_LOST, "fault: the device fell off the bus", "");
  }
  const float* operand[2] = {NULL, NULL};
  for (int i = 0; i < 2 && code == NEF_OK; ++i) {
    const int index = k->in[i];
    if (k->kind[index] == NEF_VALUE_CONSTANT) {
      operand[i] = p->constant[index];
      continue;
    }
    if (!fault_on_device(k->device, values[index].data)) {
      fault_add(&fault_counts.host_pointers, 1);
      code = fault_fail(err, NEF_INTERNAL, "fault: an input is not in device memory", "");
    }
    operand[i] = (const float*)(const void*)fault_host(values[index].data);
  }
  if (code == NEF_OK && !fault_on_device(k->device, values[k->out].data)) {
    fault_add(&fault_counts.host_pointers, 1);
    code = fault_fail(err, NEF_INTERNAL, "fault: an output is not in device memory", "");
  }
  if (code == NEF_OK && k->op == NEF_OP_MATMUL) memset(fault_host(scratch), 0xee, 64);
  if (code == NEF_OK) {
    float* out = (float*)(void*)fault_host(values[k->out].data);
    if (k->op == NEF_OP_MATMUL) {
      fault_matmul(k, values, operand[0], operand[1], out);
    } else {
      fault_elementwise(k, values, operand[0], operand[1], out);
    }
  }
  fault_leave();
  return code;
}

static const nef_backend fault_table = {
    .abi_version = NEF_BACKEND_ABI_VERSION,
    .flags = FAULT_FLAGS,
    .struct_size = sizeof(nef_backend),
    .name = FAULT_NAME,
    .version = "1",
    .init = fault_init,
    .shutdown = fault_shutdown,
    .device_count = fault_device_count,
    .device_info = fault_device_info,
    .memory_available = fault_memory_available,
    .alloc = fault_alloc,
    .free = fault_free,
    .copy = fault_copy,
    .evict = fault_evict,
    .host_alloc = fault_host_alloc,
    .host_free = fault_host_free,
    .supports = fault_supports,
    .compile = fault_compile,
    .kernel_free = fault_kernel_free,
    .kernel_name = fault_kernel_name,
    .prepare = fault_prepare,
    .prepared_free = fault_prepared_free,
    .prepared_bytes = fault_prepared_bytes,
    .scratch_bytes = fault_scratch_bytes,
    .launch = fault_launch,
};

FAULT_EXPORT const nef_backend* nef_backend_entry(void);
