// SPDX-License-Identifier: Apache-2.0
#include "engine/io/safetensors.h"

#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

std::shared_ptr<const SafeTensors> from(const std::string& bytes) {
  return SafeTensors::from_bytes(std::as_bytes(std::span(bytes)), "t.safetensors");
}

Error header_error(const std::string& header, const std::string& data) {
  const std::string bytes = raw_safetensors(header, data);
  return error_of([&] { from(bytes); });
}

std::string three_tensors(size_t alignment) {
  static const std::vector<float> f = {1, 2, 3};
  static const std::vector<uint8_t> u = {7};
  static const std::vector<double> d = {0.5, 0.25};
  const std::vector<StTensor> tensors = {{"f", "F32", {3}, std::as_bytes(std::span(f))},
                                         {"u", "U8", {1, 1}, std::as_bytes(std::span(u))},
                                         {"none", "I64", {0, 5}, {}},
                                         {"d", "F64", {2}, std::as_bytes(std::span(d))}};
  std::string out;
  StringSink sink(out);
  write_safetensors(sink, tensors, {{"who", "me"}}, alignment);
  return out;
}

TEST(SafeTensors, WrittenAlignedAndReadBack) {
  for (const size_t alignment : {size_t{8}, size_t{64}, size_t{256}}) {
    TempDir dir;
    write_file(dir / "t.safetensors", three_tensors(alignment));
    for (const auto access : {SafeTensors::Access::Map, SafeTensors::Access::Copy}) {
      const auto st = SafeTensors::open(dir / "t.safetensors", access);
      EXPECT_EQ(st->metadata().at("who"), "me");
      const StEntry* d = st->find("d");
      ASSERT_NE(d, nullptr);
      EXPECT_EQ(d->dtype, NEF_FLOAT64);
      EXPECT_EQ(d->shape, std::vector<int64_t>{2});
      EXPECT_EQ(d->begin % alignment, 0u);
      bool copied = true;
      const auto data = st->data(*d, &copied);
      EXPECT_FALSE(copied);
      EXPECT_EQ(static_cast<double*>(data->data())[1], 0.25);
      EXPECT_EQ(st->data(*st->find("none"))->bytes(), 0u);
      EXPECT_EQ(st->find("absent"), nullptr);
    }
  }
  EXPECT_EQ(three_tensors(64), three_tensors(64));
}

TEST(SafeTensors, BufferKeepsTheMappingAlive) {
  TempDir dir;
  write_file(dir / "t.safetensors", three_tensors(64));
  std::shared_ptr<ir::Buffer> data;
  {
    const auto st = SafeTensors::open(dir / "t.safetensors");
    data = st->data(*st->find("f"));
  }
  std::filesystem::remove(dir / "t.safetensors");
  EXPECT_EQ(static_cast<float*>(data->data())[2], 3.0f);
}

// Other writers do not pad: an odd header length makes every tensor misaligned.
TEST(SafeTensors, MisalignedTensorsAreCopied) {
  TempDir dir;
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const float v = 2.5f;
  const std::string data(reinterpret_cast<const char*>(&v), 4);
  for (size_t pad = 0; pad < 4; ++pad) {
    write_file(dir / "t.safetensors", raw_safetensors(header + std::string(pad, ' '), data));
    const auto st = SafeTensors::open(dir / "t.safetensors");
    bool copied = false;
    const auto buffer = st->data(st->entries()[0], &copied);
    EXPECT_EQ(*static_cast<float*>(buffer->data()), 2.5f);
    EXPECT_EQ(copied, (header.size() + pad) % 4 != 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 4, 0u);
  }
}

TEST(SafeTensors, EveryTruncationIsRefused) {
  TempDir dir;
  const std::string bytes = three_tensors(64);
  const auto st = from(bytes);
  const size_t data_begin = bytes.size() - st->entries().back().end;
  std::vector<size_t> cuts = {0, 1, 7, 8, 9, data_begin - 1, data_begin, data_begin + 1};
  for (const StEntry& e : st->entries()) {
    for (const size_t at : {data_begin + e.begin, data_begin + e.end}) {
      cuts.insert(cuts.end(), {at - 1, at, at + 1});
    }
  }
  for (const size_t cut : cuts) {
    if (cut >= bytes.size()) continue;
    write_file(dir / "t.safetensors", bytes.substr(0, cut));
    const Error e = error_of([&] { SafeTensors::open(dir / "t.safetensors"); });
    EXPECT_EQ(e.code(), NEF_PARSE) << cut << ": " << e.message();
  }
  write_file(dir / "t.safetensors", bytes + "x");
  EXPECT_TRUE(contains(error_of([&] { SafeTensors::open(dir / "t.safetensors"); }).message(),
                       "follow the last tensor"));
}

