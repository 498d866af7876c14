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

// A shape held inline: no heap, at most NEF_MAX_RANK dims.
struct Shape {
  int32_t rank = 0;
  Dim dims[NEF_MAX_RANK];

  Shape() = default;
  // Throws NEF_LIMIT_EXCEEDED when there are more than NEF_MAX_RANK dims.
  explicit Shape(std::span<const Dim> d) { assign(d); }
  Shape(std::initializer_list<Dim> d) { assign({d.begin(), d.size()}); }
  void assign(std::span<const Dim> d);
  void push(Dim d);  // same limit
  Dim& operator[](size_t i) { return dims[i]; }
  Dim operator[](size_t i) const { return dims[i]; }
  std::span<const Dim> view() const { return {dims, static_cast<size_t>(rank)}; }
  operator std::span<const Dim>() const { return view(); }  // NOLINT: a shape is a span of dims
  bool is_static() const;
  bool operator==(const Shape& o) const;
};

bool dims_static(std::span<const Dim> dims);
// "[2 3]", with symbols by name: "[batch seq 384]".
std::string shape_str(std::span<const Dim> dims, const DimPool& pool);
// Element and byte counts of a static shape; throw NEF_LIMIT_EXCEEDED past INT64_MAX (a 0 dim
// makes 0, also beside huge dims).
int64_t element_count(std::span<const int64_t> dims);
int64_t byte_count(nef_dtype dtype, std::span<const int64_t> dims);

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
