// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan: their blocks are programs that this one runs, iteration by iteration.
#include <algorithm>
#include <cstring>

#include "engine/ir/blocks.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/runtime/executor.h"

namespace nef::runtime {

using compile::Step;
using ir::ValueId;

namespace {

// What is reserved for stacked values at first, when the number of iterations is known.
constexpr int64_t kMaxReserve = int64_t{64} << 20;

// Parts of one type put together along an axis that is new.
class Stack {
 public:
  Stack(nef_dtype dtype, size_t axis, bool backwards, std::shared_ptr<MemoryUse> memory)
      : dtype_(dtype), axis_(axis), backwards_(backwards), memory_(std::move(memory)) {}

  // `expected` parts are to come, -1 = unknown.
  void add(const TensorResult& part, int64_t expected, const char* op) {
    if (count_ == 0) {
      start(part, expected);
    } else if (!(part.dims == dims_)) {
      fail(NEF_SHAPE_MISMATCH, op,
           "what its block gives to be stacked has another shape than in the first iteration");
    }
    if (count_ == capacity_) grow(2 * capacity_);
    std::memcpy(static_cast<char*>(data_->data()) + static_cast<size_t>(count_) * part_,
                part.data->data(), part_);
    ++count_;
  }

  // The whole, with `empty_dims` when there was no part.
  TensorResult take(std::span<const int64_t> empty_dims) {
    TensorResult out;
    out.dtype = dtype_;
    if (count_ == 0) {
      out.dims.assign(empty_dims);
      out.data = fresh(static_cast<size_t>(ir::byte_count(dtype_, out.dims)));
      return out;
    }
    const auto inner = dims_.view();
    out.dims.assign(inner.first(axis_));
    out.dims.push(count_);
    for (int64_t d : inner.subspan(axis_)) out.dims.push(d);
    if (axis_ == 0 && !backwards_ && count_ == capacity_) {
      out.data = std::move(data_);
    } else {
      out.data = fresh(static_cast<size_t>(ir::byte_count(dtype_, out.dims)));
      place(*out.data);
    }
    return out;
  }

 private:
  void start(const TensorResult& part, int64_t expected) {
    dims_ = part.dims;
    part_ = part.data->bytes();
    const auto most = kMaxReserve / static_cast<int64_t>(std::max<size_t>(1, part_));
    capacity_ = expected > 0 && expected <= most ? expected : 1;
    data_ = fresh(static_cast<size_t>(capacity_) * part_);
  }

  std::shared_ptr<ir::Buffer> fresh(size_t bytes) const {
    return allocate(memory_, bytes, "stacked results");
  }

  void grow(int64_t capacity) {
    auto larger = fresh(static_cast<size_t>(capacity) * part_);
    std::memcpy(larger->data(), data_->data(), static_cast<size_t>(count_) * part_);
    data_ = std::move(larger);
    capacity_ = capacity;
  }

  void place(ir::Buffer& out) const {
    size_t outer = 1;
    for (size_t i = 0; i < axis_; ++i) outer *= static_cast<size_t>(dims_[i]);
    if (part_ == 0) return;
    const size_t inner = part_ / outer, n = static_cast<size_t>(count_);
    const char* from = static_cast<const char*>(data_->data());
    char* to = static_cast<char*>(out.data());
    for (size_t k = 0; k < n; ++k) {
      const size_t at = backwards_ ? n - 1 - k : k;
      for (size_t o = 0; o < outer; ++o) {
        std::memcpy(to + (o * n + at) * inner, from + k * part_ + o * inner, inner);
      }
    }
  }

