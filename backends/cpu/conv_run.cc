// SPDX-License-Identifier: Apache-2.0
// Conv and ConvTranspose. Up to two spatial axes are summed directly (conv_direct.h); more, and
// ConvTranspose, are products of the weights with packed windows of the input, tile by tile; few
// output positions the other way round.
#include <algorithm>

#include "backends/cpu/conv_blocks.h"
#include "backends/cpu/conv_direct.h"
#include "backends/cpu/conv_kernels.h"
#include "backends/cpu/conv_pack.h"
#include "backends/cpu/conv_spec.h"
#include "backends/cpu/conv_stage.h"
#include "backends/cpu/conv_winograd.h"
#include "backends/cpu/gemm.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/matmul.h"

namespace nef::cpu {
namespace {

constexpr int64_t kTileElements = 48 * 1024;  // of packed input per task: it stays in L2
constexpr int64_t kAmxElements = 192 * 1024;  // the same as bfloat16

template <typename T>
class ConvPrepared final : public Prepared {
 public:
  ConvPrepared(const ValueTable& values, const ConvSpec& spec, const Tensor* constants)
      : values_(values),
        spec_(spec),
        slots_(task_slots()),
        amx_(spec.amx),
        native_(values.dtype(spec.x) == (sizeof(T) == 8 ? NEF_FLOAT64 : NEF_FLOAT32)) {
    for (size_t i = 0; i < values_.size(); ++i) {
      ranks_.push_back(values_.rank(static_cast<int32_t>(i)));
    }
    if (!values_.constant(spec_.w)) return;
    const int64_t count = values_.count(constants, spec_.w);
    AlignedBuffer<T> converted(count);
    const T* w = load(constants, spec_.w, converted.data());
    const Shape s = weight_shape(constants[spec_.w].dims, constants[spec_.w].dims[0]);
    if (amx_ != nullptr) {
      pack_weights_for_amx(s, w);
      return;
    }
    if (spec_.winograd) {
      pack_winograd(s, w);
      return;
    }
    packed_ = AlignedBuffer<T>(spec_.few ? spec_.groups * few_size(s) : count);
    if (spec_.few) {
      pack_columns(s, w);
    } else {
      arrange(s, w, packed_.data());
    }
  }

  uint64_t packed_bytes() const override { return packed_.bytes() + amx_weights_.bytes(); }
  size_t scratch_bytes(const Tensor* values) const override {
    ScratchLayout layout;
    carve(layout, values);
    return layout.used();
  }

  void launch(const Tensor* values, void* scratch) const override {
    ScratchLayout layout(scratch);
    const Pieces p = carve(layout, values);
    if (values_.count(values, spec_.y) == 0) return;
    check_output(values);
    const T* x = load(values, spec_.x, p.x);
    const T* w = packed_.data();
    if (w == nullptr && !on_amx()) w = arranged(values, p);
    const T* bias = spec_.bias < 0 ? nullptr : load(values, spec_.bias, p.bias);
    T* y = native_ ? static_cast<T*>(values[spec_.y].data) : p.y;
    if (on_amx()) {
      run_amx(values, x, bias, y, p.tiles);
    } else if (spec_.few) {
      run_few(values, x, bias, y, p.tiles);
    } else if (spec_.apart) {
      run_apart(values, x, w, bias, y, p.tiles);
    } else if (direct(values)) {
      run_staged(values, x, w, bias, y, p);
    } else if (depthwise(shape(values))) {
      run_depthwise(values, x, w, bias, y);
    } else {
      run_product(values, x, w, bias, y, p.tiles);
    }
    if constexpr (sizeof(T) == 4) {
      if (!native_) {
        store_floats_parallel(values_.dtype(spec_.y), y, values_.count(values, spec_.y),
                              values[spec_.y].data);
      }
    }
  }

 private:
  struct Shape {
    int64_t batch = 1;
    int64_t filters = 1;   // of one group
    int64_t channels = 1;  // of one group
    int64_t kernel = 1;
    int64_t depth() const { return channels * kernel; }
  };
  struct Pieces {
    T *x = nullptr, *w = nullptr, *arranged = nullptr, *bias = nullptr, *y = nullptr,
      *tiles = nullptr;
  };

