// SPDX-License-Identifier: Apache-2.0
// MatMul, Gemm, FusedMatMul, alone or with an elementwise chain after them.
#include "backends/cpu/matmul.h"

#include <cstring>

#include "backends/cpu/conv.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/shared_weights.h"

namespace nef::cpu {
namespace {

constexpr int64_t kConvertGrain = 16 * 1024;

template <typename T>
class FloatMatmulPrepared final : public Prepared {
 public:
  FloatMatmulPrepared(const ValueTable& values, const MatmulSpec& spec,
                      const GemmBlocking& blocking, const Tensor* constants)
      : values_(values, spec), gemm_(blocking, task_slots()) {
    if (values.constant(spec.b)) pack_b(constants);
  }

  size_t scratch_bytes(const Tensor* values) const override {
    return gemm_.scratch_bytes(values_.room_shape(values), prepacked());
  }
  uint64_t packed_bytes() const override { return packed_.bytes(); }

  void launch(const Tensor* values, void* scratch) const override {
    const MatmulShape s = values_.shape(values);
    values_.check_output(values, s);
    const T* bias = spec().bias < 0 ? nullptr : data(values, spec().bias);
    const EpilogueRun<T> steps = values_.epilogue(values, bias);
    const TileFn<T> tile = steps.count == 0 ? nullptr : run_epilogue<T>;
    T* c = static_cast<T*>(values[spec().out].data);
    if (!spec().viewed()) {
      const T* b = prepacked() ? packed_.data() : data(values, spec().b);
      gemm_.run(s, data(values, spec().a), b, prepacked(), c, tile, &steps, scratch);
      return;
    }
    const MatmulPlaces p = values_.places(values);
    const T* b = prepacked() ? packed_.data() : static_cast<const T*>(p.b);
    gemm_.run(prepacked() ? p.packed(gemm_.packed_size(s)) : p.l, static_cast<const T*>(p.a), b,
              prepacked(), c, tile, &steps, scratch);
  }

 private:
  const MatmulSpec& spec() const { return values_.spec(); }
  bool prepacked() const { return packed_.data() != nullptr; }
  const T* data(const Tensor* values, int32_t id) const {
    return static_cast<const T*>(values_.table().data(values, id));
  }

  void pack_b(const Tensor* constants) {
    const MatmulShape s = values_.b_shape(constants);
    const int64_t given = s.b_matrices * s.k * s.n, packed = s.b_matrices * gemm_.packed_size(s);
    if (!worth_keeping_packed<T>(packed, given)) return;
    const std::string how = "gemm b " + std::to_string(values_.table().dtype(spec().b)) + " " +
                            std::to_string(s.b_matrices) + " " + std::to_string(s.k) + " " +
                            std::to_string(s.n) + (spec().trans_b ? " t" : "");
    packed_ = SharedWeights<T>(constants[spec().b].data, how, [&] {
      AlignedBuffer<T> room(packed);
      gemm_.pack(s, data(constants, spec().b), room.data());
      return room;
    });
  }

  MatmulValues values_;
  BatchedGemm<T> gemm_;
  SharedWeights<T> packed_;
};

class FloatMatmulKernel final : public Kernel {
 public:
  FloatMatmulKernel(const Region& region, MatmulSpec spec)
      : values_(region), spec_(std::move(spec)) {
    const bool wide = values_.dtype(spec_.a) == NEF_FLOAT64;
    const int64_t mr = wide ? gemm_ops<double>().mr : gemm_ops<float>().mr;
    const int64_t nr = wide ? gemm_ops<double>().nr : gemm_ops<float>().nr;
    name_ = "gemm " + std::to_string(mr) + "x" + std::to_string(nr);
    if (!spec_.epilogue.empty()) name_ += "+" + std::to_string(spec_.epilogue.size());
    if (values_.constant(spec_.b) && keeps_packed(region.values[spec_.b].dims, nr)) {
      name_ += " packed";
    }
  }

