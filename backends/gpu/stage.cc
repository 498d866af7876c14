// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/stage.h"

#include "backends/shared/elements.h"

namespace nef::gpu {

Dims dense_steps(const Dims& dims) {
  Dims s;
  s.rank = dims.rank;
  int64_t step = 1;
  for (int d = dims.rank - 1; d >= 0; --d) {
    s.at[d] = step;
    step *= dims.at[d];
  }
  return s;
}

Dims broadcast_steps(const Dims& in, int rank) {
  Dims s;
  s.rank = rank;
  int64_t step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    s.at[rank - in.rank + d] = in.at[d] == 1 ? 0 : step;
    step *= in.at[d];
  }
  return s;
}

void Walk::simplify() {
  int kept = 0;
  for (int d = 0; d < dims.rank; ++d) {
    if (dims.at[d] == 1) continue;
    const bool joins = kept > 0 && std::all_of(steps.begin(), steps.end(), [&](const Dims& s) {
                         return s.at[kept - 1] == s.at[d] * dims.at[d];
                       });
    const int to = joins ? kept - 1 : kept++;
    dims.at[to] = joins ? dims.at[to] * dims.at[d] : dims.at[d];
    for (Dims& s : steps) s.at[to] = s.at[d];
  }
  if (kept == 0) {
    dims.at[0] = 1;
    for (Dims& s : steps) s.at[0] = 0;
    kept = 1;
  }
  dims.rank = kept;
  for (Dims& s : steps) s.rank = kept;
}

const char* Values::host_data(int32_t v) const {
  const Value& value = region_.values[static_cast<size_t>(v)];
  const void* data = value.kind == NEF_VALUE_LITERAL ? value.literal.data() : tensors_[v].data;
  return static_cast<const char*>(data);
}

int64_t Values::host_int(int32_t v, int64_t i) const {
  return backends::integer_at(dtype(v), host_data(v), i);
}
double Values::host_number(int32_t v, int64_t i) const {
  return backends::number_at(dtype(v), host_data(v), i);
}

}  // namespace nef::gpu
