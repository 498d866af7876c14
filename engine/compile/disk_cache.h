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
//
// Kernels are code, so the folder is this user's alone: it is made with mode 0700, and one that
// is a link, belongs to another user or can be written by others is refused. Only regular files
// with the name of an entry are read, counted or removed.
class DiskCache {
 public:
  // The folder is `root`, or `name` within it.
  explicit DiskCache(std::string root, const std::string& name = {});
  // Empty when there is no valid entry.
  std::vector<char> read(const std::string& key) const;
  void write(const std::string& key, const std::vector<char>& blob) const;
  // Why the last read or write refused the folder; empty when it did not.
  std::string refusal() const;

 private:
  static std::string name_of(const std::string& key);
  static void trim(int folder);
  int find_folder(std::string* why) const;
  int open_folder() const;
  const std::string root_, name_;
  mutable std::atomic<uint64_t> untrimmed_;  // bytes written since the folder was last looked at
  mutable std::atomic<bool> refused_{false};
};

}  // namespace nef::compile