  const char* name() const override { return name_.c_str(); }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    if (values_.dtype(spec_.a) == NEF_FLOAT64) {
      return std::make_unique<FloatMatmulPrepared<double>>(values_, spec_, blocking_, values);
    }
    return std::make_unique<FloatMatmulPrepared<float>>(values_, spec_, blocking_, values);
  }
  std::vector<uint8_t> serialize() const override { return save_blocking(blocking_); }
  void restore(const uint8_t* blob, size_t size) override { load_blocking(blob, size, &blocking_); }

 private:
  bool keeps_packed(const std::vector<int64_t>& b, int64_t nr) const {
    const int64_t n = b.size() < 2 ? 1 : b[b.size() - (spec_.trans_b ? 2 : 1)];
    const int64_t given = backends::element_count(b.data(), static_cast<int>(b.size()));
    if (n < 1 || given < 1) return true;
    const int64_t packed = given / n * round_up(n, nr);
    return values_.dtype(spec_.a) == NEF_FLOAT64 ? worth_keeping_packed<double>(packed, given)
                                                 : worth_keeping_packed<float>(packed, given);
  }

  ValueTable values_;
  MatmulSpec spec_;
  GemmBlocking blocking_;
  std::string name_;
};

MatmulSpec parse_node(const Node& node) {
  const int64_t* attrs = node.attrs();
  MatmulSpec spec;
  spec.a = node.inputs[0];
  spec.b = node.inputs[1];
  if (node.has_input(2)) spec.bias = node.inputs[2];
  spec.out = node.outputs[0];
  if (node.op == NEF_OP_GEMM) {
    spec.trans_a = nef_attr_int(attrs, NEF_GEMM_TRANS_A, 0) != 0;
    spec.trans_b = nef_attr_int(attrs, NEF_GEMM_TRANS_B, 0) != 0;
    spec.alpha = nef_attr_float(attrs, NEF_GEMM_ALPHA, 1);
    spec.beta = nef_attr_float(attrs, NEF_GEMM_BETA, 1);
  } else if (node.op == NEF_OP_FUSED_MATMUL) {
    spec.trans_a = nef_attr_int(attrs, NEF_FUSED_MATMUL_TRANS_A, 0) != 0;
    spec.trans_b = nef_attr_int(attrs, NEF_FUSED_MATMUL_TRANS_B, 0) != 0;
    spec.alpha = nef_attr_float(attrs, NEF_FUSED_MATMUL_ALPHA, 1);
  }
  return spec;
}

std::unique_ptr<Kernel> make_matmul(const Region& region, std::string*) {
  MatmulSpec spec = parse_node(region.nodes[0]);
  if (is_float(region.values[spec.a].dtype)) return make_float_matmul(region, std::move(spec));
  return make_integer_matmul(region, spec);
}

// Weights that stay narrow in memory have a kernel of their own.
bool reads_views(const Region& region, const MatmulSpec& spec) {
  const Value& b = region.values[spec.b];
  const bool narrow = b.dtype == NEF_FLOAT16 || b.dtype == NEF_BFLOAT16;
  return is_float(b.dtype) && !(narrow && b.kind == NEF_VALUE_CONSTANT);
}
bool is_view(nef_op op) { return op == NEF_OP_TRANSPOSE || op == NEF_OP_SLICE; }

std::unique_ptr<Kernel> make_epilogue_region(const Region& region, std::string* why) {
  size_t head = 0;
  while (head + 1 < region.nodes.size() && is_view(region.nodes[head].op)) ++head;
  const Node& node = region.nodes[head];
  if (node.op == NEF_OP_CONV || node.op == NEF_OP_CONV_TRANSPOSE) {
    return make_conv_epilogue(region, why);
  }
  if (node.op == NEF_OP_MATMUL_INTEGER || node.op == NEF_OP_QLINEAR_MATMUL) {
    return make_viewed_quant_product(region, head, why);
  }
  if (node.op != NEF_OP_MATMUL && node.op != NEF_OP_GEMM && node.op != NEF_OP_FUSED_MATMUL) {
    *why = "epilogue: op id " + std::to_string(node.op) + " is not a contraction";
    return nullptr;
  }
  MatmulSpec spec = parse_node(node);
  if (!parse_view(region, head, spec.a, &spec.a_view, why) ||
      !parse_view(region, head, spec.b, &spec.b_view, why)) {
    return nullptr;
  }
  if (spec.viewed() && !reads_views(region, spec)) {
    *why = "product: wide integers, and what narrow weights multiply, are not read in place";
    return nullptr;
  }
  const int rows =
      MatmulSpec::row_dims(region.values[spec.out].rank(), region.values[spec.b].rank());
  if (head + 1 < region.nodes.size() && !parse_epilogue(region, head, rows, &spec.epilogue, why)) {
    return nullptr;
  }
  spec.out = region.nodes.back().outputs[0];
  return make_float_matmul(region, std::move(spec));
}

}  // namespace

