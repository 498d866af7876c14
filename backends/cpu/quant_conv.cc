// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv. On AMX bytes are multiplied as they are, padding is the zero point,
// and what the zero points bring is taken off the sums. Elsewhere windows are gathered as rows of
// int16 less the zero point, so that padding is 0.
#include <algorithm>

#include "backends/cpu/amx.h"
#include "backends/cpu/conv_geometry.h"
#include "backends/cpu/conv_pack.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/int_dot.h"
#include "backends/cpu/norm_rows.h"
#include "backends/cpu/quant.h"

namespace nef::cpu {
namespace {

constexpr int64_t kPositions = 64;         // output positions of a task
constexpr int64_t kAmxBytes = 256 * 1024;  // of packed windows per task on AMX
constexpr int64_t kAmxFilters = 4;         // fewer leave most of a tile empty

struct ConvIds {
  bool quantized = false;  // QLinearConv
  int32_t x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias, y;
};
ConvIds ids_of(const Node& node) {
  const auto in = [&](size_t i) { return node.has_input(i) ? node.inputs[i] : -1; };
  const int32_t y = node.outputs[0];
  if (node.op == NEF_OP_CONV_INTEGER) {
    return {false, in(0), -1, in(2), in(1), -1, in(3), -1, -1, -1, y};
  }
  return {true, in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), in(8), y};
}

class QuantConvPrepared final : public Prepared {
 public:
  QuantConvPrepared(const ValueTable& table, const ConvIds& ids, const WindowAttrs& attrs,
                    int64_t groups, const Tensor* constants)
      : table_(table), ids_(ids), attrs_(attrs), groups_(groups), slots_(task_slots()) {
    const bool fixed_zero = ids.w_zero < 0 || table.constant(ids.w_zero);
    if (!table.constant(ids.w) || !fixed_zero) return;
    const int64_t* w = constants[ids.w].dims;
    if (groups > 0 && w[0] / groups >= kAmxFilters) amx_ = amx_byte_ops();
    if (amx_ != nullptr) pack_for_amx(constants);
  }

  uint64_t packed_bytes() const override {
    return amx_weights_.bytes() + sum_of_weights_.size() * sizeof(int32_t);
  }
  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    if (amx_ != nullptr) {
      layout.take<char>(slots_ * amx_room(sizes(values)).used);
    } else {
      carve(layout, sizes(values));
    }
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    const Sizes s = sizes(values);
    if (s.batch * s.filters * s.window.out_count == 0) return;
    ScratchLayout layout(scratch);
    if (amx_ != nullptr) return run_amx(values, s, layout.take<uint8_t>(0));
    const Pieces p = carve(layout, s);
    pack_filters(values, s, p.w);
    const int64_t blocks = (s.window.out_count + kPositions - 1) / kPositions;
    run_tasks(slots_, s.batch * groups_ * blocks, [&](int64_t slot, int64_t task) {
      run_block(values, s, task / blocks, task % blocks * kPositions, p.w,
                p.rows + slot * kPositions * s.depth,
                p.sums + slot * kPositions * s.filters / groups_);
    });
  }

 private:
  struct Sizes {
    Window window;
    int64_t batch, filters, channels, k, depth;  // channels: of a group
  };
  struct Pieces {
    int16_t *w, *rows;
    int32_t* sums;
  };

  Sizes sizes(const Tensor* values) const {
    const int64_t *x = values[ids_.x].dims, *w = values[ids_.w].dims, *y = values[ids_.y].dims;
    Sizes s{make_window(attrs_, x, y, table_.rank(ids_.x), w + 2, false), x[0], w[0], w[1], 0, 0};
    s.k = s.channels * s.window.kernel_count;
    s.depth = std::max<int64_t>(int_dot_depth(s.k), kIntDotPad);
    return s;
  }
  Pieces carve(ScratchLayout& layout, const Sizes& s) const {
    Pieces p{};
    p.w = layout.take<int16_t>(s.filters * s.depth);
    p.rows = layout.take<int16_t>(slots_ * kPositions * s.depth);
    p.sums = layout.take<int32_t>(slots_ * kPositions * (s.filters / groups_));
    return p;
  }

