// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/elementwise_tiles.h"

// How each elementwise op of the table is done on tiles.
namespace nef::cpu {

enum class OpForm : uint8_t {
  kUnary,    // tile op on the input
  kBinary,   // tile op on both inputs
  kSwapped,  // the same with the inputs exchanged
  kFold,     // tile op folded over all inputs
  kMean,     // kFold, then scaled by 1 / count
  kCast,
  kCastLike,
  kClip,
  kMod,
  kPow,
  kBitShift,
  kWhere,
  kGelu,
  kIsInf,
  kIdentity
};

constexpr unsigned kNoSlot = 63;  // an attribute slot that is never present

struct OpRow {
  nef_op op;
  const char* name;
  OpForm form;
  TileOp tile_op;
  unsigned p0_slot = kNoSlot;
  unsigned p1_slot = kNoSlot;
};

// Null for an op that is not elementwise.
const OpRow* find_op_row(nef_op op);

}  // namespace nef::cpu
