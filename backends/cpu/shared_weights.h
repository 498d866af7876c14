// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "backends/cpu/gemm_values.h"

namespace nef::cpu {

// The packed form of the constant at `data`, if somebody holds one packed in the way `how` tells.
std::shared_ptr<const void> find_shared_weights(const void* data, const std::string& how);
// Makes it known to others for as long as it is held. Gives what is known already, if anything.
std::shared_ptr<const void> share_weights(const void* data, const std::string& how,
                                          std::shared_ptr<const void> packed);

// Packed weights: kernels that pack the same constant in the same way hold one copy together. A
// constant outlives what is prepared from it, so its address names it.
template <typename T>
class SharedWeights {
 public:
  SharedWeights() = default;
  template <typename Make>
  SharedWeights(const void* data, const std::string& how, const Make& make) {
    auto known = find_shared_weights(data, how);
    if (known == nullptr) {
      auto made = std::make_shared<const AlignedBuffer<T>>(make());
      known = share_weights(data, how, made);
      owner_ = known == made;
    }
    buffer_ = std::static_pointer_cast<const AlignedBuffer<T>>(known);
  }

  const T* data() const { return buffer_ == nullptr ? nullptr : buffer_->data(); }
  // Counted once: by who packed it.
  uint64_t bytes() const { return owner_ ? buffer_->bytes() : 0; }

 private:
  std::shared_ptr<const AlignedBuffer<T>> buffer_;
  bool owner_ = false;
};

}  // namespace nef::cpu
