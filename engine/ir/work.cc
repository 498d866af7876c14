// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace nef::ir {

namespace {

// Sizes and counts of one node. All are doubles: products of dims may be far beyond int64.
class Node {
 public:
  Node(const Graph& graph, NodeId node) : graph_(graph), node_(node) {}

  const OpSpec& spec() const { return ir::spec(graph_.op(node_)); }
  nef_op op() const { return graph_.op(node_); }
  Attrs attrs() const { return graph_.attrs(node_); }

  double in(size_t i) const { return has(i) ? elements(graph_.inputs(node_)[i]) : 0; }
  double out(uint32_t i = 0) const {
    return i < graph_.output_count(node_) ? elements(graph_.output(node_, i)) : 0;
  }
  double all_in() const {
    double sum = 0;
    for (size_t i = 0; i < graph_.inputs(node_).size(); ++i) sum += in(i);
    return sum;
  }
  double all_out() const {
    double sum = 0;
    for (uint32_t i = 0; i < graph_.output_count(node_); ++i) sum += out(i);
    return sum;
  }
  // A dim of an input, counted from the front; 1 where there is none.
  double dim(size_t input, size_t axis) const {
    if (!has(input)) return 1;
    const auto dims = graph_.dims(graph_.inputs(node_)[input]);
    return axis < dims.size() ? number(dims[axis]) : 1;
  }
  double dim_from_end(size_t input, size_t axis) const {
    const size_t r = rank(input);
    return axis <= r ? dim(input, r - axis) : 1;
  }
  size_t rank(size_t input) const {
    return has(input) ? graph_.rank(graph_.inputs(node_)[input]) : 0;
  }
  // Of the first input and the first output.
  double longest_dim() const {
    double most = 1;
    for (size_t a = 0; a < rank(0); ++a) most = std::max(most, dim(0, a));
    for (Dim d : graph_.dims(graph_.output(node_))) most = std::max(most, number(d));
    return most;
  }
  double product(unsigned slot) const {
    double all = 1;
    for (int64_t n : attrs().ints(slot)) all *= std::max(1.0, static_cast<double>(n));
    return all;
  }
  double positive(unsigned slot) const {
    return std::max(1.0, static_cast<double>(attrs().i(slot)));
  }

 private:
  bool has(size_t i) const {
    return i < graph_.inputs(node_).size() && graph_.inputs(node_)[i] != kNone;
  }
  static double number(Dim d) {
    return d.is_number() ? static_cast<double>(d.number()) : kUnboundedWork;
  }
  double elements(ValueId v) const {
    double n = 1;
    for (Dim d : graph_.dims(v)) {
      if (d == 0) return 0;
      n *= number(d);
    }
    return n;
  }

