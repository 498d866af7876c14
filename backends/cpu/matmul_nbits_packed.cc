// SPDX-License-Identifier: Apache-2.0
// MatMulNBits with constant weights of 4 bits: packed once, and never floats in memory for few
// rows. For many rows a panel becomes floats in cache and serves all of them. Precision `fast`
// rounds the rows to bytes instead.
#include <algorithm>
#include <cstring>

#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul_nbits.h"
#include "backends/cpu/nbits.h"
#include "backends/cpu/norm_rows.h"

namespace nef::cpu {
namespace {

constexpr int64_t kManyRows = 64;  // from here on a panel is expanded
constexpr int64_t kTaskWork = 256 * 1024, kQuantizeWork = 16 * 1024;

class PackedNBits final : public Prepared {
 public:
  PackedNBits(const ValueTable& table, const NBitsSpec& spec, bool bytes, const Tensor* constants)
      : table_(table), spec_(spec), bytes_(bytes), slots_(task_slots()) {
    const int64_t cells = panels() * spec.blocks() * kNibblePanel;
    words_ = AlignedBuffer<uint32_t>(cells * groups());
    scales_ = AlignedBuffer<float>(cells);
    if (spec.zeros >= 0) offsets_ = AlignedBuffer<float>(cells);
    parallel_for(panels(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) pack_panel(constants, p);
    });
  }