  int64_t integer(const Tensor* values, int32_t id, int64_t i) const {
    if (id < 0) return 0;
    const View v{table_.dtype(id), 1, nullptr,
                 const_cast<char*>(static_cast<const char*>(table_.data(values, id))), 0};
    return int_at(v, table_.count(values, id) == 1 ? 0 : i);
  }
  double number(const Tensor* values, int32_t id, int64_t i) const {
    double out = 0;
    load_row(table_.dtype(id), table_.data(values, id), table_.count(values, id) == 1 ? 0 : i, 1,
             &out);
    return out;
  }

  void pack_filters(const Tensor* values, const Sizes& s, int16_t* out) const {
    for (int64_t f = 0; f < s.filters; ++f) {
      int16_t* row = out + f * s.depth;
      widen_to_int16(table_.dtype(ids_.w), table_.data(values, ids_.w), f * s.k, 1, s.k,
                     integer(values, ids_.w_zero, f), row);
      std::fill(row + s.k, row + s.depth, int16_t{0});
    }
  }

  // One window as a row: channel by channel, kernel position by kernel position.
  void gather(const Tensor* values, const Sizes& s, int64_t first_channel, int64_t position,
              int64_t zero, int16_t* row) const {
    const Window& w = s.window;
    int64_t out[NEF_MAX_RANK];
    unflatten(position, w.out, w.rank, out);
    std::fill(row, row + s.depth, int16_t{0});
    for (int64_t k = 0; k < w.kernel_count; ++k) {
      int64_t at[NEF_MAX_RANK];
      unflatten(k, w.kernel, w.rank, at);
      const int64_t offset = w.flat_source(out, at, w.rank);
      if (offset < 0) continue;
      gather_channels(values, s, first_channel * w.in_count + offset, zero, row + k);
    }
  }
  void gather_channels(const Tensor* values, const Sizes& s, int64_t at, int64_t zero,
                       int16_t* row) const {
    const int64_t step = s.window.in_count, stride = s.window.kernel_count;
    const void* x = table_.data(values, ids_.x);
    const auto z = static_cast<int16_t>(zero);
    if (table_.dtype(ids_.x) == NEF_INT8) {
      const auto* p = static_cast<const int8_t*>(x) + at;
      for (int64_t c = 0; c < s.channels; ++c) {
        row[c * stride] = static_cast<int16_t>(p[c * step] - z);
      }
      return;
    }
    const auto* p = static_cast<const uint8_t*>(x) + at;
    for (int64_t c = 0; c < s.channels; ++c)
      row[c * stride] = static_cast<int16_t>(p[c * step] - z);
  }

  // `image`: sample and group.
  void run_block(const Tensor* values, const Sizes& s, int64_t image, int64_t first,
                 const int16_t* w, int16_t* rows, int32_t* sums) const {
    const int64_t filters = s.filters / groups_, group = image % groups_;
    const int64_t n = std::min(kPositions, s.window.out_count - first);
    const int64_t zero = integer(values, ids_.x_zero, 0);
    for (int64_t i = 0; i < n; ++i) {
      gather(values, s, image * s.channels, first + i, zero, rows + i * s.depth);
    }
    int_dot()(w + group * filters * s.depth, rows, filters, n, s.depth, sums, n);
    for (int64_t f = 0; f < filters; ++f) {
      store(values, group * filters + f, sums + f * n, n,
            (image / groups_ * s.filters + group * filters + f) * s.window.out_count + first);
    }
  }

  // ---- AMX

  const uint8_t* bytes(const Tensor* values, int32_t id) const {
    return static_cast<const uint8_t*>(table_.data(values, id));
  }
  bool is_signed(int32_t id) const { return table_.dtype(id) == NEF_INT8; }

