// SPDX-License-Identifier: Apache-2.0
// Products of many rows on Hopper's tensor cores, with the elementwise nodes behind them computed
// before anything is stored. Libraries know few such nodes, and their kernels neither begin before
// the one in front of them is done nor let the next one begin.
#include "backends/gpu/product_tiles.h"

#include "backends/gpu/decode.h"
#include "backends/gpu/product_parts.h"
#include "backends/gpu/warpgroup.h"

namespace nef::gpu {
namespace {

constexpr int64_t kRows = 128, kDepth = 64;  // of a tile
constexpr int64_t kCluster = 2;              // blocks that share b
constexpr int64_t kUnknownRows = 4096;       // taken for granted where only a run knows

int64_t parts_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What the tensor cores and the copy engine take: rows of multiples of 16 bytes.
bool suits(const Region& region, ProductParts& parts) {
  if (!parts.match(region) || !is_narrow(parts.dtype)) return false;
  const bool constant = region.input(*parts.product, 1).kind == NEF_VALUE_CONSTANT;
  return parts.k % 8 == 0 && parts.n % 8 == 0 && (constant || !parts.by_sum);
}

// Columns of a tile.
constexpr int64_t kCuts[] = {192, 128, 96};

// Cycles of a multiprocessor, by and large: measured on an H200.
double cycles(int64_t columns, int64_t rows, const ProductParts& parts, int64_t processors) {
  const int64_t at_once = std::max<int64_t>(1, processors / kCluster);
  const int64_t tiles = parts_up(rows, kRows * kCluster) * parts_up(parts.n, columns);
  const auto rounds = static_cast<double>(parts_up(tiles, at_once));
  const auto width = static_cast<double>(columns), depth = static_cast<double>(parts.k);
  // Narrow tiles read more of a and b for each product.
  const double multiply = (width + 32) * depth / 16;
  return rounds * (multiply + 400 + width * (parts.has_functions() ? 44 : 22));
}
int64_t best_cut(int64_t rows, const ProductParts& parts, int64_t processors) {
  return *std::min_element(std::begin(kCuts), std::end(kCuts), [&](int64_t a, int64_t b) {
    return cycles(a, rows, parts, processors) < cycles(b, rows, parts, processors);
  });
}

// Libraries multiply faster where there is enough to multiply, and where there are so few tiles
// that they cut the sum. What they do not do is to begin before the kernel in front of theirs is
// done, and most of what stands behind products.
bool pays(int64_t rows, const ProductParts& parts, int64_t processors) {
  constexpr int64_t kLeastRows = 256, kMostDepth = 2048;
  constexpr double kMostCycles = 60e3;
  if (rows < kLeastRows || parts.tail.empty()) return false;
  if (2 * parts_up(rows, kRows) * parts_up(parts.n, 96) < processors) return false;
  if (parts.has_functions()) return parts.k <= kMostDepth;
  return cycles(best_cut(rows, parts, processors), rows, parts, processors) <= kMostCycles;
}

class ProductTiles : public Stage {
 public:
  ProductTiles(const Region& region, ProductParts parts, const DeviceInfo& device)
      : parts_(std::move(parts)), processors_(device.processors), shared_(device.shared_bytes) {
    text_ = elementwise_text(region, parts_.tail, parts_.out);
    same_ = parts_.same(region, text_);
    const int64_t rows = parts_.known_rows(region);
    columns_ = best_cut(rows < 0 ? kUnknownRows : rows, parts_, processors_);
    while (stages_ > 2 && shared_bytes() > shared_) --stages_;
    early_ = region.input(*parts_.product, 1).kind == NEF_VALUE_CONSTANT;
    make_source(rows > 0 && reads_once(rows));
  }
  // What the tail reads beside the product has its dtype, and at most one such tensor its shape.
  static bool serves(const Region& region, const ProductParts& parts, const DeviceInfo& device) {
    const int64_t rows = parts.known_rows(region);
    if (!pays(rows < 0 ? kUnknownRows : rows, parts, device.processors)) return false;
    const ElementwiseText text = elementwise_text(region, parts.tail, parts.out);
    return std::all_of(text.inputs.begin(), text.inputs.end(), [&](int32_t v) {
      return region.values[static_cast<size_t>(v)].dtype == parts.dtype;
    });
  }

  std::string source() const override { return source_; }
  const char* name() const override { return "product on tensor cores"; }
  bool wants_turned(int32_t value) const override {
    return parts_.by_sum && value == parts_.product->inputs[1];
  }

  bool takes(const Values& values) const override {
    const Dims a = values.dims(parts_.product->inputs[0]);
    return pays(a.count(0, a.rank - 1), parts_, processors_) && parts_.fits(values, text_, same_);
  }

