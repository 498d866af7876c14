// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "capi/handles.h"
#include "capi/options.h"
#include "capi/status.h"
#include "engine/ir/attrs.h"
#include "engine/ir/error.h"

using nef::capi::guard;
using nef::capi::need;
using nef::capi::unwrap;
using nef::capi::wrap;
namespace build = nef::build;
namespace ir = nef::ir;

namespace {

// Values of one block, and outputs of a node, at most.
constexpr size_t kMaxValues = 1 << 16;

using Tensors = std::vector<build::LazyTensor*>;

Tensors list(const char* op, const nef_tensor* const* tensors, size_t n, const char* what) {
  if (n > kMaxValues) {
    nef::fail(NEF_LIMIT_EXCEEDED, op, nef::cat(n, " ", what, "; at most ", kMaxValues));
  }
  if (n > 0) need(tensors, op, what);
  Tensors out;
  for (size_t i = 0; i < n; ++i) {
    need(tensors[i], op, what);
    out.push_back(unwrap(tensors[i]));
  }
  return out;
}

// A body's lists, checked.
struct Body {
  Body(const char* op, const nef_body* b) {
    need(b, op, "the body");
    if (b->struct_size != sizeof(nef_body) || b->mark == 0) {
      nef::fail(NEF_INVALID_ARGUMENT, op, "a body was not set up with nef_body_begin");
    }
    mark = b->mark;
    parameters = list(op, b->parameters, b->n_parameters, "a body's parameters");
    results = list(op, b->results, b->n_results, "a body's results");
  }
  build::BlockBody view() const { return {mark, parameters, results}; }

  uint32_t mark;
  Tensors parameters, results;
};

void need_parameters(const char* op, const Body& body, size_t wanted) {
  if (body.parameters.size() == wanted) return;
  nef::fail(NEF_INVALID_ARGUMENT, op,
            nef::cat("the body has ", body.parameters.size(), " parameters, it needs ", wanted));
}

void give(const char* op, nef_op id, const Tensors& inputs, std::vector<int64_t> attrs,
          std::span<const build::BlockBody> bodies, nef_tensor** outs, size_t n_outs) {
  if (n_outs > 0) need(outs, op, "the list of outputs");
  Tensors made;
  build::make_blocks(id, inputs, std::move(attrs), bodies, &made);
  if (made.size() == n_outs) {
    for (size_t i = 0; i < n_outs; ++i) outs[i] = wrap(made[i]);
    return;
  }
  for (build::LazyTensor* t : made) build::release(t);
  nef::fail(NEF_INVALID_ARGUMENT, op,
            nef::cat("has ", made.size(), " outputs, asked for ", n_outs));
}

}  // namespace

void nef_body_begin(nef_body* body, size_t struct_size) {
  if (body == nullptr || struct_size != sizeof(nef_body)) return;
  std::memset(body, 0, sizeof *body);
  body->struct_size = struct_size;
  body->mark = build::begin_block();
}

nef_status* nef_body_parameter(const nef_tensor* like, int64_t sliced_axis, nef_tensor** out) {
  return guard("body", [&] {
    need(like, "body", "the tensor that the parameter is like");
    need(out, "body", "the out pointer");
    const build::LazyTensor* t = unwrap(like);
    if (sliced_axis >= static_cast<int64_t>(t->rank)) {
      nef::fail(NEF_INVALID_ARGUMENT, "body",
                nef::cat("axis ", sliced_axis, " of a tensor of ", t->rank, " dims"));
    }
    *out = wrap(build::make_parameter(t, sliced_axis));
  });
}

nef_status* nef_body_scalar(nef_dtype dtype, nef_tensor** out) {
  return guard("body", [&] {
    need(out, "body", "the out pointer");
    if (dtype != NEF_INT64 && dtype != NEF_BOOL) {
      nef::fail(NEF_INVALID_ARGUMENT, "body", "a scalar parameter is int64 or bool");
    }
    *out = wrap(build::make_parameter(dtype));
  });
}

nef_status* nef_if(const nef_tensor* condition, const nef_body* then_body,
                   const nef_body* else_body, nef_tensor** outs, size_t n_outs) {
  return guard("if", [&] {
    need(condition, "if", "the condition");
    const Body then_part("if", then_body), else_part("if", else_body);
    need_parameters("if", then_part, 0);
    need_parameters("if", else_part, 0);
    if (then_part.results.size() != else_part.results.size()) {
      nef::fail(NEF_INVALID_ARGUMENT, "if",
                nef::cat("its bodies give ", then_part.results.size(), " and ",
                         else_part.results.size(), " results; they must give as many"));
    }
    const build::BlockBody bodies[] = {then_part.view(), else_part.view()};
    give("if", NEF_OP_IF, {unwrap(condition)}, {}, bodies, outs, n_outs);
  });
}

nef_status* nef_loop(const nef_tensor* trip_count, const nef_tensor* condition,
                     const nef_tensor* const* initial, size_t n_initial, const nef_body* body,
                     nef_tensor** outs, size_t n_outs) {
  return guard("loop", [&] {
    Tensors inputs{trip_count == nullptr ? nullptr : unwrap(trip_count),
                   condition == nullptr ? nullptr : unwrap(condition)};
    const Tensors carried = list("loop", initial, n_initial, "the initial values");
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const Body part("loop", body);
    need_parameters("loop", part, 2 + n_initial);
    ir::AttrBuilder attrs(NEF_OP_LOOP);
    attrs.set_int(NEF_LOOP_CARRIED, static_cast<int64_t>(n_initial));
    const build::BlockBody view = part.view();
    give("loop", NEF_OP_LOOP, inputs, attrs.build(), {&view, 1}, outs, n_outs);
  });
}

void nef_scan_options_init(nef_scan_options* options, size_t struct_size) {
  nef::capi::init_options(options, struct_size, nef_scan_options{});
}

nef_status* nef_scan(const nef_tensor* const* initial, size_t n_initial,
                     const nef_tensor* const* inputs, size_t n_inputs,
                     const nef_scan_options* options, const nef_body* body, nef_tensor** outs,
                     size_t n_outs) {
  return guard("scan", [&] {
    nef_scan_options o{};
    nef::capi::read_options("scan", options, &o);
    Tensors all = list("scan", initial, n_initial, "the initial values");
    const Tensors scanned = list("scan", inputs, n_inputs, "the scan inputs");
    all.insert(all.end(), scanned.begin(), scanned.end());
    const Body part("scan", body);
    need_parameters("scan", part, n_initial + n_inputs);
    ir::AttrBuilder attrs(NEF_OP_SCAN);
    attrs.set_int(NEF_SCAN_CARRIED, static_cast<int64_t>(n_initial));
    attrs.set_int(NEF_SCAN_NUM_SCAN_INPUTS, static_cast<int64_t>(n_inputs));
    const auto set = [&](unsigned slot, const int64_t* p, size_t n) {
      if (p != nullptr && n != 0) attrs.set_ints(slot, {p, n});
    };
    set(NEF_SCAN_SCAN_INPUT_AXES, o.input_axes, o.n_input_axes);
    set(NEF_SCAN_SCAN_INPUT_DIRECTIONS, o.input_directions, o.n_input_directions);
    set(NEF_SCAN_SCAN_OUTPUT_AXES, o.output_axes, o.n_output_axes);
    set(NEF_SCAN_SCAN_OUTPUT_DIRECTIONS, o.output_directions, o.n_output_directions);
    const build::BlockBody view = part.view();
    give("scan", NEF_OP_SCAN, all, attrs.build(), {&view, 1}, outs, n_outs);
  });
}
