// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/region_desc.h"
#include "engine/context/context.h"
#include "engine/ir/error.h"

namespace nef::context {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

namespace {

// Memory that a kernel may take beside what it reads and writes.
constexpr size_t kMaxScratch = 32u << 20;

}  // namespace

bool evaluate_node(Context& context, const Graph& graph, NodeId node,
                   std::vector<std::shared_ptr<ir::Buffer>>* outputs) {
  for (uint32_t i = 0; i < graph.output_count(node); ++i) {
    if (!graph.is_static(graph.output(node, i))) return false;
  }
  const optimize::Regions regions = optimize::region_of_node(graph, node);
  compile::RegionDesc desc;
  desc.set(graph, regions, regions.list[0], NEF_PRECISION_EXACT);
  const plan::Device& device = context.registry().reference();

  // A node that cannot be computed (an index out of range, say) keeps its error for the run.
  try {
    std::vector<nef_backend_tensor> values;
    std::vector<std::shared_ptr<ir::Buffer>> made(graph.output_count(node));
    for (size_t i = 0; i < desc.values().size(); ++i) {
      const ValueId v = desc.values()[i].value;
      const nef_backend_value& abi = desc.view().values[i];
      void* data = nullptr;
      if (abi.kind == NEF_VALUE_OUTPUT) {
        std::shared_ptr<ir::Buffer>& out = made[v - graph.first_output(node)];
        out = ir::Buffer::allocate(static_cast<size_t>(
            ir::byte_count(abi.dtype, {abi.dims, static_cast<size_t>(abi.rank)})));
        data = out->data();
      } else {
        data = graph.constant_data(v)->data();
      }
      values.push_back({data, abi.dims});
    }
    const compile::Prepared prepared(context.kernels().get(device, desc), values);
    const size_t scratch = device.backend->scratch_bytes == nullptr
                               ? 0
                               : device.backend->scratch_bytes(prepared.handle(), values.data());
    if (scratch > kMaxScratch) return false;
    const auto memory = ir::Buffer::allocate(scratch);
    char message[256] = "";
    nef_backend_error err{message, sizeof message};
    if (device.backend->launch(prepared.handle(), nullptr, values.data(), memory->data(), &err) !=
        NEF_OK) {
      return false;
    }
    *outputs = std::move(made);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace nef::context
