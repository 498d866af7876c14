// SPDX-License-Identifier: Apache-2.0
#include "engine/ir/ops.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace nef::ir {
namespace {

constexpr size_t kLongestName = 63;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Levenshtein distance, ignoring case; both at most kLongestName long.
size_t distance(std::string_view a, std::string_view b) {
  size_t row[kLongestName + 1];
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

bool has_host_inputs(nef_op op) {
  static const std::vector<uint8_t> table = [] {
    std::vector<uint8_t> any(kOpTableSize, 0);
    for (size_t i = 0; i < any.size(); ++i) {
      const OpSpec& s = spec(static_cast<nef_op>(i));
      for (size_t k = 0; k < s.n_inputs; ++k) any[i] |= s.inputs[k].host ? 1 : 0;
    }
    return any;
  }();
  return table[static_cast<size_t>(op)] != 0;
}

nef_op find_op(std::string_view name) {
  const OpAlias* end = kOpAliases + kOpAliasCount;
  const OpAlias* at =
      std::lower_bound(kOpAliases, end, name, [](const OpAlias& alias, std::string_view key) {
        return std::string_view(alias.name) < key;
      });
  return at != end && name == at->name ? at->id : 0;
}

const char* nearest_op(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return "";
  const char* best = "";
  size_t best_distance = name.size() / 3 + 1;  // further away is no help
  for (unsigned i = 0; i < kOpAliasCount; ++i) {
    if (spec(kOpAliases[i].id).internal) continue;
    const std::string_view candidate = kOpAliases[i].name;
    if (candidate.size() > kLongestName) continue;
    const size_t d = distance(name, candidate);
    if (d >= best_distance) continue;
    best_distance = d;
    best = spec(kOpAliases[i].id).snake;
  }
  return best;
}

}  // namespace nef::ir
