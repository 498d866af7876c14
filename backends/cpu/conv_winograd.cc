// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/conv_winograd.h"

#include <algorithm>
#include <atomic>

#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/conv_winograd_kernels.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTile = 2;                   // outputs along an axis
constexpr int64_t kBandElements = 256 * 1024;  // of points before and behind the product: in L2

// How the output is cut into bands of rows of tiles, and the scratch of a slot: a staged channel,
// points of the input as packed panels [point][panel][channel][nr], points of the result
// [point][filter][tile].
struct Plan {
  Stage stage;  // of tiles: windows by 4 of stride 2
  int64_t bands = 1, tiles = 0, staged = 0, input = 0, output = 0;

  Plan(const DirectConv<float>& conv, int64_t slots) {
    Window w = conv.window;
    for (int d = 0; d < w.rank; ++d) {
      w.kernel[d] = 2 * kTile;
      w.stride[d] = kTile;
      w.out[d] = ceil_div(w.out[d], kTile);
    }
    stage = make_stage(w);
    const int64_t nr = gemm_ops<float>().nr;
    const int64_t most = kBandElements / (kWinogradPoints * (conv.channels + conv.filters));
    const int64_t planes = std::max<int64_t>(1, conv.batch * conv.groups);
    const int64_t fits = std::max(most, nr) / stage.width;
    const int64_t rows = std::clamp<int64_t>(fits, 1, std::max<int64_t>(1, stage.h.out));
    const auto cost = [&](int64_t columns) { return round_up(columns, nr); };
    stage.rows = slots <= 1 ? choose_rows(stage, rows, cost) : shared_rows(planes, slots, rows);
    bands = std::max<int64_t>(1, ceil_div(stage.h.out, stage.rows));
    tiles = round_up(stage.columns(stage.rows), nr);
    staged = round_up(stage.plane() + 4 * nr, 16);
    input = kWinogradPoints * spaced(conv.channels * tiles);
    output = kWinogradPoints * spaced(conv.filters * tiles) + nr;
  }
  // Rows of a band, `most` or fewer, with which all slots are done first.
  int64_t shared_rows(int64_t planes, int64_t slots, int64_t most) const {
    const int64_t nr = gemm_ops<float>().nr;
    int64_t best = most, least = INT64_MAX;
    for (int64_t rows = most; rows > 0; --rows) {
      const int64_t turns = ceil_div(planes * ceil_div(stage.h.out, rows), slots);
      // Bands stage rows of their neighbours.
      const int64_t time = turns * (round_up(stage.columns(rows), nr) + nr / 4);
      if (time >= least) continue;
      least = time;
      best = rows;
    }
    return best;
  }
  // From one point to the next: an odd number of cache lines, as points are gone through together.
  static int64_t spaced(int64_t elements) {
    constexpr int64_t kLine = 16;
    return (ceil_div(elements, kLine) | 1) * kLine;
  }
  int64_t slot() const { return staged + input + round_up(output, 16); }
  static constexpr int64_t kOffsets = kWinogradPoints * sizeof(int64_t) / sizeof(float);
};

class Winograd {
 public:
  Winograd(const DirectConv<float>& conv, int64_t slots, float* scratch)
      : conv_(conv), plan_(conv, slots), slots_(slots), scratch_(scratch + Plan::kOffsets) {
    offsets_ = reinterpret_cast<int64_t*>(scratch);
    stage_offsets(plan_.stage, 1, offsets_);
  }

  bool run() const {
    std::atomic<bool> finite{true};
    const int64_t planes = conv_.batch * conv_.groups;
    run_tasks(slots_, planes * plan_.bands, [&](int64_t slot, int64_t task) {
      if (!finite.load(std::memory_order_relaxed)) return;
      if (!band(task / plan_.bands, task % plan_.bands, scratch_ + slot * plan_.slot())) {
        finite.store(false, std::memory_order_relaxed);
      }
    });
    return finite.load();
  }

 private:
  bool band(int64_t plane, int64_t band, float* room) const {
    const Stage& s = plan_.stage;
    const int64_t first = band * s.rows, rows = std::min(s.rows, s.h.out - first);
    const int64_t tiles = round_up(s.columns(rows), gemm_ops<float>().nr);
    float* staged = room;
    float* input = staged + plan_.staged;
    float* output = input + plan_.input;
    to_points(plane, first, rows, tiles, staged, input);
    multiply(plane, tiles, input, output);
    return to_outputs(plane, first, rows, tiles, output);
  }

