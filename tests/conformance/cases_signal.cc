// SPDX-License-Identifier: Apache-2.0
// Cases of Fourier transforms, made numbers, and ops whose size depends on data.
#include <limits>

#include "engine/ir/dtype.h"
#include "tests/conformance/cases.h"

namespace nef::conformance {
namespace {

using Dims = std::vector<int64_t>;

Tolerance sums(nef_dtype t, int64_t n) {
  if (t == NEF_FLOAT16 || t == NEF_BFLOAT16) return {1, 1};
  return {8, 4 * static_cast<double>(n)};
}

void add_dft(CaseList& out) {
  const nef_op op = NEF_OP_DFT;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (int64_t n : {1, 2, 3, 8, 16, 30, 31, 37, 74, 97, 100, 121}) {
      for (int64_t parts : {1, 2}) {
        for (int64_t inverse : {0, 1}) {
          for (int64_t onesided : {0, 1}) {
            if (onesided != 0 && parts != (inverse != 0 ? 2 : 1)) continue;
            const auto words = attrs(op)
                                   .set_int(NEF_DFT_INVERSE, inverse)
                                   .set_int(NEF_DFT_ONESIDED, onesided)
                                   .build();
            const std::string name = std::to_string(n) + "_parts" + std::to_string(parts) +
                                     (inverse ? "_inverse" : "") + (onesided ? "_onesided" : "");
            const Tensor x = make(t, {2, n, 3, parts}, Fill::Unit);
            out.push_back(single(name, op,
                                 {x, scalar(NEF_INT64, static_cast<double>(n)), ints({1})}, words,
                                 sums(t, n)));
            if (n == 1) continue;
            out.push_back(single(name + "_default", op, {make(t, {3, n, parts}, Fill::Unit)}, words,
                                 sums(t, n)));
            out.push_back(single(name + "_padded", op,
                                 {x, scalar(NEF_INT64, static_cast<double>(n + 5)), ints({-3})},
                                 words, sums(t, n)));
            out.push_back(single(name + "_cut", op,
                                 {x, scalar(NEF_INT64, static_cast<double>(n - 1)), ints({1})},
                                 words, sums(t, n)));
          }
        }
      }
    }
  }
}

void add_stft(CaseList& out) {
  const nef_op op = NEF_OP_STFT;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (int64_t parts : {1, 2}) {
      for (int64_t onesided : {0, 1}) {
        if (onesided != 0 && parts == 2) continue;
        const auto words = attrs(op).set_int(NEF_STFT_ONESIDED, onesided).build();
        const std::string name = "parts" + std::to_string(parts) + (onesided ? "_onesided" : "");
        const Tensor x = make(t, {2, 130, parts}, Fill::Unit);
        for (int64_t frame : {1, 16, 25, 37, 130}) {
          const Tensor length = scalar(NEF_INT64, static_cast<double>(frame));
          out.push_back(single(name + "_frame" + std::to_string(frame), op,
                               {x, scalar(NEF_INT64, 7), Tensor{}, length}, words, sums(t, frame)));
          out.push_back(single(name + "_window" + std::to_string(frame), op,
                               {x, scalar(NEF_INT64, 10), make(t, {frame}, Fill::Unit, 2)}, words,
                               sums(t, frame)));
        }
      }
    }
  }
}

void add_window(nef_op op, CaseList& out) {
  for (nef_dtype t = NEF_INT8; t <= NEF_FLOAT64; ++t) {
    for (int64_t periodic : {0, 1}) {
      for (int64_t n : {0, 1, 2, 10, 67}) {
        Case c = single(std::to_string(n) + (periodic ? "_periodic" : ""), op,
                        {scalar(NEF_INT64, static_cast<double>(n))},
                        attrs(op)
                            .set_int(NEF_HANN_WINDOW_OUTPUT_DATATYPE, t)
                            .set_int(NEF_HANN_WINDOW_PERIODIC, periodic)
                            .build());
        c.dtype = t;
        out.push_back(std::move(c));
      }
    }
  }
  out.push_back(single("int32", op, {scalar(NEF_INT32, 5)}, attrs(op).build()));
}