  const nef_dtype dtype_;
  const size_t axis_;
  const bool backwards_;
  const std::shared_ptr<MemoryUse> memory_;
  ir::Sizes dims_;   // of a part
  size_t part_ = 0;  // its bytes
  std::shared_ptr<ir::Buffer> data_;
  int64_t count_ = 0, capacity_ = 0;
};

}  // namespace

class Executor::BlockRunner {
 public:
  BlockRunner(Executor& executor, const Run& run, uint32_t index)
      : executor_(executor),
        run_(run),
        step_(executor.program_->steps[index]),
        graph_(*executor.program_->graph),
        node_(executor.program_->regions.root(executor.program_->regions.list[step_.region])),
        op_(graph_.op(node_)),
        blocks_(executor.blocks_.at(step_.region)),
        state_(run.frame.blocks[index]),
        layout_(ir::block_layout(op_, graph_.attrs(node_), graph_.inputs(node_).size(),
                                 graph_.blocks(node_))) {}

  std::vector<TensorResult> run() {
    if (op_ == NEF_OP_IF) return run_if();
    return op_ == NEF_OP_LOOP ? run_loop() : run_scan();
  }

 private:
  const char* name() const { return ir::spec(op_).snake; }
  const nef_backend_tensor& tensor(size_t input) const {
    return run_.frame.tensors[step_.first_value + input];
  }
  bool has(size_t input) const { return graph_.inputs(node_)[input] != ir::kNone; }

  TensorArg arg(size_t input) const {
    const ValueId v = graph_.inputs(node_)[input];
    return {graph_.dtype(v), {tensor(input).dims, graph_.rank(v)}, tensor(input).data};
  }

  template <typename T>
  T scalar(size_t input) const {
    const TensorArg a = arg(input);
    if (ir::element_count(a.dims) != 1) {
      fail(NEF_SHAPE_MISMATCH, name(),
           cat(graph_.node_label(node_), ": input ", input, " must be one element"));
    }
    T out;
    std::memcpy(&out, a.data, sizeof out);
    return out;
  }

  void call(size_t block, std::vector<TensorResult>& results) {
    const RunControl& control = run_.control;
    Executor& executor = *blocks_[block];
    results.resize(executor.program_->graph->graph_outputs().size());
    if (control.trace == nullptr || control.trace->nested.size() >= Trace::kMaxNested) {
      RunControl plain = control;
      plain.trace = nullptr;
      return executor.run(state_.args, results, plain);
    }
    Trace trace;
    RunControl nested = control;
    nested.trace = &trace;
    executor.run(state_.args, results, nested);
    control.trace->nested.push_back(std::move(trace));
  }

  void check_cancelled(int64_t iteration) const {
    const std::atomic<bool>* cancel = run_.control.cancel;
    if (cancel == nullptr || !cancel->load(std::memory_order_relaxed)) return;
    fail(NEF_CANCELLED, "run", cat("cancelled before iteration ", iteration, " of ", name()));
  }

  std::vector<TensorResult> run_if() {
    state_.args.clear();
    for (size_t i = 1; i < graph_.inputs(node_).size(); ++i) state_.args.push_back(arg(i));
    std::vector<TensorResult> results;
    call(scalar<uint8_t>(0) != 0 ? 0 : 1, results);
    return results;
  }

  // Arguments of the first iteration; slices are set in each.
  void first_args(std::initializer_list<TensorArg> own) {
    state_.args.assign(own.begin(), own.end());
    const size_t n = graph_.inputs(node_).size();
    for (size_t i = layout_.node_first; i < n; ++i) state_.args.push_back(arg(i));
  }

  std::vector<Stack> stacks() const {
    const ir::Graph& block = *graph_.blocks(node_)[0];
    std::vector<Stack> out;
    for (size_t i = 0; i < layout_.stacked; ++i) {
      const ValueId v = block.graph_outputs()[layout_.block_first_out + layout_.carried + i];
      const size_t axis =
          ir::scan_axis(op_, graph_.attrs(node_), NEF_SCAN_SCAN_OUTPUT_AXES, i, block.rank(v) + 1);
      out.emplace_back(
          block.dtype(v), axis,
          ir::scan_backwards(op_, graph_.attrs(node_), NEF_SCAN_SCAN_OUTPUT_DIRECTIONS, i),
          run_.control.memory);
    }
    return out;
  }

