// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/streams.h"

#include "engine/ir/error.h"

namespace nef::runtime {

namespace {

constexpr size_t kMessageBytes = 512;

// Calls a function of a backend's table, and throws what it says.
template <typename Call>
void must(const plan::Device& device, const Call& call) {
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = device.lock();
  const nef_code code = call(*device.backend, &err);
  if (code != NEF_OK) fail(code, "run", cat(device.name, ": ", message));
}

}  // namespace

void Streams::make(const compile::Program& p) {
  if (p.streams.empty()) return;
  by_device_.resize(p.devices.size());
  for (size_t d = 0; d < p.streams.size(); ++d) {
    const plan::Device& device = *p.devices[d];
    while (by_device_[d].size() + 1 < p.streams[d]) {
      nef_backend_stream* made = nullptr;
      must(device, [&](const nef_backend& b, nef_backend_error* err) {
        return b.stream_create(device.index, &made, err);
      });
      by_device_[d].push_back({&device, made});
    }
  }
}

void Streams::reset() {
  settle();
  for (const auto& entries : by_device_) {
    for (const Entry& e : entries) {
      const auto lock = e.device->lock();
      e.device->backend->stream_destroy(e.handle);
    }
  }
  by_device_.clear();
}

void Streams::wait(const compile::Program& p, const compile::Step& step, uint32_t first,
                   uint32_t count) const {
  for (uint32_t i = first; i < first + count; ++i) {
    follow(p, step, p.waits[i].stream, p.waits[i].other);
  }
}

void Streams::follow(const compile::Program& p, const compile::Step& step, uint16_t stream,
                     uint16_t other) const {
  const plan::Device& device = *p.devices[step.device];
  must(device, [&](const nef_backend& b, nef_backend_error* err) {
    return b.stream_wait(device.index, find(step.device, stream), find(step.device, other), err);
  });
}

void Streams::copy(const compile::Program& p, const compile::Step& step, uint16_t stream, void* dst,
                   const void* src, size_t bytes) const {
  const plan::Device& device = *p.devices[step.device];
  must(device, [&](const nef_backend& b, nef_backend_error* err) {
    return b.stream_copy(device.index, find(step.device, stream), dst, src, bytes, err);
  });
}

void Streams::synchronize(uint16_t device, uint16_t stream) const {
  const Entry& e = by_device_[device][stream - 1u];
  must(*e.device, [&](const nef_backend& b, nef_backend_error* err) {
    return b.stream_synchronize(e.handle, err);
  });
}

void Streams::settle() const noexcept {
  for (const auto& entries : by_device_) {
    for (const Entry& e : entries) {
      const auto lock = e.device->lock();
      e.device->backend->stream_synchronize(e.handle, nullptr);
    }
  }
}

}  // namespace nef::runtime
