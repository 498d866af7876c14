// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/movement.h"

#include "backends/cpu/kernel.h"

namespace nef::cpu {

void register_movement() {
  register_views();
  register_joins();
  register_indexing();
  register_scatter();
  register_generators();
  register_resize();
}

}  // namespace nef::cpu
