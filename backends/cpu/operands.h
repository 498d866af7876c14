// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/cpu/kernel.h"

namespace nef::cpu {

// Where the data of a region's values is: literals with the kernel, constants with the prepared
// kernel, the rest with the launch.
class Operands {
 public:
  // `constants` as given to prepare; `region` outlives this.
  Operands(std::shared_ptr<const Region> region, const Tensor* constants)
      : region_(std::move(region)), fixed_(region_->values.size(), nullptr) {
    for (size_t i = 0; i < fixed_.size(); ++i) {
      const Value& v = region_->values[i];
      if (v.kind == NEF_VALUE_LITERAL) fixed_[i] = v.literal.data();
      if (v.kind == NEF_VALUE_CONSTANT) fixed_[i] = constants[i].data;
    }
  }

  const Region& region() const { return *region_; }
  const void* data(int value, const Tensor* values) const {
    const void* fixed = fixed_[static_cast<size_t>(value)];
    return fixed != nullptr ? fixed : values[value].data;
  }

 private:
  std::shared_ptr<const Region> region_;
  std::vector<const void*> fixed_;
};

}  // namespace nef::cpu
