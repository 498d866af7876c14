// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <memory>
#include <mutex>
#include <string>

namespace nef::plan {

// One device of one backend, as the engine sees it. Lives as long as the process.
struct Device {
  const nef_backend* backend = nullptr;
  int32_t index = 0;          // within the backend
  std::string name;           // "cpu:0"
  nef_backend_device info{};  // strings belong to the backend
  bool plugin = false;        // of a backend from a file: bools that it writes are looked at
  // Held around calls of a NEF_BACKEND_SERIAL backend; all devices of a backend share one.
  std::shared_ptr<std::mutex> serial;

  bool host_memory() const { return (info.flags & NEF_DEVICE_HOST_MEMORY) != 0; }
  // A lock that is held only for a backend that is not thread-safe.
  std::unique_lock<std::mutex> lock() const {
    if ((backend->flags & NEF_BACKEND_SERIAL) == 0) return {};
    return std::unique_lock(*serial);
  }
};

// What plans count a launch on a device, and a copy between it and the host, as.
struct Costs {
  double launch_seconds = 0, link_seconds = 0, link_bytes_per_second = 0;
};
inline Costs stated_costs(const Device& d) {
  return {d.info.launch_seconds, d.info.launch_seconds, d.info.link_bytes_per_second};
}

}  // namespace nef::plan
