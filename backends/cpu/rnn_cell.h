// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/shared/rnn.h"

// What a recurrent step does between its products: activations and gates over rows of one
// sequence's hidden units, with the tile functions of elementwise ops.
namespace nef::cpu {

struct TileArgs;

template <typename T>
constexpr nef_dtype kRnnDtype = sizeof(T) == 8 ? NEF_FLOAT64 : NEF_FLOAT32;

// y = op(a, b); y may be an input.
template <typename T>
class RnnMath {
 public:
  RnnMath();
  void add(const T* a, const T* b, int64_t n, T* y) const;
  void sub(const T* a, const T* b, int64_t n, T* y) const;
  void mul(const T* a, const T* b, int64_t n, T* y) const;
  // y += a * b, through `room`.
  void add_product(const T* a, const T* b, int64_t n, T* room, T* y) const;

 private:
  void (*add_)(const TileArgs&);
  void (*sub_)(const TileArgs&);
  void (*mul_)(const TileArgs&);
};

// An activation on rows, in place.
template <typename T>
class RnnActivate {
 public:
  RnnActivate() = default;
  RnnActivate(const backends::RnnActivation& a, double clip);
  void operator()(T* x, int64_t n) const;

 private:
  backends::RnnActivation activation_;
  T clip_ = 0;
  void (*fn_)(const TileArgs&) = nullptr;
};

// One direction's cell: turns the sums of a step into the next state. `spec` outlives it.
template <typename T>
class RnnCell {
 public:
  RnnCell(const backends::RnnSpec& spec, int direction, int64_t hidden);

  // `sums` holds the gates i, o, f, c before their activations; `peepholes` i, o, f or null.
  void lstm(T* sums, const T* peepholes, T* cell, T* h, T* room) const;
  // Both gates z and r, which stand one after the other.
  void gru_gates(T* sums) const;
  // h = (1 - z) g(candidate) + z h.
  void gru(const T* z, T* candidate, T* h, T* room) const;
  void rnn(T* sums, T* h) const;

 private:
  const backends::RnnSpec& spec_;
  int64_t n_;
  RnnMath<T> math_;
  RnnActivate<T> f_[3];
};

}  // namespace nef::cpu
