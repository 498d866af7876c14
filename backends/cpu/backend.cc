// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <new>

#include "backends/cpu/call.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/device.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/pages.h"
#include "backends/cpu/quant.h"
#include "backends/cpu/registry.h"
#include "backends/cpu/rnn.h"
#include "backends/cpu/signal.h"

namespace nef::cpu {
namespace {

using backends::guarded;
using backends::report;

// The handles of the table are addresses of these. Every backend has its own, and one program may
// hold several backends, so none defines the types that the table names.
Kernel* own(nef_backend_kernel* k) { return reinterpret_cast<Kernel*>(k); }
const Kernel* own(const nef_backend_kernel* k) { return reinterpret_cast<const Kernel*>(k); }
Prepared* own(nef_backend_prepared* p) { return reinterpret_cast<Prepared*>(p); }
const Prepared* own(const nef_backend_prepared* p) { return reinterpret_cast<const Prepared*>(p); }
nef_backend_kernel* handle(Kernel* k) { return reinterpret_cast<nef_backend_kernel*>(k); }
nef_backend_prepared* handle(Prepared* p) { return reinterpret_cast<nef_backend_prepared*>(p); }

void register_families() {
  register_elementwise();
  register_reductions();
  register_movement();
  register_contractions();
  register_normalizations();
  register_convolutions();
  register_attention();
  register_rnn();
  register_quant();
  register_signal();
  register_shared();
}

nef_code init(const nef_backend_host* host, nef_backend_error* err) {
  return guarded(err, [&] {
    set_host(host);
    choose_target();
    clear_registry();
    register_families();
  });
}

void shutdown() { clear_registry(); }

int32_t device_count() { return 1; }

void require_device(int32_t device) {
  if (device == 0) return;
  throw BackendError(NEF_INVALID_ARGUMENT,
                     "cpu has one device, 0; asked for device " + std::to_string(device));
}

nef_code device_info(int32_t device, nef_backend_device* out, nef_backend_error* err) {
  return guarded(err, [&] {
    require_device(device);
    describe_device(out);
  });
}

nef_code alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err) {
  return guarded(err, [&] {
    require_device(device);
    *out = allocate_aligned(bytes);
  });
}

void free_memory(int32_t, void* ptr, size_t) { std::free(ptr); }

nef_code copy(int32_t device, void* dst, const void* src, size_t bytes, nef_copy_kind,
              nef_backend_error* err) {
  return guarded(err, [&] {
    require_device(device);
    if (bytes != 0) std::memmove(dst, src, bytes);
  });
}

std::unique_ptr<Kernel> kernel_for(const nef_backend_region& region, std::string* why) {
  return make_kernel(Region::copy(region), why);
}

int32_t supports(int32_t device, const nef_backend_region* region, nef_backend_error* err) {
  const nef_code code = guarded(err, [&] {
    require_device(device);
    std::string why;
    if (!kernel_for(*region, &why)) throw BackendError(NEF_UNSUPPORTED, why);
  });
  return code == NEF_OK ? 1 : 0;
}

nef_code compile(int32_t device, const nef_backend_region* region, const void* blob,
                 size_t blob_size, nef_backend_kernel** out, nef_backend_error* err) {
  return guarded(err, [&] {
    require_device(device);
    std::string why;
    auto kernel = kernel_for(*region, &why);
    if (!kernel) throw BackendError(NEF_UNSUPPORTED, why);
    if (blob != nullptr) kernel->restore(static_cast<const uint8_t*>(blob), blob_size);
    *out = handle(kernel.release());
  });
}

void kernel_free(nef_backend_kernel* kernel) { delete own(kernel); }

const char* kernel_name(const nef_backend_kernel* kernel) { return own(kernel)->name(); }

size_t serialize(const nef_backend_kernel* kernel, void* out, size_t capacity) {
  try {
    const std::vector<uint8_t> blob = own(kernel)->serialize();
    if (!blob.empty() && blob.size() <= capacity) std::memcpy(out, blob.data(), blob.size());
    return blob.size();
  } catch (...) {
    return 0;  // nothing worth keeping is always a legal answer
  }
}

nef_code prepare(nef_backend_kernel* kernel, const nef_backend_tensor* values,
                 nef_backend_prepared** out, nef_backend_error* err) {
  return guarded(err, [&] { *out = handle(own(kernel)->prepare(values).release()); });
}

void prepared_free(nef_backend_prepared* prepared) { delete own(prepared); }

uint64_t prepared_bytes(const nef_backend_prepared* prepared) {
  return own(prepared)->packed_bytes();
}

size_t scratch_bytes(const nef_backend_prepared* prepared, const nef_backend_tensor* values) {
  return own(prepared)->scratch_bytes(values);
}

nef_code launch(nef_backend_prepared* prepared, nef_backend_stream*,
                const nef_backend_tensor* values, void* scratch, nef_backend_error* err) {
  return guarded(err, [&] { own(prepared)->launch(values, scratch); });
}

nef_code output_dims(nef_backend_prepared* prepared, nef_backend_stream*,
                     const nef_backend_tensor* values, void* scratch, int64_t* const* out_dims,
                     nef_backend_error* err) {
  return guarded(err, [&] {
    const auto* sized = dynamic_cast<const SizedPrepared*>(own(prepared));
    if (sized == nullptr) throw BackendError(NEF_UNSUPPORTED, "its sizes follow from shapes");
    sized->output_dims(values, scratch, out_dims);
  });
}

int32_t in_place(const nef_backend_kernel* kernel, int32_t input, int32_t output) {
  return own(kernel)->in_place(input, output) ? 1 : 0;
}

nef_backend make_table() {
  nef_backend table{};
  table.abi_version = NEF_BACKEND_ABI_VERSION;
  table.struct_size = sizeof(nef_backend);
  table.name = "cpu";
  table.version = "1";
  table.init = init;
  table.shutdown = shutdown;
  table.device_count = device_count;
  table.device_info = device_info;
  table.alloc = alloc;
  table.free = free_memory;
  table.copy = copy;
  table.supports = supports;
  table.compile = compile;
  table.kernel_free = kernel_free;
  table.kernel_name = kernel_name;
  table.serialize = serialize;
  table.prepare = prepare;
  table.prepared_free = prepared_free;
  table.prepared_bytes = prepared_bytes;
  table.scratch_bytes = scratch_bytes;
  table.launch = launch;
  table.in_place = in_place;
  table.output_dims = output_dims;
  return table;
}

}  // namespace
}  // namespace nef::cpu

extern "C" const nef_backend* nef_backend_cpu(void) {
  static const nef_backend table = nef::cpu::make_table();
  return &table;
}
