// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/plan/device.h"

namespace nef::context {

// The backends linked into this library, in order of preference; defined where they are linked
// (capi), so that the engine includes no backend.
using BackendEntry = const nef_backend* (*)();
std::span<const BackendEntry> builtin_backends();

// A line of the device list: a device, or a backend that is absent and why.
struct DeviceRecord {
  std::string name, backend, description, reason;
  nef_device_kind kind = 0;
  uint64_t memory_bytes = 0;
  bool available = false;
  const plan::Device* device = nullptr;  // where it is available
};

// All backends of the process: built-in ones, those of NEF_BACKEND_PATH (colon-separated
// files), and those loaded later. Backends are never unloaded. Thread-safe.
class Registry {
 public:
  Registry();

  // Loads a plugin. Throws NEF_BACKEND_UNAVAILABLE (cannot be opened, or its probe failed: then
  // it stays listed as absent) or NEF_ABI_MISMATCH.
  void load(const std::string& path);
  // Devices to plan for, the reference device last.
  std::vector<const plan::Device*> devices() const;
  const plan::Device& reference() const;
  // A snapshot of the list; the strings live as long as the process.
  std::vector<const DeviceRecord*> records() const;

 private:
  // `file`: of a plugin, else nullptr.
  void add(const nef_backend* table, const std::string* file);
  void add_absent(const std::string& backend, const std::string& reason);

  std::mutex add_mutex_;
  mutable std::mutex mutex_;
  std::deque<nef_backend> tables_;
  std::deque<plan::Device> devices_;
  std::deque<DeviceRecord> records_;
};

}  // namespace nef::context