void add_mel(CaseList& out) {
  const nef_op op = NEF_OP_MEL_WEIGHT_MATRIX;
  for (nef_dtype it : {NEF_INT64, NEF_INT32}) {
    for (nef_dtype ft : {NEF_FLOAT32, NEF_FLOAT64}) {
      for (nef_dtype t = NEF_INT8; t <= NEF_FLOAT64; ++t) {
        Case c = single(
            "bands_" + std::to_string(it) + "_" + std::to_string(ft), op,
            {scalar(it, 8), scalar(it, 64), scalar(it, 8192), scalar(ft, 20), scalar(ft, 3800)},
            attrs(op).set_int(NEF_MEL_WEIGHT_MATRIX_OUTPUT_DATATYPE, t).build());
        c.dtype = t;
        out.push_back(std::move(c));
      }
      Case c = single(
          "no_number", op,
          {scalar(it, 8), scalar(it, 64), scalar(it, 8192), scalar(ft, -1e9), scalar(ft, 3800)},
          attrs(op).build());
      c.expect = NEF_OUT_OF_RANGE;
      out.push_back(std::move(c));
    }
  }
}

void add_det(CaseList& out) {
  for (nef_dtype t : allowed_dtypes(NEF_OP_DET)) {
    for (const Dims& dims :
         {Dims{2, 2}, Dims{1, 1}, Dims{3, 5, 5}, Dims{2, 2, 7, 7}, Dims{2, 0, 0}, Dims{0, 3, 3}}) {
      out.push_back(single(dims_name(dims), NEF_OP_DET, {make(t, dims, Fill::Small)}));
    }
    out.push_back(single("singular", NEF_OP_DET, {values(t, {2, 2}, {1, 2, 2, 4})}));
  }
}

void add_tensor_scatter(CaseList& out) {
  const nef_op op = NEF_OP_TENSOR_SCATTER;
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor past = make(t, {2, 3, 6, 5}, Fill::Extreme, 1);
    const Tensor update = make(t, {2, 3, 2, 5}, Fill::Extreme, 2);
    const auto words = attrs(op).build();
    const auto around = attrs(op).set_string(NEF_TENSOR_SCATTER_MODE, "circular").build();
    out.push_back(single("start", op, {past, update}, words));
    out.push_back(single("at", op, {past, update, ints({4, 1})}, words));
    out.push_back(single("around", op, {past, update, ints({5, 100})}, around));
    for (int64_t bad : {int64_t{5}, int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
      Case c = single("outside_" + std::to_string(bad), op, {past, update, ints({0, bad})}, words);
      c.expect = NEF_OUT_OF_RANGE;
      out.push_back(std::move(c));
    }
  }
}

void add_cumprod(CaseList& out) {
  const nef_op op = NEF_OP_CUMPROD;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (int64_t axis : {0, 1, -1}) {
      for (int64_t exclusive : {0, 1}) {
        for (int64_t reverse : {0, 1}) {
          const auto words = attrs(op)
                                 .set_int(NEF_CUMPROD_EXCLUSIVE, exclusive)
                                 .set_int(NEF_CUMPROD_REVERSE, reverse)
                                 .build();
          for (const Dims& dims : {Dims{3, 4, 5}, Dims{2, 0, 3}}) {
            out.push_back(single(
                dims_name(dims) + "_axis" + std::to_string(axis) + (exclusive ? "_exclusive" : "") +
                    (reverse ? "_reverse" : ""),
                op, {make(t, dims, Fill::Small), scalar(NEF_INT64, static_cast<double>(axis))},
                words));
          }
        }
      }
    }
  }
}

void add_bit_cast(CaseList& out) {
  const nef_op op = NEF_OP_BIT_CAST;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (nef_dtype to = NEF_BOOL; to <= ir::kLastDtype; ++to) {
      const bool fits = values(t, {1}, {0}).bytes.size() == values(to, {1}, {0}).bytes.size();
      if (!fits || (to == NEF_BOOL && t != NEF_BOOL)) continue;
      for (const Dims& dims : {Dims{67}, Dims{}, Dims{0, 3}}) {
        out.push_back(single("to_" + std::to_string(to) + "_" + dims_name(dims), op,
                             {make(t, dims, Fill::Extreme)},
                             attrs(op).set_int(NEF_BIT_CAST_TO, to).build()));
      }
    }
  }
}

