// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/ir/buffer.h"
#include "engine/ir/error.h"
#include "engine/runtime/binding.h"
#include "engine/runtime/memory_use.h"
#include "engine/runtime/sequence.h"
#include "engine/runtime/streams.h"
#include "engine/runtime/trace.h"

namespace nef::runtime {

// Where tensors without elements are, so that kernels may compute addresses.
alignas(64) inline constexpr char kNothing[64] = {};

// A tensor handed to a run: dense host memory.
struct TensorArg {
  nef_dtype dtype;
  std::span<const int64_t> dims;
  const void* data;
};
// A tensor a run made.
struct TensorResult {
  nef_dtype dtype;
  ir::Sizes dims;
  std::shared_ptr<ir::Buffer> data;
};

// What a run listens to and reports to; all optional.
struct RunControl {
  const std::atomic<bool>* cancel = nullptr;
  Trace* trace = nullptr;
  int32_t threads = 0;                // most threads, 0 = all of the pool
  uint64_t memory_budget = 0;         // bytes of each memory space, 0 = no limit
  std::shared_ptr<MemoryUse> memory;  // of the host; null without a budget
  // Told what was not to be had as it should be.
  const std::function<void(compile::Event)>* report = nullptr;
};

// Executes one compiled program: binds symbols (bindings are kept, least recently used go), and
// walks the step list on pooled frames. Nothing is looked up, hashed or allocated per step.
// Thread-safe.
class Executor {
 public:
  explicit Executor(std::shared_ptr<const compile::Program> program);
  ~Executor();

  // Throws NEF_INVALID_ARGUMENT, NEF_DTYPE_MISMATCH, NEF_SHAPE_MISMATCH, NEF_OUT_OF_RANGE for
  // inputs that do not fit, NEF_CANCELLED, (NEF_DEVICE_)OUT_OF_MEMORY, or what a backend says.
  void run(std::span<const TensorArg> inputs, std::span<TensorResult> outputs,
           const RunControl& control);

  const compile::Program& program() const { return *program_; }
  // Binding of a static program, or the most recent one; null when it never ran.
  std::shared_ptr<const Binding> current_binding() const;
  const Layout& layout() const { return layout_; }
  // Frees pooled arenas: of this program, of all programs of the process.
  void evict();
  static void evict_all();

 private:
  struct Arena {
    void* data = nullptr;
    uint64_t bytes = 0;
    bool pinned = false;  // by link_
  };
  // Memory that the blocks of one node use again in every iteration and every run.
  struct BlockState {
    std::vector<TensorArg> args;
    std::vector<TensorResult> results[2];             // of this iteration and the one before
    std::vector<std::shared_ptr<ir::Buffer>> slices;  // scanned values, where not contiguous
    std::vector<std::vector<int64_t>> shapes;         // of slices
  };
  // Memory and argument table of one execution at a time.
  struct Frame {
    std::shared_ptr<const Binding> binding;             // level 0
    std::vector<std::shared_ptr<const Binding>> later;  // levels from 1 on; null = not bound yet
    std::vector<Arena> arenas;                          // per level and space
    std::vector<nef_backend_tensor> tensors;            // per Program::step_values
    std::vector<void*> scratch;                         // per step
    std::vector<std::shared_ptr<ir::Buffer>> held;      // per Held slot; dropped when a run ends
    std::map<uint32_t, BlockState> blocks;              // by step
    std::vector<StagedCopy> staged;                     // those that fit, in `staging`
    Arena staging;
    std::vector<Sequence> sequences;
    std::vector<Recorded> recorded;      // per sequence, of these arenas
    const Recorded* replayed = nullptr;  // the last one, while the run has queued nothing behind it
    Streams streams;
    std::vector<nef_backend_tensor> piece;  // a launch's values, cut
    std::vector<int64_t> piece_dims;
    const Binding& bound(Level k) const { return k == 0 ? *binding : *later[k - 1]; }
  };
  // What one execution is about.
  struct Run {
    Frame& frame;
    std::span<const TensorArg> inputs;
    std::span<TensorResult> outputs;
    const RunControl& control;
    MemoryLease& arenas;  // of the host
  };
  class FrameLease;

