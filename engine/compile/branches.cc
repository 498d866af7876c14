// SPDX-License-Identifier: Apache-2.0
// Steps of one device that do not depend on each other go to streams of their own.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/compile/program.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::compile {

namespace {

constexpr unsigned kMostStreams = 4;     // what NEF_GPU_STREAMS may ask for
constexpr uint32_t kMostSteps = 64;      // of a section: what they need lives as long as it
constexpr double kLeastSeconds = 2e-6;   // of any launch
constexpr double kFilledSeconds = 1e-5;  // a launch that takes longer fills the device by itself
constexpr double kBranchSeconds = 4e-6;  // of a stream that joins in: two events
constexpr double kTensorCores = 8;       // 16-bit products, beside float32

bool has_streams(const plan::Device& d) {
  const nef_backend& b = *d.backend;
  return !d.host_memory() && b.stream_create != nullptr && b.stream_destroy != nullptr &&
         b.stream_synchronize != nullptr && b.stream_wait != nullptr;
}

class Branches {
 public:
  Branches(Program& program, uint16_t streams) : p_(program), most_(streams) {
    find_dependencies();
  }

  void run() {
    const auto count = static_cast<uint32_t>(p_.steps.size());
    for (uint32_t s = 0; s < count;) {
      uint32_t end = s + 1;
      if (branches_off(s)) {
        while (end < count && branches_off(end) && p_.steps[end].device == p_.steps[s].device) {
          ++end;
        }
        split(s, end);
      }
      s = end;
    }
    if (!formed_) return;
    for (Slot& slot : p_.slots) {
      if (slot.kind != SlotKind::Arena) continue;
      slot.first = p_.wave[slot.first];
      slot.last = p_.wave[slot.last];
    }
  }

 private:
  static constexpr uint32_t kNone = ir::kNone;

  bool branches_off(uint32_t s) const {
    return p_.steps[s].kind == Step::Kind::Launch && has_streams(*p_.devices[p_.steps[s].device]);
  }

  // Which steps made what each reads, and who reads last what each makes.
  void find_dependencies() {
    std::vector<uint32_t> made(p_.slots.size(), kNone);
    before_.resize(p_.steps.size());
    last_reader_.assign(p_.steps.size(), 0);
    for (uint32_t s = 0; s < p_.steps.size(); ++s) {
      const Step& step = p_.steps[s];
      for (uint32_t i = 0; i < step.value_count; ++i) {
        const uint32_t slot = p_.step_values[step.first_value + i].slot;
        if (slot == kNone || writes(p_, step, i) || made[slot] == kNone) continue;
        before_[s].push_back(made[slot]);
        last_reader_[made[slot]] = s;
      }
      for (uint32_t i = 0; i < step.value_count; ++i) {
        const uint32_t slot = p_.step_values[step.first_value + i].slot;
        if (slot != kNone && writes(p_, step, i)) made[slot] = s;
      }
    }
  }

  // Cuts [begin, end) at the steps that all before them lead to and all after them come from: those
  // have nothing beside them.
  void split(uint32_t begin, uint32_t end) {
    std::vector<uint64_t> before(end -
                                 begin);  // per step: what leads to it, as bits from `first` on
    uint64_t alive = 0;                   // of the section, what somebody here reads
    uint32_t first = begin;
    for (uint32_t s = begin; s < end; ++s) {
      if (s - first == kMostSteps) {
        form(first, s);
        first = s;
        alive = 0;
      }
      uint64_t& bits = before[s - begin];
      bits = 0;
      for (uint32_t made : before_[s]) {
        if (made >= first) bits |= before[made - begin] | uint64_t{1} << (made - first);
      }
      if ((bits & alive) == alive && all_come_from(s, end)) {
        form(first, s);
        first = s + 1;
        alive = 0;
      } else if (last_reader_[s] > s && last_reader_[s] < end) {
        alive |= uint64_t{1} << (s - first);
      }
    }
    form(first, end);
  }

  // Do the next steps, as far as a section reaches?
  bool all_come_from(uint32_t s, uint32_t end) const {
    uint64_t come = 1;  // bits from s on
    for (uint32_t t = s + 1; t < std::min(end, s + kMostSteps); ++t) {
      const bool comes = std::any_of(before_[t].begin(), before_[t].end(), [&](uint32_t made) {
        return made >= s && (come >> (made - s) & 1) != 0;
      });
      if (!comes) return false;
      come |= uint64_t{1} << (t - s);
    }
    return true;
  }

