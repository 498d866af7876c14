// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "capi/handles.h"
#include "capi/status.h"
#include "engine/context/context.h"

using nef::capi::guard;
using nef::capi::need;
using nef::context::Context;

namespace {

const nef::context::DeviceRecord& record(size_t index) {
  const auto records = Context::get().registry().records();
  if (index < records.size()) return *records[index];
  nef::fail(NEF_OUT_OF_RANGE, "devices", nef::cat("device ", index, " of ", records.size()));
}

}  // namespace

size_t nef_device_count(void) {
  size_t count = 0;
  nef_status_release(guard("devices", [&] { count = Context::get().registry().records().size(); }));
  return count;
}

nef_status* nef_device(size_t index, nef_device_info* out) {
  return guard("devices", [&] {
    need(out, "devices", "the out pointer");
    if (out->struct_size < sizeof(size_t)) {
      nef::fail(NEF_INVALID_ARGUMENT, "devices", "struct_size of the out struct is not set");
    }
    const nef::context::DeviceRecord& r = record(index);
    nef_device_info info{};
    info.struct_size = out->struct_size;
    info.name = r.name.c_str();
    info.backend = r.backend.c_str();
    info.description = r.description.c_str();
    info.kind = r.kind;
    info.available = r.available ? 1 : 0;
    info.memory_bytes = r.memory_bytes;
    info.reason = r.reason.c_str();
    info.costs = "";
    if (r.device != nullptr) {
      const auto [costs, how] = Context::get().costs().known(*r.device);
      info.launch_seconds = costs.launch_seconds;
      info.link_seconds = r.device->host_memory() ? 0 : costs.link_seconds;
      info.link_bytes_per_second = r.device->host_memory() ? 0 : costs.link_bytes_per_second;
      info.costs = how;
    }
    std::memcpy(out, &info, std::min(out->struct_size, sizeof info));
  });
}

nef_status* nef_device_measure(size_t index) {
  return guard("devices", [&] {
    const nef::context::DeviceRecord& r = record(index);
    if (r.device != nullptr) Context::get().costs().of(*r.device);
  });
}

nef_status* nef_backend_load(const char* path) {
  return guard("backend", [&] {
    need(path, "backend", "the path");
    Context::get().registry().load(path);
  });
}

void nef_counters_read(nef_counters* out) {
  if (out == nullptr || out->struct_size < sizeof(size_t)) return;
  nef_status_release(guard("counters", [&] {
    nef_counters c{};
    c.struct_size = out->struct_size;
    const Context::Counters n = Context::get().counters();
    c.programs_compiled = n.programs_compiled;
    c.program_cache_hits = n.program_hits;
    c.program_cache_misses = n.program_misses;
    c.runs = n.runs;
    const auto k = Context::get().kernels().stats();
    c.kernel_cache_hits = k.hits;
    c.kernel_cache_misses = k.misses;
    c.disk_cache_hits = k.disk_hits;
    c.disk_cache_misses = k.disk_misses;
    c.live_tensors = nef::build::live_nodes();
    c.live_graphs = nef_graph::live.load();
    c.live_programs = nef_program::live.load();
    c.live_runs = nef_run::live.load();
    c.live_statuses = nef::capi::live_statuses();
    std::memcpy(out, &c, std::min(out->struct_size, sizeof c));
  }));
}
