// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/batch.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/build/builder.h"
#include "engine/optimize/optimize.h"

namespace nef::runtime {
namespace {

using ir::Dim;
using ir::ValueId;

// A graph under construction, with x [batch, 4, 6] of float32.
struct Net {
  ir::Graph graph;
  build::Builder builder{graph};
  Dim batch = graph.pool().symbol("batch", 2, 64);
  ValueId x = input({batch, 4, 6});

  ValueId input(std::vector<Dim> dims, nef_dtype dtype = NEF_FLOAT32) {
    return graph.add_input("i" + std::to_string(graph.graph_inputs().size()), dtype, dims);
  }
  ValueId weights(std::vector<Dim> dims) {
    auto data = ir::Buffer::allocate(static_cast<size_t>(ir::byte_count(NEF_FLOAT32, dims)));
    std::memset(data->data(), 0, data->bytes());
    return graph.add_constant(NEF_FLOAT32, dims, data);
  }
  ValueId ints(std::vector<int64_t> v) { return builder.ints(v); }
  ValueId op(nef_op id, std::vector<ValueId> in, auto&&... attrs) {
    std::vector<int64_t> words;
    if (ir::spec(id).n_attrs > 0) {
      ir::AttrBuilder b(id);
      (attrs(b), ...);
      words = b.build();
    }
    return builder.value(id, in, words);
  }
  Batch batch_of(std::vector<ValueId> outputs) {
    for (ValueId v : outputs) graph.add_output("o" + std::to_string(v), v);
    optimize::optimise(graph, {});
    return find_batch(graph, "batch");
  }
};

auto axis(unsigned slot, int64_t value) {
  return [slot, value](ir::AttrBuilder& b) { b.set_int(slot, value); };
}

TEST(BatchTest, FindsAxesAndTheLowerBound) {
  Net n;
  const ValueId other = n.input({3});
  const Batch b = n.batch_of({n.op(NEF_OP_RELU, {n.x}), n.op(NEF_OP_ADD, {n.x, n.x})});
  EXPECT_TRUE(b.splittable);
  EXPECT_EQ(b.input_axis, (std::vector<int>{0, -1}));
  EXPECT_EQ(b.output_axis, (std::vector<int>{0, 0}));
  EXPECT_EQ(b.least, 2);
  (void)other;
}

// Each makes an output from x; rows that do not meet may be computed apart.
using Make = ValueId (*)(Net&);
struct Case {
  const char* name;
  bool splittable;
  Make make;
};
const Case kCases[] = {
    {"relu", true, [](Net& n) { return n.op(NEF_OP_RELU, {n.x}); }},
    {"add weights", true,
     [](Net& n) {
       return n.op(NEF_OP_ADD, {n.x, n.weights({6})});
     }},
    {"matmul", true,
     [](Net& n) {
       return n.op(NEF_OP_MATMUL, {n.x, n.weights({6, 5})});
     }},
    {"attention-like", true,
     [](Net& n) {
       return n.op(NEF_OP_MATMUL, {n.x, n.op(NEF_OP_TRANSPOSE, {n.x}, [](ir::AttrBuilder& b) {
                                     const int64_t perm[] = {0, 2, 1};
                                     b.set_ints(NEF_TRANSPOSE_PERM, perm);
                                   })});
     }},
    {"softmax of rows", true,
     [](Net& n) { return n.op(NEF_OP_SOFTMAX, {n.x}, axis(NEF_SOFTMAX_AXIS, -1)); }},
    {"softmax over the batch", false,
     [](Net& n) { return n.op(NEF_OP_SOFTMAX, {n.x}, axis(NEF_SOFTMAX_AXIS, 0)); }},
    {"softmax over the batch, from the end", false,
     [](Net& n) { return n.op(NEF_OP_SOFTMAX, {n.x}, axis(NEF_SOFTMAX_AXIS, -3)); }},
    {"mean of rows", true,
     [](Net& n) {
       return n.op(NEF_OP_REDUCE_MEAN, {n.x, n.ints({1})});
     }},
    {"centred over the batch", false,
     [](Net& n) {
       return n.op(NEF_OP_SUB, {n.x, n.op(NEF_OP_REDUCE_MEAN, {n.x, n.ints({0})})});
     }},
    {"sum of everything", false,
     [](Net& n) {
       return n.op(NEF_OP_REDUCE_SUM, {n.x, n.ints({0, 1, 2})});
     }},
    {"cumsum over the batch", false,
     [](Net& n) {
       return n.op(NEF_OP_CUMSUM, {n.x, n.builder.int_scalar(0)});
     }},
    {"transposed and back", false,
     [](Net& n) { return n.op(NEF_OP_EXP, {n.op(NEF_OP_TRANSPOSE, {n.x})}); }},
    {"slice of rows", true,
     [](Net& n) {
       return n.op(NEF_OP_SLICE, {n.x, n.ints({1}), n.ints({3}), n.ints({2})});
     }},
    {"the batch backwards", false,
     [](Net& n) {
       return n.op(NEF_OP_SLICE,
                   {n.x, n.ints({-1}), n.ints({INT64_MIN}), n.ints({0}), n.ints({-1})});
     }},
    {"reshape that keeps the batch", true,
     [](Net& n) {
       return n.op(NEF_OP_RESHAPE, {n.x, n.ints({0, 24})});
     }},
    {"reshape that folds the batch", false,
     [](Net& n) {
       return n.op(NEF_OP_RESHAPE, {n.x, n.ints({-1, 6})});
     }},
    {"divided by the batch's size", false,
     [](Net& n) {
       const ValueId size =
           n.op(NEF_OP_GATHER, {n.op(NEF_OP_SHAPE, {n.x}), n.builder.int_scalar(0)});
       return n.op(NEF_OP_DIV, {n.x, n.op(NEF_OP_CAST, {size}, axis(NEF_CAST_TO, NEF_FLOAT32))});
     }},
    {"embedding", true,
     [](Net& n) {
       const ValueId ids = n.input({n.batch, 7}, NEF_INT64);
       return n.op(NEF_OP_ADD, {n.op(NEF_OP_GATHER, {n.weights({100, 6}), ids}),
                                n.op(NEF_OP_REDUCE_MEAN, {n.x, n.ints({1})})});
     }},
    {"rows picked from the batch", false,
     [](Net& n) {
       return n.op(NEF_OP_GATHER, {n.x, n.input({n.batch}, NEF_INT64)});
     }},
    {"no batch in an output", false, [](Net& n) { return n.op(NEF_OP_EXP, {n.input({3})}); }},
};

TEST(BatchTest, ASplitIsOnlyWhereRowsDoNotMeet) {
  for (const Case& c : kCases) {
    Net n;
    EXPECT_EQ(n.batch_of({c.make(n)}).splittable, c.splittable) << c.name;
  }
}

TEST(BatchTest, AnotherNameIsNoBatch) {
  Net n;
  const ValueId y = n.op(NEF_OP_RELU, {n.x});
  n.graph.add_output("y", y);
  EXPECT_TRUE(find_batch(n.graph, "batch").splittable);
  EXPECT_FALSE(find_batch(n.graph, "rows").splittable);
}

}  // namespace
}  // namespace nef::runtime