TEST(SafeTensors, BrokenHeadersAreRefused) {
  struct Case {
    const char* header;
    nef_code code;
    const char* says;
  };
  const Case cases[] = {
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       NEF_DUPLICATE_NAME, "duplicate key"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})", NEF_PARSE, "without holes"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       NEF_PARSE, "without holes"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", NEF_PARSE, "follow the last"},
      {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]}})", NEF_PARSE, "cut short"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[4,0]}})", NEF_PARSE, "before they begin"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", NEF_PARSE, "need 8 bytes"},
      {R"({"a":{"dtype":"F99","shape":[2],"data_offsets":[0,4]}})", NEF_UNSUPPORTED,
       "unknown dtype"},
      {R"({"a":{"dtype":"U8","shape":[-4],"data_offsets":[0,4]}})", NEF_PARSE, "no dim"},
      {R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,4]}})", NEF_PARSE, "no dim"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[-1,4]}})", NEF_PARSE, "data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0]}})", NEF_PARSE, "data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}})", NEF_PARSE, "data_offsets"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"offset":9}})", NEF_PARSE,
       "unknown key"},
      {R"({"a":{"shape":[4],"data_offsets":[0,4]}})", NEF_PARSE, "no dtype"},
      {R"({"a":{"dtype":"U8","data_offsets":[0,4]}})", NEF_PARSE, "no shape"},
      {R"({"a":{"dtype":"U8","shape":[4]}})", NEF_PARSE, "no data_offsets"},
      {R"({"a":{"dtype":"F4","shape":[9],"data_offsets":[0,4]}})", NEF_PARSE, "whole bytes"},
      {R"({"a":[]})", NEF_PARSE, "expected an object"},
      {R"({"":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", NEF_PARSE, "is empty"},
      {R"({"__metadata__":{"a":1},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", NEF_PARSE,
       "not a string"},
      {R"({"__metadata__":[]})", NEF_PARSE, "not an object"},
      {R"( {"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", NEF_PARSE, "begin with '{'"},
      {"[]", NEF_PARSE, "begin with '{'"},
      {"", NEF_PARSE, "begin with '{'"},
      // Products that wrap around must not look small.
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,4]}})",
       NEF_LIMIT_EXCEEDED, "2^63"},
      {R"({"a":{"dtype":"F64","shape":[2305843009213693952,2305843009213693952],"data_offsets":[0,4]}})",
       NEF_OUT_OF_RANGE, "2^53"},
      {R"({"a":{"dtype":"U8","shape":[9007199254740992,1024],"data_offsets":[0,4]}})",
       NEF_LIMIT_EXCEEDED, "2^63"},
  };
  for (const Case& c : cases) {
    const Error e = header_error(c.header, "abcd");
    EXPECT_EQ(e.code(), c.code) << c.header << ": " << e.message();
    EXPECT_TRUE(contains(e.message(), c.says)) << c.header << ": " << e.message();
  }
  const std::string padded =
      std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})") +
      std::string(3, '\0');
  EXPECT_TRUE(contains(header_error(padded, "abcd").message(), "padded with NUL"));
}

TEST(SafeTensors, ZeroDimsAndForeignDtypesAreFine) {
  const std::string header =
      R"({"z":{"dtype":"F32","shape":[9007199254740992,0,9007199254740992],"data_offsets":[0,0]},)"
      R"("s":{"dtype":"F16","shape":[],"data_offsets":[0,2]},)"
      R"("e":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[4,5]},)"
      R"("f":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[5,6]},)"
      R"("q":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[2,4]}})";
  const std::string bytes = raw_safetensors(header, "abcdef");
  const auto st = from(bytes);
  EXPECT_EQ(st->find("q")->dtype, NEF_DTYPE_INVALID);
  EXPECT_EQ(st->find("q")->dtype_name, "F8_E8M0");
  EXPECT_EQ(st->find("e")->dtype, NEF_FLOAT8_E4M3FN);
  EXPECT_EQ(st->find("f")->dtype, NEF_FLOAT8_E5M2);
  EXPECT_EQ(st->data(*st->find("q"))->bytes(), 2u);
  EXPECT_EQ(st->find("s")->shape.size(), 0u);
}

TEST(SafeTensors, HeaderLengthsAreChecked) {
  const auto with_length = [](uint64_t n) {
    return std::string(reinterpret_cast<const char*>(&n), 8) + "{}";
  };
  EXPECT_EQ(error_of([&] { from(with_length(100'000'001)); }).code(), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(error_of([&] { from(with_length(UINT64_MAX)); }).code(), NEF_LIMIT_EXCEEDED);
  EXPECT_EQ(error_of([&] { from(with_length(3)); }).code(), NEF_PARSE);
  EXPECT_EQ(error_of([&] { from("1234567"); }).code(), NEF_PARSE);
  EXPECT_EQ(from(with_length(2))->entries().size(), 0u);
}

TEST(SafeTensors, OnlyRegularFiles) {
  TempDir dir;
  EXPECT_EQ(error_of([&] { SafeTensors::open(dir.path()); }).code(), NEF_IO);
  EXPECT_EQ(error_of([&] { SafeTensors::open(dir / "absent"); }).code(), NEF_IO);
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(error_of([&] { SafeTensors::open(dir / "fifo"); }).code(), NEF_IO);
}

TEST(SafeTensors, WriterRefusesBadAlignment) {
  std::string out;
  StringSink sink(out);
  for (const size_t bad : {size_t{0}, size_t{4}, size_t{48}, size_t{8192}}) {
    EXPECT_EQ(error_of([&] { write_safetensors(sink, {}, {}, bad); }).code(), NEF_INVALID_ARGUMENT);
  }
}

}  // namespace
}  // namespace nef::io