  void launch(const Run& run, Module* module) const override {
    const Values& values = run.values;
    const Dims a = values.dims(parts_.product->inputs[0]);
    const int64_t rows = a.count(0, a.rank - 1);
    const int64_t row_tiles = parts_up(rows, kRows * kCluster);
    const int64_t tiles = row_tiles * parts_up(parts_.n, columns_);
    Params p;
    add_matrix(run, p, parts_.dtype, run.values.data(parts_.product->inputs[0]), rows, parts_.k,
               kRows, kDepth);
    add_matrix(run, p, parts_.dtype, run.values.data(parts_.product->inputs[1]), parts_.n, parts_.k,
               columns_ / kCluster, kDepth);
    p.add(values.data(parts_.out)).add(same_ >= 0 ? values.data(same_) : nullptr);
    for (int32_t v : text_.inputs) {
      if (v == parts_.made() || v == same_) continue;
      p.add(values.data(v)).add(int64_t{values.count(v) == 1 ? 0 : 1});
    }
    p.add(rows).add(parts_.n).add(parts_up(parts_.k, kDepth)).add(row_tiles).add(tiles);
    p.add(int64_t{early_});
    while (p.bytes() % 64 != 0) p.add(int64_t{0});
    Grid grid{std::min(tiles, processors_ / kCluster) * kCluster, 1, 512};
    grid.cluster = kCluster;
    grid.shared = static_cast<uint32_t>(shared_bytes());
    run.launch(*module, "product_tiles", grid, p);
  }

 private:
  // The ring, the sums of a tile on their way to what is behind the product, and barriers.
  int64_t shared_bytes() const {
    return 1024 + stages_ * ((kRows + columns_) * kDepth * 2 + 16) + kRows * (columns_ * 2 + 16) +
           16;
  }

  // Are rows of a read at one time only, by all blocks that want them, and too many to stay in the
  // L2 beside what is written?
  bool reads_once(int64_t rows) const {
    constexpr int64_t kMany = int64_t{16} << 20;  // bytes
    const int64_t tiles = parts_up(rows, kRows * kCluster) * parts_up(parts_.n, columns_);
    return tiles <= processors_ / kCluster && rows * parts_.k * 2 >= kMany;
  }

  void make_source(bool once) {
    std::string arguments, externals, bring, declare, first, second;
    int k = 0;
    for (size_t i = 0; i < text_.inputs.size(); ++i) {
      const int32_t v = text_.inputs[i];
      const std::string comma = i == 0 ? "" : ", ";
      arguments += comma + "f32 x" + std::to_string(i);
      if (v == parts_.made()) {
        first += comma + "sum0";
        second += comma + "sum1";
        continue;
      }
      std::string pair = "same[j].e[e]";
      if (v != same_) {
        const std::string e = std::to_string(k++);
        externals += "const T* e" + e + "; i64 f" + e + "; ";
        declare += "V4 l" + e + " = {};\n  ";
        bring += "l" + e + " = columns_of(p.e" + e + ", p.f" + e + ");\n    ";
        pair = "l" + e + ".e[e]";
      }
      first += comma + "first(" + pair + ")";
      second += comma + "second(" + pair + ")";
    }
    const char* type = parts_.dtype == NEF_BFLOAT16 ? "bf16" : "f16";
    source_ = std::string(kBulkText) + kWarpgroupText + kTurnText +
              fill(kProductTilesText, {{"WGMMA", warpgroup_product("multiply", type, columns_)},
                                       {"T", memory_type(parts_.dtype)},
                                       {"TYPE", type},
                                       {"N", std::to_string(columns_)},
                                       {"STAGES", std::to_string(stages_)},
                                       {"CLUSTER", std::to_string(kCluster)},
                                       {"SAME", same_ >= 0 ? "true" : "false"},
                                       {"ONCE_A", once ? "true" : "false"},
                                       {"ONCE_B", early_ ? "true" : "false"},
                                       {"EXTERNALS", externals},
                                       {"BRING", bring},
                                       {"DECLARE", declare},
                                       {"ARGS", arguments},
                                       {"BODY", text_.body},
                                       {"FIRST", first},
                                       {"SECOND", second}});
  }

  const ProductParts parts_;
  const int64_t processors_, shared_;
  ElementwiseText text_;
  int32_t same_ = -1;
  int64_t columns_ = 0;
  int64_t stages_ = 8;
  bool early_ = false;
  std::string source_;
};

}  // namespace

std::unique_ptr<Stage> product_tiles_stage(const Region& region, const DeviceInfo& device) {
  ProductParts parts;
  if (!device.warpgroups || !suits(region, parts)) return nullptr;
  if (!ProductTiles::serves(region, parts, device)) return nullptr;
  return std::make_unique<ProductTiles>(region, std::move(parts), device);
}

}  // namespace nef::gpu
