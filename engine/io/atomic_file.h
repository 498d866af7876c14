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
  // Flushes and syncs; after this only rename() is left, which rarely fails.
  void finish();
  void commit();

 private:
  void flush();
  std::string path_, temporary_;
  Fd fd_;
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
