// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/table.h"

#include <mutex>
#include <utility>

#include "backends/gpu/decode.h"
#include "backends/gpu/station.h"

namespace nef::gpu {
namespace {

using backends::guarded;

struct Kernel {
  Station& station;
  std::shared_ptr<const Plan> plan;
  std::vector<Code> code;  // per stage; null without kernels
};

struct Prepared {
  Station& station;
  std::shared_ptr<const Plan> plan;
  std::vector<Code> code;
  std::vector<std::shared_ptr<Buffer>> constants;  // per value
};

struct StreamHandle {
  Station& station;
  std::unique_ptr<Stream> stream;
};

struct Replay {
  Station& station;
  Code copies;  // outlives the recording, which runs it
  std::unique_ptr<Recording> recording;
  const char* faulting = nullptr;  // the last op in it whose kernels may note a fault
};

// What a thread records with, from record_begin on.
struct Noting {
  Code copies;                     // the kernel that copies from and to the host
  const char* faulting = nullptr;  // as in Replay
};
thread_local Noting noting;
thread_local const Station* noting_for = nullptr;

// The ABI's opaque types are this folder's own.
nef_backend_kernel* handle(Kernel* k) { return reinterpret_cast<nef_backend_kernel*>(k); }
Kernel* own(nef_backend_kernel* k) { return reinterpret_cast<Kernel*>(k); }
const Kernel* own(const nef_backend_kernel* k) { return reinterpret_cast<const Kernel*>(k); }
nef_backend_prepared* handle(Prepared* p) { return reinterpret_cast<nef_backend_prepared*>(p); }
Prepared* own(nef_backend_prepared* p) { return reinterpret_cast<Prepared*>(p); }
const Prepared* own(const nef_backend_prepared* p) { return reinterpret_cast<const Prepared*>(p); }
nef_backend_stream* handle(StreamHandle* s) { return reinterpret_cast<nef_backend_stream*>(s); }
StreamHandle* own(nef_backend_stream* s) { return reinterpret_cast<StreamHandle*>(s); }
nef_backend_recording* handle(Replay* r) { return reinterpret_cast<nef_backend_recording*>(r); }
Replay* own(nef_backend_recording* r) { return reinterpret_cast<Replay*>(r); }

// ---- stored code: a header that says what it was made of, then the code of each stage

uint64_t hash_of(const std::string& text, uint64_t h = 0xcbf29ce484222325u) {
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
  return h;
}
constexpr uint64_t kMagic = 0x3155504746454eu;  // "NEFGPU1"

uint64_t identity(const Plan& plan, Device& device) {
  static const uint64_t prelude = hash_of(kPrelude);
  uint64_t h = hash_of(device.info().build, prelude);
  for (const auto& stage : plan.stages()) h = hash_of(stage->source(), h * 31);
  return h;
}
void put(std::vector<uint8_t>& out, uint64_t v) {
  const auto* p = reinterpret_cast<const uint8_t*>(&v);
  out.insert(out.end(), p, p + sizeof v);
}

// The codes in a blob; empty when it does not fit.
std::vector<std::vector<uint8_t>> codes_of(const void* blob, size_t size, const Plan& plan,
                                           Device& device) {
  const auto* at = static_cast<const uint8_t*>(blob);
  const auto* end = at + size;
  const auto next = [&](uint64_t* v) {
    if (static_cast<size_t>(end - at) < sizeof *v) return false;
    std::memcpy(v, at, sizeof *v);
    at += sizeof *v;
    return true;
  };
  std::vector<std::vector<uint8_t>> out;
  uint64_t magic = 0, id = 0, count = 0;
  if (blob == nullptr || !next(&magic) || !next(&id) || !next(&count)) return {};
  if (magic != kMagic || id != identity(plan, device) || count != plan.stages().size()) return {};
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t n = 0;
    if (!next(&n) || n > static_cast<uint64_t>(end - at)) return {};
    out.emplace_back(at, at + n);
    at += n;
  }
  return out;
}

size_t blob_size(const Kernel& k) {
  size_t bytes = 3 * sizeof(uint64_t);
  for (const Code& c : k.code) bytes += sizeof(uint64_t) + (c == nullptr ? 0 : c->code.size());
  return bytes;
}
std::vector<uint8_t> blob_of(const Kernel& k) {
  std::vector<uint8_t> out;
  put(out, kMagic);
  put(out, identity(*k.plan, k.station.device));
  put(out, k.code.size());
  for (const Code& c : k.code) {
    put(out, c == nullptr ? 0 : c->code.size());
    if (c != nullptr) out.insert(out.end(), c->code.begin(), c->code.end());
  }
  return out;
}

std::shared_ptr<const Plan> plan_or_throw(const nef_backend_region& region, Device& device) {
  try {
    return std::make_shared<const Plan>(Region::copy(region), device.info());
  } catch (const Refusal& r) {
    throw BackendError(NEF_UNSUPPORTED, r.why);
  }
}

// ---- running

void run_stages(const Prepared& p, Stream& stream, const nef_backend_tensor* tensors, void* scratch,
                const char** faulting) {
  const Plan& plan = *p.plan;
  const size_t n = plan.region().values.size();
  constexpr size_t kFew = 64;
  char* few[kFew];
  std::vector<char*> many(n > kFew ? n : 0);
  char** data = n > kFew ? many.data() : few;
  for (size_t i = 0; i < n; ++i) {
    data[i] =
        p.constants[i] != nullptr ? p.constants[i]->data() : static_cast<char*>(tensors[i].data);
  }
  const Values values(plan.region(), tensors, data);
  char* stage_scratch = nullptr;
  plan.place(values, static_cast<char*>(scratch), data, &stage_scratch);
  const auto [begin, end] = plan.range(values);
  for (size_t s = begin; s < end; ++s) {
    const Run run{values, p.station.device, stream, stage_scratch, faulting};
    plan.stages()[s]->launch(run, p.code[s] == nullptr ? nullptr : p.code[s]->module.get());
  }
}

// Throws what kernels noted that are done.
void throw_fault(Fault& f, const char* op) {
  if (f.set == 0) return;
  const Fault seen = f;
  f = {};
  if (seen.axis == kMessageAxis) {
    throw BackendError(NEF_OUT_OF_RANGE,
                       std::string(reinterpret_cast<const char*>(static_cast<intptr_t>(seen.index)),
                                   static_cast<size_t>(seen.size)));
  }
  throw BackendError(NEF_OUT_OF_RANGE, std::string(op) + ": index " + std::to_string(seen.index) +
                                           " is outside axis " + std::to_string(seen.axis) +
                                           " of size " + std::to_string(seen.size));
}

}  // namespace

