// SPDX-License-Identifier: Apache-2.0
// Attention and RotaryEmbedding.
#include <algorithm>
#include <cmath>

#include "backends/reference/call.h"

namespace nef::reference {
namespace {

// A tensor of heads: [batch, heads, sequence, size], or [batch, sequence, heads * size].
struct Heads {
  View view;
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  bool packed = false;

  Heads(const View& v, int64_t n_heads) : view(v), batch(v.dims[0]), packed(v.rank == 3) {
    heads = packed ? n_heads : v.dims[1];
    length = packed ? v.dims[1] : v.dims[2];
    size = packed ? (n_heads == 0 ? 0 : v.dims[2] / n_heads) : v.dims[3];
  }
  int64_t row(int64_t b, int64_t h, int64_t s) const {
    return packed ? ((b * length + s) * heads + h) * size : ((b * heads + h) * length + s) * size;
  }
};

// Keys or values: what the past holds, then the new ones.
struct Cache {
  bool has_past;
  Heads past, fresh;
  int64_t past_length;

  Cache(const Call& c, size_t past_input, const Heads& fresh_heads)
      : has_past(c.has(past_input)),
        past(has_past ? Heads(c.in(past_input), 0) : fresh_heads),
        fresh(fresh_heads),
        past_length(has_past ? past.length : 0) {}
  int64_t length() const { return past_length + fresh.length; }
  double at(int64_t b, int64_t h, int64_t s, int64_t i) const {
    if (s < past_length) return load_float(past.view, past.row(b, h, s) + i);
    return load_float(fresh.view, fresh.row(b, h, s - past_length) + i);
  }
};

enum class Stage { kScores = 0, kCapped = 1, kMasked = 2, kSoftmax = 3 };

class Attention {
 public:
  explicit Attention(const Call& c)
      : c_(c),
        q_(c.in(0), c.attr_int(NEF_ATTENTION_Q_NUM_HEADS)),
        k_(c, 4, Heads(c.in(1), c.attr_int(NEF_ATTENTION_KV_NUM_HEADS))),
        v_(c, 5, Heads(c.in(2), c.attr_int(NEF_ATTENTION_KV_NUM_HEADS))),
        has_mask_(c.has(3)),
        mask_(has_mask_ ? c.in(3) : View{}),
        mask_steps_(broadcast_strides(mask_, 4)),
        causal_(c.attr_int(NEF_ATTENTION_IS_CAUSAL) != 0),
        softcap_(c.attr_float(NEF_ATTENTION_SOFTCAP)),
        scale_(c.attr_float(NEF_ATTENTION_SCALE, 1 / std::sqrt(static_cast<double>(q_.size)))) {}

  void run() {
    for (int64_t b = 0; b < q_.batch; ++b) {
      for (int64_t h = 0; h < q_.heads; ++h) {
        for (int64_t s = 0; s < q_.length; ++s) run_row(b, h, s);
      }
    }
    write_present(1, k_);
    write_present(2, v_);
  }

  static size_t scratch(const Call& c) {
    const Heads k(c.in(1), c.attr_int(NEF_ATTENTION_KV_NUM_HEADS));
    return static_cast<size_t>(Cache(c, 4, k).length()) * sizeof(double);
  }

 private:
  // Query heads share key heads in runs: [k0 k0 k1 k1].
  int64_t kv_head(int64_t h) const { return h / (q_.heads / k_.fresh.heads); }

  void run_row(int64_t b, int64_t h, int64_t s) {
    auto* scores = c_.scratch<double>();
    const int64_t n = k_.length();
    for (int64_t j = 0; j < n; ++j) scores[j] = dot(b, h, s, j) * scale_;
    emit(Stage::kScores, b, h, s);
    for (int64_t j = 0; j < n && softcap_ > 0; ++j) {
      scores[j] = softcap_ * std::tanh(scores[j] / softcap_);
    }
    emit(Stage::kCapped, b, h, s);
    for (int64_t j = 0; j < n; ++j) {
      // What lies behind the keys of a batch may be anything.
      scores[j] = hidden(b, s, j) ? lowest<double>(NEF_FLOAT64) : scores[j] + bias(b, h, s, j);
    }
    emit(Stage::kMasked, b, h, s);
    softmax(scores, n);
    emit(Stage::kSoftmax, b, h, s);
    if (c_.wants(0)) weigh(b, h, s);
  }

  double dot(int64_t b, int64_t h, int64_t s, int64_t j) const {
    const int64_t row = q_.row(b, h, s), kh = kv_head(h);
    double sum = 0;
    for (int64_t i = 0; i < q_.size; ++i) sum += load_float(q_.view, row + i) * k_.at(b, kh, j, i);
    return sum;
  }