void add_require(CaseList& out) {
  const nef_op op = NEF_OP_REQUIRE;
  const auto words = attrs(op).set_string(NEF_REQUIRE_MESSAGE, "the rule").build();
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const Dims& dims : {Dims{67}, Dims{}, Dims{0, 3}}) {
      const Tensor data = make(t, dims, Fill::Extreme);
      out.push_back(single("holds_" + dims_name(dims), op,
                           {data, values(NEF_BOOL, {2, 2}, {1, 1, 1, 1})}, words));
      out.push_back(
          single("of_nothing_" + dims_name(dims), op, {data, values(NEF_BOOL, {0}, {})}, words));
      Case c = single("fails_" + dims_name(dims), op,
                      {data, values(NEF_BOOL, {2, 2}, {1, 1, 0, 1})}, words);
      c.expect = NEF_OUT_OF_RANGE;
      out.push_back(std::move(c));
    }
  }
}

void add_random(nef_op op, CaseList& out) {
  for (nef_dtype t = NEF_FLOAT16; t <= NEF_FLOAT64; ++t) {
    for (int64_t seed : {int64_t{0}, int64_t{-7}}) {
      auto b = attrs(op);
      const bool normal = op == NEF_OP_RANDOM_NORMAL;
      b.set_int(NEF_RANDOM_UNIFORM_DTYPE, t)
          .set_int(normal ? unsigned{NEF_RANDOM_NORMAL_SEED} : unsigned{NEF_RANDOM_UNIFORM_SEED},
                   seed);
      // The same slots as the mean and scale of normal numbers.
      if (seed != 0)
        b.set_float(NEF_RANDOM_UNIFORM_LOW, -1.3).set_float(NEF_RANDOM_UNIFORM_HIGH, 0.7);
      for (const Dims& dims : {Dims{3, 67}, Dims{}, Dims{0, 3}, Dims{5000}}) {
        Case c = single("seed" + std::to_string(seed) + "_" + dims_name(dims), op, {ints(dims)},
                        b.build());
        c.dtype = t;
        out.push_back(std::move(c));
      }
    }
  }
}

void add_bernoulli(CaseList& out) {
  const nef_op op = NEF_OP_BERNOULLI;
  for (nef_dtype t : allowed_dtypes(op)) {
    out.push_back(single("default", op, {make(t, {3, 67}, Fill::Unit)}, attrs(op).build()));
    for (nef_dtype to = NEF_BOOL; to <= NEF_FLOAT64; ++to) {
      out.push_back(single(
          "to_" + std::to_string(to), op, {make(t, {67}, Fill::Special)},
          attrs(op).set_int(NEF_BERNOULLI_DTYPE, to).set_int(NEF_BERNOULLI_SEED, 3).build()));
    }
  }
}

void add_multinomial(CaseList& out) {
  const nef_op op = NEF_OP_MULTINOMIAL;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (nef_dtype to : {NEF_INT32, NEF_INT64}) {
      const auto words = attrs(op)
                             .set_int(NEF_MULTINOMIAL_DTYPE, to)
                             .set_int(NEF_MULTINOMIAL_SAMPLE_SIZE, 33)
                             .build();
      out.push_back(
          single("rows_" + std::to_string(to), op, {make(t, {3, 7}, Fill::Small)}, words));
      Case c = single("nothing_" + std::to_string(to), op,
                      {values(t, {1, 2},
                              {-std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()})},
                      words);
      c.expect = NEF_OUT_OF_RANGE;
      out.push_back(std::move(c));
    }
  }
}

// A case whose outputs' types are given, since inference does not know their size.
Case sized(std::string name, nef_op op, std::vector<Tensor> inputs, std::vector<int64_t> words,
           std::vector<Tensor> outputs) {
  CaseBuilder b(std::move(name));
  std::vector<int32_t> ids;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype == NEF_DTYPE_INVALID) ids.push_back(-1);
    else if (op == NEF_OP_NON_MAX_SUPPRESSION && i == 2)
      ids.push_back(b.host(std::move(inputs[i])));
    else ids.push_back(b.input(std::move(inputs[i])));
  }
  b.typed_node(op, std::move(ids), std::move(words), std::move(outputs));
  return b.build();
}