struct Backend::State {
  Platform& platform;
  std::vector<std::unique_ptr<Station>> stations;

  Station& station(int32_t device) {
    if (device >= 0 && static_cast<size_t>(device) < stations.size()) {
      return *stations[static_cast<size_t>(device)];
    }
    throw BackendError(NEF_INVALID_ARGUMENT, "there is no device " + std::to_string(device) +
                                                 ", only " + std::to_string(stations.size()));
  }
};

Backend::Backend(Platform& platform) : state_(new State{platform, {}}) {}
Backend::~Backend() = default;

nef_code Backend::init(nef_backend_error* err) {
  return guarded(err, [&] {
    if (!state_->stations.empty()) return;
    state_->platform.open();
    for (size_t i = 0; i < state_->platform.count(); ++i) {
      state_->stations.push_back(std::make_unique<Station>(state_->platform.device(i)));
    }
  });
}
int32_t Backend::device_count() const { return static_cast<int32_t>(state_->stations.size()); }

nef_code Backend::device_info(int32_t device, nef_backend_device* out, nef_backend_error* err) {
  return guarded(err, [&] {
    const DeviceInfo& info = state_->station(device).device.info();
    *out = {};
    out->struct_size = sizeof *out;
    out->kind = NEF_DEVICE_GPU;
    out->flags = info.bulk_copies ? NEF_DEVICE_CHAINS : 0;
    out->description = info.description.c_str();
    out->arch = info.build.c_str();
    out->memory_bytes = info.memory_bytes;
    out->flops_per_second = info.flops;
    out->bytes_per_second = info.bytes;
    out->link_bytes_per_second = info.link_bytes;
    out->launch_seconds = info.launch_seconds;
  });
}
uint64_t Backend::memory_available(int32_t device) {
  uint64_t out = 0;
  guarded(nullptr, [&] { out = state_->station(device).device.memory_available(); });
  return out;
}
nef_code Backend::alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err) {
  return guarded(err, [&] { *out = state_->station(device).device.alloc(bytes); });
}
void Backend::free(int32_t device, void* ptr) {
  guarded(nullptr, [&] { state_->station(device).device.free(ptr); });
}
nef_code Backend::copy(int32_t device, void* dst, const void* src, size_t bytes, nef_copy_kind kind,
                       nef_backend_error* err) {
  return guarded(err, [&] {
    if (bytes > 0) state_->station(device).device.copy(dst, src, bytes, kind);
  });
}
nef_code Backend::host_alloc(int32_t device, size_t bytes, void** out, nef_backend_error* err) {
  return guarded(err, [&] {
    *out = state_->station(device).device.host_alloc(bytes);
    if (*out == nullptr) throw BackendError(NEF_UNSUPPORTED, "no pinned memory");
  });
}
void Backend::host_free(int32_t device, void* ptr) {
  guarded(nullptr, [&] { state_->station(device).device.host_free(ptr); });
}
nef_code Backend::synchronize(int32_t device, nef_backend_error* err) {
  return guarded(err, [&] { state_->station(device).device.default_stream().synchronize(); });
}
nef_code Backend::measure(int32_t device, nef_backend_costs* out, nef_backend_error* err) {
  return guarded(err, [&] {
    const MeasuredCosts costs = state_->station(device).device.measure();
    out->launch_seconds = costs.launch_seconds;
    out->link_seconds = costs.link_seconds;
    out->link_bytes_per_second = costs.link_bytes;
  });
}
void Backend::evict(int32_t device) {
  guarded(nullptr, [&] {
    Station& s = state_->station(device);
    s.modules.clear();
    s.device.evict();
  });
}