  uint64_t packed_bytes() const override {
    return words_.bytes() + scales_.bytes() + offsets_.bytes();
  }
  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const int64_t m = rows(values);
    if (m == 0) return;
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values);
    const float* x = load_rows(values, m, p);
    if (bytes_) quantize_rows(x, m, p);
    if (spec_.bias >= 0) {
      load_row(table_.dtype(spec_.bias), table_.data(values, spec_.bias), 0, spec_.n, p.bias);
    }
    const int64_t work = std::max<int64_t>(1, kNibblePanel * spec_.k * m);
    const int64_t step = std::max<int64_t>(1, kTaskWork / work);
    run_tasks(slots_, ceil_div(panels(), step), [&](int64_t slot, int64_t task) {
      const int64_t end = std::min(panels(), (task + 1) * step);
      for (int64_t i = task * step; i < end; ++i) run_panel(values, x, m, i, p, slot);
    });
  }

 private:
  struct Pieces {
    float *x, *bias, *out, *expanded, *a_buffer;
    int8_t* bytes;
    float* byte_scales;
    int32_t* byte_sums;
    bool* exact;  // rows that no bytes can stand for
  };

  int64_t panels() const { return ceil_div(spec_.n, kNibblePanel); }
  int64_t groups() const { return spec_.block / kNibbleGroup; }
  int64_t depth() const { return spec_.blocks() * spec_.block; }
  int64_t columns(int64_t panel) const {
    return std::min(kNibblePanel, spec_.n - panel * kNibblePanel);
  }
  bool native() const { return table_.dtype(spec_.a) == NEF_FLOAT32; }
  bool in_place() const { return native() && depth() == spec_.k; }
  int64_t rows(const Tensor* values) const {
    return backends::element_count(values[spec_.a].dims, table_.rank(spec_.a) - 1);
  }
  // Expanded panels are those of the float32 product.
  static bool expands(int64_t m) { return m >= kManyRows && gemm_ops<float>().nr == kNibblePanel; }

  Pieces carve(ScratchLayout& layout, const Tensor* values) const {
    const int64_t m = rows(values);
    Pieces p{};
    if (!in_place()) p.x = layout.take<float>(m * depth());
    if (spec_.bias >= 0) p.bias = layout.take<float>(panels() * kNibblePanel);
    p.out = layout.take<float>(slots_ * std::max(m, kNibbleRows) * kNibblePanel);
    if (bytes_) {
      p.bytes = layout.take<int8_t>(m * depth());
      p.byte_scales = layout.take<float>(m * spec_.blocks());
      p.byte_sums = layout.take<int32_t>(m * spec_.blocks());
      p.exact = layout.take<bool>(m);
      return p;
    }
    if (m < kManyRows) return p;
    p.expanded = layout.take<float>(slots_ * depth() * kNibblePanel);
    p.a_buffer = layout.take<float>(slots_ * gemm_a_buffer<float>(blocking_, m, depth()));
    return p;
  }

  void pack_panel(const Tensor* constants, int64_t panel) {
    const auto* b = static_cast<const uint8_t*>(table_.data(constants, spec_.b));
    const int64_t blocks = spec_.blocks(), first = panel * blocks * kNibblePanel;
    uint32_t* words = words_.data() + first * groups();
    std::memset(words, 0, static_cast<size_t>(blocks * groups() * kNibblePanel) * sizeof *words);
    std::fill_n(scales_.data() + first, blocks * kNibblePanel, 0.0f);
    if (offsets_.data() != nullptr)
      std::fill_n(offsets_.data() + first, blocks * kNibblePanel, 0.0f);
    for (int64_t j = 0; j < columns(panel); ++j) {
      const int64_t column = panel * kNibblePanel + j;
      const uint8_t* src = b + column * spec_.row_bytes();
      for (int64_t g = 0; g < blocks * groups(); ++g)
        words[g * kNibblePanel + j] = word(src + 4 * g);
      for (int64_t at = 0; at < blocks; ++at) {
        const float scale = nbits_scale<float>(table_, spec_, constants, column, at);
        scales_.data()[first + at * kNibblePanel + j] = scale;
        if (offsets_.data() == nullptr) continue;
        const float zero = nbits_zero<float>(table_, spec_, constants, column, at);
        offsets_.data()[first + at * kNibblePanel + j] = zero - 8;
      }
    }
  }
  // Eight fields; a byte of the file has two, the first in its lower half.
  static uint32_t word(const uint8_t* x) {
    uint32_t out = 0;
    for (int64_t j = 0; j < kNibbleGroup; ++j) {
      out |= (uint32_t{x[j / 2]} >> j % 2 * 4 & 15) << nibble_bit(j);
    }
    return out;
  }

  // Rows of a as floats, padded with zeros to whole blocks.
  const float* load_rows(const Tensor* values, int64_t m, const Pieces& p) const {
    const void* a = table_.data(values, spec_.a);
    if (in_place()) return static_cast<const float*>(a);
    for (int64_t i = 0; i < m; ++i) {
      float* row = p.x + i * depth();
      load_row(table_.dtype(spec_.a), a, i * spec_.k, spec_.k, row);
      std::fill(row + spec_.k, row + depth(), 0.0f);
    }
    return p.x;
  }

  void quantize_rows(const float* x, int64_t m, const Pieces& p) const {
    const int64_t blocks = spec_.blocks();
    const int64_t grain = std::max<int64_t>(1, kQuantizeWork / std::max<int64_t>(1, depth()));
    parallel_for(m, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int8_t* bytes = p.bytes + i * depth();
        int32_t* sums = p.byte_sums + i * blocks;
        p.exact[i] = !nibble_byte_ops().quantize(x + i * depth(), blocks, spec_.block, bytes,
                                                 p.byte_scales + i * blocks, sums);
        if (!p.exact[i]) continue;
        std::fill_n(bytes, depth(), int8_t{0});
        std::fill_n(sums, blocks, 0);
      }
    });
  }

  void run_panel(const Tensor* values, const float* x, int64_t m, int64_t index, const Pieces& p,
                 int64_t slot) const {
    const int64_t first = index * spec_.blocks() * kNibblePanel;
    NibblePanel panel;
    panel.words = words_.data() + first * groups();
    panel.scales = scales_.data() + first;
    if (offsets_.data() != nullptr) panel.offsets = offsets_.data() + first;
    panel.blocks = spec_.blocks();
    panel.groups = groups();
    const float* bias = p.bias == nullptr ? nullptr : p.bias + index * kNibblePanel;
    float* out = p.out + slot * std::max(m, kNibbleRows) * kNibblePanel;
    if (bytes_) {
      multiply_bytes(panel, x, m, bias, out, p);
    } else if (expands(m)) {
      multiply_expanded(panel, x, m, bias, out, p, slot);
    } else {
      for (int64_t i = 0; i < m; i += kNibbleRows) {
        nibble_ops().multiply(panel, x + i * depth(), depth(), std::min(kNibbleRows, m - i), bias,
                              out + i * kNibblePanel);
      }
    }
    store(values, m, index, out);
  }

  void multiply_bytes(const NibblePanel& panel, const float* x, int64_t m, const float* bias,
                      float* out, const Pieces& p) const {
    const int64_t blocks = spec_.blocks();
    for (int64_t i = 0; i < m; i += kNibbleRows) {
      const NibbleBytes rows = {p.bytes + i * depth(), depth(), p.byte_scales + i * blocks,
                                p.byte_sums + i * blocks};
      nibble_byte_ops().multiply(panel, rows, std::min(kNibbleRows, m - i), bias,
                                 out + i * kNibblePanel);
    }
    for (int64_t i = 0; i < m; ++i) {
      if (!p.exact[i]) continue;
      nibble_ops().multiply(panel, x + i * depth(), depth(), 1, bias, out + i * kNibblePanel);
    }
  }

  void multiply_expanded(const NibblePanel& panel, const float* x, int64_t m, const float* bias,
                         float* out, const Pieces& p, int64_t slot) const {
    float* weights = p.expanded + slot * depth() * kNibblePanel;
    nibble_ops().expand(panel, weights);
    GemmBlock<float> g;
    g.m = m;
    g.n = kNibblePanel;
    g.k = depth();
    g.a = x;
    g.a_row = depth();
    g.b = weights;
    g.c = out;
    g.ldc = kNibblePanel;
    g.blocking = blocking_;
    gemm_ops<float>().block(g);
    for (int64_t i = 0; bias != nullptr && i < m * kNibblePanel; ++i) {
      out[i] += bias[i % kNibblePanel];
    }
  }

  void store(const Tensor* values, int64_t m, int64_t index, const float* out) const {
    for (int64_t i = 0; i < m; ++i) {
      store_row(table_.dtype(spec_.y), out + i * kNibblePanel, columns(index), values[spec_.y].data,
                i * spec_.n + index * kNibblePanel);
    }
  }

  ValueTable table_;
  NBitsSpec spec_;
  bool bytes_;
  int64_t slots_;
  GemmBlocking blocking_;
  AlignedBuffer<uint32_t> words_;
  AlignedBuffer<float> scales_, offsets_;
};

}  // namespace

bool packs_nbits(const ValueTable& table, const NBitsSpec& spec) {
  const bool constant = table.constant(spec.b) && table.constant(spec.scales) &&
                        (spec.zeros < 0 || table.constant(spec.zeros));
  const bool whole_groups = spec.block % kNibbleGroup == 0;
  return constant && whole_groups && spec.bits == 4 && table.dtype(spec.a) != NEF_FLOAT64;
}

std::unique_ptr<Prepared> make_packed_nbits(const ValueTable& table, const NBitsSpec& spec,
                                            bool bytes, const Tensor* constants) {
  return std::make_unique<PackedNBits>(table, spec, bytes, constants);
}

}  // namespace nef::cpu
