// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/costs.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "engine/compile/disk_cache.h"
#include "engine/ir/error.h"

namespace nef::compile {

namespace {

constexpr size_t kMessageBytes = 512;
constexpr char kMeasured[] = "measured";

// Two digits: what differs less is noise, and must not make other plans.
double rounded(double v) {
  const double unit = std::pow(10, std::floor(std::log10(v)) - 1);
  return std::round(v / unit) * unit;
}

bool sane(const plan::Costs& c) {
  const auto within = [](double v, double least, double most) { return v >= least && v <= most; };
  return within(c.launch_seconds, 1e-9, 1) && within(c.link_seconds, 1e-9, 1) &&
         within(c.link_bytes_per_second, 1e6, 1e15);
}

// The description names the driver.
std::string key_of(const plan::Device& d) {
  const auto text = [](const char* s) { return std::string(s == nullptr ? "" : s); };
  return cat("costs", '\0', d.backend->version, '\0', d.name, '\0', text(d.info.arch), '\0',
             text(d.info.description));
}

}  // namespace

CostCache::CostCache(std::string directory)
    : directory_(std::move(directory)), fixed_(std::getenv("NEF_STATED_COSTS") != nullptr) {}

const char* CostCache::never(const plan::Device& device) {
  if (device.host_memory()) return "it computes in host memory";
  if (device.backend->measure == nullptr) return "its backend measures nothing";
  return nullptr;
}

CostCache::Entry CostCache::stated(const plan::Device& device, const std::string& why) {
  return {plan::stated_costs(device), reasons_.insert("stated: " + why).first->c_str()};
}

CostCache::Entry CostCache::known(const plan::Device& device) {
  std::lock_guard lock(mutex_);
  if (const auto it = entries_.find(&device); it != entries_.end()) return it->second;
  if (const char* why = never(device)) return stated(device, why);
  plan::Costs costs;
  if (fixed_) return stated(device, "NEF_STATED_COSTS is set");
  if (read(device, &costs)) return {costs, kMeasured};
  return stated(device, "not measured yet");
}

CostCache::Entry CostCache::of(const plan::Device& device) {
  std::lock_guard lock(mutex_);
  if (const auto it = entries_.find(&device); it != entries_.end()) return it->second;
  const Entry entry = measure(device);
  entries_.emplace(&device, entry);
  return entry;
}

CostCache::Entry CostCache::measure(const plan::Device& device) {
  if (const char* why = never(device)) return stated(device, why);
  if (fixed_) return stated(device, "NEF_STATED_COSTS is set");
  plan::Costs costs;
  if (read(device, &costs)) return {costs, kMeasured};
  nef_backend_costs got{};
  got.struct_size = sizeof got;
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  {
    const auto lock = device.lock();
    if (device.backend->measure(device.index, &got, &err) != NEF_OK) {
      return stated(device, message[0] == '\0' ? "measuring failed without a reason" : message);
    }
  }
  costs = {got.launch_seconds, got.link_seconds, got.link_bytes_per_second};
  if (!sane(costs)) return stated(device, "what was measured makes no sense");
  costs = {rounded(costs.launch_seconds), rounded(costs.link_seconds),
           rounded(costs.link_bytes_per_second)};
  write(device, costs);
  return {costs, kMeasured};
}

bool CostCache::read(const plan::Device& device, plan::Costs* out) const {
  if (directory_.empty()) return false;
  const DiskCache disk(directory_, device.backend->name);
  const std::vector<char> blob = disk.read(key_of(device));
  if (blob.size() != sizeof *out) return false;
  std::memcpy(out, blob.data(), sizeof *out);
  return sane(*out);
}

void CostCache::write(const plan::Device& device, const plan::Costs& costs) const {
  if (directory_.empty()) return;
  const auto* bytes = reinterpret_cast<const char*>(&costs);
  const DiskCache disk(directory_, device.backend->name);
  disk.write(key_of(device), {bytes, bytes + sizeof costs});
}

}  // namespace nef::compile