MatmulShape MatmulValues::b_shape(const Tensor* constants) const {
  const Tensor& b = constants[spec_.b];
  const int rank = ranks_[spec_.b];
  const int64_t k = rank == 1 ? b.dims[0] : b.dims[rank - (spec_.trans_b ? 1 : 2)];
  const int64_t a_dims[2] = {spec_.trans_a ? k : 1, spec_.trans_a ? 1 : k};
  return matmul_shape(a_dims, 2, b.dims, rank, spec_.trans_a, spec_.trans_b);
}

const void* MatmulValues::first(const Tensor* values, int32_t operand, const OperandView& view,
                                const Strides& strides) const {
  const int32_t source = view.viewed() ? view.source : operand;
  const auto size = static_cast<int64_t>(backends::dtype_size(values_.dtype(source)));
  return static_cast<const char*>(values_.data(values, source)) + strides.first * size;
}

MatmulPlaces MatmulValues::places(const Tensor* values) const {
  MatmulPlaces p;
  if (!spec_.viewed()) {
    p.s = shape(values);
    p.l = dense_layout(p.s, p.s.k * p.s.n);
    p.a = values_.data(values, spec_.a);
    p.b = values_.data(values, spec_.b);
    return p;
  }
  const int64_t *a_dims = values[spec_.a].dims, *b_dims = values[spec_.b].dims;
  const int a_rank = ranks_[spec_.a], b_rank = ranks_[spec_.b];
  const Strides a = view_strides(values_, values, spec_.a, spec_.a_view);
  const Strides b = view_strides(values_, values, spec_.b, spec_.b_view);
  p.a = first(values, spec_.a, spec_.a_view, a);
  p.b = first(values, spec_.b, spec_.b_view, b);
  p.b_strides = b;
  p.b_dims = b_dims;
  p.b_batch_rank = std::max(0, b_rank - 2);
  p.s = matmul_shape(a_dims, a_rank, b_dims, b_rank, spec_.trans_a, spec_.trans_b, false);
  p.l = dense_layout(p.s, p.s.k * p.s.n);
  const auto place = [&](const Strides& s, int rank, bool turned, int64_t* row, int64_t* col,
                         int64_t* steps) {
    if (rank > 1) *row = s.by[rank - (turned ? 1 : 2)];
    if (rank > 1) *col = s.by[rank - (turned ? 2 : 1)];
    for (int i = 0; i < p.s.batch_rank; ++i) {
      const int axis = i - p.s.batch_rank + rank - 2;
      if (steps[i] != 0) steps[i] = s.by[axis];
    }
  };
  place(a, a_rank, p.s.trans_a, &p.l.a_row, &p.l.a_k, p.l.a_step);
  place(b, b_rank, p.s.trans_b, &p.l.b_row, &p.l.b_col, p.l.b_step);
  merge_rows(p.s, p.l);
  return p;
}

