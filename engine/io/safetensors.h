// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/io/atomic_file.h"
#include "engine/io/file.h"
#include "engine/io/limits.h"
#include "engine/ir/buffer.h"
#include "engine/ir/dtype.h"

namespace nef::io {

struct StEntry {
  std::string name;
  std::string dtype_name;               // "F32", as in the file
  nef_dtype dtype = NEF_DTYPE_INVALID;  // INVALID: a dtype of the format that NEF has not
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // within the data section
};

// A safetensors file, fully validated before anything can be read from it. Immutable and
// thread-safe. Mapped read-only by default: a mapped file must not be truncated while in use
// (reads past its new end raise SIGBUS, as with any mapping); read it with Access::Copy where
// that can happen.
class SafeTensors {
 public:
  enum class Access { Map, Copy };

  static std::shared_ptr<const SafeTensors> open(const std::string& path,
                                                 Access access = Access::Map,
                                                 const Limits& limits = kLimits);
  // Same for a file that is already open; `label` names it in messages.
  static std::shared_ptr<const SafeTensors> open(const Fd& fd, const std::string& label,
                                                 Access access, const Limits& limits = kLimits);
  // The bytes are copied tensor by tensor as they are asked for, and must live until then.
  static std::shared_ptr<const SafeTensors> from_bytes(std::span<const std::byte> bytes,
                                                       const std::string& label,
                                                       const Limits& limits = kLimits);

  // In the order of their data.
  const std::vector<StEntry>& entries() const { return entries_; }
  const StEntry* find(std::string_view name) const;
  // Aligned for the dtype; a slice that keeps the file mapped, or a copy where the file is not
  // mapped or not aligned.
  std::shared_ptr<ir::Buffer> data(const StEntry& entry, bool* copied = nullptr) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::string& label() const { return label_; }

 private:
  SafeTensors() = default;
  void read_header(std::string_view header, uint64_t data_bytes, const Limits& limits);
  void check_layout(uint64_t data_bytes);

  std::string label_;
  std::vector<StEntry> entries_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::map<std::string, std::string> metadata_;
  std::shared_ptr<ir::Buffer> whole_;  // mapped, or read; empty when the bytes are the caller's
  const std::byte* data_ = nullptr;    // data section
};

// Do these first bytes of a file say that it is a safetensors container?
bool looks_like_safetensors(std::span<const std::byte> start, uint64_t file_bytes);

struct StTensor {
  std::string name;
  std::string dtype_name;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  const ir::Buffer* buffer = nullptr;  // of all of `data`; its pages are let go once written
};

const char* st_dtype_name(nef_dtype dtype);

// What no file may hold as the data of a tensor, for messages; nullptr when all is well.
const char* data_fault(nef_dtype dtype, const ir::Buffer& data);
// Why a tensor in a safetensors file cannot be called so; nullptr when it can.
const char* st_name_fault(std::string_view name);

// Prefix of names that the container keeps for itself: the graph, padding, caches.
constexpr std::string_view kReservedPrefix = "nef.";

// Writes tensors in the given order. Data starts at multiples of `alignment` (a power of two of
// at least 8) by U8 tensors "nef.pad.N" in between, as the format allows no holes. Same input,
// same bytes.
void write_safetensors(Sink& sink, std::span<const StTensor> tensors,
                       const std::map<std::string, std::string>& metadata, size_t alignment,
                       const Limits& limits = kLimits);

}  // namespace nef::io
