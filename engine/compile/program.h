// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/compile/costs.h"
#include "engine/compile/kernel_cache.h"
#include "engine/ir/graph.h"
#include "engine/optimize/optimize.h"
#include "engine/optimize/regions.h"
#include "engine/plan/placement.h"

namespace nef::compile {

// A fallback that was taken: what happened to which thing, why, and where the work went.
struct Event {
  std::string what, why, from, to;
};

struct Options {
  nef_precision precision = NEF_PRECISION_EXACT;
  std::string device;  // "" = the planner's choice
  bool strict = false;
  int32_t parallel_branches = 1;  // most steps side by side
  uint16_t streams = 4;           // most streams of a device, its first one included
  uint32_t disabled_passes = 0;
  bool verify = false;         // check the graph after every pass, and each memory plan
  uint64_t memory_budget = 0;  // bytes of a run, 0 = no limit; computed constants count too
};

// Where a value lives while a program runs.
enum class SlotKind : uint8_t {
  Input,     // graph input `index`: the caller's memory
  Output,    // graph output `index`: fresh memory of the run
  Constant,  // constant of the graph (host memory)
  Shape,     // int64 elements that the runtime computes from dims
  Held,      // result number `index` of blocks: memory that a run keeps to its end
  Arena      // in the arena of `space`
};
struct Slot {
  ir::ValueId value;
  SlotKind kind;
  uint16_t space;        // 0 = host; else 1 + index of the device with its own memory
  uint32_t index;        // Input, Output: number; Shape, Held: number among those slots
  uint32_t first, last;  // waves during which it is needed
};

// How far a run has come when a size is known: 0 = when it starts; k = when the k-th step that
// finds sizes has run. Values, slots and scratch belong to the level of their sizes.
using Level = uint32_t;
constexpr Level kNoLevel = ir::kNone;

struct Step {
  enum class Kind : uint8_t {
    Launch,
    Copy,
    Blocks,  // runs the blocks of the region's node
    Size     // finds the dims of the region's outputs; the launch of the region, if any, follows
  };
  Kind kind;
  uint16_t device;           // index into Program::devices
  uint32_t region;           // Launch, Blocks, Size
  uint32_t first_value;      // into Program::step_values: one entry per region value (Size: shared
  uint32_t value_count;      // with the launch; of a view: its inputs, then its output);
                             // Copy: [from, to]; Blocks: all inputs of the node, all outputs
  const Prepared* prepared;  // Launch, and Size where the backend knows
  Level opens;               // the level whose sizes are known after it, 0 = none
  uint16_t stream = 0;       // of its device; 0 = the first
  // Into Program::waits: what streams wait for before this step is queued, and after.
  uint16_t waits_before = 0, waits_after = 0;
  uint32_t first_wait = 0;
  // Nothing runs beside it.
  bool alone() const { return kind == Kind::Size || kind == Kind::Blocks; }
};
// What is queued on `stream` from then on comes behind what `other` holds.
struct StreamWait {
  uint16_t stream, other;
};
struct StepValue {
  ir::ValueId value;  // for its dims
  uint32_t slot;      // ir::kNone for internal values
};

// A copy to the host, and the launch behind it, which reads what is copied row by row: both go in
// pieces, so that one computes while the next is on its way.
struct InPieces {
  uint32_t copy;           // step; the launch is the next one
  std::vector<bool> rows;  // per value of the launch: does it have the rows as its first axis?
  std::unique_ptr<Prepared> kernel;  // for any number of rows
};

// A graph made ready for the devices at hand. Immutable; shared by threads and runs.
struct Program {
  std::shared_ptr<const ir::Graph> source;  // as given
  std::shared_ptr<const ir::Graph> graph;   // optimised
  optimize::Regions regions;
  plan::Placement placement;
  std::vector<const plan::Device*> devices;
  Options options;
  std::vector<std::unique_ptr<Prepared>> prepared;  // per region; null for host work
  std::map<uint32_t, std::vector<std::shared_ptr<const Program>>> blocks;  // by region
  ir::Array<Step> steps;
  ir::Array<StepValue> step_values;
  ir::Array<Slot> slots;
  // Per expression of the graph's pool; empty when all are known at the start. kNoLevel = never.
  std::vector<Level> expr_level;
  Level levels = 1;
  ir::Array<uint32_t> wave;       // per step, ascending: steps of one wave may run side by side
  std::vector<uint16_t> streams;  // per device: how many its steps use; empty = one each
  std::vector<StreamWait> waits;
  std::vector<InPieces> in_pieces;  // in order
  std::vector<Event> events;        // fallbacks taken while compiling
  uint64_t packed_bytes = 0;
  uint64_t computed_bytes = 0;  // of constants that the optimiser made, in blocks too
  uint32_t transfer_count = 0;
};

// What compiling needs from the process.
struct Environment {
  std::vector<const plan::Device*> devices;  // reference last
  KernelCache* kernels;
  CostCache* costs = nullptr;  // null: devices cost what they state
  optimize::Evaluator evaluate;
  std::function<void()> evict_arenas;  // frees memory that programs keep for their next run
};

// Host or device memory?
bool is_out_of_memory(nef_code code);
// Drops memory kept for later runs, kernels that no program uses, and what backends cache.
void evict_caches(const Environment& env);

// Optimise, form regions, place, compile kernels, lower to steps. A region whose kernel cannot
// be made, for want of memory after caches were evicted too, is placed elsewhere; that is an
// event, and an error when options.strict. `banned` lists devices (indices) that must not be
// used. Throws NEF_CANCELLED soon after *cancel is set; it may be null.
std::shared_ptr<const Program> compile(std::shared_ptr<const ir::Graph> graph, Options options,
                                       const Environment& env,
                                       const std::vector<uint16_t>& banned = {},
                                       const std::atomic<bool>* cancel = nullptr);

// The parts of it, for benches and tests: everything up to placement.
struct Planned {
  ir::Graph graph;
  optimize::Regions regions;
  plan::Placement placement;
};
Planned optimise_and_place(ir::Graph graph, const Options& options, const Environment& env,
                           const std::vector<uint16_t>& banned = {});

// Orders regions into steps with explicit copies between memory spaces, and gives every value
// its slots. Where the sizes of a region's outputs are only known in a run, a step that finds them
// comes first.
void lower(Program& program);

// Says which steps may run side by side: each alone, or (Options::parallel_branches > 1) all that
// depend on the same earlier steps only; then steps are put in that order.
void form_waves(Program& program);

// Puts independent branches of a device's steps on streams of their own, where that pays and the
// backend has streams. A section is a few steps that begin when all before them are done on the
// first stream, and end there: it is one wave, so that none of its steps shares memory with what
// another one needs.
void form_branches(Program& program);

// Finds copies to the host that can go in pieces; after form_branches.
void form_pieces(Program& program, const Environment& env);
// Most streams of a device that a program uses: by its options, or fewer by NEF_GPU_STREAMS.
uint16_t most_streams(const Options& options);
// What a kernel is bound to: the data of a region's constants and literals.
std::vector<nef_backend_tensor> constants_of(const ir::Graph& graph, const RegionDesc& desc);

// Does the step write its i-th value? It reads all others.
bool writes(const Program& program, const Step& step, uint32_t i);

}  // namespace nef::compile
