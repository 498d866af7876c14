// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "engine/ir/dim.h"

namespace nef::ir {

using ShapeId = uint32_t;

[[noreturn]] void fail_rank(size_t rank);

// At most NEF_MAX_RANK entries, held inline: no heap.
template <typename T>
struct DimList {
  int32_t rank = 0;
  T dims[NEF_MAX_RANK];

  DimList() = default;
  // Throws NEF_LIMIT_EXCEEDED when there are more than NEF_MAX_RANK entries.
  explicit DimList(std::span<const T> d) { assign(d); }
  DimList(std::initializer_list<T> d) { assign({d.begin(), d.size()}); }
  void assign(std::span<const T> d) {
    if (d.size() > NEF_MAX_RANK) fail_rank(d.size());
    rank = static_cast<int32_t>(d.size());
    std::copy(d.begin(), d.end(), dims);
  }
  void push(T d) {  // same limit
    if (rank >= NEF_MAX_RANK) fail_rank(static_cast<size_t>(rank) + 1);
    dims[rank++] = d;
  }
  T& operator[](size_t i) { return dims[i]; }
  T operator[](size_t i) const { return dims[i]; }
  std::span<const T> view() const { return {dims, static_cast<size_t>(rank)}; }
  operator std::span<const T>() const { return view(); }  // NOLINT: a list is a span
  bool operator==(const DimList& o) const {
    return rank == o.rank && std::equal(dims, dims + rank, o.dims);
  }
};
using Shape = DimList<Dim>;
using Sizes = DimList<int64_t>;  // what the dims of a shape are in a run

bool dims_static(std::span<const Dim> dims);
// The dims of a static shape as what they are, in place. Throws NEF_INTERNAL for others.
std::span<const int64_t> numbers(std::span<const Dim> dims);
// The shape of these sizes. Throws NEF_LIMIT_EXCEEDED.
Shape shape_of(std::span<const int64_t> sizes);
// "[2 3]", with symbols by name: "[batch seq 384]".
std::string shape_str(std::span<const Dim> dims, const DimPool& pool);
std::string shape_str(std::span<const int64_t> sizes);
// Element and byte counts of a static shape; throw NEF_LIMIT_EXCEEDED past INT64_MAX (a 0 dim
// makes 0, also beside huge dims).
int64_t element_count(std::span<const int64_t> dims);
int64_t byte_count(nef_dtype dtype, std::span<const int64_t> dims);
inline int64_t element_count(std::span<const Dim> dims) { return element_count(numbers(dims)); }
inline int64_t byte_count(nef_dtype dtype, std::span<const Dim> dims) {
  return byte_count(dtype, numbers(dims));
}

// Interns shapes: equal shapes have equal ids. Id 0 is the scalar shape.
class ShapeTable {
 public:
  ShapeTable();
  ShapeId intern(std::span<const Dim> dims) {
    // Most values have the shape that the last one of their rank had.
    if (dims.size() <= NEF_MAX_RANK) {
      const ShapeId id = recent_[dims.size()];
      if (id != kNoShape && std::equal(dims.begin(), dims.end(), pool_.data() + begin_[id])) {
        return id;
      }
    }
    return find_or_add(dims);
  }
  std::span<const Dim> dims(ShapeId id) const {
    return {pool_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  size_t rank(ShapeId id) const { return begin_[id + 1] - begin_[id]; }
  bool is_static(ShapeId id) const { return static_[id] != 0; }
  // Equal shapes of one table have equal hashes.
  uint64_t hash(ShapeId id) const { return hash_[id]; }
  size_t size() const { return static_.size(); }

 private:
  static constexpr ShapeId kNoShape = 0xffffffffu;
  ShapeId find_or_add(std::span<const Dim> dims);
  void grow_index();
  ShapeId recent_[NEF_MAX_RANK + 1];  // per rank
  std::vector<Dim> pool_;
  std::vector<uint32_t> begin_;  // size() + 1
  std::vector<uint8_t> static_;
  std::vector<uint64_t> hash_;
  std::vector<uint32_t> slots_;  // open addressing, id + 1, 0 = empty
};

}  // namespace nef::ir