  std::shared_ptr<const Binding> binding_for(std::span<const TensorArg> inputs);
  void check_input(size_t i, const TensorArg& arg) const;
  std::unique_ptr<Frame> acquire(const std::shared_ptr<const Binding>& binding,
                                 const RunControl& control);
  void give_back(std::unique_ptr<Frame> frame);
  static void check_budget(const Binding& binding, const RunControl& control);
  void reserve(Frame& frame, Level level, const RunControl& control) const;
  void stage_copies(Frame& frame, const RunControl& control) const;
  static void* place(const Arena& arena, uint64_t offset);
  void fill(Frame& frame, Level level) const;
  void fill_tensor(Frame& frame, uint32_t i) const;
  void fill_scratch(Frame& frame, uint32_t step) const;
  void patch(const Run& run, Level level) const;
  void make_output(const Run& run, size_t i, Level bound) const;
  void release_arenas(Frame& frame) const;
  void reallocate(const plan::Device& device, uint64_t bytes, Arena& arena,
                  const RunControl& control) const;
  bool pin(uint64_t bytes, Arena& arena, const RunControl& control) const;
  void release(const plan::Device& device, Arena& arena) const;
  void check_bound_dims(const Binding& binding, size_t i, const TensorArg& arg) const;
  void execute(const Run& run);
  void run_alone(const Run& run, uint32_t step);
  std::vector<ir::Sizes> find_sizes(const Run& run, uint32_t step) const;
  void adopt_sizes(const Run& run, const compile::Step& step, std::span<const ir::Sizes> sizes);
  void open_level(const Run& run, Level level, std::vector<int64_t> symbols);
  std::shared_ptr<const Binding> later_binding(const std::shared_ptr<const Binding>& before,
                                               Level level, std::vector<int64_t> symbols);
  std::vector<ir::Sizes> sizes_by_backend(const Frame& frame, uint32_t step) const;
  std::vector<ir::Sizes> sizes_by_inference(const Frame& frame, Level bound,
                                            const compile::Step& step) const;
  std::vector<int64_t> symbols_of(std::span<const ir::Sizes> sizes,
                                  const compile::Step& step) const;
  // In run_blocks.cc.
  class BlockRunner;
  std::vector<TensorResult> run_blocks(const Run& run, uint32_t step);
  void hold(const Run& run, const compile::Step& step, std::span<TensorResult> results);
  size_t copied_bytes(const Frame& frame, const compile::Step& step) const;
  void run_step(const Frame& frame, uint32_t step) const;
  [[noreturn]] void fail_launch(const compile::Step& step, nef_code code,
                                const char* message) const;
  // In run_pieces.cc.
  void cut(Frame& frame, const compile::InPieces& p, int64_t begin, int64_t end) const;
  bool goes_in_pieces(Frame& frame, const compile::InPieces& p) const;
  void run_pieces(Frame& frame, const compile::InPieces& p, const RunControl& control) const;
  void launch_piece(const Frame& frame, const compile::InPieces& p,
                    const compile::Step& launch) const;
  void note_copy(const Frame& frame, uint32_t step) const;
  void take_noted_outputs(const Frame& frame, const Sequence& steps) const;
  void run_sequence(Frame& frame, const Sequence& steps, Recorded& recorded) const;
  bool queues_nothing(const compile::Step& step) const;
  void walk(const Run& run);
  void wait_for(const Frame& frame, uint32_t step) const;
  void run_traced(const Frame& frame, uint32_t step, uint32_t lane,
                  const RunControl& control) const;
  void run_wave(const Frame& frame, uint32_t begin, uint32_t end, int32_t branches,
                const RunControl& control) const;

  static constexpr size_t kMessageBytes = 1024;  // of what a backend says of a failure
  static constexpr size_t kMaxBindings = 64;
  static constexpr size_t kMaxLaterBindings = 256;
  static constexpr size_t kMaxIdleFrames = 8;
  static constexpr uint64_t kMaxPinned = uint64_t{256} << 20;  // bytes of an arena
  static constexpr uint64_t kMaxStaged = uint64_t{64} << 10;   // larger ones go by themselves

  const std::shared_ptr<const compile::Program> program_;
  const Layout layout_;
  const plan::Device* const link_;  // pins host arenas that are copied to and from it; may be null
  const std::vector<StagedCopy> copies_to_stage_;
  mutable std::atomic<bool> unpinned_{false};  // it could not, and an event says so
  // Where graph inputs and outputs appear in Frame::tensors.
  struct Patch {
    uint32_t tensor, index;
  };
  struct Patches {
    std::vector<Patch> inputs, outputs;
    std::vector<uint32_t> made;  // graph outputs whose sizes are known from this level on
  };
  std::vector<Patches> patches_;                     // per level
  std::vector<uint32_t> foreign_bools_;              // graph outputs that a plugin may have made
  std::vector<std::vector<uint32_t>> held_tensors_;  // per Held slot: entries of Frame::tensors
  std::map<uint32_t, std::vector<std::unique_ptr<Executor>>> blocks_;  // by region

  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const Binding>> bindings_;  // most recent first
  std::list<std::shared_ptr<const Binding>> later_bindings_;
  std::vector<std::unique_ptr<Frame>> idle_;
};

}  // namespace nef::runtime
