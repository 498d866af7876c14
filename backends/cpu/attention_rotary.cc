// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of elements of a head turned by tabled angles.
#include <algorithm>

#include "backends/cpu/attention.h"
#include "backends/cpu/gemm_tasks.h"
#include "backends/cpu/gemm_values.h"
#include "backends/cpu/norm_lines.h"

namespace nef::cpu {
namespace {

struct RotarySpec {
  int32_t x = -1, cosines = -1, sines = -1, positions = -1, y = -1;
  bool interleaved = false;
  int64_t heads = 0, turned = 0;
};

template <typename T>
class RotaryPrepared final : public Prepared {
 public:
  RotaryPrepared(const ValueTable& values, const RotarySpec& spec)
      : values_(values), spec_(spec), slots_(task_slots()) {}

  size_t scratch_bytes(const Tensor* values) const override {
    return static_cast<size_t>(slots_ * 2 * shape(values).size) * sizeof(T);
  }

  void launch(const Tensor* values, void* scratch) const override {
    const HeadShape s = shape(values);
    if (s.count() == 0) return;
    check_positions(values, s);
    const HeadRows<char> rows = s.rows(static_cast<char*>(nullptr));
    const nef_dtype dtype = values_.dtype(spec_.x);
    const void* x = values_.data(values, spec_.x);
    const int64_t turned = spec_.turned == 0 ? s.size : spec_.turned, half = turned / 2;
    const int64_t lines = s.batch * s.length;  // all heads of a position share its angles
    run_tasks(slots_, lines, [&](int64_t slot, int64_t line) {
      T* row = static_cast<T*>(scratch) + slot * 2 * s.size;
      T* angles = row + s.size;
      const int64_t b = line / s.length, position = line % s.length;
      const int64_t table = table_row(values, line) * half;
      load_row(dtype, values_.data(values, spec_.cosines), table, half, angles);
      load_row(dtype, values_.data(values, spec_.sines), table, half, angles + half);
      for (int64_t h = 0; h < s.heads; ++h) {
        const int64_t at =
            b * rows.batch_stride + h * rows.head_stride + position * rows.row_stride;
        load_row(dtype, x, at, s.size, row);
        turn(angles, half, row);
        store_row(dtype, row, s.size, values[spec_.y].data, at);
      }
    });
  }

 private:
  HeadShape shape(const Tensor* values) const {
    return HeadShape(values[spec_.x].dims, values_.rank(spec_.x), spec_.heads);
  }

  int64_t table_row(const Tensor* values, int64_t line) const {
    if (spec_.positions < 0) return line;
    const int64_t at = static_cast<const int64_t*>(values_.data(values, spec_.positions))[line];
    return at < 0 ? at + values[spec_.cosines].dims[0] : at;
  }
  void check_positions(const Tensor* values, const HeadShape& s) const {
    if (spec_.positions < 0) return;
    const int64_t n = values[spec_.cosines].dims[0];
    for (int64_t line = 0; line < s.batch * s.length; ++line) {
      const int64_t row = table_row(values, line);
      if (row >= 0 && row < n) continue;
      throw BackendError(NEF_OUT_OF_RANGE, "RotaryEmbedding: position_ids element " +
                                               std::to_string(line) + " is outside the table of " +
                                               std::to_string(n) + " positions");
    }
  }

  void turn(const T* angles, int64_t half, T* row) const {
    for (int64_t i = 0; i < half; ++i) {
      T& first = row[spec_.interleaved ? 2 * i : i];
      T& second = row[spec_.interleaved ? 2 * i + 1 : i + half];
      const T a = first, b = second, c = angles[i], s = angles[half + i];
      first = c * a - s * b;
      second = s * a + c * b;
    }
  }

  ValueTable values_;
  RotarySpec spec_;
  int64_t slots_;
};

class RotaryKernel final : public Kernel {
 public:
  RotaryKernel(const Region& region, const RotarySpec& spec) : values_(region), spec_(spec) {}
  const char* name() const override { return "rotary"; }
  std::unique_ptr<Prepared> prepare(const Tensor*) const override {
    if (values_.dtype(spec_.x) == NEF_FLOAT64) {
      return std::make_unique<RotaryPrepared<double>>(values_, spec_);
    }
    return std::make_unique<RotaryPrepared<float>>(values_, spec_);
  }
  bool in_place(int32_t input, int32_t output) const override {
    return input == spec_.x && output == spec_.y;
  }

 private:
  ValueTable values_;
  RotarySpec spec_;
};

std::unique_ptr<Kernel> make_rotary(const Region& region, std::string*) {
  const Node& node = region.nodes[0];
  const int64_t* attrs = node.attrs();
  RotarySpec spec;
  spec.x = node.inputs[0];
  spec.cosines = node.inputs[1];
  spec.sines = node.inputs[2];
  if (node.has_input(3)) spec.positions = node.inputs[3];
  spec.y = node.outputs[0];
  spec.interleaved = nef_attr_int(attrs, NEF_ROTARY_EMBEDDING_INTERLEAVED, 0) != 0;
  spec.heads = nef_attr_int(attrs, NEF_ROTARY_EMBEDDING_NUM_HEADS, 0);
  spec.turned = nef_attr_int(attrs, NEF_ROTARY_EMBEDDING_ROTARY_EMBEDDING_DIM, 0);
  return std::make_unique<RotaryKernel>(region, spec);
}

}  // namespace

void register_rotary() { register_op(NEF_OP_ROTARY_EMBEDDING, make_rotary); }

}  // namespace nef::cpu
