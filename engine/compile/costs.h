// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "engine/plan/device.h"

namespace nef::compile {

// What launches and copies cost on each device: measured when a plan first asks, and kept on disk
// for the device and its driver; else what the device states. Plans of one cache are the same in
// every process. Thread-safe.
class CostCache {
 public:
  // `directory` "" = no disk cache.
  explicit CostCache(std::string directory);

  struct Entry {
    plan::Costs costs;
    const char* how;  // "measured", or "stated: " and why; lives as long as the cache
  };
  // What plans count with; measures where that has not been done.
  Entry of(const plan::Device& device);
  // What is known without measuring.
  Entry known(const plan::Device& device);

 private:
  // Of these devices nothing is measured; null = the device can be asked.
  static const char* never(const plan::Device& device);
  Entry measure(const plan::Device& device);
  bool read(const plan::Device& device, plan::Costs* out) const;
  void write(const plan::Device& device, const plan::Costs& costs) const;
  Entry stated(const plan::Device& device, const std::string& why);

  const std::string directory_;
  const bool fixed_;  // NEF_STATED_COSTS
  std::mutex mutex_;  // held while a device is measured: the others wait
  std::map<const plan::Device*, Entry> entries_;
  std::set<std::string> reasons_;
};

}  // namespace nef::compile
