// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "engine/io/limits.h"
#include "engine/io/safetensors.h"

namespace nef::io {

// The last step of each writer is the reader: what it would refuse gets no name. Throws with the
// reader's code.
void read_back_bundle(std::shared_ptr<const SafeTensors> file, const Limits& limits);
// A plain text; `data` (may be null) is what it calls `data_file`.
void read_back_text(std::string_view text, const std::string& label, const std::string& data_file,
                    std::shared_ptr<const SafeTensors> data, const Limits& limits);

}  // namespace nef::io
