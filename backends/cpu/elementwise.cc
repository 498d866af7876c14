// SPDX-License-Identifier: Apache-2.0
// Runs tile programs: every elementwise region, a lone op included.
#include <algorithm>
#include <cstring>

#include "backends/cpu/broadcast.h"
#include "backends/cpu/device.h"
#include "backends/cpu/elementwise_program.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/operands.h"

namespace nef::cpu {
namespace {

constexpr size_t kArenaBytes = 64 * 1024;   // tiles of one thread, on its stack
constexpr size_t kSlotBytes = 48 * 1024;    // of these, for the slots of the program
constexpr int64_t kMaxTile = 512;           // elements
constexpr int64_t kMaxLargeTile = 192;      // where they are fetched ahead, in small bursts
constexpr int64_t kMaxUnfetchedTile = 96;   // where the processor does that by itself
constexpr int64_t kMaxPeriod = 1024;        // longest row kept as a repeated pattern
constexpr int64_t kRowTiling = 256;         // rows this long are tiled one by one
constexpr double kChunkNanoseconds = 30e3;  // least work worth another thread
constexpr double kReadNanoseconds = 0.45;   // of an element from memory, as the costs of ops count
constexpr size_t kStreamBytes = 8u << 20;   // outputs this large go past the caches,
constexpr size_t kAheadBytes = 3 * kMaxLargeTile * sizeof(float);  // and inputs come so early

// How an input meets the output's walk.
enum class Access : uint8_t { kDense, kPattern, kGather };

struct InputPlan {
  const char* data;
  Access access;
  int64_t period;         // kPattern: elements after which it repeats
  size_t pattern_offset;  // kPattern: its copy in the arena
};

// Inputs of which a step fetches later tiles while it computes: a burst of them would wait for
// itself. -1: none.
struct StepFetch {
  int input[kMaxFetches];
};

// One launch: shapes are known, nothing is written yet. Lives in the launch's scratch.
struct LaunchPlan {
  BroadcastShape shape;
  int64_t tile;  // elements
  int64_t row;   // elements after which tiles start anew
  int64_t tiles_per_row;
  int64_t tiles;
  size_t slot_bytes;
  char* out;
  bool large;  // more than the caches hold: prefetch, stream
};

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

class Launch {
 public:
  Launch(const TileProgram& program, const Operands& operands, const Tensor* values, void* scratch)
      : program_(program),
        inputs_(static_cast<InputPlan*>(scratch)),
        strides_(reinterpret_cast<BroadcastStrides*>(inputs_ + program.inputs.size())) {
    auto* shapes = reinterpret_cast<BroadcastInput*>(strides_ + program.inputs.size());
    for (size_t i = 0; i < program.inputs.size(); ++i) {
      const int v = program.inputs[i].value;
      inputs_[i].data = static_cast<const char*>(operands.data(v, values));
      shapes[i] = {values[v].dims, operands.region().values[static_cast<size_t>(v)].rank()};
    }
    fetches_ = reinterpret_cast<StepFetch*>(shapes + program.inputs.size());
    const Value& out = operands.region().values[static_cast<size_t>(program.output)];
    plan_.shape = merge_broadcast(values[program.output].dims, out.rank(), shapes,
                                  program.inputs.size(), strides_);
    plan_.out = static_cast<char*>(values[program.output].data);
    plan_tiles();
  }

  static size_t scratch_bytes(const TileProgram& program) {
    return program.inputs.size() *
               (sizeof(InputPlan) + sizeof(BroadcastStrides) + sizeof(BroadcastInput)) +
           program.steps.size() * sizeof(StepFetch);
  }

  void run() const {
    if (plan_.shape.count == 0) return;
    const double tile_cost =
        static_cast<double>(plan_.tile) * std::max(program_.nanoseconds_per_element, 0.05);
    const auto grain = static_cast<int64_t>(kChunkNanoseconds / tile_cost) + 1;
    parallel_for(plan_.tiles, grain, [this](int64_t begin, int64_t end) { run_tiles(begin, end); });
  }

 private:
  void plan_tiles() {
    const size_t slots = static_cast<size_t>(program_.slots);
    const int64_t count = plan_.shape.count;
    size_t dense = 0;
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      inputs_[i].access = is_dense(plan_.shape, strides_[i]) ? Access::kDense : Access::kGather;
      dense += inputs_[i].access == Access::kDense;
    }
    plan_.large = static_cast<size_t>(count) * program_.output_size >= kStreamBytes;
    plan_.tile = plan_.large && waits_for(dense) ? large_tile() : kMaxTile;
    while (slots * round_up(static_cast<size_t>(plan_.tile) * program_.max_element_size, 64) >
           kSlotBytes) {
      plan_.tile /= 2;
    }
    plan_.slot_bytes = round_up(static_cast<size_t>(plan_.tile) * program_.max_element_size, 64);
    size_t used = slots * plan_.slot_bytes;
    bool gathers = false;
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      if (inputs_[i].access != Access::kDense) plan_pattern(i, &used);
      gathers = gathers || inputs_[i].access == Access::kGather;
    }
    plan_.row = gathers && plan_.shape.inner() >= kRowTiling ? plan_.shape.inner() : count;
    plan_.tiles_per_row = plan_.row == 0 ? 0 : (plan_.row + plan_.tile - 1) / plan_.tile;
    plan_.tiles = plan_.row == 0 ? 0 : count / plan_.row * plan_.tiles_per_row;
    plan_fetches();
  }

