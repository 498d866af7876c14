// SPDX-License-Identifier: Apache-2.0
// Any bytes as a safetensors file, from memory and through a mapping: refused with an Error, or
// every tensor can be read, and what is written from them reads the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <span>

#include "engine/io/safetensors.h"
#include "engine/ir/error.h"
#include "tests/fuzz/fuzz_counts.h"

namespace {

using nef::fuzz::require;
using nef::io::SafeTensors;
using nef::io::StEntry;
using nef::io::StTensor;

nef::fuzz::Counts counts;

// The header is well formed JSON when anything but its text was the reason for a refusal.
bool past_parsing(const nef::Error& e) { return e.message().find("at byte ") == std::string::npos; }

std::shared_ptr<const SafeTensors> read(std::span<const std::byte> bytes) {
  try {
    auto st = SafeTensors::from_bytes(bytes, "fuzz");
    ++counts.past_parsing;
    ++counts.accepted;
    return st;
  } catch (const nef::Error& e) {
    require(e.code() != NEF_INTERNAL && !e.message().empty(), "an error says what is wrong");
    if (past_parsing(e)) ++counts.past_parsing;
    return nullptr;
  }
}

std::shared_ptr<const SafeTensors> map(std::span<const std::byte> bytes) {
  const nef::io::Fd fd(::memfd_create("fuzz", MFD_CLOEXEC));
  require(fd.get() >= 0, "memfd_create works");
  require(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "memory can be written");
  return SafeTensors::open(fd, "fuzz", SafeTensors::Access::Map);
}

void rewrite(const SafeTensors& st) {
  std::vector<StTensor> tensors;
  std::vector<std::shared_ptr<nef::ir::Buffer>> buffers;
  for (const StEntry& e : st.entries()) {
    if (e.name.starts_with(nef::io::kReservedPrefix)) return;
    buffers.push_back(st.data(e));
    tensors.push_back(
        {e.name,
         e.dtype_name,
         e.shape,
         {static_cast<const std::byte*>(buffers.back()->data()), buffers.back()->bytes()}});
  }
  std::string out;
  nef::io::StringSink sink(out);
  nef::io::write_safetensors(sink, tensors, st.metadata(), 64);
  const auto back = SafeTensors::from_bytes(std::as_bytes(std::span(out)), "again");
  require(back->metadata() == st.metadata(), "metadata survives");
  for (size_t i = 0; i < tensors.size(); ++i) {
    const StEntry* e = back->find(tensors[i].name);
    require(e != nullptr && e->shape == tensors[i].shape, "tensors survive");
    const auto data = back->data(*e);
    require(data->bytes() == buffers[i]->bytes(), "sizes survive");
    require(data->bytes() == 0 || std::memcmp(data->data(), buffers[i]->data(), data->bytes()) == 0,
            "bytes survive");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ++counts.runs;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto st = read(bytes);
  if (!st) return 0;
  rewrite(*st);
  const auto mapped = map(bytes);
  for (const StEntry& e : mapped->entries()) {
    const auto buffer = mapped->data(e);
    const auto* p = static_cast<const volatile uint8_t*>(buffer->data());
    if (buffer->bytes() > 0) static_cast<void>(p[0] + p[buffer->bytes() - 1]);
  }
  return 0;
}