void add_nms(CaseList& out) {
  const nef_op op = NEF_OP_NON_MAX_SUPPRESSION;
  const auto words = attrs(op).build();
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor boxes =
        values(t, {1, 4, 4}, {0, 0, 1, 1, 0, 0.125, 1, 1.125, 0, 10, 1, 11, 1, 11, 0, 10});
    const Tensor scores = values(t, {1, 2, 4}, {0.5, 0.75, 0.25, 0.25, 0.75, 0.5, 0.125, 0.5});
    const Tensor most = scalar(NEF_INT64, 3), iou = scalar(NEF_FLOAT32, 0.5);
    out.push_back(sized("kept", op, {boxes, scores, most, iou}, words, {{NEF_INT64, {4, 3}, {}}}));
    out.push_back(sized("scored", op, {boxes, scores, most, iou, scalar(NEF_FLOAT32, 0.25)}, words,
                        {{NEF_INT64, {3, 3}, {}}}));
    out.push_back(sized("none", op, {boxes, scores}, words, {{NEF_INT64, {0, 3}, {}}}));
    out.push_back(sized("centers", op, {boxes, scores, most, iou},
                        attrs(op).set_int(NEF_NON_MAX_SUPPRESSION_CENTER_POINT_BOX, 1).build(),
                        {{NEF_INT64, {6, 3}, {}}}));
    Case c =
        sized("another_size", op, {boxes, scores, most, iou}, words, {{NEF_INT64, {5, 3}, {}}});
    c.expect = NEF_SHAPE_MISMATCH;
    out.push_back(std::move(c));
  }
}

void add_compress(CaseList& out) {
  const nef_op op = NEF_OP_COMPRESS;
  for (nef_dtype t : allowed_dtypes(op)) {
    const Tensor x = make(t, {3, 4}, Fill::Extreme);
    const auto words = [&](int64_t axis) {
      return attrs(op).set_int(NEF_COMPRESS_AXIS, axis).build();
    };
    out.push_back(sized("flat", op, {x, values(NEF_BOOL, {6}, {0, 1, 0, 0, 1, 1})},
                        attrs(op).build(), {{t, {3}, {}}}));
    out.push_back(
        sized("axis0", op, {x, values(NEF_BOOL, {3}, {1, 0, 1})}, words(0), {{t, {2, 4}, {}}}));
    out.push_back(
        sized("axis1", op, {x, values(NEF_BOOL, {2}, {0, 1})}, words(-1), {{t, {3, 1}, {}}}));
    out.push_back(
        sized("nothing", op, {x, values(NEF_BOOL, {0}, {})}, words(1), {{t, {3, 0}, {}}}));
  }
}

void add_unique(CaseList& out) {
  const nef_op op = NEF_OP_UNIQUE;
  for (nef_dtype t : allowed_dtypes(op)) {
    const bool binary = t == NEF_BOOL;
    const Tensor x = values(t, {6}, {2, 1, 1, 3, 4, 3});
    const int64_t n = binary ? 2 : 4;
    const Tensor y{t, {binary ? 2 : 4}, {}}, i{NEF_INT64, {n}, {}}, all{NEF_INT64, {6}, {}};
    for (int64_t sorted : {0, 1}) {
      const auto words = attrs(op).set_int(NEF_UNIQUE_SORTED, sorted).build();
      const Tensor some = binary ? values(t, {6}, {1, 0, 0, 1, 1, 0}) : x;
      out.push_back(sized(sorted ? "sorted" : "first", op, {some}, words, {y, i, all, i}));
      const auto by_row =
          attrs(op).set_int(NEF_UNIQUE_SORTED, sorted).set_int(NEF_UNIQUE_AXIS, 0).build();
      out.push_back(sized(
          sorted ? "rows_sorted" : "rows_first", op,
          {values(t, {4, 3}, {1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1})}, by_row,
          {{t, {2, 3}, {}}, {NEF_INT64, {2}, {}}, {NEF_INT64, {4}, {}}, {NEF_INT64, {2}, {}}}));
    }
    out.push_back(
        sized("empty", op, {make(t, {0}, Fill::Small)}, attrs(op).build(),
              {{t, {0}, {}}, {NEF_INT64, {0}, {}}, {NEF_INT64, {0}, {}}, {NEF_INT64, {0}, {}}}));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  out.push_back(sized(
      "nan", op, {values(NEF_FLOAT32, {4}, {nan, 1, nan, -1})}, attrs(op).build(),
      {{NEF_FLOAT32, {3}, {}}, {NEF_INT64, {3}, {}}, {NEF_INT64, {4}, {}}, {NEF_INT64, {3}, {}}}));
}

void add_linear_attention(CaseList& out) {
  const nef_op op = NEF_OP_LINEAR_ATTENTION;
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
      const bool gated = rule[0] == 'g',
                 delta = std::string(rule).find("delta") != std::string::npos;
      const auto words = attrs(op)
                             .set_string(NEF_LINEAR_ATTENTION_UPDATE_RULE, rule)
                             .set_int(NEF_LINEAR_ATTENTION_Q_NUM_HEADS, 4)
                             .set_int(NEF_LINEAR_ATTENTION_KV_NUM_HEADS, 2)
                             .build();
      for (bool wide : {false, true}) {
        out.push_back(single(std::string(rule) + (wide ? "_wide" : ""), op,
                             {make(t, {2, 3, 12}, Fill::Unit, 1), make(t, {2, 3, 6}, Fill::Unit, 2),
                              make(t, {2, 3, 10}, Fill::Unit, 3),
                              wide ? make(t, {2, 2, 3, 5}, Fill::Unit, 4) : Tensor{},
                              gated ? make(t, {2, 3, wide ? 6 : 2}, Fill::Unit, 5) : Tensor{},
                              delta ? make(t, {2, 3, wide ? 1 : 2}, Fill::Unit, 6) : Tensor{}},
                             words, {t == NEF_FLOAT64 ? 4.0 : 1.0, 1}, 2));
      }
    }
  }
}

