// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "backends/reference/call.h"
#include "backends/reference/reference.h"

namespace nef::reference {
namespace {

using backends::guarded;
using backends::Region;

constexpr size_t kAlign = 64;
size_t aligned(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::array<Kernel, NEF_OP_COUNT_> make_table() {
  std::array<Kernel, NEF_OP_COUNT_> table{};
  for (const auto& family :
       {unary_kernels(), binary_kernels(), select_kernels(), reduce_kernels(), order_kernels(),
        contraction_kernels(), einsum_kernels(), conv_kernels(), pool_kernels(), movement_kernels(),
        generate_kernels(), index_kernels(), norm_kernels(), softmax_kernels(), attention_kernels(),
        resize_kernels(), rnn_kernels(), quant_kernels(), shared_kernels()}) {
    for (const Kernel& k : family) table[static_cast<size_t>(k.op)] = k;
  }
  return table;
}

// What a prepared kernel knows: the region's structure and the constants of one program.
struct Prepared {
  std::shared_ptr<const Region> region;
  std::vector<char*> constants;  // per value; null unless constant
};

// Runs the nodes of a region one after the other. Scratch: one pointer per value, the internal
// values, then what the nodes need, shared by all of them.
class Runner {
 public:
  Runner(const Prepared& prepared, const nef_backend_tensor* tensors)
      : region_(*prepared.region), prepared_(prepared), tensors_(tensors) {}

  size_t scratch_bytes() const {
    size_t bytes = pointer_bytes();
    for (size_t i = 0; i < region_.values.size(); ++i) bytes += internal_bytes(i);
    return bytes + node_scratch_bytes();
  }

  void run(void* scratch) const {
    auto** data = static_cast<char**>(scratch);
    char* next = locate_all(scratch);
    for (const backends::Node& node : region_.nodes) {
      find_kernel(node.op)->run(Call(region_, node, data, tensors_, next));
    }
  }

  // Of the one node of a region; `out_dims` by value.
  void output_dims(void* scratch, int64_t* const* out_dims) const {
    char* next = locate_all(scratch);
    const backends::Node& node = region_.nodes[0];
    const Kernel& kernel = *find_kernel(node.op);
    if (kernel.sizes == nullptr) {
      throw BackendError(NEF_UNSUPPORTED, "the sizes of its outputs follow from shapes");
    }
    int64_t* dims[kMaxSizedOutputs] = {};
    for (size_t i = 0; i < node.outputs.size() && i < kMaxSizedOutputs; ++i) {
      if (node.outputs[i] >= 0) dims[i] = out_dims[node.outputs[i]];
    }
    kernel.sizes(Call(region_, node, static_cast<char**>(scratch), tensors_, next), dims);
  }

 private:
  static constexpr size_t kMaxSizedOutputs = 8;

  // Where each value is, as pointers at the start of scratch; returns what is behind them.
  char* locate_all(void* scratch) const {
    auto** data = static_cast<char**>(scratch);
    char* next = static_cast<char*>(scratch) + pointer_bytes();
    for (size_t i = 0; i < region_.values.size(); ++i) {
      data[i] = locate(i, next);
      next += internal_bytes(i);
    }
    return next;
  }
  size_t pointer_bytes() const { return aligned(region_.values.size() * sizeof(char*)); }
  size_t internal_bytes(size_t i) const {
    const backends::Value& v = region_.values[i];
    if (v.kind != NEF_VALUE_INTERNAL) return 0;
    const auto count = backends::element_count(tensors_[i].dims, v.rank());
    return aligned(static_cast<size_t>(count) * backends::dtype_size(v.dtype));
  }
  size_t node_scratch_bytes() const {
    size_t most = 0;
    for (const backends::Node& node : region_.nodes) {
      const Kernel* kernel = find_kernel(node.op);
      if (kernel->scratch == nullptr) continue;
      most = std::max(most, kernel->scratch(Call(region_, node, no_data(), tensors_, nullptr)));
    }
    return aligned(most);
  }
  // Scratch sizes depend on shapes only: the data of every value is null.
  char* const* no_data() const { return prepared_.constants.data(); }
  char* locate(size_t i, char* internal) const {
    const backends::Value& v = region_.values[i];
    if (v.kind == NEF_VALUE_INTERNAL) return internal;
    if (v.kind == NEF_VALUE_LITERAL)
      return reinterpret_cast<char*>(const_cast<uint8_t*>(v.literal.data()));
    if (v.kind == NEF_VALUE_CONSTANT) return prepared_.constants[i];
    return static_cast<char*>(tensors_[i].data);
  }

  const Region& region_;
  const Prepared& prepared_;
  const nef_backend_tensor* tensors_;
};

}  // namespace

const Kernel* find_kernel(nef_op op) {
  static const std::array<Kernel, NEF_OP_COUNT_> table = make_table();
  if (op <= 0 || op >= NEF_OP_COUNT_) return nullptr;
  const Kernel& kernel = table[static_cast<size_t>(op)];
  return kernel.run == nullptr ? nullptr : &kernel;
}

int64_t checked_index(const char* op, int64_t index, int axis, int64_t size) {
  const int64_t wrapped = index < 0 ? index + size : index;
  if (wrapped >= 0 && wrapped < size) return wrapped;
  throw BackendError(NEF_OUT_OF_RANGE, std::string(op) + ": index " + std::to_string(index) +
                                           " is outside axis " + std::to_string(axis) +
                                           " of size " + std::to_string(size));
}

}  // namespace nef::reference

using nef::backends::guarded;
using nef::backends::report;

namespace {

// The handles of the table are addresses of these. Every backend has its own, and one program may
// hold several backends, so none defines the types that the table names.
struct KernelHandle {
  std::shared_ptr<const nef::backends::Region> region;
};
struct PreparedHandle {
  nef::reference::Prepared state;
};
KernelHandle* own(nef_backend_kernel* k) { return reinterpret_cast<KernelHandle*>(k); }
PreparedHandle* own(nef_backend_prepared* p) { return reinterpret_cast<PreparedHandle*>(p); }
const PreparedHandle* own(const nef_backend_prepared* p) {
  return reinterpret_cast<const PreparedHandle*>(p);
}
nef_backend_kernel* handle(KernelHandle* k) { return reinterpret_cast<nef_backend_kernel*>(k); }
nef_backend_prepared* handle(PreparedHandle* p) {
  return reinterpret_cast<nef_backend_prepared*>(p);
}

nef_code init(const nef_backend_host*, nef_backend_error*) { return NEF_OK; }
void shutdown() {}
int32_t device_count() { return 1; }

nef_code device_info(int32_t, nef_backend_device* out, nef_backend_error*) {
  *out = {};
  out->struct_size = sizeof(*out);
  out->kind = NEF_DEVICE_CPU;
  out->flags = NEF_DEVICE_HOST_MEMORY;
  out->description = "reference: plain scalar code, one thread";
  out->arch = "scalar";
  out->flops_per_second = 1e8;
  out->bytes_per_second = 1e9;
  return NEF_OK;
}

nef_code alloc(int32_t, size_t bytes, void** out, nef_backend_error* err) {
  const size_t align = nef::reference::kAlign;
  if (bytes > SIZE_MAX - align) return report(err, NEF_OUT_OF_MEMORY, "out of host memory");
  *out = std::aligned_alloc(align, std::max(nef::reference::aligned(bytes), align));
  return *out != nullptr ? NEF_OK : report(err, NEF_OUT_OF_MEMORY, "out of host memory");
}
void release(int32_t, void* ptr, size_t) { std::free(ptr); }

nef_code copy(int32_t, void* dst, const void* src, size_t bytes, nef_copy_kind,
              nef_backend_error*) {
  if (bytes > 0) std::memcpy(dst, src, bytes);
  return NEF_OK;
}

int32_t supports(int32_t, const nef_backend_region* region, nef_backend_error* err) {
  for (int32_t i = 0; i < region->n_nodes; ++i) {
    const nef_op op = region->nodes[i].op;
    if (nef::reference::find_kernel(op) != nullptr) continue;
    report(err, NEF_UNSUPPORTED,
           ("the reference backend has no kernel for op number " + std::to_string(op)).c_str());
    return 0;
  }
  return 1;
}

nef_code compile(int32_t device, const nef_backend_region* region, const void*, size_t,
                 nef_backend_kernel** out, nef_backend_error* err) {
  if (supports(device, region, err) == 0) return NEF_UNSUPPORTED;
  return guarded(err, [&] {
    using nef::backends::Region;
    *out = handle(new KernelHandle{std::make_shared<const Region>(Region::copy(*region))});
  });
}
void kernel_free(nef_backend_kernel* kernel) { delete own(kernel); }
const char* kernel_name(const nef_backend_kernel*) { return "reference"; }

nef_code prepare(nef_backend_kernel* kernel, const nef_backend_tensor* values,
                 nef_backend_prepared** out, nef_backend_error* err) {
  return guarded(err, [&] {
    auto prepared = std::make_unique<PreparedHandle>();
    const nef::backends::Region& region = *own(kernel)->region;
    prepared->state.region = own(kernel)->region;
    prepared->state.constants.resize(region.values.size());
    for (size_t i = 0; i < region.values.size(); ++i) {
      if (region.values[i].kind != NEF_VALUE_CONSTANT) continue;
      prepared->state.constants[i] = static_cast<char*>(values[i].data);
    }
    *out = handle(prepared.release());
  });
}
void prepared_free(nef_backend_prepared* prepared) { delete own(prepared); }

size_t scratch_bytes(const nef_backend_prepared* prepared, const nef_backend_tensor* values) {
  return nef::reference::Runner(own(prepared)->state, values).scratch_bytes();
}

nef_code launch(nef_backend_prepared* prepared, nef_backend_stream*,
                const nef_backend_tensor* values, void* scratch, nef_backend_error* err) {
  return guarded(err, [&] { nef::reference::Runner(own(prepared)->state, values).run(scratch); });
}

nef_code output_dims(nef_backend_prepared* prepared, nef_backend_stream*,
                     const nef_backend_tensor* values, void* scratch, int64_t* const* out_dims,
                     nef_backend_error* err) {
  return guarded(err, [&] {
    nef::reference::Runner(own(prepared)->state, values).output_dims(scratch, out_dims);
  });
}

constexpr nef_backend make_backend() {
  nef_backend b{};
  b.abi_version = NEF_BACKEND_ABI_VERSION;
  b.struct_size = sizeof(nef_backend);
  b.name = "reference";
  b.version = "1";
  b.init = init;
  b.shutdown = shutdown;
  b.device_count = device_count;
  b.device_info = device_info;
  b.alloc = alloc;
  b.free = release;
  b.copy = copy;
  b.supports = supports;
  b.compile = compile;
  b.kernel_free = kernel_free;
  b.kernel_name = kernel_name;
  b.prepare = prepare;
  b.prepared_free = prepared_free;
  b.scratch_bytes = scratch_bytes;
  b.launch = launch;
  b.output_dims = output_dims;
  return b;
}
constexpr nef_backend kBackend = make_backend();

}  // namespace

extern "C" const nef_backend* nef_backend_reference(void) { return &kBackend; }
