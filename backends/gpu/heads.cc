// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/heads.h"

namespace nef::gpu {

// The axis of entry i of the starts.
int RowSlice::axis(const Values& values, int64_t i) const {
  const int rank = values.region().values[static_cast<size_t>(source())].rank();
  return front_axis(node_.has_input(3) ? values.host_int(node_.inputs[3], i) : i, rank);
}

std::optional<RowSlice> RowSlice::of(const Region& region, const Node& node) {
  if (node.op != NEF_OP_SLICE) return std::nullopt;
  const Value& x = region.input(node, 0);
  const Value& y = region.output(node, 0);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.has_input(i) && region.input(node, i).kind != NEF_VALUE_LITERAL) return std::nullopt;
  }
  if (x.rank() == 0 || x.dims.back() == NEF_DIM_UNKNOWN) return std::nullopt;
  const RowSlice slice(node);
  const Values values(region, nullptr, nullptr);
  for (int64_t i = 0; i < region.input(node, 1).dims[0]; ++i) {
    if (node.has_input(4) && values.host_int(node.inputs[4], i) != 1) return std::nullopt;
    const auto d = static_cast<size_t>(slice.axis(values, i));
    const bool last = d + 1 == x.dims.size();
    if (!last && (x.dims[d] == NEF_DIM_UNKNOWN || x.dims[d] != y.dims[d])) return std::nullopt;
  }
  return slice;
}

int64_t RowSlice::start(const Values& values) const {
  const int32_t starts = node_.inputs[1];
  const int64_t n = values.region().values[static_cast<size_t>(starts)].dims[0];
  const int rank = values.region().values[static_cast<size_t>(source())].rank();
  for (int64_t i = 0; i < n; ++i) {
    if (axis(values, i) != rank - 1) continue;
    const int64_t start = values.host_int(starts, i), all = width(values);
    return std::clamp<int64_t>(start < 0 ? start + all : start, 0, all);
  }
  return 0;
}

}  // namespace nef::gpu
