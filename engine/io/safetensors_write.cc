// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "engine/io/json.h"
#include "engine/io/limits.h"
#include "engine/io/safetensors.h"
#include "engine/io/text.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

constexpr size_t kMaxAlignment = 4096;
constexpr std::byte kZeros[kMaxAlignment] = {};

// Tensors with padding tensors where the next one would not be aligned.
std::vector<StTensor> with_padding(std::span<const StTensor> tensors, size_t alignment) {
  std::vector<StTensor> out;
  uint64_t at = 0;
  size_t pads = 0;
  for (const StTensor& t : tensors) {
    const size_t gap = (alignment - at % alignment) % alignment;
    if (gap != 0 && !t.data.empty()) {
      out.push_back(
          {cat("nef.pad.", pads++), "U8", {static_cast<int64_t>(gap)}, {kZeros, gap}, nullptr});
      at += gap;
    }
    out.push_back(t);
    at += t.data.size();
  }
  return out;
}

void check_tensors(std::span<const StTensor> tensors, const Limits& limits) {
  if (tensors.size() > limits.container_tensors) {
    fail(NEF_LIMIT_EXCEEDED, "save",
         cat("the weights are ", tensors.size(),
             " tensors with what fills the space between them; "
             "one file holds at most ",
             limits.container_tensors));
  }
  for (const StTensor& t : tensors) {
    const char* fault = st_name_fault(t.name);
    if (fault == nullptr) continue;
    fail(NEF_INVALID_ARGUMENT, "save", cat("the name of tensor ", in_quotes(t.name), " ", fault));
  }
}

void append_entry(std::string& out, const StTensor& t, uint64_t begin) {
  append_json_string(out, t.name);
  out += ":{\"dtype\":\"" + t.dtype_name + "\",\"shape\":[";
  for (size_t i = 0; i < t.shape.size(); ++i) {
    if (i != 0) out += ',';
    out += std::to_string(t.shape[i]);
  }
  out += cat("],\"data_offsets\":[", begin, ",", begin + t.data.size(), "]}");
}

std::string header_text(std::span<const StTensor> tensors,
                        const std::map<std::string, std::string>& metadata, size_t alignment,
                        const Limits& limits) {
  std::string out = "{";
  if (!metadata.empty()) {
    out += "\"__metadata__\":{";
    bool first = true;
    for (const auto& [key, value] : metadata) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, key);
      out += ':';
      append_json_string(out, value);
    }
    out += '}';
  }
  uint64_t at = 0;
  for (const StTensor& t : tensors) {
    if (out.size() > 1) out += ',';
    append_entry(out, t, at);
    at += t.data.size();
  }
  out += '}';
  const size_t length_word = sizeof(uint64_t);
  while ((out.size() + length_word) % alignment != 0) out += ' ';
  if (out.size() > limits.header_bytes) {
    fail(NEF_LIMIT_EXCEEDED, "save",
         cat("the safetensors header needs ", out.size(), " bytes; at most ", limits.header_bytes,
             " are allowed"));
  }
  return out;
}

// Weights that are mapped from a file pass through without ever being in memory as a whole.
void write_data(Sink& sink, const StTensor& t) {
  constexpr size_t kPiece = size_t{16} << 20;
  if (t.buffer == nullptr || !t.buffer->mapped()) return sink.write(t.data);
  for (size_t at = 0; at < t.data.size(); at += kPiece) {
    const size_t bytes = std::min(kPiece, t.data.size() - at);
    sink.write(t.data.subspan(at, bytes));
    t.buffer->drop_pages(at, bytes);
  }
}

}  // namespace

void write_safetensors(Sink& sink, std::span<const StTensor> tensors,
                       const std::map<std::string, std::string>& metadata, size_t alignment,
                       const Limits& limits) {
  if (alignment < 8 || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    fail(NEF_INVALID_ARGUMENT, "save",
         cat("alignment ", alignment, " is not a power of two from 8 to ", kMaxAlignment));
  }
  const std::vector<StTensor> all = with_padding(tensors, alignment);
  check_tensors(all, limits);
  const std::string header = header_text(all, metadata, alignment, limits);
  const uint64_t length = header.size();
  sink.write(std::as_bytes(std::span(&length, 1)));
  sink.write(std::as_bytes(std::span(header)));
  for (const StTensor& t : all) write_data(sink, t);
}

}  // namespace nef::io