  Shape weight_shape(const int64_t* w, int64_t first) const {
    Shape s;
    s.filters = spec_.transposed ? w[1] : first / spec_.groups;
    s.channels = spec_.transposed ? first / spec_.groups : w[1];
    for (int i = 2; i < ranks_[spec_.w]; ++i) s.kernel *= w[i];
    return s;
  }
  Shape shape(const Tensor* values) const {
    Shape s = weight_shape(values[spec_.w].dims, values[spec_.w].dims[0]);
    s.batch = values[spec_.x].dims[0];
    return s;
  }
  Window window(const Tensor* values) const {
    return make_window(spec_.window, values[spec_.x].dims, values[spec_.y].dims, ranks_[spec_.x],
                       values[spec_.w].dims + 2, spec_.transposed);
  }
  bool depthwise(const Shape& s) const {
    return !spec_.transposed && s.channels == 1 && s.filters < kFewFilters;
  }

  bool direct(const Tensor* values) const { return !spec_.transposed && can_stage(window(values)); }
  DirectConv<T> direct_conv(const Tensor* values) const {
    const Shape s = shape(values);
    DirectConv<T> conv;
    conv.batch = s.batch;
    conv.groups = spec_.groups;
    conv.filters = s.filters;
    conv.channels = s.channels;
    conv.window = window(values);
    return conv;
  }

  const T* arranged(const Tensor* values, const Pieces& p) const {
    arrange(shape(values), load(values, spec_.w, p.w), p.arranged);
    return p.arranged;
  }

  void pack_winograd([[maybe_unused]] const Shape& s, [[maybe_unused]] const T* w) {
    if constexpr (sizeof(T) == 4) {
      const int64_t size = winograd_size(s.filters, s.channels);
      packed_ = AlignedBuffer<T>(spec_.groups * size);
      for (int64_t g = 0; g < spec_.groups; ++g) {
        winograd_weights(w + g * s.filters * s.depth(), s.filters, s.channels,
                         packed_.data() + g * size);
      }
    }
  }

  void run_staged(const Tensor* values, const T* x, const T* w, const T* bias, T* y,
                  const Pieces& p) const {
    const EpilogueRun<T> steps = epilogue(values, nullptr);
    DirectConv<T> conv = direct_conv(values);
    conv.x = x;
    conv.weights = w;
    conv.bias = bias;
    conv.y = y;
    conv.steps = &steps;
    if constexpr (sizeof(T) == 4) {
      if (spec_.winograd) {
        if (run_winograd(conv, slots_, p.tiles)) return;
        conv.weights = arranged(values, p);
      }
    }
    if (wants_blocks(conv)) return run_blocks(conv, slots_, p.tiles);
    run_direct(conv, depthwise(shape(values)), slots_, p.tiles);
  }

  bool on_amx() const { return amx_ != nullptr; }
  void pack_weights_for_amx(const Shape& s, const T* w) {
    const int64_t size = amx_a_size(s.filters, s.depth());
    amx_weights_ = AlignedBuffer<uint16_t>(spec_.groups * size);
    for (int64_t g = 0; g < spec_.groups; ++g) {
      amx_->pack_a(NEF_FLOAT32, w + g * s.filters * s.depth(), s.depth(), 1, s.filters, s.depth(),
                   amx_weights_.data() + g * size);
    }
  }

