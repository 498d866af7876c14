// SPDX-License-Identifier: Apache-2.0
// Host memory of tensors.
#include "engine/ir/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/ir/error.h"

namespace nef::ir {
namespace {

TEST(Buffer, IsAlignedAndWhole) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{100000}, size_t{131072}, size_t{131073},
                       size_t{4194303}, size_t{4194304}, size_t{5000001}}) {
    const auto buffer = Buffer::allocate(bytes);
    EXPECT_EQ(buffer->bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u) << bytes;
    std::memset(buffer->data(), 1, bytes);
  }
  EXPECT_THROW(Buffer::allocate(SIZE_MAX), Error);
}

TEST(Buffer, OneThatWasLetGoServesTheNextOfItsSize) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "none are kept, so that a late reader is found";
#endif
  for (size_t bytes : {size_t{200000}, size_t{3000000}, size_t{8000000}}) {
    void* first = Buffer::allocate(bytes)->data();
    const auto second = Buffer::allocate(bytes);
    EXPECT_EQ(second->data(), first) << bytes;
    EXPECT_NE(Buffer::allocate(bytes)->data(), first) << "held twice";
  }
}

TEST(Buffer, OnlySoManyAreKept) {
  std::vector<std::shared_ptr<Buffer>> held;
  for (int i = 0; i < 40; ++i) held.push_back(Buffer::allocate(200000));
  held.clear();
  for (int i = 0; i < 40; ++i) {
    held.push_back(Buffer::allocate(200000));
    std::memset(held.back()->data(), i, 200000);
  }
  for (int i = 0; i < 40; ++i) EXPECT_EQ(static_cast<char*>(held[i]->data())[199999], i);
}

}  // namespace
}  // namespace nef::ir
