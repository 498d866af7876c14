// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/io/file.h"

namespace nef::io {

// Where writers put their bytes.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::span<const std::byte> bytes) = 0;
};

// A file that appears under its name complete or not at all: written beside it, synced, renamed.
// Without commit() nothing remains.
class AtomicFile : public Sink {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile() override;
  void write(std::span<const std::byte> bytes) override;
  // Flushes and syncs; after this only the rename is left, which rarely fails.
  void finish();
  // Where the bytes are until then.
  const std::string& temporary() const { return temporary_; }
  void commit();
  // Commits two files that belong together, `first` before `second`: where the second cannot be
  // renamed, what the first has replaced comes back.
  static void commit_both(AtomicFile& first, AtomicFile& second);

 private:
  void flush();
  void rename();
  bool exchange();
  std::string path_, temporary_;
  Fd fd_;
  bool finished_ = false;
  std::string pending_;
};

class StringSink : public Sink {
 public:
  explicit StringSink(std::string& out) : out_(out) {}
  void write(std::span<const std::byte> bytes) override {
    out_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  std::string& out_;
};

}  // namespace nef::io
