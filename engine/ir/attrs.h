// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/ir/ops.h"

namespace nef::ir {

// Reads the attribute block of a node (layout: nef/backend.h). Defaults were filled in by
// AttrBuilder, so only attributes without a default can be absent.
class Attrs {
 public:
  Attrs() = default;
  explicit Attrs(std::span<const int64_t> words) : words_(words) {}

  std::span<const int64_t> words() const { return words_; }
  const int64_t* data() const { return words_.empty() ? nullptr : words_.data(); }
  bool has(unsigned slot) const { return nef_attr_has(data(), slot) != 0; }
  int64_t i(unsigned slot, int64_t fallback = 0) const {
    return nef_attr_int(data(), slot, fallback);
  }
  double f(unsigned slot, double fallback = 0) const {
    return nef_attr_float(data(), slot, fallback);
  }
  std::span<const int64_t> ints(unsigned slot) const {
    return {nef_attr_ints(data(), slot), nef_attr_count(data(), slot)};
  }
  std::span<const double> floats(unsigned slot) const {
    return {nef_attr_floats(data(), slot), nef_attr_count(data(), slot)};
  }
  std::string_view s(unsigned slot) const {
    const char* p = nef_attr_string(data(), slot);
    return p == nullptr ? std::string_view() : std::string_view(p, nef_attr_count(data(), slot));
  }

 private:
  std::span<const int64_t> words_;
};

// Builds an attribute block: canonical, so equal attributes give equal words.
class AttrBuilder {
 public:
  explicit AttrBuilder(nef_op op);
  AttrBuilder& set_int(unsigned slot, int64_t v);
  AttrBuilder& set_float(unsigned slot, double v);
  AttrBuilder& set_string(unsigned slot, std::string_view v);
  AttrBuilder& set_ints(unsigned slot, std::span<const int64_t> v);
  AttrBuilder& set_floats(unsigned slot, std::span<const double> v);
  // Starts from an existing block of the same op.
  AttrBuilder& copy(const Attrs& from);
  // Fills defaults, checks required ones (NEF_INVALID_ARGUMENT), returns the block. Empty for an
  // op without attributes.
  std::vector<int64_t> build();

 private:
  struct Slot {
    bool set = false;
    int64_t word = 0;
    uint32_t count = 0;
    std::vector<int64_t> payload;
  };
  Slot& slot(unsigned index, AttrType type);
  void set_payload(Slot& s, size_t count, std::vector<int64_t> words);
  void fill_default(unsigned index);
  const OpSpec& spec_;
  std::vector<Slot> slots_;
};

}  // namespace nef::ir