  Pieces carve(ScratchLayout& layout, const Tensor* values) const {
    Pieces p;
    const Shape s = shape(values);
    if (!native_) {
      p.x = layout.take<T>(values_.count(values, spec_.x));
      p.w = layout.take<T>(values_.count(values, spec_.w));
      if (spec_.bias >= 0) p.bias = layout.take<T>(values_.count(values, spec_.bias));
      p.y = layout.take<T>(values_.count(values, spec_.y));
    }
    if (on_amx()) {
      p.tiles = reinterpret_cast<T*>(layout.take<char>(slots_ * amx_tile_bytes(s)));
      return p;
    }
    if (packed_.data() == nullptr || spec_.winograd)
      p.arranged = layout.take<T>(values_.count(values, spec_.w));
    p.tiles = layout.take<T>(tiles_size(values, s));
    return p;
  }
  int64_t tiles_size(const Tensor* values, const Shape& s) const {
    if (spec_.few) return s.filters * kMostFew + s.depth() * kMostFew;
    if (spec_.apart) {
      const DirectConv<T> conv = apart_conv(values);
      return direct_scratch(conv, false, slots_) + conv.filters * conv.window.out_count;
    }
    if (direct(values)) {
      const DirectConv<T> conv = direct_conv(values);
      if (wants_blocks(conv)) return blocks_scratch(conv, slots_);
      const int64_t size = direct_scratch(conv, depthwise(s), slots_);
      if constexpr (sizeof(T) == 4) {
        if (spec_.winograd) return std::max(size, winograd_scratch(conv, slots_));
      }
      return size;
    }
    return slots_ * tile_size(s);
  }
  // Room for one tile: never less for a deeper product.
  static int64_t tile_size(const Shape& s) { return kTileElements + s.depth() * gemm_ops<T>().nr; }
  // A panel as floats, then the tile.
  static int64_t amx_tile_bytes(const Shape& s) {
    return kAmxPanel * amx_depth(s.depth()) * 4 + 2 * (kAmxElements + amx_b_size(s.depth(), 1));
  }

  const T* load(const Tensor* values, int32_t id, T* piece) const {
    const void* data = values_.data(values, id);
    if constexpr (sizeof(T) == 4) {
      if (!native_) {
        load_floats_parallel(values_.dtype(id), data, values_.count(values, id), piece);
        return piece;
      }
    }
    return static_cast<const T*>(data);
  }

  // Weights per group as packed rows [filters][channels * kernel] (see gemm.h).
  void arrange(const Shape& s, const T* w, T* out) const {
    const auto& ops = gemm_ops<T>();
    if (depthwise(s)) {
      std::copy_n(w, spec_.groups * s.filters * s.depth(), out);
      return;
    }
    const int64_t size = s.filters * s.depth();
    for (int64_t g = 0; g < spec_.groups; ++g) {
      const T* src = w + g * size;
      if (spec_.apart) {
        const int64_t rows = s.filters * s.kernel;
        ops.pack_a(src, 1, rows, rows, s.channels, out + g * size);
        continue;
      }
      if (!spec_.transposed) {
        ops.pack_a(src, s.depth(), 1, s.filters, s.depth(), out + g * size);
        continue;
      }
      pack_transposed(s, src, out + g * size);
    }
  }
  // ConvTranspose stores [channels][filters][kernel].
  static void pack_transposed(const Shape& s, const T* src, T* out) {
    const int64_t panels = ceil_div(s.filters, gemm_ops<T>().mr);
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t row = panel_row(s.filters, panels, p);
      const int64_t end = panel_row(s.filters, panels, p + 1);
      for (int64_t c = 0; c < s.channels; ++c) {
        for (int64_t k = 0; k < s.kernel; ++k) {
          for (int64_t m = row; m < end; ++m) *out++ = src[(c * s.filters + m) * s.kernel + k];
        }
      }
    }
  }

  EpilogueRun<T> epilogue(const Tensor* values, const T* bias) const {
    const int rank = ranks_[spec_.y];
    const int64_t* dims = values[spec_.y].dims;
    EpilogueRun<T> run;
    if (bias != nullptr) {
      int64_t bias_dims[NEF_MAX_RANK];
      std::fill_n(bias_dims, rank, int64_t{1});
      bias_dims[0] = dims[1];
      run.add_operand(EpilogueOp::kAdd, bias, bias_dims, rank - 1, dims, rank, kRowDims);
    }
    if constexpr (sizeof(T) == 4) {
      bind_epilogue(spec_.epilogue, values, ranks_, dims, rank, kRowDims, &run);
    }
    return run;
  }

  void check_output(const Tensor* values) const {
    if (values_.count(values, spec_.y) == values_.count(values, spec_.conv_out)) return;
    throw BackendError(NEF_SHAPE_MISMATCH,
                       "conv: an operand of its epilogue is larger than its result");
  }

