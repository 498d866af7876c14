// SPDX-License-Identifier: Apache-2.0
// What loading and saving do with the file system: links, swaps, partial files.
#include <atomic>
#include <thread>

#include "engine/build/builder.h"
#include "engine/io/nef.h"
#include "engine/io/safe_path.h"
#include "tests/unit/io/io_test_util.h"

namespace nef::io {
namespace {

namespace fs = std::filesystem;

// One stored weight of 512 floats, all `value`.
ir::Graph weighted(float value) {
  ir::Graph g;
  build::Builder build(g);
  const ir::ValueId x = g.add_input("x", NEF_FLOAT32, std::vector<ir::Dim>{512});
  const ir::ValueId w = g.add_constant(NEF_FLOAT32, std::vector<ir::Dim>{512},
                                       buffer_of(std::vector<float>(512, value)));
  g.value_names().set(w, "w");
  g.add_output("y", build.value(NEF_OP_ADD, std::vector{x, w}));
  return g;
}

float weight(const ir::Graph& g) {
  return *static_cast<const float*>(g.constant_data(g.constant_value(0))->data());
}

// dir/inside/m.nef refers to m.safetensors beside it; dir/outside/m.safetensors holds a secret.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(dir_ / "inside");
    fs::create_directory(dir_ / "outside");
    save_nef(weighted(1), nef_);
    save_nef(weighted(666), dir_ / "outside/m.nef");
  }
  nef_code load_code() {
    return error_of([&] { load_nef(nef_); }).code();
  }

  TempDir dir_;
  const std::string nef_ = dir_ / "inside/m.nef";
  const std::string weights_ = dir_ / "inside/m.safetensors";
  const std::string secret_ = dir_ / "outside/m.safetensors";
};

TEST_F(Files, SymbolicLinkIsRefused) {
  fs::remove(weights_);
  fs::create_symlink(secret_, weights_);
  EXPECT_EQ(load_code(), NEF_UNSAFE_PATH);
  fs::remove(weights_);
  fs::rename(nef_, dir_ / "inside/n.nef");
  save_nef(weighted(1), nef_);
  fs::rename(weights_, dir_ / "inside/real.safetensors");
  fs::create_symlink("real.safetensors", weights_);  // even one that stays inside
  EXPECT_EQ(load_code(), NEF_UNSAFE_PATH);
}

TEST_F(Files, HardLinkIsRefused) {
  fs::remove(weights_);
  fs::create_hard_link(secret_, weights_);
  EXPECT_EQ(load_code(), NEF_UNSAFE_PATH);
}

TEST_F(Files, LinkedParentFolderIsRefused) {
  std::string text = read_file(nef_);
  const std::string from = "\"file\": \"m.safetensors\"";
  text.replace(text.find(from), from.size(), "\"file\": \"sub/m.safetensors\"");
  write_file(nef_, text);
  fs::create_directory(dir_ / "inside/sub");
  fs::rename(weights_, dir_ / "inside/sub/m.safetensors");
  EXPECT_EQ(weight(*load_nef(nef_)), 1);
  fs::remove_all(dir_ / "inside/sub");
  fs::create_directory_symlink(dir_ / "outside", dir_ / "inside/sub");
  EXPECT_EQ(load_code(), NEF_UNSAFE_PATH);
}

TEST_F(Files, OtherKindsOfFilesAreRefused) {
  fs::remove(weights_);
  ASSERT_EQ(::mkfifo(weights_.c_str(), 0600), 0);
  EXPECT_EQ(load_code(), NEF_IO);
  fs::remove(weights_);
  fs::create_directory(weights_);
  EXPECT_EQ(load_code(), NEF_IO);
  EXPECT_EQ(error_of([&] { load_nef(dir_ / "inside"); }).code(), NEF_IO);
  EXPECT_EQ(error_of([&] { load_nef(dir_ / "absent.nef"); }).code(), NEF_IO);
  EXPECT_EQ(error_of([&] { load_nef(""); }).code(), NEF_INVALID_ARGUMENT);
}

// As the Hugging Face cache lays it out: both files are links into a folder of blobs.
TEST_F(Files, DataRootAllowsLinksBeneathIt) {
  fs::create_directories(dir_ / "cache/blobs");
  fs::create_directories(dir_ / "cache/snapshots/1");
  fs::rename(nef_, dir_ / "cache/blobs/aa");
  fs::rename(weights_, dir_ / "cache/blobs/bb");
  fs::create_symlink("../../blobs/aa", dir_ / "cache/snapshots/1/m.nef");
  fs::create_symlink("../../blobs/bb", dir_ / "cache/snapshots/1/m.safetensors");
  const std::string path = dir_ / "cache/snapshots/1/m.nef";
  EXPECT_EQ(error_of([&] { load_nef(path); }).code(), NEF_UNSAFE_PATH);
  EXPECT_EQ(weight(*load_nef(path, {.data_root = dir_ / "cache"})), 1);
  EXPECT_EQ(error_of([&] { load_nef(path, {.data_root = dir_ / "cache/snapshots"}); }).code(),
            NEF_UNSAFE_PATH);
  fs::remove(dir_ / "cache/snapshots/1/m.safetensors");
  fs::create_symlink(secret_, dir_ / "cache/snapshots/1/m.safetensors");
  EXPECT_EQ(error_of([&] { load_nef(path, {.data_root = dir_ / "cache"}); }).code(),
            NEF_UNSAFE_PATH);
}

