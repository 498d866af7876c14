// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/gpu/device.h"

// The backend table of <nef/backend.h> over a platform.
namespace nef::gpu {

// What the table's functions do; see <nef/backend.h> for the contracts.
class Backend {
 public:
  // `platform` outlives it.
  explicit Backend(Platform& platform);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  nef_code init(nef_backend_error* err);
  int32_t device_count() const;
  nef_code device_info(int32_t device, nef_backend_device* out, nef_backend_error* err);
  uint64_t memory_available(int32_t device);
  nef_code alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err);
  void free(int32_t device, void* ptr);
  nef_code copy(int32_t device, void* dst, const void* src, size_t bytes, nef_copy_kind kind,
                nef_backend_error* err);
  void evict(int32_t device);
  int32_t supports(int32_t device, const nef_backend_region* region, nef_backend_error* err);
  nef_code compile(int32_t device, const nef_backend_region* region, const void* blob,
                   size_t blob_size, nef_backend_kernel** out, nef_backend_error* err);
  nef_code stream_create(int32_t device, nef_backend_stream** out, nef_backend_error* err);
  nef_code stream_wait(int32_t device, nef_backend_stream* stream, nef_backend_stream* other,
                       nef_backend_error* err);
  nef_code stream_copy(int32_t device, nef_backend_stream* stream, void* dst, const void* src,
                       size_t bytes, nef_backend_error* err);
  nef_code record_begin(int32_t device, nef_backend_error* err);
  nef_code record_end(int32_t device, nef_backend_recording** out, nef_backend_error* err);
  nef_code host_alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err);
  void host_free(int32_t device, void* ptr);
  nef_code synchronize(int32_t device, nef_backend_error* err);
  nef_code record_copy(int32_t device, void* dst, const void* src, size_t bytes,
                       nef_backend_error* err);
  nef_code measure(int32_t device, nef_backend_costs* out, nef_backend_error* err);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The entries that need no platform.
void add_common_entries(nef_backend& table);

// A table whose functions reach `get()`, a function that returns the one Backend of a kind.
template <Backend& (*get)()>
nef_backend make_table(const char* name, const char* version) {
  nef_backend t{};
  t.abi_version = NEF_BACKEND_ABI_VERSION;
  t.struct_size = sizeof(nef_backend);
  t.name = name;
  t.version = version;
  t.init = [](const nef_backend_host*, nef_backend_error* err) { return get().init(err); };
  t.device_count = [] { return get().device_count(); };
  t.device_info = [](int32_t d, nef_backend_device* out, nef_backend_error* err) {
    return get().device_info(d, out, err);
  };
  t.memory_available = [](int32_t d) { return get().memory_available(d); };
  t.alloc = [](int32_t d, size_t n, void** out, nef_backend_error* err) {
    return get().alloc(d, n, out, err);
  };
  t.free = [](int32_t d, void* p, size_t) { get().free(d, p); };
  t.copy = [](int32_t d, void* dst, const void* src, size_t n, nef_copy_kind kind,
              nef_backend_error* err) { return get().copy(d, dst, src, n, kind, err); };
  t.evict = [](int32_t d) { get().evict(d); };
  t.supports = [](int32_t d, const nef_backend_region* r, nef_backend_error* err) {
    return get().supports(d, r, err);
  };
  t.compile = [](int32_t d, const nef_backend_region* r, const void* blob, size_t n,
                 nef_backend_kernel** out,
                 nef_backend_error* err) { return get().compile(d, r, blob, n, out, err); };
  t.stream_create = [](int32_t d, nef_backend_stream** out, nef_backend_error* err) {
    return get().stream_create(d, out, err);
  };
  t.stream_wait = [](int32_t d, nef_backend_stream* stream, nef_backend_stream* other,
                     nef_backend_error* err) { return get().stream_wait(d, stream, other, err); };
  t.stream_copy = [](int32_t d, nef_backend_stream* stream, void* dst, const void* src, size_t n,
                     nef_backend_error* err) {
    return get().stream_copy(d, stream, dst, src, n, err);
  };
  t.record_begin = [](int32_t d, nef_backend_error* err) { return get().record_begin(d, err); };
  t.record_end = [](int32_t d, nef_backend_recording** out, nef_backend_error* err) {
    return get().record_end(d, out, err);
  };
  t.host_alloc = [](int32_t d, size_t n, void** out, nef_backend_error* err) {
    return get().host_alloc(d, n, out, err);
  };
  t.host_free = [](int32_t d, void* p, size_t) { get().host_free(d, p); };
  t.synchronize = [](int32_t d, nef_backend_error* err) { return get().synchronize(d, err); };
  t.record_copy = [](int32_t d, void* dst, const void* src, size_t n, nef_backend_error* err) {
    return get().record_copy(d, dst, src, n, err);
  };
  t.measure = [](int32_t d, nef_backend_costs* out, nef_backend_error* err) {
    return get().measure(d, out, err);
  };
  add_common_entries(t);
  return t;
}

}  // namespace nef::gpu
