// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/conformance/case.h"

namespace nef::conformance {

// All single-node cases of an op, over every dtype that the op table allows.
CaseList cases_for(nef_op op);
// Fused regions of every kind.
CaseList region_cases();
// Of these: products of operands that are transposes and slices of what is given.
void add_viewed_products(nef_dtype t, CaseList& out);
void add_viewed_integers(CaseList& out);

// By family; each adds the cases of an op it serves and returns whether it serves it.
bool add_unary_cases(nef_op op, CaseList& out);
bool add_binary_cases(nef_op op, CaseList& out);
bool add_contraction_cases(nef_op op, CaseList& out);
bool add_softmax_cases(nef_op op, CaseList& out);
bool add_reduce_cases(nef_op op, CaseList& out);
bool add_norm_cases(nef_op op, CaseList& out);
bool add_window_cases(nef_op op, CaseList& out);
bool add_movement_cases(nef_op op, CaseList& out);
bool add_index_cases(nef_op op, CaseList& out);
bool add_attention_cases(nef_op op, CaseList& out);
bool add_resize_cases(nef_op op, CaseList& out);  // and Einsum
bool add_rnn_cases(nef_op op, CaseList& out);
bool add_quant_cases(nef_op op, CaseList& out);
bool add_sampling_cases(nef_op op, CaseList& out);
bool add_signal_cases(nef_op op, CaseList& out);

}  // namespace nef::conformance
