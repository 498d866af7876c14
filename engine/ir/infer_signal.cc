// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, windows, random numbers, and ops that stand alone.
#include <algorithm>
#include <cmath>

#include "engine/ir/infer_rules.h"

namespace nef::ir {
namespace {

// A host input of one integer: known, or a fresh dim.
Dim host_one(const InferContext& c, size_t input) {
  require_one_element(c, input);
  const HostInts h = host_ints(c, input);
  return h.known ? h.elements[0] : c.pool.unknown();
}
// The same for one that must be at least 0 or 1.
Dim host_at_least(const InferContext& c, size_t input, int64_t least) {
  const Dim d = host_one(c, input);
  if (c.pool.upper(d) >= least) return d;
  c.fail(NEF_INVALID_ARGUMENT, cat("input ", c.spec.inputs[input].name, " must be at least ", least,
                                   ", got ", c.pool.str(d)));
}

// 1 (real) or 2 (complex).
Dim complex_parts(const InferContext& c) {
  const Dim parts = c.dims(0).back();
  if (is_expr(parts) || parts == 1 || parts == 2) return parts;
  c.fail(NEF_SHAPE_MISMATCH, cat("the last dim must be 1 (real) or 2 (complex), got ", c.shape(0)));
}

void host_shape(InferContext& c) {
  const HostInts shape = host_ints_sized(c, 0);
  for (int64_t i = 0; i < shape.count; ++i) {
    const Dim d = shape.known ? shape.elements[static_cast<size_t>(i)] : c.pool.unknown();
    if (c.pool.upper(d) < 0) c.fail(NEF_INVALID_ARGUMENT, "shape has a negative dim");
    c.out[0].shape.push(d);
  }
}

int64_t positive(const InferContext& c, unsigned slot) {
  const int64_t v = c.attrs.i(slot);
  if (v >= 1 && v <= INT32_MAX) return v;
  c.fail(NEF_INVALID_ARGUMENT,
         cat(c.spec.attrs[slot].name, " must be between 1 and ", INT32_MAX, ", got ", v));
}

}  // namespace

void infer_dft(InferContext& c) {
  require_rank_at_least(c, 0, 2);
  const Dim parts = complex_parts(c);
  const bool inverse = c.attrs.i(NEF_DFT_INVERSE) != 0, onesided = c.attrs.i(NEF_DFT_ONESIDED) != 0;
  if (onesided && !is_expr(parts) && parts != (inverse ? 2 : 1)) {
    c.fail(NEF_SHAPE_MISMATCH,
           cat("onesided takes a ", inverse ? "complex" : "real", " input, got ", c.shape(0)));
  }
  int64_t axis_given = -2;
  if (c.has(2)) {
    require_one_element(c, 2);
    const HostInts h = host_ints(c, 2);
    if (!h.known) c.fail(NEF_UNSUPPORTED, "axis must be known before running");
    axis_given = host_number(c, 2, h.elements[0]);
  }
  const size_t axis = normal_axis(c, axis_given, c.rank(0));
  if (axis + 1 == c.rank(0)) {
    c.fail(NEF_INVALID_ARGUMENT, "axis may not be the last one, which holds the complex parts");
  }
  const Dim signal = c.dims(0)[axis];
  Dim length = c.has(1)              ? host_at_least(c, 1, 1)
               : inverse && onesided ? c.pool.mul(c.pool.sub(signal, 1), 2)
                                     : signal;
  if (c.pool.upper(length) < 1) {
    c.fail(NEF_SHAPE_MISMATCH, cat("there is nothing to transform: ", c.shape(0)));
  }
  Shape& out = c.out[0].shape;
  out.assign(c.dims(0));
  out.dims[axis] = onesided && !inverse ? c.pool.add(c.pool.floordiv(length, 2), 1) : length;
  out.dims[c.rank(0) - 1] = onesided && inverse ? Dim(1) : Dim(2);
}

void infer_stft(InferContext& c) {
  require_rank(c, 0, 3);
  const Dim parts = complex_parts(c);
  const bool onesided = c.attrs.i(NEF_STFT_ONESIDED, 1) != 0;
  if (onesided && !is_expr(parts) && parts != 1) {
    c.fail(NEF_SHAPE_MISMATCH, cat("onesided takes a real signal, got ", c.shape(0)));
  }
  const Dim step = host_at_least(c, 1, 1);
  Dim length = c.has(3) ? host_at_least(c, 3, 1) : c.dims(0)[1];
  if (c.has(2)) {
    require_rank(c, 2, 1);
    length = c.has(3) ? same_dim(c, c.dims(2)[0], length, "window and frame_length differ")
                      : c.dims(2)[0];
  }
  const Dim slack = c.pool.sub(c.dims(0)[1], length);
  if (c.pool.upper(slack) < 0 || c.pool.upper(length) < 1) {
    c.fail(NEF_SHAPE_MISMATCH,
           cat("a frame of ", c.pool.str(length), " does not fit into signal ", c.shape(0)));
  }
  Dim frames = c.pool.unknown();
  if (c.pool.lower(step) >= 1) frames = c.pool.add(c.pool.floordiv(slack, step), 1);
  const Dim bins = onesided ? c.pool.add(c.pool.floordiv(length, 2), 1) : length;
  c.out[0].shape = Shape{c.dims(0)[0], frames, bins, 2};
}

void infer_mel_weight_matrix(InferContext& c) {
  for (size_t i : {3, 4}) require_one_element(c, i);
  const Dim bands = host_at_least(c, 0, 1), length = host_at_least(c, 1, 1);
  host_at_least(c, 2, 1);
  c.out[0].dtype = dtype_attr(c, NEF_MEL_WEIGHT_MATRIX_OUTPUT_DATATYPE, NEF_FLOAT32);
  c.out[0].shape = Shape{c.pool.add(c.pool.floordiv(length, 2), 1), bands};
}

void infer_window_function(InferContext& c) {
  // The three windows keep output_datatype in the same slot.
  c.out[0].dtype = dtype_attr(c, NEF_HANN_WINDOW_OUTPUT_DATATYPE, NEF_FLOAT32);
  c.out[0].shape = Shape{host_at_least(c, 0, 0)};
}

void infer_det(InferContext& c) {
  require_rank_at_least(c, 0, 2);
  const std::span<const Dim> x = c.dims(0);
  same_dim(c, x[x.size() - 1], x[x.size() - 2], "a matrix must be square");
  c.out[0].shape.assign(x.first(x.size() - 2));
}

void infer_tensor_scatter(InferContext& c) {
  require_rank_at_least(c, 0, 2);
  require_rank(c, 1, c.rank(0));
  const size_t axis = normal_axis(c, c.attrs.i(NEF_TENSOR_SCATTER_AXIS, -2), c.rank(0));
  if (axis == 0) c.fail(NEF_INVALID_ARGUMENT, "axis may not be the batch axis");
  for (size_t i = 0; i < c.rank(0); ++i) {
    if (i != axis) {
      same_dim(c, c.dims(0)[i], c.dims(1)[i], "update differs from past_cache off the axis");
    } else if (c.pool.lower(c.dims(1)[i]) > c.pool.upper(c.dims(0)[i])) {
      c.fail(NEF_SHAPE_MISMATCH, cat("update is longer than past_cache: ", c.shapes()));
    }
  }
  if (c.has(2)) require_vector(c, 2, c.dims(0)[0], "one write index per batch is needed");
  c.out[0].shape.assign(c.dims(0));
}

void infer_bit_cast(InferContext& c) {
  const auto to = static_cast<nef_dtype>(c.attrs.i(NEF_BIT_CAST_TO));
  if (dtype_size(to) != dtype_size(c.in[0].dtype) || !dtype_valid(to)) {
    c.fail(NEF_DTYPE_MISMATCH,
           cat(dtype_name(c.in[0].dtype), " and ", dtype_name(to), " differ in size"));
  }
  if (to == NEF_BOOL && c.in[0].dtype != NEF_BOOL) {
    c.fail(NEF_UNSUPPORTED, "bytes that are not 0 or 1 are no bool; compare with 0 instead");
  }
  c.out[0].dtype = to;
  c.out[0].shape.assign(c.dims(0));
}

void infer_random(InferContext& c) {
  // RandomUniform and RandomNormal keep dtype in the same slot.
  c.out[0].dtype = dtype_attr(c, NEF_RANDOM_UNIFORM_DTYPE, NEF_FLOAT32);
  host_shape(c);
}

void infer_bernoulli(InferContext& c) {
  c.out[0].dtype = dtype_attr(c, NEF_BERNOULLI_DTYPE, c.in[0].dtype);
  c.out[0].shape.assign(c.dims(0));
}

void infer_multinomial(InferContext& c) {
  require_rank(c, 0, 2);
  c.out[0].dtype = dtype_attr(c, NEF_MULTINOMIAL_DTYPE, NEF_INT32);
  c.out[0].shape = Shape{c.dims(0)[0], Dim::of(positive(c, NEF_MULTINOMIAL_SAMPLE_SIZE))};
}

void infer_compress(InferContext& c) {
  require_rank(c, 1, 1);
  Dim size = product(c.pool, c.dims(0));
  size_t axis = 0;
  const bool flat = !c.attrs.has(NEF_COMPRESS_AXIS);
  if (!flat) {
    axis = normal_axis(c, c.attrs.i(NEF_COMPRESS_AXIS), c.rank(0));
    size = c.dims(0)[axis];
  }
  if (c.pool.lower(c.dims(1)[0]) > c.pool.upper(size)) {
    c.fail(NEF_SHAPE_MISMATCH, cat("condition is longer than the axis: ", c.shapes()));
  }
  const Dim found = c.pool.unknown(0, c.pool.upper(c.dims(1)[0]));
  if (flat) {
    c.out[0].shape = Shape{found};
    return;
  }
  c.out[0].shape.assign(c.dims(0));
  c.out[0].shape.dims[axis] = found;
}

void infer_unique(InferContext& c) {
  const bool flat = !c.attrs.has(NEF_UNIQUE_AXIS);
  const size_t axis = flat ? 0 : normal_axis(c, c.attrs.i(NEF_UNIQUE_AXIS), c.rank(0));
  const Dim total = flat ? product(c.pool, c.dims(0)) : c.dims(0)[axis];
  const Dim found = c.pool.unknown(0, c.pool.upper(total));
  c.out[0].shape = Shape{found};
  if (!flat) {
    c.out[0].shape.assign(c.dims(0));
    c.out[0].shape.dims[axis] = found;
  }
  for (size_t i = 1; i < c.out.size(); ++i) c.out[i].shape = Shape{i == 2 ? total : found};
}

void infer_linear_attention(InferContext& c) {
  for (size_t i : {0, 1, 2}) require_rank(c, i, 3);
  const int64_t q_num = positive(c, NEF_LINEAR_ATTENTION_Q_NUM_HEADS);
  const int64_t kv_num = positive(c, NEF_LINEAR_ATTENTION_KV_NUM_HEADS);
  if (q_num % kv_num != 0) {
    c.fail(NEF_INVALID_ARGUMENT, cat(q_num, " query heads do not split over ", kv_num));
  }
  const Dim q_heads = Dim::of(q_num), kv_heads = Dim::of(kv_num);
  const std::string_view rule = c.attrs.s(NEF_LINEAR_ATTENTION_UPDATE_RULE);
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (c.has(4) != gated || c.has(5) != delta) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("update_rule ", std::string(rule), gated ? " takes" : " takes no", " decay and",
               delta ? " takes" : " takes no", " beta"));
  }
  const Dim batch = c.dims(0)[0], steps = c.dims(0)[1];
  for (size_t i : {1, 2, 4, 5}) {
    if (!c.has(i)) continue;
    require_rank(c, i, 3);
    same_dim(c, c.dims(i)[0], batch, "batches differ");
    same_dim(c, c.dims(i)[1], steps, "numbers of steps differ");
  }
  const Dim key = divided(c, c.dims(0)[2], q_heads, "query does not split into heads");
  same_dim(c, c.dims(1)[2], c.pool.mul(key, kv_heads),
           "key has kv_num_heads heads of query's size");
  const Dim value = divided(c, c.dims(2)[2], kv_heads, "value does not split into heads");
  if (c.has(4) && c.dims(4)[2] != kv_heads) {
    same_dim(c, c.dims(4)[2], c.pool.mul(key, kv_heads), "decay is per head or per key element");
  }
  if (c.has(5) && c.dims(5)[2] != 1) {
    same_dim(c, c.dims(5)[2], kv_heads, "beta is per head, or one");
  }
  const Shape state{batch, kv_heads, key, value};
  if (c.has(3)) {
    require_rank(c, 3, 4);
    for (size_t i = 0; i < 4; ++i) same_dim(c, c.dims(3)[i], state[i], "past_state");
  }
  c.out[0].shape = Shape{batch, steps, c.pool.mul(value, q_heads)};
  c.out[1].shape = state;
  c.out[1].dtype = c.has(3) ? c.in[3].dtype : c.in[0].dtype;
}

