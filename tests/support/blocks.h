// SPDX-License-Identifier: Apache-2.0
// Loops and branches over the C API.
#pragma once

#include <functional>

#include "tests/support/handles.h"

namespace nef::test {

using Tensors = std::vector<Tensor>;
using Body = std::function<Tensors(const Tensors&)>;

inline std::vector<const nef_tensor*> raw(const Tensors& list) {
  std::vector<const nef_tensor*> out;
  for (const Tensor& t : list) out.push_back(t.get());
  return out;
}

inline Tensors outputs(size_t n, const std::function<nef_status*(nef_tensor**)>& make) {
  std::vector<nef_tensor*> outs(n, nullptr);
  ok(make(outs.data()));
  Tensors list;
  for (nef_tensor* t : outs) list.emplace_back(t);
  return list;
}

// A loop whose body takes iteration, condition and carried values.
inline Tensors loop(const Tensor* trips, const Tensors& initial, const Body& make) {
  nef_body body;
  nef_body_begin(&body, sizeof body);
  Tensors params(2);
  ok(nef_body_scalar(NEF_INT64, params[0].out()));
  ok(nef_body_scalar(NEF_BOOL, params[1].out()));
  for (const Tensor& t : initial) {
    ok(nef_body_parameter(t.get(), -1, params.emplace_back().out()));
  }
  const Tensors results = make(params);
  const auto p = raw(params), r = raw(results), in = raw(initial);
  body.parameters = p.data();
  body.n_parameters = p.size();
  body.results = r.data();
  body.n_results = r.size();
  return outputs(r.size() - 1, [&](nef_tensor** outs) {
    return nef_loop(trips == nullptr ? nullptr : trips->get(), nullptr, in.data(), in.size(), &body,
                    outs, r.size() - 1);
  });
}

inline Tensor branch(const Tensor& condition, const std::function<Tensor()>& a,
                     const std::function<Tensor()>& b) {
  nef_body bodies[2];
  nef_body_begin(&bodies[0], sizeof(nef_body));
  const Tensor x = a();
  nef_body_begin(&bodies[1], sizeof(nef_body));
  const Tensor y = b();
  const nef_tensor* results[] = {x.get(), y.get()};
  for (int i = 0; i < 2; ++i) {
    bodies[i].results = &results[i];
    bodies[i].n_results = 1;
  }
  return outputs(1, [&](nef_tensor** outs) {
    return nef_if(condition.get(), &bodies[0], &bodies[1], outs, 1);
  })[0];
}

}  // namespace nef::test
