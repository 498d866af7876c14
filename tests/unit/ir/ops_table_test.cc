// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "engine/ir/dtype.h"
#include "engine/ir/ops.h"

namespace nef::ir {
namespace {

constexpr uint32_t kAllDtypes = ((1u << (kLastDtype + 1)) - 1) & ~1u;
constexpr uint8_t kNoTypeVar = 255;

std::vector<const OpSpec*> all_ops() {
  std::vector<const OpSpec*> ops;
  for (unsigned id = 0; id < kOpTableSize; ++id) {
    if (kOpTable[id].id != 0) ops.push_back(&kOpTable[id]);
  }
  return ops;
}

std::map<int, std::string> released_ids() {
  std::ifstream file(std::string(NEF_TEST_DATA_DIR) + "/op_ids.txt");
  std::map<int, std::string> ids;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    int id = 0;
    std::string name;
    EXPECT_TRUE(fields >> id >> name) << line;
    EXPECT_TRUE(ids.emplace(id, name).second) << "id " << id << " is listed twice";
  }
  return ids;
}

TEST(OpsTable, ReleasedIdsKeepTheirMeaning) {
  const std::map<int, std::string> ids = released_ids();
  ASSERT_FALSE(ids.empty());
  for (const auto& [id, name] : ids) {
    ASSERT_LT(static_cast<unsigned>(id), kOpTableSize) << name << " was removed";
    ASSERT_EQ(kOpTable[id].id, id) << name << " was removed";
    EXPECT_EQ(kOpTable[id].name, name);
  }
}

TEST(OpsTable, EveryIdIsListedInTheGoldenFile) {
  const std::map<int, std::string> ids = released_ids();
  for (const OpSpec* op : all_ops()) {
    EXPECT_TRUE(ids.count(op->id))
        << "append \"" << op->id << ' ' << op->name << "\" to tests/data/op_ids.txt";
  }
}

TEST(OpsTable, IdsIndexTheTable) {
  EXPECT_EQ(kOpTable[0].id, NEF_OP_INVALID);
  EXPECT_EQ(kOpTableSize, static_cast<unsigned>(NEF_OP_COUNT_));
  for (unsigned id = 1; id < kOpTableSize; ++id) {
    const nef_op found = kOpTable[id].id;
    EXPECT_TRUE(found == 0 || found == static_cast<nef_op>(id)) << id;
    EXPECT_EQ(op_valid(id), found != 0) << id;
  }
  EXPECT_FALSE(op_valid(0));
  EXPECT_FALSE(op_valid(-1));
  EXPECT_FALSE(op_valid(kOpTableSize));
}

TEST(OpsTable, AliasesAreSortedUniqueAndFound) {
  for (unsigned i = 0; i < kOpAliasCount; ++i) {
    const OpAlias& alias = kOpAliases[i];
    if (i > 0) {
      EXPECT_LT(std::strcmp(kOpAliases[i - 1].name, alias.name), 0) << alias.name;
    }
    EXPECT_TRUE(op_valid(alias.id)) << alias.name;
    EXPECT_EQ(find_op(alias.name), alias.id) << alias.name;
  }
}

TEST(OpsTable, EveryOpIsFoundByBothItsNames) {
  for (const OpSpec* op : all_ops()) {
    EXPECT_EQ(find_op(op->name), op->id) << op->name;
    EXPECT_EQ(find_op(op->snake), op->id) << op->snake;
  }
}

TEST(OpsTable, KnownSpellingsAreFound) {
  EXPECT_EQ(find_op("layernorm"), NEF_OP_LAYER_NORMALIZATION);
  EXPECT_EQ(find_op("rms_norm"), NEF_OP_RMS_NORMALIZATION);
  EXPECT_EQ(find_op("swish"), NEF_OP_SILU);
  EXPECT_EQ(find_op("Swish"), NEF_OP_SILU);
  EXPECT_EQ(find_op("matmul"), NEF_OP_MATMUL);
}

TEST(OpsTable, OtherSpellingsAreNot) {
  for (const char* name : {"", "a", "zzz", "SOFTMAX", "softmax ", "soft", "softmaxx"}) {
    EXPECT_EQ(find_op(name), NEF_OP_INVALID) << '"' << name << '"';
  }
  EXPECT_EQ(find_op(std::string_view("softmax\0", 8)), NEF_OP_INVALID);
}

void check_inputs(const OpSpec& op) {
  bool optional_seen = false;
  for (unsigned i = 0; i < op.n_inputs; ++i) {
    const InputSpec& in = op.inputs[i];
    EXPECT_NE(in.name[0], '\0');
    EXPECT_NE(in.dtypes, 0u) << in.name;
    EXPECT_EQ(in.dtypes & ~kAllDtypes, 0u) << in.name;
    EXPECT_FALSE(optional_seen && !in.optional) << in.name << " follows an optional input";
    optional_seen = in.optional;
    if (in.variadic) {
      EXPECT_EQ(i + 1, op.n_inputs) << in.name;
      EXPECT_FALSE(in.host || (in.optional && op.n_blocks == 0)) << in.name;
    }
  }
}

void check_outputs(const OpSpec& op) {
  ASSERT_GT(op.n_outputs, 0);
  EXPECT_FALSE(op.outputs[0].optional);
  bool optional_seen = false;
  for (unsigned i = 0; i < op.n_outputs; ++i) {
    const OutputSpec& out = op.outputs[i];
    EXPECT_NE(out.dtypes, 0u) << out.name;
    EXPECT_EQ(out.dtypes & ~kAllDtypes, 0u) << out.name;
    EXPECT_FALSE(optional_seen && !out.optional) << out.name << " follows an optional output";
    optional_seen = out.optional;
    EXPECT_FALSE(out.variadic && op.n_outputs != 1) << out.name;
  }
}

void check_type_vars(const OpSpec& op) {
  std::map<uint8_t, uint32_t> masks;
  const auto same = [&masks](uint8_t var, uint32_t mask) {
    return var == kNoTypeVar || masks.emplace(var, mask).first->second == mask;
  };
  for (unsigned i = 0; i < op.n_inputs; ++i) {
    EXPECT_TRUE(same(op.inputs[i].type_var, op.inputs[i].dtypes)) << op.inputs[i].name;
  }
  for (unsigned i = 0; i < op.n_outputs; ++i) {
    EXPECT_TRUE(same(op.outputs[i].type_var, op.outputs[i].dtypes)) << op.outputs[i].name;
  }
}

void check_attrs(const OpSpec& op) {
  std::set<std::string> names;
  for (unsigned i = 0; i < op.n_attrs; ++i) {
    const AttrSpec& attr = op.attrs[i];
    EXPECT_TRUE(names.insert(attr.name).second) << attr.name << " is there twice";
    EXPECT_FALSE(attr.required && attr.has_default) << attr.name;
    const bool list = attr.type == AttrType::Ints || attr.type == AttrType::Floats;
    EXPECT_FALSE(list && attr.has_default) << attr.name;
    EXPECT_EQ(attr.default_string != nullptr, attr.has_default && attr.type == AttrType::String)
        << attr.name;
    if (attr.default_string != nullptr) {
      EXPECT_TRUE(attr_choice_valid(op.id, i, attr.default_string)) << attr.name;
    }
    if (attr.has_default && attr.type == AttrType::Bool) {
      EXPECT_TRUE(attr.default_int == 0 || attr.default_int == 1) << attr.name;
    }
    if (attr.has_default && attr.type == AttrType::DType) {
      EXPECT_TRUE(attr.default_int >= NEF_BOOL && attr.default_int <= kLastDtype) << attr.name;
    }
    EXPECT_FALSE(attr_choices(op.id, i) != nullptr && attr.type != AttrType::String) << attr.name;
  }
}

TEST(OpsTable, EverySpecIsWellFormed) {
  for (const OpSpec* op : all_ops()) {
    SCOPED_TRACE(op->name);
    check_inputs(*op);
    check_outputs(*op);
    check_type_vars(*op);
    check_attrs(*op);
    EXPECT_FALSE(op->commutative && op->n_inputs > 2);
  }
}

TEST(OpsTable, ChoicesAcceptWholeWordsOnly) {
  EXPECT_TRUE(attr_choice_valid(NEF_OP_PAD, NEF_PAD_MODE, "reflect"));
  EXPECT_TRUE(attr_choice_valid(NEF_OP_PAD, NEF_PAD_MODE, "constant"));
  EXPECT_TRUE(attr_choice_valid(NEF_OP_PAD, NEF_PAD_MODE, "wrap"));
  for (const char* bad : {"", "refl", "reflect|edge", "wrapped", "rap", "|"}) {
    EXPECT_FALSE(attr_choice_valid(NEF_OP_PAD, NEF_PAD_MODE, bad)) << bad;
  }
  EXPECT_TRUE(attr_choice_valid(NEF_OP_EINSUM, NEF_EINSUM_EQUATION, "ij,jk"));
}

}  // namespace
}  // namespace nef::ir
