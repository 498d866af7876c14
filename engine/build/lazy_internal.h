// SPDX-License-Identifier: Apache-2.0
// What the files of the lazy tensors share.
#pragma once

#include <mutex>

#include "engine/build/lazy.h"
#include "engine/ir/infer.h"

namespace nef::build {

// Guards materialised data, capture marks, and the symbols of lazy dims.
std::mutex& lazy_mutex();
ir::DimPool& lazy_pool();
uint64_t next_epoch();  // under lazy_mutex()
// Before lazy_pool() gets expressions: it may forget those that no tensor needs. Under
// lazy_mutex(), which is held until a node keeps the new ones.
void make_room_for_expressions();
// What inference may know of a value; `storage` holds elements that are not content already.
ir::Operand lazy_operand(const LazyTensor* t, bool host, std::vector<ir::Dim>* storage);
// Elements known symbolically, or null.
const std::vector<ir::Dim>* known_content(const LazyTensor* t);
// A node with blocks; the caller owns one reference for each result.
LazyNode* make_block_node(nef_op op, std::span<LazyTensor* const> inputs,
                          std::span<const int64_t> attr_words, std::vector<ir::Graph::Block> blocks,
                          std::span<const ir::Inferred> results);

}  // namespace nef::build