  const Graph& graph_;
  const NodeId node_;
};

double weight(Cost cost) {
  switch (cost) {
    case Cost::kElementsX4: return 4;
    case Cost::kElementsX8:
    case Cost::kInputsX8: return 8;
    case Cost::kElementsX16: return 16;
    default: return 1;
  }
}

double each_element(const Node& n) { return weight(n.spec().cost) * (n.all_in() + n.all_out()); }

double pool(const Node& n) {
  const unsigned slot = n.op() == NEF_OP_AVERAGE_POOL ? unsigned{NEF_AVERAGE_POOL_KERNEL_SHAPE}
                        : n.op() == NEF_OP_MAX_POOL   ? unsigned{NEF_MAX_POOL_KERNEL_SHAPE}
                                                      : unsigned{NEF_LP_POOL_KERNEL_SHAPE};
  return 4 * std::max(n.out(0), n.out(1)) * n.product(slot);
}

// Each output reads all of a filter.
double convolution(const Node& n, size_t weights) {
  return 2 * n.out() * (n.in(weights) / std::max(1.0, n.dim(weights, 0)));
}

// Each input element meets all of a filter.
double convolution_transposed(const Node& n) {
  return 2 * (n.in(0) * (n.in(1) / std::max(1.0, n.dim(1, 0))) + n.out());
}

// Every label is an axis of one loop over all operands.
double einsum(const Node& n, size_t operands) {
  const std::string_view equation = n.attrs().s(NEF_EINSUM_EQUATION);
  double all = 2.0 * static_cast<double>(operands);
  if (equation.find('.') != std::string_view::npos) {
    // "..." stands for dims that have no label: at most each element meets each other.
    for (size_t i = 0; i < operands; ++i) all *= std::max(1.0, n.in(i));
    return all;
  }
  std::map<char, double> labels;
  size_t operand = 0, axis = 0;
  for (char c : equation.substr(0, equation.find('-'))) {
    if (c == ',') ++operand, axis = 0;
    if (c == ',' || c == ' ') continue;
    double& longest = labels[c];
    longest = std::max(longest, n.dim(operand, axis++));
  }
  for (const auto& [label, length] : labels) all *= std::max(1.0, length);
  return all;
}

double attention(const Node& n) {
  const double heads = std::max(1.0, static_cast<double>(n.attrs().i(NEF_ATTENTION_Q_NUM_HEADS)));
  const double sequence = n.dim_from_end(0, 2);
  const double rows = n.rank(0) == 4 ? n.dim(0, 0) * n.dim(0, 1) : n.dim(0, 0) * heads;
  const double past = n.rank(4) == 4 ? n.dim(4, 2) : 0;
  const double keys = n.dim_from_end(1, 2) + past;
  return rows * sequence * keys * (2 * n.dim_from_end(0, 1) + 2 * n.dim_from_end(2, 1) + 16) +
         each_element(n);
}

double recurrent(const Node& n) {
  const double rows = n.dim(0, 0) * n.dim(0, 1);
  return 2 * rows * (n.in(1) + n.in(2)) + 32 * each_element(n);
}

double linear_attention(const Node& n) {
  const double steps = n.dim(0, 1), batch = n.dim(0, 0), width = n.dim(0, 2) + n.dim(1, 2);
  return 8 * batch * steps * width * n.dim(2, 2) + each_element(n);
}

// Without a table of factors: each bin is a sum over the whole signal, with a sine and a cosine.
double fourier(const Node& n) { return 64 * n.out() * n.longest_dim(); }

double short_fourier(const Node& n) { return 32 * n.out() * std::max(1.0, n.dim(0, 1)); }

double roi_align(const Node& n) {
  const double points = static_cast<double>(n.attrs().i(NEF_ROI_ALIGN_SAMPLING_RATIO));
  if (points < 1) return kUnboundedWork;  // as many as a region of the data is large
  return 16 * n.out() * points * points;
}

double resize(const Node& n) {
  if (n.attrs().i(NEF_RESIZE_ANTIALIAS) != 0) return kUnboundedWork;  // windows grow with 1 / scale
  const bool nearest = n.attrs().s(NEF_RESIZE_MODE) == "nearest";
  return 16 * n.out() * (nearest ? 1 : std::pow(4.0, static_cast<double>(n.rank(0))));
}

double tf_idf(const Node& n) {
  const Attrs a = n.attrs();
  const double grams = static_cast<double>(a.ints(NEF_TF_IDF_VECTORIZER_POOL_INT64S).size());
  return n.in(0) * n.positive(NEF_TF_IDF_VECTORIZER_MAX_GRAM_LENGTH) *
             (n.positive(NEF_TF_IDF_VECTORIZER_MAX_SKIP_COUNT) + 1) * std::max(1.0, grams) +
         each_element(n);
}

double sorted(const Node& n) { return 64 * (n.in(0) + n.all_out()); }

}  // namespace