  static bool fetches(const TileStep& step) { return step.fetches; }
  static int64_t large_tile() {
    return reads_ahead_by_itself() ? kMaxUnfetchedTile : kMaxLargeTile;
  }

  // Does the program compute less than it reads, and fetch that?
  bool waits_for(size_t inputs) const {
    return program_.nanoseconds_per_element < kReadNanoseconds * static_cast<double>(inputs) &&
           std::any_of(program_.steps.begin(), program_.steps.end(), fetches);
  }

  // Deals the inputs that are read in place evenly to the steps; what they cannot take is left to
  // the processor.
  void plan_fetches() {
    const auto is_fetched = [this](size_t i) {
      return plan_.large && inputs_[i].access == Access::kDense && !reads_ahead_by_itself();
    };
    size_t left = 0, input = 0;
    for (size_t i = 0; i < program_.inputs.size(); ++i) left += is_fetched(i);
    auto steps =
        static_cast<size_t>(std::count_if(program_.steps.begin(), program_.steps.end(), fetches));
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      std::fill_n(fetches_[s].input, kMaxFetches, -1);
      if (!program_.steps[s].fetches) continue;
      const size_t share = left / steps--;
      for (size_t k = 0; k < std::min(share, kMaxFetches); ++k, --left) {
        while (!is_fetched(input)) ++input;
        fetches_[s].input[k] = static_cast<int>(input++);
      }
    }
  }

  // Keeps input `i` as a pattern, where that serves and there is room.
  void plan_pattern(size_t i, size_t* used) {
    InputPlan& in = inputs_[i];
    const BroadcastShape& shape = plan_.shape;
    const BroadcastStrides& by = strides_[i];
    const int last = shape.rank - 1;
    if (!repeats_rows(by, last)) return;
    in.period = by.by[last] == 0 ? 1 : shape.inner();
    if (in.period > kMaxPeriod) return;
    const size_t bytes =
        round_up(static_cast<size_t>(in.period + plan_.tile) * program_.inputs[i].element_size, 64);
    if (*used + bytes > kArenaBytes) return;
    in.access = Access::kPattern;
    in.pattern_offset = *used;
    *used += bytes;
  }

  // Same walk as the output itself.
  static bool is_dense(const BroadcastShape& shape, const BroadcastStrides& by) {
    int64_t step = 1;
    for (int d = shape.rank - 1; d >= 0; --d) {
      if (by.by[d] != step) return false;
      step *= shape.dims[d];
    }
    return true;
  }
  // The innermost row over and over.
  static bool repeats_rows(const BroadcastStrides& by, int last) {
    return std::all_of(by.by, by.by + last, [](int64_t s) { return s == 0; });
  }

  void run_tiles(int64_t begin, int64_t end) const {
    alignas(64) char arena[kArenaBytes];
    const void* slots[kMaxTileSlots];
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const InputPlan& in = inputs_[i];
      if (in.access != Access::kPattern) continue;
      gather_tile(arena + in.pattern_offset, in.data, program_.inputs[i].element_size, plan_.shape,
                  strides_[i], 0, std::min(in.period + plan_.tile, plan_.shape.count));
    }
    int64_t row = begin / plan_.tiles_per_row * plan_.row;
    int64_t in_row = begin % plan_.tiles_per_row * plan_.tile;
    for (int64_t t = begin; t < end; ++t) {
      run_tile(arena, slots, row + in_row, std::min(plan_.tile, plan_.row - in_row));
      in_row += plan_.tile;
      if (in_row < plan_.row) continue;
      in_row = 0;
      row += plan_.row;
    }
    if (plan_.large) stream_fence();
  }

  void run_tile(char* arena, const void** slots, int64_t at, int64_t n) const {
    const TileStep* last = &program_.steps.back();
    char* out = plan_.out + static_cast<size_t>(at) * program_.output_size;
    const size_t bytes = static_cast<size_t>(n) * program_.output_size;
    const bool streams =
        plan_.large && bytes % 64 == 0 && reinterpret_cast<uintptr_t>(out) % 64 == 0;
    const StepFetch* fetch = fetches_;
    for (const TileStep& step : program_.steps) {
      char* slot = arena + static_cast<size_t>(step.out) * plan_.slot_bytes;
      if (step.fn == nullptr) {
        slots[step.out] = load(static_cast<size_t>(step.input), arena, slot, at, n);
        ++fetch;
        continue;
      }
      TileArgs args;
      args.out = &step == last && !streams ? out : slot;
      for (int k = 0; k < 3; ++k) args.in[k] = slots[step.in[k]];
      for (size_t k = 0; k < kMaxFetches && fetch->input[k] >= 0; ++k) {
        args.ahead[k] = address(fetch->input[k], at) + kAheadBytes;
      }
      ++fetch;
      args.n = static_cast<size_t>(n);
      args.p0 = step.p0;
      args.p1 = step.p1;
      step.fn(args);
      slots[step.out] = args.out;
    }
    if (streams) stream_copy(out, slots[last->out], bytes);
  }

  // Of element `at` of a dense input.
  uintptr_t address(int input, int64_t at) const {
    const auto i = static_cast<size_t>(input);
    return reinterpret_cast<uintptr_t>(inputs_[i].data) +
           static_cast<size_t>(at) * program_.inputs[i].element_size;
  }

  // The tile of an input: in place, in the pattern, or gathered into the slot.
  const void* load(size_t i, const char* arena, char* slot, int64_t at, int64_t n) const {
    const InputPlan& in = inputs_[i];
    const size_t size = program_.inputs[i].element_size;
    if (in.access == Access::kDense) return in.data + static_cast<size_t>(at) * size;
    if (in.access == Access::kPattern) {
      return arena + in.pattern_offset + static_cast<size_t>(at % in.period) * size;
    }
    const BroadcastShape& shape = plan_.shape;
    const BroadcastStrides& by = strides_[i];
    if (plan_.row == shape.inner() && shape.rank > 1) {
      const char* p = in.data + static_cast<size_t>(offset_of(by, at)) * size;
      if (by.by[shape.rank - 1] == 1) return p;
      fill_tile(slot, p, size, n);
      return slot;
    }
    gather_tile(slot, in.data, size, shape, by, at, n);
    return slot;
  }

  int64_t offset_of(const BroadcastStrides& by, int64_t at) const {
    int64_t offset = 0;
    for (int d = plan_.shape.rank - 1; d >= 0; --d) {
      offset += at % plan_.shape.dims[d] * by.by[d];
      at /= plan_.shape.dims[d];
    }
    return offset;
  }

  const TileProgram& program_;
  InputPlan* inputs_;
  BroadcastStrides* strides_;
  StepFetch* fetches_;  // one a step
  LaunchPlan plan_{};
};