  void run_depthwise(const Tensor* values, const T* x, const T* w, const T* bias, T* y) const {
    const Shape s = shape(values);
    const Window window = this->window(values);
    const EpilogueRun<T> steps = epilogue(values, nullptr);
    const int64_t filters = s.filters * spec_.groups;
    const int64_t work = std::max<int64_t>(1, window.out_count * window.kernel_count);
    parallel_for(s.batch * filters, std::max<int64_t>(1, kTileElements / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t n = i / filters, m = i % filters;
                     const T* plane = x + (n * spec_.groups + m / s.filters) * window.in_count;
                     T* out = y + i * window.out_count;
                     convolve_plane(window, plane, w + m * s.kernel,
                                    bias == nullptr ? T(0) : bias[m], out);
                     if (steps.count == 0) continue;
                     run_epilogue<T>(&steps, i, 0, 1, window.out_count, out, window.out_count);
                   }
                 });
  }

  void run_product(const Tensor* values, const T* x, const T* w, const T* bias, T* y,
                   T* tiles) const {
    const auto& ops = gemm_ops<T>();
    const Shape s = shape(values);
    const Window window = this->window(values);
    const EpilogueRun<T> steps = epilogue(values, bias);
    const int64_t depth = std::max<int64_t>(1, s.depth());
    const int64_t width = std::min(round_up(window.out_count, ops.nr),
                                   std::max<int64_t>(1, kTileElements / depth / ops.nr) * ops.nr);
    const int64_t tile_count = ceil_div(window.out_count, width);
    const int64_t planes = s.batch * spec_.groups;
    // Few tiles: the rows are split too, and each part packs the tile for itself.
    const int64_t panels = ceil_div(s.filters, ops.mr);
    const int64_t wanted = 2 * slots_ / std::max<int64_t>(1, planes * tile_count);
    const int64_t parts = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, panels / 4));
    run_tasks(slots_, planes * tile_count * parts, [&](int64_t slot, int64_t task) {
      const int64_t part = task % parts, tile = task / parts % tile_count;
      const int64_t plane = task / parts / tile_count;
      const int64_t first = tile * width, count = std::min(width, window.out_count - first);
      T* packed = tiles + slot * tile_size(s);
      pack_positions(window, spec_.transposed, x + plane * s.channels * window.in_count, s.channels,
                     first, count, ops.nr, packed);
      GemmBlock<T> g;
      g.m = s.filters;
      g.n = count;
      g.k = s.depth();
      g.panel_begin = panels * part / parts;
      g.panel_end = panels * (part + 1) / parts;
      g.a = w + plane % spec_.groups * s.filters * s.depth();
      g.a_packed = true;
      g.b = packed;
      g.c = y + plane * s.filters * window.out_count + first;
      g.ldc = window.out_count;
      g.row0 = plane * s.filters;
      g.col0 = first;
      if (steps.count > 0) g.tile = run_epilogue<T>;
      g.context = &steps;
      ops.block(g);
    });
  }

  // ---- windows that do not overlap

  // A group of a sample as a convolution by one element: its filters are those of each kernel
  // position.
  DirectConv<T> apart_conv(const Tensor* values) const {
    const Shape s = shape(values);
    const Window whole = window(values);
    DirectConv<T> conv;
    conv.filters = s.filters * s.kernel;
    conv.channels = s.channels;
    Window& w = conv.window;
    w.rank = whole.rank;
    for (int d = 0; d < w.rank; ++d) {
      w.in[d] = w.out[d] = whole.in[d];
      w.kernel[d] = w.stride[d] = w.dilation[d] = 1;
      w.begin[d] = w.end[d] = 0;
    }
    w.in_count = w.out_count = whole.in_count;
    return conv;
  }

  void run_apart(const Tensor* values, const T* x, const T* w, const T* bias, T* y, T* room) const {
    const Shape s = shape(values);
    const EpilogueRun<T> steps = epilogue(values, bias), none = EpilogueRun<T>();
    DirectConv<T> conv = apart_conv(values);
    conv.steps = &none;
    conv.y = room;
    T* scratch = room + conv.filters * conv.window.out_count;
    const int64_t out_count = window(values).out_count;
    for (int64_t plane = 0; plane < s.batch * spec_.groups; ++plane) {
      conv.x = x + plane * s.channels * conv.window.in_count;
      conv.weights = w + plane % spec_.groups * conv.filters * s.channels;
      run_direct(conv, false, slots_, scratch);
      run_tasks(slots_, s.filters, [&](int64_t, int64_t f) {
        T* out = y + (plane * s.filters + f) * out_count;
        spread(window(values), room + f * s.kernel * conv.window.out_count, out);
        if (steps.count == 0) return;
        run_epilogue<T>(&steps, plane * s.filters + f, 0, 1, out_count, out, out_count);
      });
    }
  }

  // From [kernel positions][input positions] to the output positions of one filter.
  static void spread(const Window& w, const T* x, T* y) {
    const int last = w.rank - 1;
    const int64_t rows = last == 0 ? 1 : w.in[0], tall = last == 0 ? 1 : w.kernel[0];
    const int64_t cols = w.in[last], wide = w.kernel[last];
    for (int64_t i = 0; i < tall; ++i) {
      for (int64_t r = 0; r < rows; ++r) {
        T* out = y + (r * tall + i) * w.out[last];
        const T* in = x + i * wide * w.in_count + r * cols;
        if (wide == 2) {
          conv_ops<T>().interleave(in, in + w.in_count, cols, out);
          continue;
        }
        for (int64_t j = 0; j < wide; ++j) {
          for (int64_t c = 0; c < cols; ++c) out[c * wide + j] = in[j * w.in_count + c];
        }
      }
    }
  }

  // ---- few positions

  static int64_t few_size(const Shape& s) { return packed_b_size<T>(s.depth(), s.filters); }
  void pack_columns(const Shape& s, const T* w) {
    for (int64_t g = 0; g < spec_.groups; ++g) {
      pack_b_parallel(w + g * s.filters * s.depth(), 1, s.depth(), s.depth(), s.filters,
                      packed_.data() + g * few_size(s));
    }
  }

  // Positions as rows. What follows is done there too unless an operand has one element for each
  // position, then the product is turned into y.
  void run_few(const Tensor* values, const T* x, const T* bias, T* y, T* room) const {
    const Shape s = shape(values);
    const Window window = this->window(values);
    const int64_t rows = window.out_count;
    T* windows = room;
    T* products = windows + s.depth() * rows;
    const EpilogueRun<T> steps = epilogue(values, nullptr);
    const EpilogueRun<T> columns = column_epilogue(bias, steps);
    const bool behind = columns.count < steps.count + (bias == nullptr ? 0 : 1);
    for (int64_t g = 0; g < spec_.groups; ++g) {
      pack_positions(window, false, x + g * s.channels * window.in_count, s.channels, 0, rows, rows,
                     windows);
      GemmBlock<T> block;
      block.m = rows;
      block.n = s.filters;
      block.k = s.depth();
      block.a = windows;
      block.a_packed = true;
      block.b = packed_.data() + g * few_size(s);
      block.c = products;
      block.ldc = s.filters;
      block.col0 = g * s.filters;
      if (columns.count > 0) block.tile = run_epilogue<T>;
      block.context = &columns;
      gemm_parallel<T>(block, slots_, nullptr);
      T* out = y + g * s.filters * rows;
      for (int64_t f = 0; f < s.filters; ++f) {
        for (int64_t i = 0; i < rows; ++i) out[f * rows + i] = products[i * s.filters + f];
      }
      if (behind) run_epilogue<T>(&steps, g * s.filters, 0, s.filters, rows, out, rows);
    }
  }

  // The bias and, if none has an operand with one element for each position, all steps: for a
  // product whose columns are the filters.
  static EpilogueRun<T> column_epilogue(const T* bias, const EpilogueRun<T>& steps) {
    const auto by_filter = [](const EpilogueOperand<T>& o) {
      return o.data == nullptr || (o.col_stride == 0 && (o.row_stride == 0 || o.row_stride == 1));
    };
    EpilogueRun<T> run;
    if (bias != nullptr) {
      run.add(EpilogueOp::kAdd, 1);
      run.operands[0].data = bias;
      run.operands[0].col_stride = 1;
    }
    if (!std::all_of(steps.operands, steps.operands + steps.count, by_filter)) return run;
    for (int i = 0; i < steps.count; ++i) {
      run.add(steps.ops[i], steps.p0[i], steps.p1[i]);
      EpilogueOperand<T>& operand = run.operands[run.count - 1];
      operand = steps.operands[i];
      std::swap(operand.col_stride, operand.row_stride);
    }
    return run;
  }

  // As run_product, with bfloat16 tiles.
  void run_amx(const Tensor* values, const T* x, const T* bias, T* y, void* tiles) const {
    const Shape s = shape(values);
    const Window window = this->window(values);
    const EpilogueRun<T> steps = epilogue(values, bias);
    const int64_t depth = amx_depth(s.depth()), planes = s.batch * spec_.groups;
    const int64_t most = std::max<int64_t>(1, kAmxElements / depth / kAmxPanel) * kAmxPanel;
    const int64_t share = round_up(ceil_div(window.out_count * planes, 2 * slots_), kAmxPanel);
    const int64_t width = std::min({round_up(window.out_count, kAmxPanel), most, share});
    const int64_t tile_count = ceil_div(window.out_count, width);
    // Few tiles: the rows are split too, and each part packs the tile for itself.
    const int64_t units = ceil_div(s.filters, kAmxPanel);
    const int64_t parts = std::clamp<int64_t>(slots_ / (planes * tile_count), 1, units);
    run_tasks(slots_, planes * tile_count * parts, [&](int64_t slot, int64_t task) {
      const int64_t part = task % parts, tile = task / parts % tile_count;
      const int64_t plane = task / parts / tile_count;
      const int64_t first = tile * width, count = std::min(width, window.out_count - first);
      const int64_t row = units * part / parts * kAmxPanel;
      auto* staging = reinterpret_cast<T*>(static_cast<char*>(tiles) + slot * amx_tile_bytes(s));
      auto* packed = reinterpret_cast<uint16_t*>(staging + kAmxPanel * depth);
      pack_for_amx(window, x + plane * s.channels * window.in_count, s, first, count, staging,
                   packed);
      AmxBlock g;
      g.m = std::min(s.filters, units * (part + 1) / parts * kAmxPanel) - row;
      g.n = count;
      g.k = s.depth();
      g.a = amx_weights_.data() + plane % spec_.groups * amx_a_size(s.filters, s.depth()) +
            row * depth;
      g.b = packed;
      g.row0 = plane * s.filters + row;
      g.col0 = first;
      g.ldc = window.out_count;
      if constexpr (sizeof(T) == 4) {
        g.c = y + g.row0 * window.out_count + first;
        if (steps.count > 0) g.tile = run_epilogue<T>;
      }
      g.context = &steps;
      amx_->block(g);
    });
  }

  // Positions [first, first + count) of one sample and group as panels of B.
  void pack_for_amx(const Window& window, const T* x, const Shape& s, int64_t first, int64_t count,
                    T* staging, uint16_t* out) const {
    if (window.pointwise()) {
      return amx_->pack_b(NEF_FLOAT32, x + first, window.in_count, 1, s.depth(), count, out);
    }
    for (int64_t j = 0; j < count; j += kAmxPanel, out += amx_b_size(s.depth(), 1)) {
      const int64_t cols = std::min(kAmxPanel, count - j);
      pack_positions(window, false, x, s.channels, first + j, cols, kAmxPanel, staging);
      amx_->pack_b(NEF_FLOAT32, staging, kAmxPanel, 1, s.depth(), cols, out);
    }
  }

  ValueTable values_;
  ConvSpec spec_;
  int64_t slots_;
  const AmxOps* amx_;
  bool native_;
  std::vector<int> ranks_;
  AlignedBuffer<T> packed_;
  AlignedBuffer<uint16_t> amx_weights_;  // instead of packed_
};

}  // namespace

std::unique_ptr<Prepared> prepare_conv(const ValueTable& values, const ConvSpec& spec,
                                       const Tensor* constants) {
  if (values.dtype(spec.x) == NEF_FLOAT64) {
    return std::make_unique<ConvPrepared<double>>(values, spec, constants);
  }
  return std::make_unique<ConvPrepared<float>>(values, spec, constants);
}

}  // namespace nef::cpu