  // Is this key no key of the batch, or later than the query?
  bool hidden(int64_t b, int64_t s, int64_t j) const {
    if (c_.has(6) && j >= load_int(c_.in(6), b)) return true;
    return causal_ && j > s + causal_offset(b);
  }
  // What is added to a score: -inf where masked.
  double bias(int64_t b, int64_t h, int64_t s, int64_t j) const {
    const double masked = lowest<double>(NEF_FLOAT64);
    if (!has_mask_) return 0;
    // One column stands for all keys; a mask that is shorter otherwise masks the rest.
    const int64_t columns = mask_.rank == 0 ? 1 : mask_.dims[mask_.rank - 1];
    if (columns != 1 && j >= columns) return masked;
    const int64_t i = b * mask_steps_.by[0] + h * mask_steps_.by[1] + s * mask_steps_.by[2] +
                      j * mask_steps_.by[3];
    if (mask_.dtype == NEF_BOOL) return load_int(mask_, i) != 0 ? 0 : masked;
    return load_float(mask_, i);
  }
  // How many keys precede the first query.
  int64_t causal_offset(int64_t b) const {
    if (k_.has_past || !c_.has(6)) return k_.past_length;
    constexpr int64_t kFar = int64_t{1} << 62;
    return std::clamp(load_int(c_.in(6), b), -kFar, kFar) - q_.length;
  }

  static void softmax(double* scores, int64_t n) {
    double most = lowest<double>(NEF_FLOAT64), sum = 0;
    for (int64_t j = 0; j < n; ++j) most = larger(most, scores[j]);
    const bool all_masked = most == lowest<double>(NEF_FLOAT64);
    for (int64_t j = 0; j < n; ++j) sum += scores[j] = all_masked ? 0 : std::exp(scores[j] - most);
    for (int64_t j = 0; j < n && !all_masked; ++j) scores[j] /= sum;
  }

  // A weight of 0 leaves its value out, so that what is masked cannot reach the result.
  void weigh(int64_t b, int64_t h, int64_t s) const {
    const auto* weights = c_.scratch<double>();
    const View y = c_.out(0);
    const Heads out(y, q_.heads);
    const int64_t row = out.row(b, h, s), kh = kv_head(h);
    for (int64_t i = 0; i < out.size; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < k_.length(); ++j) {
        if (weights[j] != 0) sum += weights[j] * v_.at(b, kh, j, i);
      }
      store_float(y, row + i, sum);
    }
  }

  void emit(Stage stage, int64_t b, int64_t h, int64_t s) const {
    if (!c_.wants(3) || c_.attr_int(NEF_ATTENTION_QK_MATMUL_OUTPUT_MODE) != static_cast<int>(stage))
      return;
    const View out = c_.out(3);
    const int64_t n = k_.length(), row = ((b * q_.heads + h) * q_.length + s) * n;
    for (int64_t j = 0; j < n; ++j) store_float(out, row + j, c_.scratch<double>()[j]);
  }

  void write_present(size_t output, const Cache& cache) const {
    if (!c_.wants(output)) return;
    const View out = c_.out(output);
    const Heads to(out, 0);
    for (int64_t r = 0; r < to.batch * to.heads * to.length; ++r) {
      const int64_t s = r % to.length, h = r / to.length % to.heads, b = r / to.length / to.heads;
      for (int64_t i = 0; i < to.size; ++i) store_float(out, r * to.size + i, cache.at(b, h, s, i));
    }
  }

  const Call& c_;
  Heads q_;
  Cache k_, v_;
  bool has_mask_;
  View mask_;
  Strides mask_steps_;
  bool causal_;
  double softcap_, scale_;
};

void run_attention(const Call& c) { Attention(c).run(); }

void run_rotary(const Call& c) {
  const View x = c.in(0), cosines = c.in(1), sines = c.in(2), y = c.out();
  const Heads heads(x, c.attr_int(NEF_ROTARY_EMBEDDING_NUM_HEADS));
  const int64_t asked = c.attr_int(NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM);
  const int64_t turned = asked == 0 ? heads.size : asked, half = turned / 2;
  const bool interleaved = c.attr_int(NEF_ROTARY_EMBEDDING_INTERLEAVED) != 0;
  for (int64_t r = 0; r < heads.batch * heads.heads * heads.length; ++r) {
    const int64_t s = r % heads.length, h = r / heads.length % heads.heads;
    const int64_t b = r / heads.length / heads.heads, position = b * heads.length + s;
    const int64_t angle = (c.has(3) ? checked_index("RotaryEmbedding: position_ids",
                                                    load_int(c.in(3), position), 0, cosines.dims[0])
                                    : position) *
                          half;
    const int64_t row = heads.row(b, h, s);
    for (int64_t i = 0; i < half; ++i) {
      const int64_t first = row + (interleaved ? 2 * i : i);
      const int64_t second = interleaved ? first + 1 : first + half;
      const double co = load_float(cosines, angle + i), si = load_float(sines, angle + i);
      const double a = load_float(x, first), d = load_float(x, second);
      store_float(y, first, co * a - si * d);
      store_float(y, second, si * a + co * d);
    }
    for (int64_t i = 2 * half; i < heads.size; ++i) copy_element(y, row + i, x, row + i);
  }
}

constexpr Kernel kKernels[] = {
    {NEF_OP_ATTENTION, run_attention, Attention::scratch},
    {NEF_OP_ROTARY_EMBEDDING, run_rotary},
};

}  // namespace

std::span<const Kernel> attention_kernels() { return kKernels; }

}  // namespace nef::reference