MatmulShape MatmulValues::room_shape(const Tensor* values) const {
  MatmulShape s = shape(values);
  // They may be several tall matrices, where one is made of dense ones.
  if (spec_.viewed() && ranks_[spec_.a] > 2 && s.batch_rank == 0)
    s.batches = std::max<int64_t>(s.m, 2);
  return s;
}

int64_t MatmulPlaces::b_matrix(int64_t i) const {
  if (b_dims == nullptr) return i * s.k * s.n;
  int64_t at = 0;
  for (int axis = b_batch_rank; axis-- > 0;) {
    at += i % b_dims[axis] * b_strides.by[axis];
    i /= b_dims[axis];
  }
  return at;
}
MatmulLayout MatmulPlaces::packed(int64_t size) const {
  MatmulLayout out = l;
  for (int i = 0; i < out.batch_rank; ++i) out.b_step[i] = s.b_stride[i] * size;
  return out;
}

template <typename T>
EpilogueRun<T> MatmulValues::epilogue(const Tensor* values, const T* bias) const {
  const int64_t* dims = values[spec_.out].dims;
  const int rank = ranks_[spec_.out];
  const int rows = MatmulSpec::row_dims(rank, ranks_[spec_.b]);
  EpilogueRun<T> run;
  if (spec_.alpha != 1) run.add(EpilogueOp::kScale, static_cast<T>(spec_.alpha));
  if (bias != nullptr) {
    run.add_operand(EpilogueOp::kAdd, bias, values[spec_.bias].dims, ranks_[spec_.bias], dims, rank,
                    rows, static_cast<T>(spec_.beta));
  }
  if constexpr (sizeof(T) == 4) {
    bind_epilogue(spec_.epilogue, values, ranks_, dims, rank, rows, &run);
  }
  return run;
}
template EpilogueRun<float> MatmulValues::epilogue<float>(const Tensor*, const float*) const;
template EpilogueRun<double> MatmulValues::epilogue<double>(const Tensor*, const double*) const;

void MatmulValues::check_output(const Tensor* values, const MatmulShape& s) const {
  if (values_.count(values, spec_.out) == s.batches * s.m * s.n) return;
  throw BackendError(NEF_SHAPE_MISMATCH,
                     "matmul: an operand of its epilogue is larger than its result");
}

std::unique_ptr<Kernel> make_float_matmul(const Region& region, MatmulSpec spec) {
  if (auto kernel = make_amx_matmul(region, spec)) return kernel;
  if (auto kernel = make_narrow_matmul(region, spec)) return kernel;
  const nef_dtype dtype = region.values[spec.a].dtype;
  if (dtype == NEF_FLOAT16 || dtype == NEF_BFLOAT16) return make_half_matmul(region, spec);
  return std::make_unique<FloatMatmulKernel>(region, std::move(spec));
}

void load_floats_parallel(nef_dtype dtype, const void* src, int64_t n, float* out) {
  parallel_for(n, kConvertGrain, [&](int64_t begin, int64_t end) {
    load_floats(dtype, src, begin, end - begin, out + begin);
  });
}
void store_floats_parallel(nef_dtype dtype, const float* x, int64_t n, void* dst) {
  parallel_for(n, kConvertGrain, [&](int64_t begin, int64_t end) {
    store_floats(dtype, x + begin, end - begin, dst, begin);
  });
}

void register_contractions() {
  for (nef_op op : {NEF_OP_MATMUL, NEF_OP_GEMM, NEF_OP_FUSED_MATMUL}) {
    register_op(op, make_matmul);
  }
  register_op(NEF_OP_EINSUM, make_einsum);
  register_region(NEF_REGION_EPILOGUE, make_epilogue_region);
}

}  // namespace nef::cpu
