// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/shape.h"

#include <algorithm>

#include "engine/ir/checked.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::ir {
namespace {

uint64_t hash_dims(std::span<const Dim> dims) {
  uint64_t h = 0x9e3779b97f4a7c15ull ^ dims.size();
  for (Dim d : dims) {
    h = (h ^ d.key()) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

void fail_rank(size_t rank) {
  fail(NEF_LIMIT_EXCEEDED, "shape",
       cat("rank ", rank, " is over the limit of ", NEF_MAX_RANK, " dims"));
}

bool dims_static(std::span<const Dim> dims) {
  for (Dim d : dims) {
    if (is_expr(d)) return false;
  }
  return true;
}

std::span<const int64_t> numbers(std::span<const Dim> dims) {
  if (!dims_static(dims)) fail(NEF_INTERNAL, "shape", "a shape with symbols was taken for numbers");
  // A Dim is its word, and that of a number is the number.
  static_assert(sizeof(Dim) == sizeof(int64_t) && std::is_standard_layout_v<Dim>);
  return {reinterpret_cast<const int64_t*>(dims.data()), dims.size()};
}

Shape shape_of(std::span<const int64_t> sizes) {
  Shape shape;
  for (int64_t n : sizes) shape.push(Dim::of(n));
  return shape;
}

std::string shape_str(std::span<const Dim> dims, const DimPool& pool) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += ' ';
    out += pool.str(dims[i]);
  }
  return out + "]";
}

std::string shape_str(std::span<const int64_t> sizes) {
  std::string out = "[";
  for (size_t i = 0; i < sizes.size(); ++i) out += cat(i == 0 ? "" : " ", sizes[i]);
  return out + "]";
}

int64_t element_count(std::span<const int64_t> dims) {
  int64_t n = 1;
  bool overflow = false;
  for (int64_t d : dims) {
    if (d < 0) fail(NEF_INVALID_ARGUMENT, "shape", cat("a dim is negative: ", d));
    if (d == 0) return 0;
    overflow = overflow || !checked_mul(n, d, &n);
  }
  if (overflow) fail(NEF_LIMIT_EXCEEDED, "shape", "the element count is over 2^63 - 1");
  return n;
}

int64_t byte_count(nef_dtype dtype, std::span<const int64_t> dims) {
  int64_t bytes = 0;
  if (!checked_mul(element_count(dims), static_cast<int64_t>(dtype_size(dtype)), &bytes)) {
    fail(NEF_LIMIT_EXCEEDED, "shape", "the byte count is over 2^63 - 1");
  }
  return bytes;
}

ShapeTable::ShapeTable() : begin_{0}, slots_(16, 0) {
  std::fill(std::begin(recent_), std::end(recent_), kNoShape);
  intern({});
}

ShapeId ShapeTable::find_or_add(std::span<const Dim> dims) {
  const uint64_t h = hash_dims(dims);
  size_t mask = slots_.size() - 1;
  size_t i = h & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    const ShapeId id = slots_[i] - 1;
    if (hash_[id] != h) continue;
    const std::span<const Dim> have = this->dims(id);
    if (std::equal(have.begin(), have.end(), dims.begin(), dims.end())) {
      return recent_[dims.size()] = id;
    }
  }
  if (dims.size() > NEF_MAX_RANK) fail_rank(dims.size());
  if (pool_.size() + dims.size() > UINT32_MAX || static_.size() >= UINT32_MAX - 1) {
    fail(NEF_LIMIT_EXCEEDED, "shape", "too many different shapes in one graph");
  }
  const ShapeId id = static_cast<ShapeId>(static_.size());
  // `dims` may point into pool_, which is about to grow.
  const Shape copy(dims);
  pool_.insert(pool_.end(), copy.dims, copy.dims + copy.rank);
  begin_.push_back(static_cast<uint32_t>(pool_.size()));
  static_.push_back(dims_static(copy) ? 1 : 0);
  hash_.push_back(h);
  slots_[i] = id + 1;
  if (static_.size() * 2 > slots_.size()) grow_index();
  return recent_[copy.rank] = id;
}

void ShapeTable::grow_index() {
  std::vector<uint32_t> bigger(slots_.size() * 2, 0);
  const size_t mask = bigger.size() - 1;
  for (ShapeId id = 0; id < hash_.size(); ++id) {
    size_t i = hash_[id] & mask;
    while (bigger[i] != 0) i = (i + 1) & mask;
    bigger[i] = id + 1;
  }
  slots_.swap(bigger);
}

}  // namespace nef::ir