TEST_F(Files, MemoryNeedsADataRoot) {
  const std::string text = read_file(nef_);
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(error_of([&] { load_nef_bytes(bytes); }).code(), NEF_UNSAFE_PATH);
  EXPECT_EQ(weight(*load_nef_bytes(bytes, {.data_root = dir_ / "inside"})), 1);
}

// Somebody swaps the weights for a link while we load: never may the secret come back.
TEST_F(Files, SwapRaceNeverReadsOutside) {
  std::atomic<bool> stop{false};
  const std::string link = dir_ / "inside/link", real = dir_ / "inside/real";
  fs::create_symlink(secret_, link);
  fs::copy_file(weights_, real);
  std::thread swapper([&] {
    while (!stop) {
      std::error_code ignore;
      fs::create_symlink(secret_, link, ignore);
      fs::rename(link, weights_, ignore);
      fs::copy_file(real, link, ignore);
      fs::rename(link, weights_, ignore);
    }
  });
  int loaded = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      ASSERT_EQ(weight(*load_nef(nef_, {.map_weights = false})), 1);
      ++loaded;
    } catch (const Error&) {
      ++refused;
    }
  }
  stop = true;
  swapper.join();
  EXPECT_EQ(loaded + refused, 2000);
}

TEST_F(Files, EveryTruncationOfTheWeightsIsRefused) {
  const std::string whole = read_file(weights_);
  for (size_t n = 0; n < whole.size(); n += n < 600 ? 1 : 97) {
    write_file(weights_, whole.substr(0, n));
    EXPECT_EQ(load_code(), NEF_PARSE) << n;
  }
  write_file(weights_, whole.substr(0, whole.size() - 1));
  EXPECT_EQ(load_code(), NEF_PARSE);
  write_file(weights_, whole + "x");
  EXPECT_EQ(load_code(), NEF_PARSE);
  write_file(weights_, whole);
  EXPECT_EQ(weight(*load_nef(nef_)), 1);
}

TEST_F(Files, EveryTruncationOfABundleIsRefused) {
  save_nef(weighted(1), nef_, {.bundle = true});
  const std::string whole = read_file(nef_);
  for (size_t n = 0; n < whole.size(); n += n < 600 ? 1 : 97) {
    write_file(nef_, whole.substr(0, n));
    EXPECT_EQ(load_code(), NEF_PARSE) << n;
  }
}

TEST_F(Files, StoredTypeMustBeTheDeclaredOne) {
  std::string text = read_file(nef_);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string t = text;
    t.replace(t.find(from), from.size(), to);
    write_file(nef_, t);
    return load_code();
  };
  EXPECT_EQ(with("\"w\": {\"shape\": [512], \"dtype\": \"float32\"",
                 "\"w\": {\"shape\": [512], \"dtype\": \"int32\""),
            NEF_DTYPE_MISMATCH);
  EXPECT_EQ(with("\"w\": {\"shape\": [512]", "\"w\": {\"shape\": [2, 256]"), NEF_SHAPE_MISMATCH);
  EXPECT_EQ(with("\"name\": \"w\"", "\"name\": \"v\""), NEF_UNKNOWN_NAME);
}

TEST_F(Files, FailedSavesLeaveNothingAndHarmNothing) {
  const std::string before = read_file(nef_);
  ir::Graph bad = weighted(2);
  bad.value_names().set(0, "x");
  bad.node_names().set(0, "\xff");
  EXPECT_EQ(error_of([&] { save_nef(bad, nef_); }).code(), NEF_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { save_nef(weighted(2), dir_ / "inside"); }).code(), NEF_IO);
  EXPECT_EQ(error_of([&] { save_nef(weighted(2), dir_ / "absent/m.nef"); }).code(), NEF_IO);
  EXPECT_EQ(error_of([&] { save_nef(weighted(2), dir_ / "inside/m.safetensors"); }).code(),
            NEF_INVALID_ARGUMENT);
  EXPECT_EQ(read_file(nef_), before);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(dir_ / "inside")) files += entry.exists() ? 1 : 0;
  EXPECT_EQ(files, 2u);
}

TEST_F(Files, ForeignWeightsAreNotOverwritten) {
  const std::string foreign =
      raw_safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x");
  write_file(dir_ / "inside/model.safetensors", foreign);
  EXPECT_EQ(error_of([&] { save_nef(weighted(2), dir_ / "inside/model.nef"); }).code(), NEF_IO);
  EXPECT_EQ(read_file(dir_ / "inside/model.safetensors"), foreign);
  EXPECT_FALSE(fs::exists(dir_ / "inside/model.nef"));
  EXPECT_NO_THROW(save_nef(weighted(2), dir_ / "inside/model.nef", {.bundle = true}));
  EXPECT_NO_THROW(save_nef(weighted(3), nef_));  // ours is replaced
  EXPECT_EQ(weight(*load_nef(nef_)), 3);
}

TEST(SafePath, PlainRelativePathsOnly) {
  for (const char* good : {"a", "a.safetensors", "sub/a", "..a", "a..", "a/.b", "\xc3\xa9"}) {
    EXPECT_EQ(path_fault(good), nullptr) << good;
  }
  for (const char* bad :
       {"", "/", "/a", "..", "../a", "a/..", "a/../b", ".", "./a", "a//b", "a/", "a\\b", "\xff"}) {
    EXPECT_NE(path_fault(bad), nullptr) << bad;
  }
  EXPECT_NE(path_fault(std::string_view("a\0b", 3)), nullptr);
}

}  // namespace
}  // namespace nef::io
