// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "engine/compile/program.h"
#include "engine/compile/support.h"
#include "engine/ir/buffer.h"
#include "engine/ir/error.h"

namespace nef::compile {

using ir::Graph;
using ir::NodeId;
using optimize::Region;
using optimize::Regions;

namespace {

using Ban = std::pair<uint16_t, NodeId>;  // device, root node of a region

// Places regions, asking backends what they serve.
class Placer {
 public:
  Placer(const Graph& graph, const Options& options, const Environment& env,
         const std::vector<uint16_t>& banned_devices)
      : graph_(graph), options_(options), env_(env), banned_devices_(banned_devices) {}

  void ban(uint16_t device, NodeId root, std::string why) {
    banned_regions_[{device, root}] = std::move(why);
  }

  plan::Placement place(Regions& regions) {
    plan::Placement placement = place_once(regions);
    // A fused group that its device refuses falls apart into its nodes, and all are placed anew.
    while (!placement.refused.empty()) {
      optimize::split_regions(graph_, placement.refused, regions);
      placement = place_once(regions);
    }
    return placement;
  }

 private:
  plan::Placement place_once(const Regions& regions) {
    plan::PlacementOptions o;
    o.device = options_.device;
    o.strict = options_.strict;
    o.ask = [&](size_t device, size_t r) {
      return ask(static_cast<uint16_t>(device), regions, regions.list[r]);
    };
    o.room = [&](size_t device) { return room(device); };
    if (env_.costs != nullptr) {
      o.costs = [&](size_t device) { return env_.costs->of(*env_.devices[device]).costs; };
    }
    return plan::place(graph_, regions, env_.devices, o);
  }

  plan::PlacementOptions::Answer ask(uint16_t device, const Regions& regions,
                                     const Region& region) const {
    static const std::string failed = "the device failed";
    if (!banned_devices_.empty() && std::find(banned_devices_.begin(), banned_devices_.end(),
                                              device) != banned_devices_.end()) {
      return {&failed, true};
    }
    if (!banned_regions_.empty()) {
      const auto it = banned_regions_.find({device, regions.root(region)});
      if (it != banned_regions_.end()) return {&it->second, true};
    }
    return {SupportCache::local().unserved(*env_.devices[device], graph_, regions, region,
                                           options_.precision),
            false};
  }

  // Asked once: kernels of this graph that are made already would be counted twice.
  uint64_t room(size_t device) {
    const auto [it, asked_now] = room_.emplace(device, 0);
    if (!asked_now) return it->second;
    const plan::Device& d = *env_.devices[device];
    const auto lock = d.lock();
    it->second = d.backend->memory_available != nullptr ? d.backend->memory_available(d.index)
                                                        : d.info.memory_bytes;
    return it->second;
  }