  // Results of one iteration become arguments of the next, and parts of what is stacked.
  void hand_on(std::vector<TensorResult>& results, std::vector<Stack>& stacks, int64_t expected) {
    const size_t first = layout_.block_first_out;
    for (size_t i = 0; i < layout_.carried; ++i) {
      const TensorResult& r = results[first + i];
      state_.args[layout_.block_first + i] = {r.dtype, r.dims, r.data->data()};
    }
    for (size_t i = 0; i < stacks.size(); ++i) {
      stacks[i].add(results[first + layout_.carried + i], expected, name());
    }
  }

  std::vector<TensorResult> finish(int64_t iterations, std::vector<Stack>& stacks) {
    std::vector<TensorResult> out;
    for (size_t i = 0; i < layout_.carried; ++i) {
      const TensorArg& last = state_.args[layout_.block_first + i];
      TensorResult r{last.dtype, ir::Sizes(last.dims), nullptr};
      if (iterations > 0) {
        r.data = state_.results[(iterations - 1) & 1][layout_.block_first_out + i].data;
      } else {
        r.data = allocate(run_.control.memory, static_cast<size_t>(ir::byte_count(r.dtype, r.dims)),
                          "a result");
        if (r.data->bytes() != 0) std::memcpy(r.data->data(), last.data, r.data->bytes());
      }
      out.push_back(std::move(r));
    }
    for (size_t i = 0; i < stacks.size(); ++i) {
      out.push_back(stacks[i].take(empty_dims(layout_.carried + i)));
    }
    return out;
  }

  // Shape of a stack without parts: what the types tell, the least there can be where they do not.
  std::vector<int64_t> empty_dims(size_t output) const {
    const ValueId v = graph_.output(node_, static_cast<uint32_t>(output));
    const Layout& layout = executor_.layout_;
    const Level known = step_.opens == 0 ? layout.level(v) : step_.opens - 1;
    const Binding& binding = run_.frame.bound(known);
    if (layout.level(v) <= known) {
      const auto bound = layout.dims(binding, known, v);
      return {bound.begin(), bound.end()};
    }
    std::vector<int64_t> out;
    for (ir::Dim d : graph_.dims(v)) {
      const int64_t n = ir::DimPool::value(d, binding.exprs);
      out.push_back(n < 0 ? std::max<int64_t>(0, graph_.pool().lower(d)) : n);
    }
    return out;
  }

  std::vector<TensorResult> run_loop() {
    const int64_t trips = has(0) ? std::max<int64_t>(0, scalar<int64_t>(0)) : INT64_MAX;
    uint8_t condition = !has(1) || scalar<uint8_t>(1) != 0 ? 1 : 0;
    int64_t k = 0;
    // Shapes of these two as the block wants them.
    int64_t one[NEF_MAX_RANK];
    std::fill(one, one + NEF_MAX_RANK, 1);
    const ir::Graph& block = *graph_.blocks(node_)[0];
    const auto dims_of = [&](size_t i) {
      return std::span<const int64_t>(one, block.rank(block.graph_inputs()[i]));
    };
    first_args({{NEF_INT64, dims_of(0), &k}, {NEF_BOOL, dims_of(1), &condition}});
    std::vector<Stack> stacked = stacks();
    for (; k < trips && condition != 0; ++k) {
      check_cancelled(k);
      std::vector<TensorResult>& results = state_.results[k & 1];
      call(0, results);
      if (results[0].data->bytes() != 1) {
        fail(NEF_SHAPE_MISMATCH, name(), "the condition that its block gives is not one element");
      }
      std::memcpy(&condition, results[0].data->data(), 1);
      hand_on(results, stacked, has(0) ? trips : -1);
    }
    return finish(k, stacked);
  }

  // ---- Scan

  struct Slices {
    TensorArg whole;
    size_t axis;
    bool backwards;
    int64_t length;
    size_t outer, inner;  // slices before the axis, bytes behind it
  };