void add_tf_idf(CaseList& out) {
  const nef_op op = NEF_OP_TF_IDF_VECTORIZER;
  const Dims counts = {0, 4}, indexes = {0, 1, 2, 3, 4, 5, 6},
             pool = {2, 3, 5, 4, 5, 6, 7, 8, 6, 7};
  const std::vector<double> weights = {1, 2, 0.5, 1, 1, 1, 3};
  for (nef_dtype t : allowed_dtypes(op)) {
    for (const char* mode : {"TF", "IDF", "TFIDF"}) {
      for (int64_t skip : {0, 5}) {
        auto b = attrs(op);
        b.set_string(NEF_TF_IDF_VECTORIZER_MODE, mode)
            .set_int(NEF_TF_IDF_VECTORIZER_MIN_GRAM_LENGTH, 1)
            .set_int(NEF_TF_IDF_VECTORIZER_MAX_GRAM_LENGTH, 2)
            .set_int(NEF_TF_IDF_VECTORIZER_MAX_SKIP_COUNT, skip)
            .set_ints(NEF_TF_IDF_VECTORIZER_NGRAM_COUNTS, counts)
            .set_ints(NEF_TF_IDF_VECTORIZER_NGRAM_INDEXES, indexes)
            .set_ints(NEF_TF_IDF_VECTORIZER_POOL_INT64S, pool)
            .set_floats(NEF_TF_IDF_VECTORIZER_WEIGHTS, weights);
        const std::string name = std::string(mode) + "_skip" + std::to_string(skip);
        out.push_back(
            single(name, op, {values(t, {12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8})}, b.build()));
        out.push_back(single(name + "_rows", op,
                             {values(t, {2, 6}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8})}, b.build()));
        out.push_back(single(name + "_empty", op, {make(t, {2, 0}, Fill::Small)}, b.build()));
      }
    }
  }
}

}  // namespace

bool add_signal_cases(nef_op op, CaseList& out) {
  switch (op) {
    case NEF_OP_DFT: add_dft(out); return true;
    case NEF_OP_STFT: add_stft(out); return true;
    case NEF_OP_HANN_WINDOW:
    case NEF_OP_HAMMING_WINDOW:
    case NEF_OP_BLACKMAN_WINDOW: add_window(op, out); return true;
    case NEF_OP_MEL_WEIGHT_MATRIX: add_mel(out); return true;
    case NEF_OP_DET: add_det(out); return true;
    case NEF_OP_TENSOR_SCATTER: add_tensor_scatter(out); return true;
    case NEF_OP_CUMPROD: add_cumprod(out); return true;
    case NEF_OP_BIT_CAST: add_bit_cast(out); return true;
    case NEF_OP_REQUIRE: add_require(out); return true;
    case NEF_OP_RANDOM_UNIFORM:
    case NEF_OP_RANDOM_NORMAL: add_random(op, out); return true;
    case NEF_OP_BERNOULLI: add_bernoulli(out); return true;
    case NEF_OP_MULTINOMIAL: add_multinomial(out); return true;
    case NEF_OP_NON_MAX_SUPPRESSION: add_nms(out); return true;
    case NEF_OP_COMPRESS: add_compress(out); return true;
    case NEF_OP_UNIQUE: add_unique(out); return true;
    case NEF_OP_LINEAR_ATTENTION: add_linear_attention(out); return true;
    case NEF_OP_TF_IDF_VECTORIZER: add_tf_idf(out); return true;
    default: return false;
  }
}

}  // namespace nef::conformance
