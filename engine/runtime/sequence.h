// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/program.h"

namespace nef::runtime {

// A graph input that a step copies to a device which notes copies, or a graph output that one
// copies from there: a frame may keep `bytes` of pinned memory for it, at `offset`, so that the
// copy is the same in every run.
struct StagedCopy {
  uint32_t step, tensor, index;  // `tensor`: the copy's end on the host; `index`: of the graph's
  bool out;                      // output, or its input
  uint64_t offset = 0, bytes = 0;
};
// Those of a program that `backend` makes, in order of steps: memory that it pins is none that
// another one's devices reach.
std::vector<StagedCopy> find_staged_copies(const compile::Program& program,
                                           const nef_backend* backend);

// Steps [begin, end): launches on one device, and staged copies to and from it, that nothing
// interrupts. From the third run of a frame on they are queued as one.
struct Sequence {
  uint32_t begin, end;
  bool brings;  // outputs: it has been waited for once it has run
};

// The sequences of a program, in order. They read and write memory of a frame and constants only,
// so that what one run of a frame did can be done again as it was. `staged` is in order of steps.
std::vector<Sequence> find_sequences(const compile::Program& program,
                                     std::span<const StagedCopy> staged);

// What a backend noted of a sequence, for one frame. Owned by the frame; one thread at a time.
class Recorded {
 public:
  Recorded() = default;
  ~Recorded() { reset(); }
  Recorded(Recorded&& other) noexcept;
  Recorded& operator=(Recorded&&) = delete;

  // The first run warms up, the second is noted and then replayed; false = the caller launches the
  // steps itself. `launch(step)` launches one; what it throws while noting only ends the noting.
  template <typename Launch>
  bool run(const plan::Device& device, const Sequence& steps, const Launch& launch) {
    if (handle_ == nullptr && (!due() || !record(device, steps, launch))) return false;
    replay(steps.brings);
    return true;
  }
  void reset();
  // Copies to the host what the last run made there, on this device; false where its backend has
  // only copies that also wait for what other threads queued behind the run.
  bool copy(void* dst, const void* src, size_t bytes) const;
  bool on(const plan::Device& device) const { return device_ == &device; }

 private:
  bool due();
  void replay(bool waits) const;
  void begin(const plan::Device& device);
  void end();
  void abandon();

  template <typename Launch>
  bool record(const plan::Device& device, const Sequence& steps, const Launch& launch) {
    begin(device);
    if (device_ == nullptr) return false;
    try {
      for (uint32_t s = steps.begin; s < steps.end; ++s) launch(s);
    } catch (...) {
      abandon();
      return false;
    }
    end();
    return handle_ != nullptr;
  }

  const plan::Device* device_ = nullptr;
  nef_backend_recording* handle_ = nullptr;
  uint32_t runs_ = 0;
};

}  // namespace nef::runtime
