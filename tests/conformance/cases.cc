// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/cases.h"

namespace nef::conformance {

CaseList cases_for(nef_op op) {
  CaseList out;
  const auto families = {add_unary_cases,     add_binary_cases,   add_contraction_cases,
                         add_softmax_cases,   add_reduce_cases,   add_norm_cases,
                         add_window_cases,    add_movement_cases, add_index_cases,
                         add_attention_cases, add_resize_cases,   add_rnn_cases,
                         add_quant_cases,     add_sampling_cases, add_signal_cases};
  for (const auto& family : families) {
    if (family(op, out)) break;
  }
  return out;
}

}  // namespace nef::conformance
