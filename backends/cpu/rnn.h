// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nef::cpu {

// LSTM, GRU and RNN.
void register_rnn();

}  // namespace nef::cpu
