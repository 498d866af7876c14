// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace nef::compile {

// Blobs by key in a folder. Entries are written to a temporary file, synced and renamed, carry
// their whole key and a checksum, and are ignored when anything does not fit. A cache that
// cannot be read or written behaves like an empty one.
class DiskCache {
 public:
  explicit DiskCache(std::string directory);
  // Empty when there is no valid entry.
  std::vector<char> read(const std::string& key) const;
  void write(const std::string& key, const std::vector<char>& blob) const;

 private:
  std::string path_of(const std::string& key) const;
  void trim() const;
  std::string directory_;
  mutable std::atomic<uint64_t> untrimmed_;  // bytes written since the folder was last looked at
};

}  // namespace nef::compile