int32_t Backend::supports(int32_t device, const nef_backend_region* region,
                          nef_backend_error* err) {
  const nef_code code =
      guarded(err, [&] { plan_or_throw(*region, state_->station(device).device); });
  return code == NEF_OK ? 1 : 0;
}

nef_code Backend::compile(int32_t device, const nef_backend_region* region, const void* blob,
                          size_t blob_size, nef_backend_kernel** out, nef_backend_error* err) {
  return guarded(err, [&] {
    Station& station = state_->station(device);
    auto kernel =
        std::make_unique<Kernel>(Kernel{station, plan_or_throw(*region, station.device), {}});
    const auto stored = codes_of(blob, blob_size, *kernel->plan, station.device);
    for (size_t i = 0; i < kernel->plan->stages().size(); ++i) {
      const std::string text = kernel->plan->stages()[i]->source();
      kernel->code.push_back(make_code(station, text, stored.empty() ? nullptr : &stored[i]));
    }
    *out = handle(kernel.release());
  });
}

nef_code Backend::stream_create(int32_t device, nef_backend_stream** out, nef_backend_error* err) {
  return guarded(err, [&] {
    Station& station = state_->station(device);
    *out = handle(new StreamHandle{station, station.device.make_stream()});
  });
}

nef_code Backend::stream_wait(int32_t device, nef_backend_stream* stream, nef_backend_stream* other,
                              nef_backend_error* err) {
  return guarded(err, [&] {
    Device& d = state_->station(device).device;
    const auto named = [&](nef_backend_stream* s) -> Stream& {
      return s == nullptr ? d.default_stream() : *own(s)->stream;
    };
    d.wait(named(stream), named(other));
  });
}

nef_code Backend::stream_copy(int32_t device, nef_backend_stream* stream, void* dst,
                              const void* src, size_t bytes, nef_backend_error* err) {
  return guarded(err, [&] {
    state_->station(device).device.copy_to_host(dst, src, bytes, *own(stream)->stream);
  });
}

