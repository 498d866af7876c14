// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/rnn_cell.h"

#include <algorithm>

#include "backends/cpu/elementwise_tiles.h"

namespace nef::cpu {
namespace {

using backends::RnnFunction;

template <typename T>
void run(TileFn fn, const T* a, const T* b, int64_t n, T* y) {
  fn({y, {a, b, nullptr}, static_cast<size_t>(n), 0, 0});
}

TileOp tile_op(RnnFunction f) {
  switch (f) {
    case RnnFunction::kRelu: return TileOp::kRelu;
    case RnnFunction::kSigmoid: return TileOp::kSigmoid;
    case RnnFunction::kLeakyRelu: return TileOp::kLeakyRelu;
    case RnnFunction::kElu: return TileOp::kElu;
    case RnnFunction::kSoftsign: return TileOp::kSoftsign;
    case RnnFunction::kThresholdedRelu: return TileOp::kThresholdedRelu;
    case RnnFunction::kHardSigmoid: return TileOp::kHardSigmoid;
    case RnnFunction::kSoftplus: return TileOp::kSoftplus;
    default: return TileOp::kTanh;
  }
}

}  // namespace

template <typename T>
RnnMath<T>::RnnMath()
    : add_(find_tile_fn(TileOp::kAdd, kRnnDtype<T>)),
      sub_(find_tile_fn(TileOp::kSub, kRnnDtype<T>)),
      mul_(find_tile_fn(TileOp::kMul, kRnnDtype<T>)) {}
template <typename T>
void RnnMath<T>::add(const T* a, const T* b, int64_t n, T* y) const {
  run(add_, a, b, n, y);
}
template <typename T>
void RnnMath<T>::sub(const T* a, const T* b, int64_t n, T* y) const {
  run(sub_, a, b, n, y);
}
template <typename T>
void RnnMath<T>::mul(const T* a, const T* b, int64_t n, T* y) const {
  run(mul_, a, b, n, y);
}
template <typename T>
void RnnMath<T>::add_product(const T* a, const T* b, int64_t n, T* room, T* y) const {
  mul(a, b, n, room);
  add(y, room, n, y);
}

template <typename T>
RnnActivate<T>::RnnActivate(const backends::RnnActivation& a, double clip)
    : activation_(a),
      clip_(static_cast<T>(clip)),
      fn_(find_tile_fn(tile_op(a.function), kRnnDtype<T>)) {}

template <typename T>
void RnnActivate<T>::operator()(T* x, int64_t n) const {
  if (clip_ > 0) {
    // Not min and max: a NaN stays.
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] > clip_ ? clip_ : x[i] < -clip_ ? -clip_ : x[i];
  }
  const T alpha = static_cast<T>(activation_.alpha), beta = static_cast<T>(activation_.beta);
  if (activation_.function == RnnFunction::kAffine) {
    for (int64_t i = 0; i < n; ++i) x[i] = alpha * x[i] + beta;
    return;
  }
  const bool scaled = activation_.function == RnnFunction::kScaledTanh;
  for (int64_t i = 0; scaled && i < n; ++i) x[i] *= beta;
  fn_({x, {x, nullptr, nullptr}, static_cast<size_t>(n), activation_.alpha, activation_.beta});
  for (int64_t i = 0; scaled && i < n; ++i) x[i] *= alpha;
}

template <typename T>
RnnCell<T>::RnnCell(const backends::RnnSpec& spec, int direction, int64_t hidden)
    : spec_(spec), n_(hidden) {
  for (int i = 0; i < 3; ++i) {
    f_[i] = RnnActivate<T>(spec.activations[direction][i], spec.clip);
  }
}

template <typename T>
void RnnCell<T>::lstm(T* sums, const T* peepholes, T* cell, T* h, T* room) const {
  T *i = sums, *o = sums + n_, *forget = sums + 2 * n_, *c = sums + 3 * n_;
  const bool separate = peepholes != nullptr || spec_.input_forget;
  if (peepholes != nullptr) {
    math_.add_product(peepholes, cell, n_, room, i);
    math_.add_product(peepholes + 2 * n_, cell, n_, room, forget);
  }
  f_[0](i, separate ? n_ : 3 * n_);
  if (spec_.input_forget) {
    for (int64_t j = 0; j < n_; ++j) forget[j] = T(1) - i[j];
  } else if (separate) {
    f_[0](forget, n_);
  }
  f_[1](c, n_);
  math_.mul(forget, cell, n_, cell);
  math_.add_product(i, c, n_, room, cell);
  if (peepholes != nullptr) math_.add_product(peepholes + n_, cell, n_, room, o);
  if (separate) f_[0](o, n_);
  std::copy_n(cell, n_, room);
  f_[2](room, n_);
  math_.mul(o, room, n_, h);
}

template <typename T>
void RnnCell<T>::gru_gates(T* sums) const {
  f_[0](sums, 2 * n_);
}

template <typename T>
void RnnCell<T>::gru(const T* z, T* candidate, T* h, T* room) const {
  f_[1](candidate, n_);
  math_.sub(h, candidate, n_, h);
  math_.add_product(z, h, n_, room, candidate);
  std::copy_n(candidate, n_, h);
}

template <typename T>
void RnnCell<T>::rnn(T* sums, T* h) const {
  f_[0](sums, n_);
  std::copy_n(sums, n_, h);
}

template class RnnMath<float>;
template class RnnMath<double>;
template class RnnActivate<float>;
template class RnnActivate<double>;
template class RnnCell<float>;
template class RnnCell<double>;

}  // namespace nef::cpu
