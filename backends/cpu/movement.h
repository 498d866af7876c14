// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nef::cpu {

// The parts of register_movement, one per file.
void register_views();
void register_joins();
void register_indexing();
void register_scatter();
void register_generators();
void register_resize();

}  // namespace nef::cpu
