// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstddef>
#include <cstdint>

// Copies on the shared pool: the work of every movement kernel.
namespace nef::cpu {

// A strided reading of memory; steps are in elements and may be 0 or negative.
struct StridedView {
  const char* data = nullptr;
  int rank = 0;
  int64_t dims[NEF_MAX_RANK] = {};
  int64_t steps[NEF_MAX_RANK] = {};

  void push(int64_t dim, int64_t step) {
    dims[rank] = dim;
    steps[rank++] = step;
  }
};

// Writes the view to dense memory in row-major order.
void copy_view(char* dst, const StridedView& view, size_t element_size);

// Contiguous copy; equal pointers are left alone.
void copy_bytes(char* dst, const char* src, size_t bytes);

// `rows` rows of `row_bytes`, each pitch bytes after the one before.
void copy_rows(char* dst, size_t dst_pitch, const char* src, size_t src_pitch, size_t row_bytes,
               int64_t rows);

// count copies of one element.
void fill(char* dst, const char* element, size_t element_size, int64_t count);
void fill_zero(char* dst, size_t bytes);

// Least rows worth another thread when each moves `row_bytes`.
int64_t copy_grain(size_t row_bytes);

}  // namespace nef::cpu
