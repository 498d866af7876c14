// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "capi/handles.h"
#include "capi/status.h"
#include "engine/context/context.h"
#include "engine/io/file.h"
#include "engine/ir/bools.h"
#include "engine/ir/dtype.h"

using nef::capi::guard;
using nef::capi::need;
using nef::capi::unwrap;
using nef::capi::wrap;
namespace build = nef::build;
namespace ir = nef::ir;

namespace {

// Checks shape arguments and returns the bytes they need.
int64_t checked_bytes(nef_dtype dtype, size_t rank, const int64_t* shape) {
  if (!ir::dtype_valid(dtype)) {
    nef::fail(NEF_INVALID_ARGUMENT, "tensor",
              nef::cat("dtype number ", dtype, " is not a dtype of NEF"));
  }
  if (rank > NEF_MAX_RANK) {
    nef::fail(NEF_LIMIT_EXCEEDED, "tensor",
              nef::cat("a tensor has at most ", NEF_MAX_RANK, " dims, got ", rank));
  }
  if (rank > 0) need(shape, "tensor", "the shape");
  for (size_t i = 0; i < rank; ++i) {
    if (shape[i] >= 0) continue;
    nef::fail(NEF_INVALID_ARGUMENT, "tensor",
              nef::cat("dim ", i, " is ", shape[i], ", must be 0 or more"));
  }
  return ir::byte_count(dtype, {shape, rank});
}

build::DimSpec dim_spec(const nef_dim& d) {
  build::DimSpec out;
  if (d.symbol == nullptr) {
    out.value = d.value;
    return out;
  }
  if (d.symbol[0] == '\0') nef::fail(NEF_INVALID_ARGUMENT, "input", "a dim's symbol is empty");
  out.symbol = d.symbol;
  out.min = d.min;
  out.max = d.max == 0 ? ir::kUnbounded : d.max;
  return out;
}

std::shared_ptr<ir::Buffer> ready_data(nef_tensor* tensor) {
  need(tensor, "tensor", "the tensor");
  build::LazyTensor* t = unwrap(tensor);
  if (auto data = build::data_of(t)) return data;
  nef::context::Context::get().execute({&t, 1});
  return build::data_of(t);
}

}  // namespace

nef_status* nef_tensor_create(nef_dtype dtype, size_t rank, const int64_t* shape, const void* data,
                              nef_tensor** out) {
  return guard("tensor", [&] {
    need(out, "tensor", "the out pointer");
    const auto bytes = static_cast<size_t>(checked_bytes(dtype, rank, shape));
    if (bytes > 0) need(data, "tensor", "the data");
    auto buffer = ir::Buffer::allocate(bytes);
    if (dtype == NEF_BOOL) ir::copy_bools(buffer->data(), data, bytes);
    else if (bytes > 0) std::memcpy(buffer->data(), data, bytes);
    *out = wrap(build::make_leaf(dtype, {shape, rank}, std::move(buffer)));
  });
}

nef_status* nef_tensor_wrap(nef_dtype dtype, size_t rank, const int64_t* shape, void* data,
                            size_t bytes, void (*release)(void* data, void* user), void* user,
                            nef_tensor** out) {
  bool owned = false;  // a buffer has taken over the duty to release
  nef_status* status = guard("tensor", [&] {
    need(out, "tensor", "the out pointer");
    const int64_t needed = checked_bytes(dtype, rank, shape);
    if (needed > 0) need(data, "tensor", "the data");
    if (static_cast<size_t>(needed) != bytes) {
      nef::fail(NEF_SHAPE_MISMATCH, "tensor",
                nef::cat("the shape needs ", needed, " bytes, got ", bytes));
    }
    if (reinterpret_cast<uintptr_t>(data) % ir::dtype_size(dtype) != 0) {
      nef::fail(NEF_INVALID_ARGUMENT, "tensor",
                nef::cat("the data is not aligned to its element size, ", ir::dtype_size(dtype)));
    }
    ir::Buffer::Release on_release;
    if (release != nullptr) on_release = [release, user](void* p, size_t) { release(p, user); };
    auto buffer = ir::Buffer::wrap(data, bytes, std::move(on_release));
    owned = true;
    buffer = ir::clean_bools(dtype, std::move(buffer));
    *out = wrap(build::make_leaf(dtype, {shape, rank}, std::move(buffer)));
  });
  if (status != nullptr && !owned && release != nullptr) release(data, user);
  return status;
}