nef_code Backend::record_begin(int32_t device, nef_backend_error* err) {
  return guarded(err, [&] {
    Station& station = state_->station(device);
    if (noting_for != nullptr)
      throw BackendError(NEF_INVALID_ARGUMENT, "the thread records already");
    // Loading code is nothing that can be recorded.
    Code copies = make_code(station, host_copy_source(), nullptr);
    host_copy_function(*copies->module);
    station.device.record();
    noting = {std::move(copies), nullptr};
    noting_for = &station;
  });
}

nef_code Backend::record_copy(int32_t device, void* dst, const void* src, size_t bytes,
                              nef_backend_error* err) {
  return guarded(err, [&] {
    Station& station = state_->station(device);
    if (noting_for != &station)
      throw BackendError(NEF_INVALID_ARGUMENT, "the thread records nothing");
    launch_host_copy(station.device, *noting.copies->module, dst, src, bytes);
  });
}

nef_code Backend::record_end(int32_t device, nef_backend_recording** out, nef_backend_error* err) {
  return guarded(err, [&] {
    Station& station = state_->station(device);
    if (noting_for != &station)
      throw BackendError(NEF_INVALID_ARGUMENT, "the thread records nothing");
    noting_for = nullptr;
    const Noting noted = std::exchange(noting, {});
    std::unique_ptr<Recording> recording = station.device.recorded();
    if (out == nullptr) return;
    *out = handle(new Replay{station, noted.copies, std::move(recording), noted.faulting});
  });
}

