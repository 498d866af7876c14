// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <vector>

#include "capi/handles.h"
#include "capi/status.h"
#include "engine/io/safetensors.h"
#include "engine/ir/bools.h"

using nef::capi::guard;
using nef::capi::need;
using nef::capi::wrap;

struct nef_weights {
  std::shared_ptr<const nef::io::SafeTensors> file;
  std::vector<const nef::io::StEntry*> tensors;  // what is no part of a bundle's container
};

nef_status* nef_weights_open(const char* path, nef_weights** out) {
  return guard("weights", [&] {
    need(path, "weights", "the path");
    need(out, "weights", "the out pointer");
    auto weights = std::make_unique<nef_weights>();
    weights->file = nef::io::SafeTensors::open(path);
    for (const nef::io::StEntry& e : weights->file->entries()) {
      if (!e.name.starts_with(nef::io::kReservedPrefix)) weights->tensors.push_back(&e);
    }
    *out = weights.release();
  });
}

size_t nef_weights_count(const nef_weights* weights) {
  return weights == nullptr ? 0 : weights->tensors.size();
}

const char* nef_weights_name(const nef_weights* weights, size_t index) {
  if (index >= nef_weights_count(weights)) return nullptr;
  return weights->tensors[index]->name.c_str();
}

nef_status* nef_weights_tensor(const nef_weights* weights, const char* name, nef_tensor** out) {
  return guard("weights", [&] {
    need(weights, "weights", "the weights");
    need(name, "weights", "the name");
    need(out, "weights", "the out pointer");
    const nef::io::StEntry* entry = weights->file->find(name);
    if (entry == nullptr) {
      nef::fail(NEF_UNKNOWN_NAME, "weights",
                nef::cat(weights->file->label(), " has no tensor \"", name, "\""));
    }
    if (entry->dtype == NEF_DTYPE_INVALID) {
      nef::fail(NEF_UNSUPPORTED, "weights",
                nef::cat("tensor \"", name, "\" is ", entry->dtype_name,
                         ", a dtype this version does not have"));
    }
    auto data = nef::ir::clean_bools(entry->dtype, weights->file->data(*entry));
    *out = wrap(nef::build::make_leaf(entry->dtype, entry->shape, std::move(data), entry->name));
  });
}

void nef_weights_release(nef_weights* weights) { delete weights; }