  const Graph& graph_;
  const Options& options_;
  const Environment& env_;
  const std::vector<uint16_t>& banned_devices_;
  std::map<Ban, std::string> banned_regions_;
  std::map<size_t, uint64_t> room_;  // per device
};

// The device that a program is asked onto, if it is.
const plan::Device* asked_device(const Options& options, const Environment& env) {
  const auto asked = [&](const plan::Device* d) {
    const bool kind = options.device == "cpu" && d->info.kind == NEF_DEVICE_CPU;
    return kind || options.device == d->name || options.device == d->backend->name;
  };
  const auto named = std::find_if(env.devices.begin(), env.devices.end(), asked);
  return named == env.devices.end() ? nullptr : *named;
}

// Do regions become chains? Not for a program that is asked onto a device which takes none.
bool chains(const Options& options, const Environment& env) {
  const uint32_t fuse = 1u << (optimize::passes().size() - 1);
  if ((options.disabled_passes & fuse) != 0) return false;
  const auto takes = [](const plan::Device* d) { return (d->info.flags & NEF_DEVICE_CHAINS) != 0; };
  if (const plan::Device* named = asked_device(options, env)) return takes(named);
  return std::any_of(env.devices.begin(), env.devices.end(), takes);
}

// Do products take in their views? Only a CPU may serve that: not where a program may run
// elsewhere.
bool views(const Options& options, const Environment& env) {
  const auto is_cpu = [](const plan::Device* d) { return d->info.kind == NEF_DEVICE_CPU; };
  if (const plan::Device* named = asked_device(options, env)) return is_cpu(named);
  return std::all_of(env.devices.begin(), env.devices.end(), is_cpu);
}

void optimise_graph(Graph& graph, const Options& options, const Environment& env,
                    optimize::Budget& budget) {
  optimize::Options o;
  o.budget = &budget;
  o.disabled = options.disabled_passes;
  o.evaluate = env.evaluate;
  o.verify = options.verify;
  o.slices_in_place = chains(options, env);
  optimize::optimise(graph, o);
}

Regions form_regions(const Graph& graph, const Options& options, const Environment& env) {
  const auto passes = optimize::passes();
  const bool fuse = (options.disabled_passes >> (passes.size() - 1) & 1u) == 0;
  if (!fuse) return optimize::single_node_regions(graph);
  Regions regions = optimize::fused_regions(graph);
  if (chains(options, env)) regions = optimize::chained_regions(graph, regions);
  return views(options, env) ? optimize::viewed_regions(graph, std::move(regions)) : regions;
}

std::shared_ptr<Kernel> compile_region(const Program& p, uint32_t r, const Environment& env,
                                       RegionDesc& desc) {
  desc.set(*p.graph, p.regions, p.regions.list[r], p.options.precision);
  return env.kernels->get(*p.devices[p.placement.device[r]], desc);
}

bool needs_no_kernel(plan::Reason reason) {
  return reason == plan::Reason::HostWork || reason == plan::Reason::View ||
         reason == plan::Reason::Blocks;
}

bool is_reference(const plan::Device& d) {
  return std::string_view(d.backend->name) == "reference";
}

// A region whose device could not make its kernel.
struct Failure {
  uint32_t region;
  nef_code code;
  std::string what, why;
};
Failure failure(const Program& p, uint32_t r, const char* stage, const Error& e) {
  const NodeId root = p.regions.root(p.regions.list[r]);
  return {r, e.code(), cat(stage, " of ", p.graph->node_label(root), " failed"), e.message()};
}

// What was made for a region; nothing of it depends on the other regions.
struct Made {
  std::shared_ptr<Kernel> kernel;
  std::unique_ptr<Prepared> prepared;
};

// Compiles every region where it was placed. Returns those that fail, up to the first one that
// lacks memory: there may be more of it once caches are evicted.
std::vector<Failure> compile_regions(const Program& p, const Environment& env,
                                     const optimize::Budget& budget, std::vector<Made>& made) {
  std::vector<Failure> failures;
  RegionDesc desc;
  for (uint32_t r = 0; r < made.size(); ++r) {
    budget.check_cancelled();
    if (made[r].kernel != nullptr || needs_no_kernel(p.placement.reason[r])) continue;
    try {
      made[r].kernel = compile_region(p, r, env, desc);
    } catch (const Error& e) {
      failures.push_back(failure(p, r, "compile", e));
      if (is_out_of_memory(e.code())) break;
    }
  }
  return failures;
}

// Binds the kernels to the constants. Returns the first region whose device has no room for its.
std::optional<Failure> prepare_kernels(const Program& p, optimize::Budget& budget,
                                       std::vector<Made>& made) {
  RegionDesc desc;
  for (uint32_t r = 0; r < made.size(); ++r) {
    budget.check_cancelled();
    if (made[r].kernel == nullptr || made[r].prepared != nullptr) continue;
    desc.set(*p.graph, p.regions, p.regions.list[r], p.options.precision);
    try {
      made[r].prepared = std::make_unique<Prepared>(made[r].kernel, constants_of(*p.graph, desc));
    } catch (const Error& e) {
      return failure(p, r, "preparation", e);
    }
    budget.add_packed(made[r].prepared->bytes());
  }
  return std::nullopt;
}

constexpr char kNotKept[] = "kernels are not kept on disk";

// Is that told already? Once will do for a program and its blocks.
bool knows_not_kept(const Program& p) {
  return std::any_of(p.events.begin(), p.events.end(),
                     [](const Event& e) { return e.what == kNotKept; });
}

// Makes kernels where regions were placed; what fails there goes elsewhere, and is an event.
class KernelMaker {
 public:
  KernelMaker(Program& program, Placer& placer, const Environment& env, optimize::Budget& budget)
      : p_(program), placer_(placer), env_(env), budget_(budget) {}

