// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/ir/dim.h"

namespace nef::io {

// A dim as text that DimPool::parse reads, in an order that depends on names only and not on
// the order in which a pool came to know its expressions: the same dim gives the same bytes
// before and after a round trip. Unknown dims are "?".
std::string dim_name(const ir::DimPool& pool, ir::Dim dim);

// Is an unknown dim part of it? Then nothing can be said of it before it is bound.
bool has_unknown(const ir::DimPool& pool, ir::Dim dim);

}  // namespace nef::io
