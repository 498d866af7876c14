// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/kernel.h"

// What follows a contraction in its region: a chain of elementwise steps on each finished block
// of the result, while it is in cache.
namespace nef::cpu {

enum class EpilogueOp : uint8_t {
  kAdd,
  kSub,
  kReverseSub,
  kMul,
  kDiv,
  kReverseDiv,
  kMax,
  kMin,  // with an operand
  kSquare,
  kRelu,
  kLeakyRelu,
  kClip,
  kGelu,
  kGeluTanh,
  kSilu,
  kSigmoid,
  kHardSigmoid,
  kHardSwish,
  kTanh,
  kErf,
  kExp,
  kSqrt,
  kNeg,
  kAbs,
  kReciprocal,
  kScale,
};

struct EpilogueStep {
  EpilogueOp op;
  int32_t value = -1;            // region value of the operand
  std::vector<float> literal{};  // the operand, when it is part of the structure
  double p0 = 0, p1 = 0;         // parameters; p0 also scales the operand of kAdd
};
using Epilogue = std::vector<EpilogueStep>;

// Reads the nodes after node `head` of an epilogue region into `out`. `row_dims`: how many leading
// dims of the result are rows (the others are one contiguous row). False, with `why`, when they are
// not such a chain.
bool parse_epilogue(const Region& region, size_t head, int row_dims, Epilogue* out,
                    std::string* why);

constexpr int kMaxEpilogue = 16;

// An operand at launch, seen as a matrix of the result's rows and columns.
template <typename T>
struct EpilogueOperand {
  const T* data = nullptr;
  int64_t col_stride = 0;  // 0 or 1
  int64_t row_stride = 0;  // kGeneral: from dims and strides
  static constexpr int64_t kGeneral = -1;
  int rank = 0;
  int64_t dims[NEF_MAX_RANK], strides[NEF_MAX_RANK];
};

template <typename T>
struct EpilogueRun {
  int count = 0;
  EpilogueOp ops[kMaxEpilogue];
  T p0[kMaxEpilogue], p1[kMaxEpilogue];
  EpilogueOperand<T> operands[kMaxEpilogue];

  void add(EpilogueOp op, T first = 0, T second = 0);
  void add_operand(EpilogueOp op, const T* data, const int64_t* dims, int rank,
                   const int64_t* out_dims, int out_rank, int row_dims, T scale = 1);
};

// Adds a chain, bound to the values of a launch. `ranks` are the ranks of the region's values.
void bind_epilogue(const Epilogue& epilogue, const Tensor* values, const std::vector<int>& ranks,
                   const int64_t* out_dims, int out_rank, int row_dims, EpilogueRun<float>* run);

// Asks for what the operands hold for a block of one or two vectors of columns.
template <typename T>
void fetch_operands(const EpilogueRun<T>& run, int64_t row, int64_t col, int64_t rows,
                    int64_t cols);

// A TileFn whose context is an EpilogueRun.
template <typename T>
void run_epilogue(const void* context, int64_t row, int64_t col, int64_t rows, int64_t cols, T* c,
                  int64_t ldc);

}  // namespace nef::cpu
