// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "engine/compile/program.h"

namespace nef::runtime {

// The streams that a program uses beside the first one of each device, for one frame. One thread at
// a time.
class Streams {
 public:
  Streams() = default;
  ~Streams() { reset(); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  // Makes those that are not there yet. Throws what a backend says.
  void make(const compile::Program& program);
  // Waits for what is queued on them.
  void reset();
  // Null for the first stream of a device.
  nef_backend_stream* get(const compile::Step& step) const {
    return step.stream == 0 ? nullptr : find(step.device, step.stream);
  }
  // Makes streams of the step's device wait for each other, as `count` waits from `first` on say.
  void wait(const compile::Program& program, const compile::Step& step, uint32_t first,
            uint32_t count) const;
  // Makes a stream of the step's device wait for what another one holds.
  void follow(const compile::Program& program, const compile::Step& step, uint16_t stream,
              uint16_t other) const;
  // Queues a copy to pinned memory of the host.
  void copy(const compile::Program& program, const compile::Step& step, uint16_t stream, void* dst,
            const void* src, size_t bytes) const;
  // Until all that is queued on one of them is done. Throws what a backend says.
  void synchronize(uint16_t device, uint16_t stream) const;
  // Until all is done on all of them, whatever comes of it.
  void settle() const noexcept;

 private:
  struct Entry {
    const plan::Device* device;
    nef_backend_stream* handle;
  };
  nef_backend_stream* find(uint16_t device, uint16_t stream) const {
    return stream == 0 ? nullptr : by_device_[device][stream - 1u].handle;
  }
  std::vector<std::vector<Entry>> by_device_;
};

}  // namespace nef::runtime