  void to_points(int64_t plane, int64_t first, int64_t rows, int64_t tiles, float* staged,
                 float* out) const {
    const int64_t nr = gemm_ops<float>().nr;
    const float* x = conv_.x + plane * conv_.channels * conv_.window.in_count;
    WinogradInput in;
    in.x = staged;
    in.offsets = offsets_;
    in.tiles = tiles;
    in.point = Plan::spaced(conv_.channels * tiles);
    in.panel = conv_.channels * nr;
    for (int64_t c = 0; c < conv_.channels; ++c) {
      stage_planes(plan_.stage, x + c * conv_.window.in_count, 1, first, rows, staged);
      in.out = out + c * nr;
      winograd_ops().input(in);
    }
  }

  void multiply(int64_t plane, int64_t tiles, const float* input, float* output) const {
    GemmBlock<float> g;
    g.m = conv_.filters;
    g.n = tiles;
    g.k = conv_.channels;
    g.a_packed = true;
    g.ldc = tiles;
    const float* weights =
        conv_.weights + plane % conv_.groups * winograd_size(conv_.filters, conv_.channels);
    for (int64_t i = 0; i < kWinogradPoints; ++i) {
      g.a = weights + i * conv_.filters * conv_.channels;
      g.b = input + i * Plan::spaced(conv_.channels * tiles);
      g.c = output + i * Plan::spaced(conv_.filters * tiles);
      gemm_ops<float>().block(g);
    }
  }

  bool to_outputs(int64_t plane, int64_t first, int64_t rows, int64_t tiles,
                  const float* points) const {
    const Stage& s = plan_.stage;
    const Window& w = conv_.window;
    const int64_t height = w.rank == 1 ? 1 : w.out[0], width = w.out[w.rank - 1];
    const int64_t top = first * kTile, bottom = std::min(height, (first + rows) * kTile);
    bool finite = true;
    for (int64_t f = 0; f < conv_.filters; ++f) {
      const int64_t row = plane * conv_.filters + f;
      float* y = conv_.y + row * w.out_count;
      WinogradOutput out;
      out.point = Plan::spaced(conv_.filters * tiles);
      out.columns = width;
      if (conv_.bias != nullptr) out.bias = conv_.bias[plane % conv_.groups * conv_.filters + f];
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t at = top + r * kTile;
        out.x = points + f * tiles + r * s.width;
        out.y0 = y + at * width;
        out.y1 = at + 1 < height ? out.y0 + width : nullptr;
        finite = winograd_ops().output(out) && finite;
      }
      if (conv_.steps->count == 0) continue;
      const int64_t count = (bottom - top) * width;
      run_epilogue<float>(conv_.steps, row, top * width, 1, count, y + top * width, count);
    }
    return finite;
  }

  const DirectConv<float>& conv_;
  Plan plan_;
  int64_t slots_;
  float* scratch_;
  int64_t* offsets_;
};

}  // namespace

void winograd_weights(const float* w, int64_t filters, int64_t channels, float* out) {
  constexpr double kG[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  const int64_t count = filters * channels;
  AlignedBuffer<float> points(count);
  for (int64_t i = 0; i < kWinogradPoints; ++i) {
    const double *row = kG[i / 4], *col = kG[i % 4];
    for (int64_t j = 0; j < count; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 9; ++k) sum += row[k / 3] * col[k % 3] * w[j * 9 + k];
      points.data()[j] = static_cast<float>(sum);
    }
    gemm_ops<float>().pack_a(points.data(), channels, 1, filters, channels, out + i * count);
  }
}

int64_t winograd_scratch(const DirectConv<float>& conv, int64_t slots) {
  const Plan plan(conv, slots);
  const int64_t tasks = conv.batch * conv.groups * plan.bands;
  return Plan::kOffsets + std::min(slots, tasks) * plan.slot();
}

bool run_winograd(const DirectConv<float>& conv, int64_t slots, float* scratch) {
  return Winograd(conv, slots, scratch).run();
}

}  // namespace nef::cpu