void infer_tf_idf(InferContext& c) {
  const auto counts = c.attrs.ints(NEF_TF_IDF_VECTORIZER_NGRAM_COUNTS);
  const auto indexes = c.attrs.ints(NEF_TF_IDF_VECTORIZER_NGRAM_INDEXES);
  const auto pool = c.attrs.ints(NEF_TF_IDF_VECTORIZER_POOL_INT64S);
  const int64_t shortest = positive(c, NEF_TF_IDF_VECTORIZER_MIN_GRAM_LENGTH);
  const int64_t longest = positive(c, NEF_TF_IDF_VECTORIZER_MAX_GRAM_LENGTH);
  const int64_t skip = c.attrs.i(NEF_TF_IDF_VECTORIZER_MAX_SKIP_COUNT);
  const auto pool_size = static_cast<int64_t>(pool.size());
  if (shortest > longest || longest > static_cast<int64_t>(counts.size()) || longest > 64) {
    c.fail(NEF_INVALID_ARGUMENT, cat("gram lengths ", shortest, " to ", longest, " do not fit ",
                                     counts.size(), " ngram_counts (64 at most)"));
  }
  if (skip < 0 || skip > INT32_MAX) c.fail(NEF_INVALID_ARGUMENT, "max_skip_count is out of range");
  int64_t grams = 0;
  for (size_t n = 0; n < counts.size(); ++n) {
    const int64_t end = n + 1 < counts.size() ? counts[n + 1] : pool_size;
    const auto length = static_cast<int64_t>(n) + 1;
    if (counts[n] < 0 || end < counts[n] || end > pool_size || (end - counts[n]) % length != 0) {
      c.fail(NEF_INVALID_ARGUMENT, cat("ngram_counts does not cut the pool into n-grams at ", n));
    }
    grams += (end - counts[n]) / length;
  }
  if (static_cast<int64_t>(indexes.size()) != grams) {
    c.fail(NEF_INVALID_ARGUMENT,
           cat("ngram_indexes has ", indexes.size(), " entries for ", grams, " n-grams"));
  }
  const size_t weights = nef_attr_count(c.attrs.data(), NEF_TF_IDF_VECTORIZER_WEIGHTS);
  if (weights != 0 && weights != indexes.size()) {
    c.fail(NEF_INVALID_ARGUMENT, "weights has one entry per n-gram");
  }
  int64_t width = 0;
  for (int64_t i : indexes) {
    if (i < 0 || i >= INT32_MAX) c.fail(NEF_INVALID_ARGUMENT, "an n-gram index is out of range");
    width = std::max(width, i + 1);
  }
  if (c.rank(0) != 1 && c.rank(0) != 2) {
    c.fail(NEF_SHAPE_MISMATCH, cat("x must have 1 or 2 dims, got ", c.shape(0)));
  }
  if (c.rank(0) == 2) c.out[0].shape.push(c.dims(0)[0]);
  c.out[0].shape.push(Dim::of(width));
}

}  // namespace nef::ir