  void pack_for_amx(const Tensor* constants) {
    const int64_t* w = constants[ids_.w].dims;
    const int64_t filters = w[0] / groups_;
    const int64_t k = backends::element_count(w + 1, table_.rank(ids_.w) - 1);
    const int64_t size = amx_a_bytes(filters, k);
    amx_weights_ = AlignedBuffer<uint8_t>(groups_ * size);
    for (int64_t g = 0; g < groups_; ++g) {
      amx_->pack_a_bytes(bytes(constants, ids_.w) + g * filters * k, k, filters, k,
                         amx_weights_.data() + g * size);
    }
    for (int64_t f = 0; f < w[0]; ++f) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += element(constants, ids_.w, f * k + p);
      sum_of_weights_.push_back(sum);
      weight_zeros_ = weight_zeros_ || integer(constants, ids_.w_zero, f) != 0;
    }
  }
  int32_t element(const Tensor* values, int32_t id, int64_t i) const {
    const uint8_t x = bytes(values, id)[i];
    return is_signed(id) ? static_cast<int8_t>(x) : x;
  }

  // A task's scratch: one panel of windows, all of them packed, their sums, as many times the zero
  // point of x, the result.
  struct AmxRoom {
    int64_t width;  // positions
    int64_t packed, sums, zeros, result, used;
  };
  AmxRoom amx_room(const Sizes& s) const {
    const int64_t depth = amx_byte_depth(s.k);
    AmxRoom room{};
    room.width = std::max<int64_t>(1, kAmxBytes / depth / kAmxPanel) * kAmxPanel;
    room.packed = round_up(s.k * kAmxPanel, 64);
    room.sums = room.packed + std::max(kAmxBytes, kAmxPanel * depth);
    room.zeros = room.sums + kAmxBytes / 64 * 4;
    room.result = room.zeros + kAmxBytes / 64 * 4;
    room.used = room.result + (ids_.quantized ? s.filters / groups_ * room.width * 4 : 0);
    return room;
  }

  void run_amx(const Tensor* values, const Sizes& s, uint8_t* scratch) const {
    const AmxRoom room = amx_room(s);
    const int64_t images = s.batch * groups_;
    const int64_t share = round_up(ceil_div(s.window.out_count * images, 2 * slots_), kAmxPanel);
    const int64_t width = std::min(room.width, share);
    const int64_t tiles = ceil_div(s.window.out_count, width);
    run_tasks(slots_, images * tiles, [&](int64_t slot, int64_t task) {
      const int64_t first = task % tiles * width;
      run_amx_tile(values, s, task / tiles, first, std::min(width, s.window.out_count - first),
                   room, scratch + slot * room.used);
    });
  }

  // `image`: sample and group.
  void run_amx_tile(const Tensor* values, const Sizes& s, int64_t image, int64_t first, int64_t n,
                    const AmxRoom& room, uint8_t* scratch) const {
    const int64_t filters = s.filters / groups_, group = image % groups_;
    const int64_t zero = integer(values, ids_.x_zero, 0);
    auto* x_sums = reinterpret_cast<int32_t*>(scratch + room.sums);
    auto* x_zeros = reinterpret_cast<int32_t*>(scratch + room.zeros);
    std::fill_n(x_zeros, n, static_cast<int32_t>(zero));
    pack_windows(values, s, image, first, n, static_cast<uint8_t>(zero), scratch,
                 scratch + room.packed, x_sums);
    const int64_t at = (image / groups_ * s.filters + group * filters) * s.window.out_count + first;
    AmxByteBlock g;
    g.m = filters;
    g.n = n;
    g.k = s.k;
    g.a = amx_weights_.data() + group * amx_a_bytes(filters, s.k);
    g.b = scratch + room.packed;
    g.a_signed = is_signed(ids_.w);
    g.b_signed = is_signed(ids_.x);
    g.c = ids_.quantized ? reinterpret_cast<int32_t*>(scratch + room.result)
                         : static_cast<int32_t*>(values[ids_.y].data) + at;
    g.ldc = ids_.quantized ? n : s.window.out_count;
    amx_->block_bytes(g);
    for (int64_t f = 0; f < filters; ++f) {
      int32_t* row = g.c + f * g.ldc;
      take_zeros_off(values, s, group * filters + f, x_sums, x_zeros, n, row);
      if (!ids_.quantized) continue;
      store(values, group * filters + f, row, n, at + f * s.window.out_count);
    }
  }

  void pack_windows(const Tensor* values, const Sizes& s, int64_t image, int64_t first, int64_t n,
                    uint8_t pad, uint8_t* panel, uint8_t* out, int32_t* sums) const {
    const uint8_t* x = bytes(values, ids_.x) + image * s.channels * s.window.in_count;
    for (int64_t j = 0; j < n; j += kAmxPanel, out += kAmxPanel * amx_byte_depth(s.k)) {
      const int64_t cols = std::min(kAmxPanel, n - j);
      pack_byte_panel(*amx_, s.window, x, s.channels, first + j, cols, pad, panel);
      amx_->pack_b_bytes(panel, kAmxPanel, s.k, cols, out);
      if (weight_zeros_) {
        amx_->add_columns(panel, s.k, is_signed(ids_.x), sums + j);
      } else {
        std::fill_n(sums + j, cols, 0);
      }
    }
  }

  // (w - zw)(x - zx) = w x - zw x - zx (w - zw), summed over the window; wraps.
  void take_zeros_off(const Tensor* values, const Sizes& s, int64_t filter, const int32_t* x_sums,
                      const int32_t* x_zeros, int64_t n, int32_t* row) const {
    const int64_t zero = integer(values, ids_.w_zero, filter);
    const int64_t rest = sum_of_weights_[static_cast<size_t>(filter)] - s.k * zero;
    amx_->take_zeros_off(n, static_cast<int32_t>(zero), x_sums, static_cast<int32_t>(rest), x_zeros,
                         row);
  }

  void store(const Tensor* values, int64_t filter, int32_t* sums, int64_t n, int64_t at) const {
    if (!ids_.quantized) {
      std::copy_n(sums, n, static_cast<int32_t*>(values[ids_.y].data) + at);
      return;
    }
    const auto bias = static_cast<uint32_t>(integer(values, ids_.bias, filter));
    for (int64_t i = 0; i < n; ++i) {
      sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + bias);
    }
    const double factor = number(values, ids_.x_scale, 0) * number(values, ids_.w_scale, filter) /
                          number(values, ids_.y_scale, 0);
    store_quantized(table_.dtype(ids_.y), sums, n, factor, integer(values, ids_.y_zero, 0),
                    values[ids_.y].data, at);
  }

  ValueTable table_;
  ConvIds ids_;
  WindowAttrs attrs_;
  int64_t groups_, slots_;
  const AmxOps* amx_ = nullptr;
  AlignedBuffer<uint8_t> amx_weights_;
  std::vector<int32_t> sum_of_weights_;  // of each filter
  bool weight_zeros_ = false;            // is any zero point of the weights not 0?
};

