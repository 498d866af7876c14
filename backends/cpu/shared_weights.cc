// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/shared_weights.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace nef::cpu {
namespace {

using Key = std::pair<const void*, std::string>;

struct Known {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const void>> weights;
  size_t sweep_at = 64;  // so many entries: those that nobody holds go
};
// Never destroyed: kernels may be released after the statics of this library.
Known& known() {
  static auto* table = new Known;
  return *table;
}

}  // namespace

std::shared_ptr<const void> find_shared_weights(const void* data, const std::string& how) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  const auto it = k.weights.find({data, how});
  return it == k.weights.end() ? nullptr : it->second.lock();
}

std::shared_ptr<const void> share_weights(const void* data, const std::string& how,
                                          std::shared_ptr<const void> packed) {
  Known& k = known();
  const std::lock_guard lock(k.mutex);
  if (k.weights.size() >= k.sweep_at) {
    std::erase_if(k.weights, [](const auto& entry) { return entry.second.expired(); });
    k.sweep_at = std::max<size_t>(64, 2 * k.weights.size());
  }
  std::weak_ptr<const void>& entry = k.weights[{data, how}];
  if (auto other = entry.lock()) return other;
  entry = packed;
  return packed;
}

}  // namespace nef::cpu
