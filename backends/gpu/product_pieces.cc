// SPDX-License-Identifier: Apache-2.0
// Products of many rows of float32 on Hopper's tensor cores. Vendors' libraries multiply float32 on
// the other cores, which are slower than six products of pieces on these.
#include "backends/gpu/product_pieces.h"

#include "backends/gpu/decode.h"
#include "backends/gpu/product_parts.h"
#include "backends/gpu/warpgroup.h"

namespace nef::gpu {
namespace {

constexpr int64_t kRows = 128, kDepth = 64;             // of a tile
constexpr int64_t kCluster = 2;                         // blocks that share b
constexpr int64_t kCuts[] = {192, 128, 96};             // columns of a tile
constexpr int64_t kPieces = 3;                          // of a number
constexpr int64_t kSplitColumns = 32, kSplitSteps = 2;  // of a block that splits b
constexpr int64_t kUnknownRows = 4096;                  // taken for granted where only a run knows

int64_t parts_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Cycles of a multiprocessor, by and large.
double cycles(int64_t columns, int64_t rows, const ProductParts& parts, int64_t processors) {
  const int64_t at_once = std::max<int64_t>(1, processors / kCluster);
  const int64_t tiles = parts_up(rows, kRows * kCluster) * parts_up(parts.n, columns);
  const auto rounds = static_cast<double>(parts_up(tiles, at_once));
  const auto width = static_cast<double>(columns);
  const auto steps = static_cast<double>(parts_up(parts.k, kDepth));
  return rounds * (steps * (24 * width + 200) + 2000 + width * (parts.has_functions() ? 60 : 20));
}
int64_t best_cut(int64_t rows, const ProductParts& parts, int64_t processors) {
  return *std::min_element(std::begin(kCuts), std::end(kCuts), [&](int64_t a, int64_t b) {
    return cycles(a, rows, parts, processors) < cycles(b, rows, parts, processors);
  });
}

// Few rows do not make up for splitting b, nor few tiles for multiprocessors without any.
bool pays(int64_t rows, int64_t n, int64_t processors) {
  constexpr int64_t kLeastRows = 256;
  return rows >= kLeastRows && 2 * parts_up(rows, kRows) * parts_up(n, kCuts[2]) >= processors;
}

class ProductPieces : public Stage {
 public:
  ProductPieces(const Region& region, ProductParts parts, const DeviceInfo& device)
      : parts_(std::move(parts)), processors_(device.processors) {
    text_ = tail_text(region, parts_);
    same_ = parts_.same(region, text_);
    const int64_t rows = parts_.known_rows(region);
    columns_ = best_cut(rows < 0 ? kUnknownRows : rows, parts_, processors_);
    constant_ = region.input(*parts_.product, 1).kind == NEF_VALUE_CONSTANT;
    while (stages_ > 2 && shared_bytes() > device.shared_bytes) --stages_;
    make_source();
  }
  static bool serves(const Region& region, const ProductParts& parts, const DeviceInfo& device) {
    constexpr int64_t kLeastDepth = 32, kMostWeights = int64_t{1} << 26;
    if (parts.dtype != NEF_FLOAT32 || parts.k % 4 != 0 || parts.n % 2 != 0) return false;
    if (parts.k < kLeastDepth || parts.k * parts.n > kMostWeights) return false;
    const int64_t rows = parts.known_rows(region);
    if (!pays(rows < 0 ? kUnknownRows : rows, parts.n, device.processors)) return false;
    const ElementwiseText text = tail_text(region, parts);
    return std::all_of(text.inputs.begin(), text.inputs.end(), [&](int32_t v) {
      return region.values[static_cast<size_t>(v)].dtype == parts.dtype;
    });
  }

  std::string source() const override { return source_; }
  const char* name() const override { return "product of pieces on tensor cores"; }

  bool takes(const Values& values) const override {
    const Dims a = values.dims(parts_.product->inputs[0]);
    return pays(a.count(0, a.rank - 1), parts_.n, processors_) && parts_.fits(values, text_, same_);
  }
  size_t scratch_bytes(const Values&) const override {
    return pieces_bytes() + static_cast<size_t>(split_grid().x * split_grid().y) * 8;
  }

  void launch(const Run& run, Module* module) const override {
    char* const pieces = run.scratch;
    char* const extremes = run.scratch + pieces_bytes();
    split(run, *module, pieces, extremes);
    multiply(run, *module, pieces, extremes);
  }

 private:
  // What stands behind the product, or nothing.
  static ElementwiseText tail_text(const Region& region, const ProductParts& parts) {
    if (parts.tail.empty()) return {"  return x0;\n", {parts.made()}};
    return elementwise_text(region, parts.tail, parts.out);
  }
  int64_t shared_bytes() const {
    return 1024 + stages_ * ((kRows * 4 + columns_ * kPieces * 2) * kDepth + 16);
  }
  int64_t steps() const { return parts_up(parts_.k, kDepth); }
  int64_t row_of_pieces() const { return steps() * kPieces * kDepth; }
  size_t pieces_bytes() const {
    constexpr int64_t kAlign = 256;
    return static_cast<size_t>(parts_up(parts_.n * row_of_pieces() * 2, kAlign) * kAlign);
  }
  Grid split_grid() const {
    return {parts_up(parts_.n, kSplitColumns), parts_up(steps(), kSplitSteps), 256};
  }
  // Steps of b along the sum's axis and along its columns.
  int64_t b_row() const { return parts_.by_sum ? parts_.n : 1; }
  int64_t b_column() const { return parts_.by_sum ? 1 : parts_.k; }