  // Puts the steps of a section on streams, where that pays.
  void form(uint32_t begin, uint32_t end) {
    if (end - begin < 2) return;
    std::vector<uint16_t> stream(end - begin);
    std::vector<uint32_t> last;  // per stream: its last step
    std::vector<double> load;    // and the seconds of those that leave room for others
    for (uint32_t s = begin; s < end; ++s) {
      const uint16_t to = choose(s, begin, stream, last, load);
      if (to == last.size()) {
        last.push_back(s);
        load.push_back(0);
      }
      stream[s - begin] = to;
      last[to] = s;
      load[to] += overlapping_seconds(s);
    }
    const double sum = std::accumulate(load.begin(), load.end(), 0.0);
    const double gain = sum - *std::max_element(load.begin(), load.end());
    if (gain <= kBranchSeconds * static_cast<double>(last.size() - 1)) return;
    adopt(begin, end, stream, static_cast<uint16_t>(last.size()));
  }

  // Behind what it reads if that is the last step of a stream, else a new stream, else the one with
  // least to do.
  uint16_t choose(uint32_t s, uint32_t begin, const std::vector<uint16_t>& stream,
                  const std::vector<uint32_t>& last, const std::vector<double>& load) const {
    for (uint32_t made : before_[s]) {
      if (made >= begin && last[stream[made - begin]] == made) return stream[made - begin];
    }
    if (last.size() < most_) return static_cast<uint16_t>(last.size());
    return static_cast<uint16_t>(std::min_element(load.begin(), load.end()) - load.begin());
  }

  double overlapping_seconds(uint32_t s) const {
    const Step& step = p_.steps[s];
    const nef_backend_device& info = p_.devices[step.device]->info;
    const auto nodes = p_.regions.nodes_of(p_.regions.list[step.region]);
    double bytes = 0;
    for (uint32_t i = 0; i < step.value_count; ++i) {
      const StepValue& v = p_.step_values[step.first_value + i];
      if (v.slot != kNone) bytes += plan::value_bytes(*p_.graph, v.value);
    }
    const bool narrow = ir::dtype_size(p_.graph->dtype(p_.graph->output(nodes.back()))) <= 2;
    const double flops = info.flops_per_second * (narrow ? kTensorCores : 1);
    const double seconds =
        std::max({kLeastSeconds, plan::region_flops(*p_.graph, nodes) / std::max(1.0, flops),
                  bytes / std::max(1.0, info.bytes_per_second)});
    return seconds < kFilledSeconds ? seconds : 0;
  }

  void adopt(uint32_t begin, uint32_t end, const std::vector<uint16_t>& stream, uint16_t streams) {
    formed_ = true;
    const uint16_t device = p_.steps[begin].device;
    for (uint32_t s = begin; s < end; ++s) {
      Step& step = p_.steps[s];
      p_.wave[s] = p_.wave[begin];
      step.stream = stream[s - begin];
      step.first_wait = static_cast<uint32_t>(p_.waits.size());
      // All begin behind what came before the section, whichever step of theirs is the first.
      for (uint16_t k = 1; s == begin && k < streams; ++k) p_.waits.push_back({k, 0});
      for (uint32_t made : before_[s]) {
        if (made >= begin) wait(step.first_wait, step.stream, stream[made - begin]);
      }
      step.waits_before = static_cast<uint16_t>(p_.waits.size() - step.first_wait);
      for (uint16_t k = 1; s + 1 == end && k < streams; ++k) p_.waits.push_back({0, k});
      step.waits_after =
          static_cast<uint16_t>(p_.waits.size() - step.first_wait - step.waits_before);
    }
    if (p_.streams.size() < p_.devices.size()) p_.streams.resize(p_.devices.size(), 1);
    p_.streams[device] = std::max(p_.streams[device], streams);
  }
  void wait(uint32_t first, uint16_t stream, uint16_t other) {
    if (stream == other) return;
    const StreamWait w{stream, other};
    const auto known = [&](const StreamWait& x) { return x.stream == stream && x.other == other; };
    if (std::none_of(p_.waits.begin() + first, p_.waits.end(), known)) p_.waits.push_back(w);
  }

  Program& p_;
  const uint16_t most_;
  std::vector<std::vector<uint32_t>> before_;  // per step
  std::vector<uint32_t> last_reader_;          // per step; 0 = nobody
  bool formed_ = false;
};

}  // namespace

uint16_t most_streams(const Options& options) {
  const char* text = std::getenv("NEF_GPU_STREAMS");
  if (text == nullptr) return options.streams;
  unsigned n = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), n);
  if (error != std::errc() || *end != '\0' || n < 1 || n > kMostStreams) {
    fail(NEF_INVALID_ARGUMENT, "compile",
         cat("NEF_GPU_STREAMS is \"", text, "\", expected a number from 1 to ", kMostStreams));
  }
  return static_cast<uint16_t>(std::min<unsigned>(n, options.streams));
}

void form_branches(Program& p) {
  // Steps side by side on threads of the host share the first stream; late sizes move memory.
  if (p.options.parallel_branches > 1 || p.levels > 1) return;
  if (std::none_of(p.devices.begin(), p.devices.end(),
                   [](const plan::Device* d) { return has_streams(*d); })) {
    return;
  }
  const uint16_t streams = most_streams(p.options);
  if (streams > 1) Branches(p, streams).run();
}

}  // namespace nef::compile