nef_status* nef_tensor_map(nef_dtype dtype, size_t rank, const int64_t* shape, int32_t fd,
                           uint64_t offset, const char* name, nef_tensor** out) {
  return guard("map", [&] {
    need(out, "map", "the out pointer");
    const auto bytes = static_cast<uint64_t>(checked_bytes(dtype, rank, shape));
    const std::string label = name == nullptr || name[0] == '\0' ? "tensor" : name;
    auto data = ir::clean_bools(dtype, nef::io::map_range(fd, offset, bytes, label));
    *out = wrap(build::make_leaf(dtype, {shape, rank}, std::move(data),
                                 name == nullptr ? std::string_view() : name));
  });
}

nef_status* nef_tensor_input(const char* name, nef_dtype dtype, size_t rank, const nef_dim* dims,
                             nef_tensor** out) {
  return guard("input", [&] {
    need(name, "input", "the name");
    need(out, "input", "the out pointer");
    if (rank > NEF_MAX_RANK) {
      nef::fail(NEF_LIMIT_EXCEEDED, "input",
                nef::cat("a tensor has at most ", NEF_MAX_RANK, " dims, got ", rank));
    }
    if (rank > 0) need(dims, "input", "the list of dims");
    std::vector<build::DimSpec> specs;
    for (size_t i = 0; i < rank; ++i) specs.push_back(dim_spec(dims[i]));
    *out = wrap(build::make_placeholder(name, dtype, specs));
  });
}

nef_tensor* nef_tensor_retain(nef_tensor* tensor) {
  if (tensor != nullptr) build::retain(unwrap(tensor));
  return tensor;
}
void nef_tensor_release(nef_tensor* tensor) {
  if (tensor != nullptr) build::release(unwrap(tensor));
}

nef_dtype nef_tensor_dtype(const nef_tensor* tensor) {
  return tensor == nullptr ? NEF_DTYPE_INVALID : unwrap(tensor)->dtype;
}
size_t nef_tensor_rank(const nef_tensor* tensor) {
  return tensor == nullptr ? 0 : unwrap(tensor)->rank;
}
size_t nef_tensor_shape(const nef_tensor* tensor, int64_t* shape, size_t capacity) {
  if (tensor == nullptr) return 0;
  const auto dims = unwrap(tensor)->dims();
  for (size_t i = 0; shape != nullptr && i < dims.size() && i < capacity; ++i) {
    shape[i] = ir::is_expr(dims[i]) ? -1 : dims[i].number();
  }
  return dims.size();
}
char* nef_tensor_dim(const nef_tensor* tensor, size_t axis) {
  if (tensor == nullptr || axis >= unwrap(tensor)->rank) return nullptr;
  char* text = nullptr;
  nef_status_release(guard("tensor", [&] {
    text = nef::capi::copy_string(build::dim_str(unwrap(tensor)->dims()[axis]));
  }));
  return text;
}
int64_t nef_tensor_known_ints(const nef_tensor* tensor, int64_t* out, size_t capacity) {
  if (tensor == nullptr) return -1;
  std::vector<int64_t> known;
  int64_t count = -1;
  nef_status_release(guard("tensor", [&] {
    if (!build::known_ints(unwrap(tensor), &known)) return;
    count = static_cast<int64_t>(known.size());
    std::copy_n(known.begin(), out == nullptr ? 0 : std::min(capacity, known.size()), out);
  }));
  return count;
}

int32_t nef_tensor_ready(const nef_tensor* tensor) {
  return tensor != nullptr && build::data_of(unwrap(tensor)) != nullptr ? 1 : 0;
}

nef_status* nef_execute(nef_tensor* tensor) { return nef_execute_all(&tensor, 1); }

nef_status* nef_execute_all(nef_tensor* const* tensors, size_t count) {
  return guard("execute", [&] {
    if (count > 0) need(tensors, "execute", "the list of tensors");
    std::vector<build::LazyTensor*> list;
    for (size_t i = 0; i < count; ++i) {
      need(tensors[i], "execute", "a tensor");
      list.push_back(unwrap(tensors[i]));
    }
    nef::context::Context::get().execute(list);
  });
}

nef_status* nef_tensor_read(nef_tensor* tensor, void* out, size_t bytes) {
  return guard("read", [&] {
    const auto data = ready_data(tensor);
    if (data->bytes() != bytes) {
      nef::fail(NEF_INVALID_ARGUMENT, "read",
                nef::cat("the tensor has ", data->bytes(), " bytes, the caller's buffer ", bytes));
    }
    if (bytes == 0) return;
    need(out, "read", "the out pointer");
    std::memcpy(out, data->data(), bytes);
  });
}

nef_status* nef_tensor_data(nef_tensor* tensor, const void** out_data, size_t* out_bytes) {
  return guard("data", [&] {
    need(out_data, "data", "the out pointer");
    const auto data = ready_data(tensor);
    *out_data = data->data();
    if (out_bytes != nullptr) *out_bytes = data->bytes();
  });
}