  void run() {
    for (std::vector<Failure> failures = attempt(); !failures.empty(); failures = attempt()) {
      for (const Failure& f : failures) reroute(f);
    }
    p_.prepared.clear();
    for (Made& m : made_) p_.prepared.push_back(std::move(m.prepared));
    for (const auto& [event, root] : rerouted_) p_.events[event].to = device_of(root);
    report_fallbacks();
  }

 private:
  std::vector<Failure> attempt() {
    keep_made();
    p_.placement = placer_.place(p_.regions);
    made_.resize(p_.regions.list.size());
    for (uint32_t r = 0; r < made_.size() && !kept_.empty(); ++r) {
      const auto it = kept_.find(identity(r));
      if (it != kept_.end()) made_[r] = std::move(it->second);
    }
    kept_.clear();
    std::vector<Failure> failures = compile_regions(p_, env_, budget_, made_);
    if (!failures.empty()) return failures;
    if (std::optional<Failure> f = prepare_kernels(p_, budget_, made_))
      failures.push_back(std::move(*f));
    return failures;
  }

  // A region of this graph on a device: root and size, as regions only ever fall apart.
  using Identity = std::tuple<NodeId, uint32_t, uint16_t>;
  Identity identity(uint32_t r) const {
    const Region& region = p_.regions.list[r];
    return {p_.regions.root(region), region.node_count, p_.placement.device[r]};
  }

  // After a failure elsewhere: weights that are packed need not be packed again.
  void keep_made() {
    for (uint32_t r = 0; r < made_.size(); ++r) {
      if (made_[r].kernel != nullptr) kept_.emplace(identity(r), std::move(made_[r]));
    }
    made_.clear();
  }

  void reroute(const Failure& f) {
    const uint16_t device = p_.placement.device[f.region];
    const NodeId root = p_.regions.root(p_.regions.list[f.region]);
    // The reference backend is the last resort: what it cannot compile, nothing can.
    if (is_reference(*p_.devices[device])) fail(f.code, "compile", f.why);
    if (p_.options.strict) {
      fail(NEF_FALLBACK_FORBIDDEN, "compile",
           cat(f.what, ": ", f.why, " (strict mode forbids a fallback)"));
    }
    const std::string& name = p_.devices[device]->name;
    if (is_out_of_memory(f.code) && !evicted_) {
      evicted_ = true;
      evict_caches(env_);
      p_.events.push_back({"out of memory", f.why, name, "the same device, after evicting caches"});
      return;
    }
    placer_.ban(device, root, f.why);
    rerouted_.push_back({p_.events.size(), root});
    p_.events.push_back({f.what, f.why, name, ""});
  }

  std::string device_of(NodeId root) const {
    for (uint32_t r = 0; r < p_.regions.list.size(); ++r) {
      const auto nodes = p_.regions.nodes_of(p_.regions.list[r]);
      if (std::find(nodes.begin(), nodes.end(), root) == nodes.end()) continue;
      return p_.devices[p_.placement.device[r]]->name;
    }
    return {};
  }

  void report_fallbacks() {
    if (std::string why = env_.kernels->refusal(); !why.empty()) {
      p_.events.push_back({kNotKept, std::move(why), "", ""});
    }
    for (const plan::Fallback& f : p_.placement.fallbacks) {
      if (p_.events.size() >= kMaxEvents) return;
      const NodeId root = p_.regions.root(p_.regions.list[f.region]);
      const bool known = std::any_of(rerouted_.begin(), rerouted_.end(),
                                     [root](const auto& x) { return x.second == root; });
      if (known) continue;
      p_.events.push_back({cat(p_.graph->node_label(root), " is not where it was asked to be"),
                           f.why, f.asked, p_.devices[p_.placement.device[f.region]]->name});
    }
  }

