// SPDX-License-Identifier: Apache-2.0
// A copy to the host in pieces: one is computed on while the next is on its way.
#include <algorithm>

#include "engine/ir/dtype.h"
#include "engine/ir/error.h"
#include "engine/runtime/executor.h"

namespace nef::runtime {

using compile::InPieces;
using compile::Step;

namespace {

constexpr size_t kLeastBytes = size_t{1} << 20;  // below, waiting twice costs more than is gained
constexpr int64_t kPieces = 4;

size_t row_bytes(const compile::Program& p, ir::ValueId v, const int64_t* dims) {
  const auto rank = p.graph->dims(v).size();
  return static_cast<size_t>(ir::byte_count(p.graph->dtype(v), {dims + 1, rank - 1}));
}

}  // namespace

// The launch's values for rows [begin, end).
void Executor::cut(Frame& frame, const InPieces& p, int64_t begin, int64_t end) const {
  const Step& launch = program_->steps[p.copy + 1];
  frame.piece.assign(frame.tensors.begin() + launch.first_value,
                     frame.tensors.begin() + launch.first_value + launch.value_count);
  frame.piece_dims.resize(size_t{launch.value_count} * NEF_MAX_RANK);
  for (uint32_t i = 0; i < launch.value_count; ++i) {
    if (!p.rows[i]) continue;
    const ir::ValueId v = program_->step_values[launch.first_value + i].value;
    nef_backend_tensor& t = frame.piece[i];
    int64_t* dims = frame.piece_dims.data() + size_t{i} * NEF_MAX_RANK;
    std::copy_n(t.dims, program_->graph->dims(v).size(), dims);
    dims[0] = end - begin;
    if (t.data != nullptr) {
      t.data =
          static_cast<char*>(t.data) + static_cast<size_t>(begin) * row_bytes(*program_, v, t.dims);
    }
    t.dims = dims;
  }
}

// False where a piece would be small, memory is not pinned, or the kernel for rows needs more
// scratch than there is: then the two steps run one after the other.
bool Executor::goes_in_pieces(Frame& frame, const InPieces& p) const {
  const Step &copy = program_->steps[p.copy], &launch = program_->steps[p.copy + 1];
  const int64_t rows = frame.tensors[copy.first_value].dims[0];
  if (rows < 2 || copied_bytes(frame, copy) < kLeastBytes) return false;
  if (!frame.arenas[layout_.space_index(0)].pinned) return false;
  const plan::Device& host = *program_->devices[launch.device];
  if (host.backend->scratch_bytes == nullptr) return true;
  cut(frame, p, 0, (rows + std::min(rows, kPieces) - 1) / std::min(rows, kPieces));
  const auto lock = host.lock();
  return host.backend->scratch_bytes(p.kernel->handle(), frame.piece.data()) <=
         host.backend->scratch_bytes(launch.prepared->handle(),
                                     frame.tensors.data() + launch.first_value);
}

void Executor::run_pieces(Frame& frame, const InPieces& p, const RunControl& control) const {
  const Step &copy = program_->steps[p.copy], &launch = program_->steps[p.copy + 1];
  const nef_backend_tensor* ends = frame.tensors.data() + copy.first_value;
  const int64_t rows = ends[0].dims[0], pieces = std::min(rows, kPieces);
  const size_t bytes =
      row_bytes(*program_, program_->step_values[copy.first_value].value, ends[0].dims);
  const auto first_row = [&](int64_t piece) { return rows * piece / pieces; };
  const int64_t lanes = std::min<int64_t>(program_->streams[copy.device] - 1, pieces);
  const auto stream = [&](int64_t piece) { return static_cast<uint16_t>(1 + piece % lanes); };
  // Behind the piece before: side by side they would share the link, and all come late.
  const auto send = [&](int64_t piece) {
    frame.streams.follow(*program_, copy, stream(piece), piece == 0 ? 0 : stream(piece - 1));
    const auto begin = static_cast<size_t>(first_row(piece)) * bytes;
    const auto end = static_cast<size_t>(first_row(piece + 1)) * bytes;
    frame.streams.copy(*program_, copy, stream(piece), static_cast<char*>(ends[1].data) + begin,
                       static_cast<const char*>(ends[0].data) + begin, end - begin);
  };
  const bool traced = control.trace != nullptr;
  const int64_t began = traced ? Trace::now() : 0;
  int64_t arrived = 0, launched = 0;
  for (int64_t piece = 0; piece < lanes; ++piece) send(piece);
  for (int64_t piece = 0; piece < pieces; ++piece) {
    frame.streams.synchronize(copy.device, stream(piece));
    if (traced) arrived = Trace::now();
    if (piece + lanes < pieces) send(piece + lanes);
    if (piece == 0) launched = arrived;
    cut(frame, p, first_row(piece), first_row(piece + 1));
    launch_piece(frame, p, launch);
  }
  if (!traced) return;
  control.trace->spans[p.copy] = {p.copy, 0, began, arrived};
  control.trace->spans[p.copy + 1] = {p.copy + 1, 0, launched, Trace::now()};
}

void Executor::launch_piece(const Frame& frame, const InPieces& p, const Step& launch) const {
  const plan::Device& host = *program_->devices[launch.device];
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  const auto lock = host.lock();
  const nef_code code = host.backend->launch(p.kernel->handle(), nullptr, frame.piece.data(),
                                             frame.scratch[p.copy + 1], &err);
  if (code != NEF_OK) fail_launch(launch, code, message);
}

}  // namespace nef::runtime