  void split(const Run& run, Module& module, char* pieces, char* extremes) const {
    Params p;
    p.add(pieces).add(run.values.data(parts_.product->inputs[1])).add(extremes);
    p.add(parts_.n).add(parts_.k).add(b_row()).add(b_column()).add(steps()).add(kSplitSteps);
    p.add(int64_t{constant_});
    run.launch(module, "split_pieces", split_grid(), p);
  }
  void multiply(const Run& run, Module& module, char* pieces, char* extremes) const {
    const Values& values = run.values;
    const int32_t left = parts_.product->inputs[0], right = parts_.product->inputs[1];
    const Dims a = values.dims(left);
    const int64_t rows = a.count(0, a.rank - 1);
    const int64_t row_tiles = parts_up(rows, kRows * kCluster);
    const int64_t tiles = row_tiles * parts_up(parts_.n, columns_);
    constexpr int64_t kAcross = 32;  // numbers of a that 128 bytes hold
    Params p;
    add_matrix(run, p, NEF_FLOAT32, values.data(left), rows, parts_.k, kRows, kAcross);
    add_matrix(run, p, NEF_BFLOAT16, pieces, parts_.n, row_of_pieces(), columns_ / kCluster,
               kDepth);
    p.add(values.data(parts_.out)).add(same_ >= 0 ? values.data(same_) : nullptr);
    for (int32_t v : text_.inputs) {
      if (v == parts_.made() || v == same_) continue;
      p.add(values.data(v)).add(int64_t{values.count(v) == 1 ? 0 : 1});
    }
    p.add(rows).add(parts_.n).add(parts_.k).add(steps()).add(row_tiles).add(tiles);
    p.add(values.data(left)).add(values.data(right)).add(b_row()).add(b_column());
    p.add(extremes).add(split_grid().x * split_grid().y);
    while (p.bytes() % 64 != 0) p.add(int64_t{0});
    Grid grid{std::min(tiles, processors_ / kCluster) * kCluster, 1, 384};
    grid.cluster = kCluster;
    grid.shared = static_cast<uint32_t>(shared_bytes());
    run.launch(module, "product_pieces", grid, p);
  }
  void make_source() {
    std::string arguments, externals, declare, loads, first, second, again;
    int k = 0;
    for (size_t i = 0; i < text_.inputs.size(); ++i) {
      const int32_t v = text_.inputs[i];
      const std::string comma = i == 0 ? "" : ", ";
      arguments += comma + "f32 x" + std::to_string(i);
      if (v == parts_.made()) {
        first += comma + "sum0";
        second += comma + "sum1";
        again += comma + "sum";
        continue;
      }
      std::string pair = "same[j][e]", one = "p.same[row * p.n + column]";
      if (v != same_) {
        const std::string e = std::to_string(k++), place = "p.e" + e + ", p.f" + e + ", column)";
        externals += "const f32* e" + e + "; i64 f" + e + "; ";
        declare += "Pair l" + e + "[kTogether];\n        ";
        loads += "l" + e + "[j] = pair_at(" + place + ";\n          ";
        pair = "l" + e + "[j]";
        one = "value_at(" + place;
      }
      first += comma + pair + ".x";
      second += comma + pair + ".y";
      again += comma + one;
    }
    source_ = std::string(kBulkText) + kWarpgroupText +
              fill(kProductPiecesText,
                   {{"WGMMA", warpgroup_sum_of_registers("multiply", "bf16", columns_)},
                    {"N", std::to_string(columns_)},
                    {"STAGES", std::to_string(stages_)},
                    {"SAME", same_ >= 0 ? "true" : "false"},
                    {"EXTERNALS", externals},
                    {"DECLARE", declare},
                    {"LOADS", loads},
                    {"ARGS", arguments},
                    {"BODY", text_.body},
                    {"FIRST", first},
                    {"SECOND", second},
                    {"AGAIN", again}});
  }

  const ProductParts parts_;
  const int64_t processors_;
  ElementwiseText text_;
  int32_t same_ = -1;
  int64_t columns_ = 0;
  int64_t stages_ = 4;
  bool constant_ = false;
  std::string source_;
};

}  // namespace

std::unique_ptr<Stage> product_pieces_stage(const Region& region, const DeviceInfo& device) {
  ProductParts parts;
  if (!device.warpgroups || !parts.match(region)) return nullptr;
  if (!ProductPieces::serves(region, parts, device)) return nullptr;
  return std::make_unique<ProductPieces>(region, std::move(parts), device);
}

}  // namespace nef::gpu
