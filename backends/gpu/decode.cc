// SPDX-License-Identifier: Apache-2.0
// A few rows times constant matrices, as steps of decoding do: memory is read once, at the speed of
// memory. One block for each multiprocessor; each of its warps owns rows of the (turned) weights,
// or stretches of them, and a ring of slots in shared memory that the copy engine fills far ahead
// of it. The ring is filled before the kernel in front of this one is done, as weights do not
// depend on it; where the one in front leaves room, beside it. One row, or a few by packed weights,
// is multiplied without tensor cores.
#include "backends/gpu/decode.h"

#include <cmath>

#include "backends/gpu/gemv.h"

namespace nef::gpu {
namespace {

constexpr int64_t kMostRows = 16;
constexpr int64_t kFewRows = 4;  // of x by packed weights: multiplied row by row
constexpr int64_t kWarps = 16;
constexpr int64_t kSlot = 2048;  // bytes
constexpr int64_t kMostSlots = 4, kMostTileSlots = 6;
constexpr int64_t kReserved = 1024;  // of shared memory, by the driver for each block
constexpr int64_t kLeastBlock = GemvParts::kLeastBlock;
constexpr int64_t kGroup = 16;     // rows of weights that tensor cores take
constexpr int64_t kTileWarps = 8;  // of a block that uses them
constexpr int64_t kMostParts = 8;  // blocks that share a sum
constexpr int64_t kInbox = 4;      // passes whose sums may be on their way
constexpr int64_t kStages = 2;     // chunks of x on their way to a warp
constexpr int64_t kFewStages = 3;  // of at most eight rows
constexpr int64_t kKeptSlots = 4;  // of a ring beside all of x

int64_t parts_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Gemv : public Stage {
 public:
  using Parts = GemvParts;

  Gemv(const Region& region, Parts parts, const DeviceInfo& device)
      : parts_(std::move(parts)), processors_(device.processors), shared_(device.shared_bytes) {
    dtype_ = region.values[static_cast<size_t>(parts_.x)].dtype;
    text_ = elementwise_text(region, parts_.tail, parts_.out);
    for (const Node* p : parts_.products) {
      const bool packed = p->op == NEF_OP_MATMUL_NBITS;
      products_.push_back({p->inputs[1], packed ? p->inputs[2] : -1, p->outputs[0],
                           !packed && is_turned(*p), alpha(*p)});
    }
    if (parts_.norm != nullptr) {
      scale_ = parts_.norm->inputs[1];
      epsilon_ = nef_attr_float(parts_.norm->attrs(), NEF_RMS_NORMALIZATION_EPSILON, 1e-5);
    }
    if (text_.inputs.empty()) text_ = {"  return x0;\n", {products_[0].out}};
    tiled_ = has_tiles_always(region);
    make_source(region);
  }

  std::string source() const override { return source_; }
  const char* name() const override { return scale_ >= 0 ? "norm + gemv" : "gemv"; }
  bool wants_turned(int32_t value) const override {
    return std::any_of(products_.begin(), products_.end(),
                       [value](const Product& p) { return p.weight == value && p.turn; });
  }

  std::optional<TiledMatrix> tiled(int32_t value) const override {
    const auto p = std::find_if(products_.begin(), products_.end(),
                                [value](const Product& q) { return q.weight == value; });
    if (!tiled_ || p == products_.end()) return std::nullopt;
    return p->turn ? TiledMatrix{parts_.n, parts_.k, 1, parts_.n}
                   : TiledMatrix{parts_.n, parts_.k, parts_.k, 1};
  }

  bool takes(const Values& values) const override {
    const int64_t rows = rows_of(values);
    if (rows < 1 || rows > kMostRows || slots(rows) < 1) return false;
    if (!row_by_row(rows) && !has_tiles(tiles(rows))) return false;
    if (values.count(parts_.out) != rows * parts_.n) return false;
    return std::all_of(text_.inputs.begin(), text_.inputs.end(), [&](int32_t v) {
      int64_t row, column;
      return product_of(v) >= 0 ||
             steps(values.dims(v), values.dims(parts_.out), rows, &row, &column);
    });
  }

  void launch(const Run& run, Module* module) const override {
    const int64_t rows = rows_of(run.values);
    if (row_by_row(rows)) launch_rows(run, *module, rows);
    else launch_tiles(run, *module, rows);
  }

 private:
  struct Product {
    int32_t weight, scales, out;
    bool turn;
    double alpha;
  };
  static double alpha(const Node& node) {
    if (node.op == NEF_OP_MATMUL || node.op == NEF_OP_MATMUL_NBITS) return 1;
    return nef_attr_float(
        node.attrs(),
        node.op == NEF_OP_GEMM ? unsigned{NEF_GEMM_ALPHA} : unsigned{NEF_FUSED_MATMUL_ALPHA}, 1);
  }
  int64_t rows_of(const Values& values) const { return values.count(parts_.x) / parts_.k; }
  int product_of(int32_t value) const {
    for (size_t i = 0; i < products_.size(); ++i) {
      if (products_[i].out == value) return static_cast<int>(i);
    }
    return -1;
  }
  // Steps of a tensor that the tail reads, along the result's rows and columns.
  bool steps(const Dims& dims, const Dims& out, int64_t rows, int64_t* row, int64_t* column) const {
    const int64_t count = dims.count();
    *row = *column = 0;
    if (count == 1) return true;
    if (dims.rank == 0 || dims.rank > out.rank || dims.at[dims.rank - 1] != parts_.n) return false;
    *column = 1;
    if (count == parts_.n) return true;
    *row = parts_.n;
    return count == rows * parts_.n;
  }
  // Do tensor cores take its weights? Eight scales for what a slot has of a row.
  bool has_tiles() const { return !parts_.float8 && parts_.block == kLeastBlock; }
  bool has_tiles(int64_t tiles) const {
    return has_tiles() && (!packed() || held(tiles, parts(tiles)) <= kMostHeld);
  }
  // Will every run be one of two to sixteen rows by weights of 16 bits, which nothing else reads?
  bool has_tiles_always(const Region& region) const {
    const int64_t rows = known_rows(region);
    if (packed() || rows < 2 || rows > kMostRows || slots(rows) < 1) return false;
    const auto known = [&](int32_t v) -> std::optional<Dims> {
      const auto& dims = region.values[static_cast<size_t>(v)].dims;
      if (std::count(dims.begin(), dims.end(), NEF_DIM_UNKNOWN) > 0) return std::nullopt;
      Dims d;
      d.rank = static_cast<int>(dims.size());
      std::copy(dims.begin(), dims.end(), d.at);
      return d;
    };
    const auto out = known(parts_.out);
    if (!out || out->count() != rows * parts_.n) return false;
    return std::all_of(text_.inputs.begin(), text_.inputs.end(), [&](int32_t v) {
      int64_t row, column;
      if (product_of(v) >= 0) return true;
      const auto dims = known(v);
      return dims && steps(*dims, *out, rows, &row, &column) &&
             std::none_of(products_.begin(), products_.end(),
                          [v](const Product& p) { return p.weight == v; });
    });
  }
  bool packed() const { return parts_.bits < 16; }
  bool row_by_row(int64_t rows) const { return rows <= (parts_.bits == 16 ? 1 : kFewRows); }
  // Eights of rows.
  static int64_t tiles(int64_t rows) { return rows <= 8 ? 1 : 2; }
  // Rows of the weights that a warp takes at a time: two where x takes more room than they do.
  int64_t pair() const { return parts_.bits == 4 ? 2 : 1; }
  // Numbers of a row in a slot, and bytes of one.
  int64_t chunk() const { return parts_.bits == 16 ? 64 : 256; }
  int64_t slot() const {
    return parts_.bits == 16 ? kSlot : kGroup * chunk() * parts_.bits / 8 + kGroup * 16;
  }
  // Registers that hold x, and the scales of its norm, where all of it is kept.
  static constexpr int64_t kFewHeld = 96, kMostHeld = 192;
  int64_t held(int64_t tiles, int64_t parts) const {
    const int64_t turns = parts_up(parts_up(parts_up(parts_.k, chunk()), parts), kTileWarps);
    return turns * chunk() / 32 * 4 * (tiles + (scale_ >= 0 ? 1 : 0));
  }
  // Blocks that share a sum.
  int64_t parts(int64_t tiles) const {
    int64_t n = 1;
    if (!packed()) return n;
    while (n < kMostParts && held(tiles, n) > kFewHeld) n *= 2;
    return n;
  }
  // Sixteens of rows of the weights in one pass over x: as many as registers have room for sums, or
  // few, where x comes from shared memory and sums would take the room of tiles.
  int64_t groups(int64_t tiles) const {
    if (packed()) return 1;
    const auto count = static_cast<int64_t>(products_.size());
    const int64_t passes = parts_up(all_groups(), 8 / tiles / count);
    return tiles > 1 && passes > 1 ? parts_up(2, count) : parts_up(all_groups(), passes);
  }
  int64_t all_groups() const { return parts_up(parts_up(parts_.n, kGroup), processors_); }
  // Do all of a block's go in one pass?
  bool once(int64_t tiles) const { return !packed() && tiles > 1 && groups(tiles) == all_groups(); }
  // Chunks of x that a warp has in shared memory. Where sixteen rows take more passes than one it
  // finds all of its share there, if that fits.
  int64_t stages(int64_t tiles) const {
    if (packed()) return 0;
    const int64_t turns = parts_up(parts_up(parts_.k, chunk()), kTileWarps);
    if (tiles == 1) return std::min(turns, kFewStages);
    const bool stays = !once(tiles) && shared_of_tiles(tiles, kKeptSlots, turns) <= shared_;
    return stays ? turns : kStages;
  }
  int64_t shared_of(int64_t rows, int64_t slots) const {
    if (row_by_row(rows)) {
      const int64_t padded = rows == 1 ? 1 : kFewRows, share = 32 * 16 / parts_.bits;
      const int64_t scales = parts_.bits == 16 ? 0 : kSlot * 8 / parts_.bits / parts_.block * 2;
      // Few of them: those of whole rows.
      const bool by_row = 0 < scales && scales < 64;
      const int64_t rows_held =
          parts_up(kMostSlots, parts_up(parts_.k * parts_.bits / 8, kSlot)) + 1;
      const int64_t of_rows = by_row ? rows_held * parts_.k / parts_.block * 2 : 0;
      const int64_t vectors = parts_up(parts_.k / 8, share) * share;
      return kWarps * (slots * (kSlot + (by_row ? 0 : scales) + 8) + of_rows) +
             padded * (vectors * (parts_.bits == 4 ? 17 : 16) + kWarps * 8);
    }
    return shared_of_tiles(tiles(rows), slots, stages(tiles(rows)));
  }
  int64_t shared_of_tiles(int64_t tiles, int64_t slots, int64_t stages) const {
    const int64_t tokens = 8 * tiles, n = parts(tiles);
    const int64_t sums =
        groups(tiles) * static_cast<int64_t>(products_.size()) * 4 * kGroup * tokens;
    const int64_t stage = tokens * 128 + (scale_ >= 0 ? 128 : 0);
    const int64_t area = once(tiles) ? std::max(slots * slot(), sums) : slots * slot();
    return 1024 + kTileWarps * (area + slots * 8 + stages * stage) +
           ((once(tiles) ? 0 : buffers() * kTileWarps) + (n > 1 ? kInbox : 0)) * sums +
           tokens * (kTileWarps + n) * 4 + 8 * (2 * buffers() + 2 * kInbox + 1);
  }
  // Passes whose sums are kept: short ones would wait for each other.
  int64_t buffers() const { return packed() ? 2 : 1; }
  // Two blocks on one multiprocessor, and none on another, is the worst that can happen to kernels
  // that begin early, so a block asks for more than half of its memory. Where there are registers
  // for two blocks, the next kernel's have the rest when the launch in front has that half, and
  // fill their rings beside it.
  int64_t half() const { return shared_ / 2 + 1024; }
  int64_t rest() const { return shared_ - half() - kReserved; }
  // Two to eight rows, which have them too, lose 5 % of a step by it.
  bool shares(int64_t rows) const { return rows == 1 || (!packed() && tiles(rows) > 1); }
  // As many as fit: the depth of the ring hardly matters from two on.
  int64_t slots(int64_t rows) const {
    const auto most = [&](int64_t room) {
      int64_t n = row_by_row(rows) ? kMostSlots : kMostTileSlots;
      while (n > 0 && shared_of(rows, n) > room) --n;
      return n;
    };
    const int64_t in_rest = shares(rows) ? most(rest()) : 0;
    return in_rest >= 2 ? in_rest : most(shared_);
  }
  void share(const Stream& stream, int64_t rows, Grid& grid) const {
    constexpr int64_t kLeast = int64_t{60} << 10;  // no two in what a half leaves
    const int64_t needed = shared_of(rows, slots(rows));
    const bool fits = shares(rows) && needed <= rest(), beside = fits && half_taken == &stream;
    grid.shared = static_cast<uint32_t>(std::max(needed, beside ? kLeast : half()));
    grid.takes_half = fits && !beside;
  }

  void add_externals(const Values& values, int64_t rows, Params& p) const {
    for (int32_t v : text_.inputs) {
      if (product_of(v) >= 0) continue;
      int64_t row = 0, column = 0;
      steps(values.dims(v), values.dims(parts_.out), rows, &row, &column);
      p.add(values.data(v)).add(row).add(column);
    }
  }
  void add_ends(Params& p) const {
    p.add(epsilon_);
    for (const Product& product : products_) p.add(product.alpha);
  }
  void launch_rows(const Run& run, Module& module, int64_t rows) const {
    const Values& values = run.values;
    Params p;
    p.add(values.data(parts_.out)).add(values.data(parts_.x));
    p.add(scale_ >= 0 ? values.data(scale_) : nullptr);
    for (const Product& product : products_) p.add(values.data(product.weight));
    for (const Product& product : products_) {
      p.add(product.scales >= 0 ? values.data(product.scales) : nullptr);
    }
    add_externals(values, rows, p);
    p.add(rows).add(parts_.n).add(slots(rows));
    add_ends(p);
    Grid grid{processors_, 1, 32 * kWarps};
    share(run.stream, rows, grid);
    run.launch(module, rows == 1 ? "gemv1" : "gemv4", grid, p);
  }
  void launch_tiles(const Run& run, Module& module, int64_t rows) const {
    const Values& values = run.values;
    const char* name = rows <= 8 ? "gemv8" : "gemv16";
    const int64_t n = parts(tiles(rows));
    Grid grid{processors_ / n * n, 1, 32 * kTileWarps};
    share(run.stream, rows, grid);
    grid.cluster = static_cast<uint32_t>(n);
    int64_t clusters = processors_ / n;
    // Not every multiprocessor may find others to form a cluster with.
    if (n > 1) {
      clusters = std::clamp<int64_t>(run.device.clusters_at_once(module.function(name), grid), 1,
                                     clusters);
      grid.x = clusters * n;
    }
    Params p;
    if (!tiled_) add_maps(run, p);
    for (const Product& w : products_) {
      if (tiled_) p.add(values.data(w.weight));
    }
    p.add(values.data(parts_.out)).add(values.data(parts_.x));
    p.add(scale_ >= 0 ? values.data(scale_) : nullptr);
    add_externals(values, rows, p);
    p.add(rows).add(parts_.n).add(slots(rows)).add(clusters);
    add_ends(p);
    while (!tiled_ && p.bytes() % 64 != 0) p.add(int64_t{0});
    run.launch(module, name, grid, p);
  }

  // Where the copy engine finds tiles of the weights, and of their scales.
  void add_maps(const Run& run, Params& p) const {
    const auto add = [&](int32_t value, int64_t columns, uint32_t box) {
      Tiles t;
      t.dtype = dtype_;
      t.data = run.values.data(value);
      t.columns = box;
      t.rows = kGroup;
      t.swizzled = box == 64;
      const int64_t dims[4] = {columns, parts_.n, 1, 1};
      const int64_t steps[4] = {1, columns, columns * parts_.n, columns * parts_.n};
      std::copy(dims, dims + 4, t.dims);
      std::copy(steps, steps + 4, t.steps);
      for (uint64_t word : run.device.tile_map(t).words) p.add(static_cast<int64_t>(word));
    };
    for (const Product& w : products_) add(w.weight, parts_.k * parts_.bits / 16, 64);
    for (const Product& w : products_) {
      if (w.scales >= 0) add(w.scales, parts_.k / kLeastBlock, 8);
    }
  }

  void make_source(const Region& region) {
    std::string arguments, call, externals, loads;
    int k = 0;
    for (size_t i = 0; i < text_.inputs.size(); ++i) {
      const int32_t v = text_.inputs[i];
      const nef_dtype t = region.values[static_cast<size_t>(v)].dtype;
      const std::string comma = i == 0 ? "" : ", ", name = "x" + std::to_string(i);
      arguments += comma + register_type(t) + " " + name;
      const int product = product_of(v);
      if (product >= 0) {
        call += comma + "my[" + std::to_string(product) + "]";
        continue;
      }
      const std::string e = std::to_string(k++);
      externals += std::string("const ") + memory_type(t) + "* e" + e + "; i64 row" + e +
                   "; i64 column" + e + "; ";
      loads += std::string("const ") + register_type(t) + " l" + e + " = ld(p.e" + e +
               "[mine * p.row" + e + " + r * p.column" + e + "]);\n    ";
      call += comma + "l" + e;
    }
    const nef_dtype out = region.values[static_cast<size_t>(parts_.out)].dtype;
    const auto flag = [](bool on) { return std::string(on ? "1" : "0"); };
    const int64_t rows = known_rows(region);
    const bool packed = this->packed();
    // Kernels for numbers of rows that cannot be are left out.
    const auto may_have = [&](int64_t least, int64_t most) {
      return rows < 0 || (least <= rows && rows <= most);
    };
    const std::string text =
        std::string(kGemvText) + (has_tiles() ? std::string(kGemvPiecesText) + kGemvTilesText : "");
    source_ =
        std::string(kBulkText) + kTurnText +
        fill(text.c_str(), {{"T", memory_type(dtype_)},
                            {"HIGH", dtype_ == NEF_BFLOAT16 ? "return f32_of(v & 0xffff0000u);"
                                                            : "return low(v >> 16);"},
                            {"R", register_type(out)},
                            {"O", memory_type(out)},
                            {"ARGS", arguments},
                            {"BODY", text_.body},
                            {"EXTERNALS", externals},
                            {"LOADS", loads},
                            {"CALL", call},
                            {"C", std::to_string(products_.size())},
                            {"K", std::to_string(parts_.k)},
                            {"BITS", std::to_string(parts_.bits)},
                            {"BLOCK", std::to_string(parts_.block)},
                            {"PAIR", std::to_string(pair())},
                            {"SLOTS", std::to_string(kMostSlots)},
                            {"FLOAT8", flag(parts_.float8)},
                            {"NORM", flag(scale_ >= 0)},
                            {"TILED", flag(tiled_)},
                            {"MMA", packed || dtype_ == NEF_FLOAT16 ? "f16" : "bf16"},
                            {"ONE", flag(may_have(1, 1))},
                            {"FOUR", flag(packed && may_have(2, kFewRows))},
                            {"EIGHT", flag(has_tiles(1) && may_have(packed ? kFewRows + 1 : 2, 8))},
                            {"SIXTEEN", flag(has_tiles(2) && may_have(9, kMostRows))},
                            {"PARTS8", std::to_string(parts(1))},
                            {"PARTS16", std::to_string(parts(2))},
                            {"GROUPS8", std::to_string(groups(1))},
                            {"GROUPS16", std::to_string(groups(2))},
                            {"BUFFERS", std::to_string(buffers())},
                            {"STAGES8", std::to_string(stages(1))},
                            {"STAGES16", std::to_string(stages(2))},
                            {"ONCE", flag(once(2))},
                            {"INBOX", std::to_string(kInbox)},
                            {"BESIDE", packed ? "1" : "2"}});
  }
  // Rows of x where they are known before a run, else -1.
  int64_t known_rows(const Region& region) const {
    const auto& dims = region.values[static_cast<size_t>(parts_.x)].dims;
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < dims.size(); ++d) {
      if (dims[d] == NEF_DIM_UNKNOWN) return -1;
      rows *= dims[d];
    }
    return rows;
  }

  Parts parts_;
  const int64_t processors_, shared_;
  nef_dtype dtype_ = NEF_BFLOAT16;
  ElementwiseText text_;
  std::vector<Product> products_;
  int32_t scale_ = -1;
  bool tiled_ = false;  // the weights
  double epsilon_ = 0;
  std::string source_;
};

}  // namespace

std::unique_ptr<Stage> gemv_stage(const Region& region, const DeviceInfo& device) {
  GemvParts parts;
  if (!device.bulk_copies || !match_gemv(region, parts)) return nullptr;
  auto stage = std::make_unique<Gemv>(region, std::move(parts), device);
  return stage;
}

}  // namespace nef::gpu