  static constexpr size_t kMaxEvents = 1000;
  Program& p_;
  Placer& placer_;
  const Environment& env_;
  optimize::Budget& budget_;
  bool evicted_ = false;
  std::vector<Made> made_;                           // per region
  std::map<Identity, Made> kept_;                    // of the attempt before
  std::vector<std::pair<size_t, NodeId>> rerouted_;  // event, root of its region
};

std::shared_ptr<Program> compile_within(std::shared_ptr<const Graph> graph, const Options& options,
                                        const Environment& env, const std::vector<uint16_t>& banned,
                                        optimize::Budget& budget);

// Blocks are programs of their own; recursion is bounded by how deep blocks are nested.
void compile_blocks(Program& p, const Environment& env, const std::vector<uint16_t>& banned,
                    optimize::Budget& budget) {
  if (!p.graph->has_blocks()) return;
  for (uint32_t r = 0; r < p.regions.list.size(); ++r) {
    for (const Graph::Block& block : p.graph->blocks(p.regions.root(p.regions.list[r]))) {
      auto compiled = compile_within(block, p.options, env, banned, budget);
      for (const Event& e : compiled->events) {
        if (e.what != kNotKept || !knows_not_kept(p)) p.events.push_back(e);
      }
      p.packed_bytes += compiled->packed_bytes;
      p.transfer_count += compiled->transfer_count;
      p.blocks[r].push_back(std::move(compiled));
    }
  }
}

}  // namespace

std::vector<nef_backend_tensor> constants_of(const Graph& graph, const RegionDesc& desc) {
  std::vector<nef_backend_tensor> values;
  for (size_t i = 0; i < desc.values().size(); ++i) {
    const nef_backend_value& v = desc.view().values[i];
    const bool constant = v.kind == NEF_VALUE_CONSTANT || v.kind == NEF_VALUE_LITERAL;
    values.push_back(
        {constant ? graph.constant_data(desc.values()[i].value)->data() : nullptr, v.dims});
  }
  return values;
}

bool is_out_of_memory(nef_code code) {
  return code == NEF_DEVICE_OUT_OF_MEMORY || code == NEF_OUT_OF_MEMORY;
}

void evict_caches(const Environment& env) {
  env.evict_arenas();
  env.kernels->evict();
  ir::free_kept_blocks();
  ir::free_spare_buffers();
  for (const plan::Device* d : env.devices) {
    const auto lock = d->lock();
    if (d->backend->evict != nullptr) d->backend->evict(d->index);
  }
}

Planned optimise_and_place(Graph graph, const Options& options, const Environment& env,
                           const std::vector<uint16_t>& banned) {
  Planned out;
  out.graph = std::move(graph);
  optimize::Budget budget(out.graph, options.memory_budget, nullptr);
  optimise_graph(out.graph, options, env, budget);
  out.regions = form_regions(out.graph, options, env);
  Placer placer(out.graph, options, env, banned);
  out.placement = placer.place(out.regions);
  return out;
}

namespace {

std::shared_ptr<Program> compile_within(std::shared_ptr<const Graph> graph, const Options& options,
                                        const Environment& env, const std::vector<uint16_t>& banned,
                                        optimize::Budget& budget) {
  auto p = std::make_shared<Program>();
  p->source = graph;
  p->options = options;
  p->devices = env.devices;
  {
    Graph optimised = *graph;
    optimise_graph(optimised, options, env, budget);
    p->graph = std::make_shared<const Graph>(std::move(optimised));
  }
  ir::free_spare_buffers();  // constants on the way to others: no run asks for their sizes
  p->regions = form_regions(*p->graph, options, env);
  Placer placer(*p->graph, p->options, env, banned);

  KernelMaker(*p, placer, env, budget).run();
  for (const auto& prepared : p->prepared) {
    if (prepared != nullptr) p->packed_bytes += prepared->bytes();
  }
  compile_blocks(*p, env, banned, budget);
  lower(*p);
  form_waves(*p);
  form_branches(*p);
  form_pieces(*p, env);
  for (Step& s : p->steps) {
    if (s.kind != Step::Kind::Launch && s.kind != Step::Kind::Size) continue;
    const NodeId root = p->regions.root(p->regions.list[s.region]);
    // Sizes that follow from shape inputs need no kernel.
    if (s.kind == Step::Kind::Size && !ir::spec(p->graph->op(root)).sized_by_data) continue;
    s.prepared = p->prepared[s.region].get();
    if (s.prepared == nullptr) {
      fail(NEF_INTERNAL, "compile", "a step has no kernel: placement and lowering disagree");
    }
  }
  return p;
}

}  // namespace

std::shared_ptr<const Program> compile(std::shared_ptr<const Graph> graph, Options options,
                                       const Environment& env, const std::vector<uint16_t>& banned,
                                       const std::atomic<bool>* cancel) {
  optimize::Budget budget(*graph, options.memory_budget, cancel);
  auto program = compile_within(std::move(graph), options, env, banned, budget);
  program->computed_bytes = budget.bytes();
  return program;
}

}  // namespace nef::compile