  std::vector<Slices> scanned() {
    std::vector<Slices> out;
    state_.slices.resize(layout_.scanned);
    state_.shapes.resize(layout_.scanned);
    for (size_t i = 0; i < layout_.scanned; ++i) {
      Slices s;
      s.whole = arg(layout_.carried + i);
      s.axis =
          ir::scan_axis(op_, graph_.attrs(node_), NEF_SCAN_SCAN_INPUT_AXES, i, s.whole.dims.size());
      s.backwards = ir::scan_backwards(op_, graph_.attrs(node_), NEF_SCAN_SCAN_INPUT_DIRECTIONS, i);
      s.length = s.whole.dims[s.axis];
      s.outer = 1;
      s.inner = ir::dtype_size(s.whole.dtype);
      state_.shapes[i].clear();
      for (size_t d = 0; d < s.whole.dims.size(); ++d) {
        if (d == s.axis) continue;
        (d < s.axis ? s.outer : s.inner) *= static_cast<size_t>(s.whole.dims[d]);
        state_.shapes[i].push_back(s.whole.dims[d]);
      }
      const size_t slice = s.outer * s.inner;
      std::shared_ptr<ir::Buffer>& room = state_.slices[i];
      if (s.outer > 1 && (room == nullptr || room->bytes() != slice)) {
        room = allocate(run_.control.memory, slice, "a slice");
      }
      if (!out.empty() && out[0].length != s.length) {
        fail(NEF_SHAPE_MISMATCH, name(),
             cat(graph_.node_label(node_), ": scan inputs have ", out[0].length, " and ", s.length,
                 " slices"));
      }
      out.push_back(s);
    }
    return out;
  }

  void cut(const Slices& s, size_t i, int64_t k) {
    const auto at = static_cast<size_t>(s.backwards ? s.length - 1 - k : k);
    const char* from = static_cast<const char*>(s.whole.data);
    const void* data = from + at * s.inner;
    if (s.outer > 1) {
      for (size_t o = 0; o < s.outer; ++o) {
        std::memcpy(static_cast<char*>(state_.slices[i]->data()) + o * s.inner,
                    from + (o * static_cast<size_t>(s.length) + at) * s.inner, s.inner);
      }
      data = state_.slices[i]->data();
    }
    state_.args[layout_.carried + i] = {s.whole.dtype, state_.shapes[i], data};
  }

  std::vector<TensorResult> run_scan() {
    first_args({});
    const std::vector<Slices> inputs = scanned();
    std::vector<Stack> stacked = stacks();
    const int64_t length = inputs[0].length;
    for (int64_t k = 0; k < length; ++k) {
      check_cancelled(k);
      for (size_t i = 0; i < inputs.size(); ++i) cut(inputs[i], i, k);
      std::vector<TensorResult>& results = state_.results[k & 1];
      call(0, results);
      hand_on(results, stacked, length);
    }
    return finish(length, stacked);
  }

  Executor& executor_;
  const Run& run_;
  const Step& step_;
  const ir::Graph& graph_;
  const ir::NodeId node_;
  const nef_op op_;
  std::vector<std::unique_ptr<Executor>>& blocks_;
  BlockState& state_;
  const ir::BlockLayout layout_;
};

std::vector<TensorResult> Executor::run_blocks(const Run& run, uint32_t step) {
  return BlockRunner(*this, run, step).run();
}

// Results live as long as the run; whoever reads them finds them in the argument table.
void Executor::hold(const Run& run, const Step& step, std::span<TensorResult> results) {
  const uint32_t first =
      step.first_value + step.value_count - static_cast<uint32_t>(results.size());
  for (uint32_t i = 0; i < results.size(); ++i) {
    const uint32_t s = program_->step_values[first + i].slot;
    if (s == ir::kNone) continue;
    const uint32_t held = program_->slots[s].index;
    run.frame.held[held] = std::move(results[i].data);
    for (uint32_t t : held_tensors_[held]) {
      run.frame.tensors[t].data = run.frame.held[held]->data();
    }
  }
}

}  // namespace nef::runtime