class ElementwisePrepared final : public Prepared {
 public:
  ElementwisePrepared(std::shared_ptr<const TileProgram> program, Operands operands)
      : program_(std::move(program)), operands_(std::move(operands)) {}
  size_t scratch_bytes(const Tensor*) const override { return Launch::scratch_bytes(*program_); }
  void launch(const Tensor* values, void* scratch) const override {
    Launch(*program_, operands_, values, scratch).run();
  }

 private:
  std::shared_ptr<const TileProgram> program_;
  Operands operands_;
};

class ElementwiseKernel final : public Kernel {
 public:
  ElementwiseKernel(const Region& region, TileProgram program)
      : region_(std::make_shared<Region>(region)),
        program_(std::make_shared<TileProgram>(std::move(program))) {}

  const char* name() const override { return "tiles"; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<ElementwisePrepared>(program_, Operands(region_, values));
  }
  // Each tile is read before it is written, so a tensor of the very same layout may be both.
  bool in_place(int32_t input, int32_t output) const override {
    const Value& in = region_->values[static_cast<size_t>(input)];
    const Value& out = region_->values[static_cast<size_t>(output)];
    if (in.dtype != out.dtype || in.dims != out.dims) return false;
    const bool fixed = std::find(in.dims.begin(), in.dims.end(), NEF_DIM_UNKNOWN) == in.dims.end();
    return fixed || reads_only(input);
  }

 private:
  // With one input the shapes are equal even where they are not known yet.
  bool reads_only(int32_t input) const {
    return program_->inputs.size() == 1 && program_->inputs[0].value == input;
  }

  std::shared_ptr<const Region> region_;
  std::shared_ptr<const TileProgram> program_;
};

std::unique_ptr<Kernel> make_elementwise(const Region& region, std::string* why) {
  auto program = build_tile_program(region, why);
  if (!program) return nullptr;
  return std::make_unique<ElementwiseKernel>(region, std::move(*program));
}

}  // namespace

void register_elementwise() {
  for (nef_op op = 1; op < NEF_OP_COUNT_; ++op) {
    if (is_tile_op(op)) register_op(op, make_elementwise);
  }
  register_region(NEF_REGION_ELEMENTWISE, make_elementwise);
}

}  // namespace nef::cpu