class QuantConvKernel final : public Kernel {
 public:
  explicit QuantConvKernel(const Region& region) : table_(region), ids_(ids_of(region.nodes[0])) {
    const int64_t* attrs = region.nodes[0].attrs();
    attrs_ = WindowAttrs::read(attrs, NEF_CONV_INTEGER_AUTO_PAD, NEF_CONV_INTEGER_PADS,
                               NEF_CONV_INTEGER_STRIDES, NEF_CONV_INTEGER_DILATIONS);
    groups_ = nef_attr_int(attrs, NEF_CONV_INTEGER_GROUP, 1);
  }
  const char* name() const override { return "quantised convolution"; }
  std::unique_ptr<Prepared> prepare(const Tensor* values) const override {
    return std::make_unique<QuantConvPrepared>(table_, ids_, attrs_, groups_, values);
  }

 private:
  ValueTable table_;
  ConvIds ids_;
  WindowAttrs attrs_;
  int64_t groups_ = 1;
};

std::unique_ptr<Kernel> make_quant_conv(const Region& region, std::string*) {
  return std::make_unique<QuantConvKernel>(region);
}

}  // namespace

void register_quant_conv() {
  for (nef_op op : {NEF_OP_CONV_INTEGER, NEF_OP_QLINEAR_CONV}) register_op(op, make_quant_conv);
}

}  // namespace nef::cpu