double work(const Graph& graph, NodeId node) {
  const Node n(graph, node);
  // No default: a new rule has to say what its ops cost.
  switch (n.spec().infer) {
    case InferRule::kBlocks: return kUnboundedWork;

    // Work out where each element of the result comes from.
    case InferRule::kCenterCropPad:
    case InferRule::kConcat:
    case InferRule::kConstantOfShape:
    case InferRule::kDepthToSpace:
    case InferRule::kExpand:
    case InferRule::kEyeLike:
    case InferRule::kFlatten:
    case InferRule::kGather:
    case InferRule::kPad:
    case InferRule::kRange:
    case InferRule::kReshape:
    case InferRule::kReverseSequence:
    case InferRule::kShape:
    case InferRule::kShapeExpr:
    case InferRule::kSize:
    case InferRule::kSlice:
    case InferRule::kSpaceToDepth:
    case InferRule::kSplit:
    case InferRule::kSqueeze:
    case InferRule::kTile:
    case InferRule::kTranspose:
    case InferRule::kTrilu:
    case InferRule::kUnsqueeze: return 4 * n.all_out();

    // Touch each element of operands and results a few times.
    case InferRule::kAffineGrid:
    case InferRule::kArgReduce:
    case InferRule::kBatchNorm:
    case InferRule::kBernoulli:
    case InferRule::kBitCast:
    case InferRule::kBroadcast:
    case InferRule::kCast:
    case InferRule::kCastLike:
    case InferRule::kClip:
    case InferRule::kCol2im:
    case InferRule::kCompress:
    case InferRule::kCumsum:
    case InferRule::kDequantizeLinear:
    case InferRule::kDynamicQuantizeLinear:
    case InferRule::kGatherElements:
    case InferRule::kGatherNd:
    case InferRule::kGlobalPool:
    case InferRule::kGridSample:
    case InferRule::kGroupNorm:
    case InferRule::kInstanceNorm:
    case InferRule::kLayerNorm:
    case InferRule::kMaxUnpool:
    case InferRule::kMelWeightMatrix:
    case InferRule::kNonzero:
    case InferRule::kOneHot:
    case InferRule::kPrelu:
    case InferRule::kQuantizeLinear:
    case InferRule::kRandom:
    case InferRule::kReduce:
    case InferRule::kRmsNorm:
    case InferRule::kRotaryEmbedding:
    case InferRule::kSameAxes:
    case InferRule::kSameAxis:
    case InferRule::kScatterElements:
    case InferRule::kScatterNd:
    case InferRule::kTensorScatter:
    case InferRule::kWindowFunction: return 4 * each_element(n);
    case InferRule::kSame:
      return n.op() == NEF_OP_LRN ? 16 * n.out() * std::min(n.positive(NEF_LRN_SIZE), n.dim(0, 1))
                                  : each_element(n);

    case InferRule::kMatmul:
    case InferRule::kMatmulInteger:
    case InferRule::kQlinearMatmul: return 2 * n.out() * n.dim_from_end(0, 1) + each_element(n);
    case InferRule::kFusedMatmul:
      return 2 * n.out() * std::max(n.dim_from_end(0, 1), n.dim_from_end(0, 2)) + each_element(n);
    case InferRule::kMatmulNbits: return 4 * n.out() * n.dim_from_end(0, 1) + each_element(n);
    case InferRule::kGemm:
      return 2 * n.out() * std::max(n.dim(0, 0), n.dim(0, 1)) + each_element(n);
    case InferRule::kConv:
    case InferRule::kConvInteger: return convolution(n, 1) + each_element(n);
    case InferRule::kQlinearConv: return convolution(n, 3) + each_element(n);
    case InferRule::kDeformConv: return 8 * convolution(n, 1) + each_element(n);
    case InferRule::kConvTranspose: return convolution_transposed(n) + each_element(n);
    case InferRule::kPool: return pool(n) + each_element(n);
    case InferRule::kEinsum: return einsum(n, graph.inputs(node).size()) + each_element(n);
    case InferRule::kAttention: return attention(n);
    case InferRule::kLinearAttention: return linear_attention(n);
    case InferRule::kRnn: return recurrent(n);
    case InferRule::kDft: return fourier(n);
    case InferRule::kStft: return short_fourier(n);
    case InferRule::kDet: return n.in(0) * std::max(1.0, n.dim_from_end(0, 1));
    case InferRule::kRoiAlign: return roi_align(n);
    case InferRule::kMaxRoiPool:
      return 4 * n.out() * n.dim_from_end(0, 1) * n.dim_from_end(0, 2) + each_element(n);
    case InferRule::kResize: return resize(n);
    case InferRule::kTfIdf: return tf_idf(n);
    case InferRule::kTopk: return sorted(n);
    case InferRule::kUnique: return sorted(n) * n.longest_dim();
    case InferRule::kNonMaxSuppression:
      return 16 * n.in(1) * std::max(1.0, n.dim(0, 1)) + each_element(n);
    case InferRule::kMultinomial:
      return 16 * n.in(0) * n.positive(NEF_MULTINOMIAL_SAMPLE_SIZE) + each_element(n);
  }
  return kUnboundedWork;
}

}  // namespace nef::ir