namespace {

void kernel_free(nef_backend_kernel* k) { delete own(k); }
const char* kernel_name(const nef_backend_kernel* k) { return own(k)->plan->name().c_str(); }

size_t serialize(const nef_backend_kernel* k, void* out, size_t capacity) {
  const size_t n = blob_size(*own(k));
  if (capacity < n) return n;
  const nef_code code = guarded(nullptr, [&] {
    const std::vector<uint8_t> blob = blob_of(*own(k));
    std::memcpy(out, blob.data(), n);
  });
  return code == NEF_OK ? n : 0;
}

nef_code prepare(nef_backend_kernel* kernel, const nef_backend_tensor* tensors,
                 nef_backend_prepared** out, nef_backend_error* err) {
  return guarded(err, [&] {
    Kernel& k = *own(kernel);
    auto p = std::make_unique<Prepared>(Prepared{k.station, k.plan, k.code, {}});
    const Region& region = k.plan->region();
    p->constants.resize(region.values.size());
    bool any_turned = false;
    for (size_t i = 0; i < region.values.size(); ++i) {
      const Value& v = region.values[i];
      const bool fixed = v.kind == NEF_VALUE_CONSTANT || v.kind == NEF_VALUE_LITERAL;
      if (!fixed || !k.plan->on_device(static_cast<int32_t>(i))) continue;
      const auto bytes = static_cast<size_t>(backends::element_count(v.dims.data(), v.rank())) *
                         backends::dtype_size(v.dtype);
      const void* data = v.kind == NEF_VALUE_LITERAL ? v.literal.data() : tensors[i].data;
      Constants::Turn turn;
      // A stage that wants it otherwise is the last, and has the kernel.
      if (const auto tiles = k.plan->tiled(static_cast<int32_t>(i))) {
        any_turned = true;
        turn = {tiles->outputs, tiles->across,
                [&, tiles](void* to, const void* from) {
                  tile_matrix(k.station.device, *k.code.back()->module, to, from, *tiles);
                },
                tiles->bytes()};
      } else if (k.plan->turned(static_cast<int32_t>(i))) {
        any_turned = true;
        turn = {v.dims[0], v.dims[1], [&](void* to, const void* from) {
                  turn_matrix(k.station.device, *k.code.back()->module, to, from, v.dims[0],
                              v.dims[1]);
                }};
      }
      p->constants[i] = k.station.constants.upload(k.station.device, data, bytes, turn);
    }
    // Kernels that read constants early do not wait for what wrote them.
    if (any_turned) k.station.device.default_stream().synchronize();
    *out = handle(p.release());
  });
}
// Work that uses its constants may still be queued: freed memory is only reused behind it, and code
// stays loaded while its module's owners wait for the stream.
void prepared_free(nef_backend_prepared* prepared) {
  Prepared* p = own(prepared);
  if (p == nullptr) return;
  guarded(nullptr, [&] { p->station.device.default_stream().synchronize(); });
  delete p;
}
uint64_t prepared_bytes(const nef_backend_prepared* prepared) {
  uint64_t n = 0;
  for (const auto& c : own(prepared)->constants) n += c == nullptr ? 0 : c->bytes();
  return n;
}
size_t scratch_bytes(const nef_backend_prepared* prepared, const nef_backend_tensor* tensors) {
  const Prepared& p = *own(prepared);
  size_t n = 0;
  // An axis that is out of range fails again, with its message, in launch.
  guarded(nullptr, [&] {
    n = p.plan->place(Values(p.plan->region(), tensors, nullptr), nullptr, nullptr, nullptr);
  });
  return n;
}

void launch_here(const Prepared& p, const nef_backend_tensor* tensors, void* scratch) {
  Stream& stream = p.station.device.default_stream();
  if (noting_for == &p.station) return run_stages(p, stream, tensors, scratch, &noting.faulting);
  std::unique_lock lock(p.station.fault_mutex, std::defer_lock);
  if (p.plan->may_fault()) lock.lock();
  const char* faulting = nullptr;
  run_stages(p, stream, tensors, scratch, &faulting);
  if (faulting == nullptr) return;
  // A fault must be known now: nobody asks later.
  stream.synchronize();
  throw_fault(stream.fault(), faulting);
}

nef_code launch(nef_backend_prepared* prepared, nef_backend_stream* stream,
                const nef_backend_tensor* tensors, void* scratch, nef_backend_error* err) {
  return guarded(err, [&] {
    const Prepared& p = *own(prepared);
    if (stream == nullptr) return launch_here(p, tensors, scratch);
    Stream& branch = *own(stream)->stream;
    if (!p.plan->may_fault()) {
      const char* faulting = nullptr;
      return run_stages(p, branch, tensors, scratch, &faulting);
    }
    // Faults are noted, and looked for, on the default stream.
    Device& device = p.station.device;
    device.wait(device.default_stream(), branch);
    launch_here(p, tensors, scratch);
    device.wait(branch, device.default_stream());
  });
}

nef_code replay_wait(nef_backend_recording* recording, nef_backend_error* err) {
  return guarded(err, [&] {
    const Replay& r = *own(recording);
    r.recording->run();
    if (r.faulting != nullptr) throw_fault(r.recording->fault(), r.faulting);
  });
}
nef_code replay(nef_backend_recording* recording, nef_backend_error* err) {
  // A fault must be known now: nobody asks later.
  if (own(recording)->faulting != nullptr) return replay_wait(recording, err);
  return guarded(err, [&] { own(recording)->recording->launch(); });
}
nef_code replay_copy(nef_backend_recording* recording, void* dst, const void* src, size_t bytes,
                     nef_backend_error* err) {
  return guarded(err, [&] { own(recording)->recording->copy_to_host(dst, src, bytes); });
}
// It may still be running.
void recording_free(nef_backend_recording* recording) {
  Replay* r = own(recording);
  if (r == nullptr) return;
  guarded(nullptr, [&] { r->station.device.default_stream().synchronize(); });
  delete r;
}

void stream_destroy(nef_backend_stream* stream) { delete own(stream); }
nef_code stream_synchronize(nef_backend_stream* stream, nef_backend_error* err) {
  return guarded(err, [&] { own(stream)->stream->synchronize(); });
}

}  // namespace

void add_common_entries(nef_backend& t) {
  t.shutdown = [] {};
  t.kernel_free = kernel_free;
  t.kernel_name = kernel_name;
  t.serialize = serialize;
  t.prepare = prepare;
  t.prepared_free = prepared_free;
  t.prepared_bytes = prepared_bytes;
  t.scratch_bytes = scratch_bytes;
  t.launch = launch;
  t.stream_destroy = stream_destroy;
  t.stream_synchronize = stream_synchronize;
  t.replay = replay;
  t.replay_copy = replay_copy;
  t.replay_wait = replay_wait;
  t.recording_free = recording_free;
}

}  // namespace nef::gpu
