/* SPDX-License-Identifier: Apache-2.0 */
/* A backend for Not of bools, in host memory, that takes any byte for true but 1. Its costs are
 * such that nothing runs here unless it is asked to. */
#include <nef/backend.h>
#include <stdlib.h>

#define ODD_EXPORT __attribute__((visibility("default")))

ODD_EXPORT extern long nef_odd_bools_written;
ODD_EXPORT const nef_backend* nef_backend_entry(void);
long nef_odd_bools_written;

struct nef_backend_kernel {
  int32_t in, out, rank;
};
struct nef_backend_prepared {
  const nef_backend_kernel* kernel;
};

static nef_code odd_init(const nef_backend_host* host, nef_backend_error* err) {
  (void)host;
  (void)err;
  return NEF_OK;
}
static int32_t odd_device_count(void) { return 1; }
static nef_code odd_device_info(int32_t device, nef_backend_device* out, nef_backend_error* err) {
  (void)device;
  (void)err;
  out->kind = NEF_DEVICE_CPU;
  out->flags = NEF_DEVICE_HOST_MEMORY;
  out->description = "bools that are not 0 or 1";
  out->arch = "odd";
  out->memory_bytes = 1u << 30;
  out->flops_per_second = 1;
  out->bytes_per_second = 1;
  out->link_bytes_per_second = 1;
  out->launch_seconds = 1;
  return NEF_OK;
}

static nef_code odd_alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err) {
  (void)device;
  (void)err;
  *out = aligned_alloc(64, (bytes + 127) / 64 * 64);
  return *out == NULL ? NEF_OUT_OF_MEMORY : NEF_OK;
}
static void odd_free(int32_t device, void* ptr, size_t bytes) {
  (void)device;
  (void)bytes;
  free(ptr);
}

static int32_t odd_supports(int32_t device, const nef_backend_region* region,
                            nef_backend_error* err) {
  (void)device;
  (void)err;
  return region->kind == NEF_REGION_SINGLE && region->nodes[0].op == NEF_OP_NOT;
}
static nef_code odd_compile(int32_t device, const nef_backend_region* region, const void* blob,
                            size_t blob_size, nef_backend_kernel** out, nef_backend_error* err) {
  (void)device;
  (void)blob;
  (void)blob_size;
  (void)err;
  nef_backend_kernel* k = calloc(1, sizeof *k);
  if (k == NULL) return NEF_OUT_OF_MEMORY;
  k->in = region->nodes[0].inputs[0];
  k->out = region->nodes[0].outputs[0];
  k->rank = region->values[k->out].rank;
  *out = k;
  return NEF_OK;
}
static void odd_kernel_free(nef_backend_kernel* kernel) { free(kernel); }
static const char* odd_kernel_name(const nef_backend_kernel* kernel) {
  (void)kernel;
  return "odd not";
}
static nef_code odd_prepare(nef_backend_kernel* kernel, const nef_backend_tensor* values,
                            nef_backend_prepared** out, nef_backend_error* err) {
  (void)values;
  (void)err;
  nef_backend_prepared* p = calloc(1, sizeof *p);
  if (p == NULL) return NEF_OUT_OF_MEMORY;
  p->kernel = kernel;
  *out = p;
  return NEF_OK;
}
static void odd_prepared_free(nef_backend_prepared* prepared) { free(prepared); }
static nef_code odd_launch(nef_backend_prepared* prepared, nef_backend_stream* stream,
                           const nef_backend_tensor* values, void* scratch,
                           nef_backend_error* err) {
  (void)stream;
  (void)scratch;
  (void)err;
  const nef_backend_kernel* k = prepared->kernel;
  const unsigned char* in = values[k->in].data;
  unsigned char* out = values[k->out].data;
  int64_t n = 1;
  for (int32_t i = 0; i < k->rank; ++i) n *= values[k->out].dims[i];
  for (int64_t i = 0; i < n; ++i) {
    out[i] = in[i] != 0 ? 0 : (unsigned char)(2 + i % 254);
    if (out[i] > 1) __atomic_add_fetch(&nef_odd_bools_written, 1, __ATOMIC_SEQ_CST);
  }
  return NEF_OK;
}

const nef_backend* nef_backend_entry(void) {
  static const nef_backend table = {
      .abi_version = NEF_BACKEND_ABI_VERSION,
      .struct_size = sizeof(nef_backend),
      .name = "odd",
      .version = "1",
      .init = odd_init,
      .device_count = odd_device_count,
      .device_info = odd_device_info,
      .alloc = odd_alloc,
      .free = odd_free,
      .supports = odd_supports,
      .compile = odd_compile,
      .kernel_free = odd_kernel_free,
      .kernel_name = odd_kernel_name,
      .prepare = odd_prepare,
      .prepared_free = odd_prepared_free,
      .launch = odd_launch,
  };
  return &table;
}
