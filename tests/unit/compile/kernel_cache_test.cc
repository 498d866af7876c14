// SPDX-License-Identifier: Apache-2.0
// What names a kernel, and where kernels are kept.
#include "engine/compile/kernel_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "engine/build/builder.h"
#include "engine/compile/disk_cache.h"
#include "engine/compile/program.h"
#include "engine/compile/region_desc.h"
#include "engine/context/context.h"

namespace nef::compile {
namespace {

namespace fs = std::filesystem;
using ir::ValueId;

// A folder of its own, gone afterwards.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/nef-kernels-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("no folder");
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) out.push_back(entry.path());
    }
    return out;
  }

 private:
  std::string path_;
};

// One region: a single op on inputs of one dtype.
struct One {
  One(nef_op id, std::vector<std::vector<ir::Dim>> shapes, nef_dtype dtype = NEF_FLOAT32,
      std::vector<int64_t> attrs = {}) {
    std::vector<ValueId> in;
    for (const auto& s : shapes)
      in.push_back(graph.add_input("x" + std::to_string(in.size()), dtype, s));
    finish(id, in, attrs);
  }
  void finish(nef_op id, std::vector<ValueId> in, std::vector<int64_t> attrs) {
    if (attrs.empty() && ir::spec(id).n_attrs > 0) attrs = ir::AttrBuilder(id).build();
    graph.add_output("y", build::Builder(graph).value(id, in, attrs));
    regions = optimize::single_node_regions(graph);
    describe(NEF_PRECISION_EXACT);
  }
  std::string describe(nef_precision precision) {
    desc.set(graph, regions, regions.list[0], precision);
    return desc.key();
  }
  std::string key() const { return desc.key(); }

  ir::Graph graph;
  optimize::Regions regions;
  RegionDesc desc;
};

std::vector<int64_t> softmax_axis(int64_t axis) {
  ir::AttrBuilder b(NEF_OP_SOFTMAX);
  b.set_int(NEF_SOFTMAX_AXIS, axis);
  return b.build();
}

TEST(RegionKey, NamesAllThatAKernelDependsOn) {
  std::set<std::string> keys;
  int kinds = 0;
  const auto other = [&](std::string key) {
    ++kinds;
    EXPECT_TRUE(keys.insert(std::move(key)).second) << "the key of kind " << kinds << " is not new";
  };
  for (nef_dtype d = NEF_INT8; d <= NEF_FLOAT64; ++d) other(One(NEF_OP_ADD, {{4}, {4}}, d).key());
  other(One(NEF_OP_SUB, {{4}, {4}}).key());
  other(One(NEF_OP_ADD, {{4}, {1}}).key());
  other(One(NEF_OP_ADD, {{4}, {}}).key());
  other(One(NEF_OP_ADD, {{2, 4}, {4}}).key());
  other(One(NEF_OP_ADD, {{8}, {8}}).key());
  other(One(NEF_OP_SOFTMAX, {{4, 4}}, NEF_FLOAT32, softmax_axis(0)).key());
  other(One(NEF_OP_SOFTMAX, {{4, 4}}, NEF_FLOAT32, softmax_axis(1)).key());
  One matmul(NEF_OP_MATMUL, {{4, 4}, {4, 4}});
  other(matmul.describe(NEF_PRECISION_EXACT));
  other(matmul.describe(NEF_PRECISION_FAST));
  {
    // The same value twice is another structure than two values.
    ir::Graph g;
    One same(NEF_OP_ADD, {{4}, {4}});
    other([] {
      ir::Graph graph;
      const ir::Dim four[] = {4};
      const ValueId x = graph.add_input("x", NEF_FLOAT32, four);
      build::Builder(graph).value(NEF_OP_ADD, std::vector{x, x});
      const optimize::Regions regions = optimize::single_node_regions(graph);
      RegionDesc desc;
      desc.set(graph, regions, regions.list[0], NEF_PRECISION_EXACT);
      return desc.key();
    }());
  }
  for (int64_t rows : {2, 3}) {
    // Literals that shape the op are part of it.
    ir::Graph graph;
    const ir::Dim dims[] = {ir::Dim::of(rows * 6)};
    const ValueId x = graph.add_input("x", NEF_FLOAT32, dims);
    const int64_t shape[] = {-1, rows};
    build::Builder builder(graph);
    const ValueId in[] = {x, builder.ints(shape)};
    builder.value(NEF_OP_RESHAPE, in, ir::AttrBuilder(NEF_OP_RESHAPE).build());
    const optimize::Regions regions = optimize::single_node_regions(graph);
    RegionDesc desc;
    desc.set(graph, regions, regions.list[0], NEF_PRECISION_EXACT);
    other(desc.key());
  }
}

TEST(RegionKey, IsTheSameInAnotherGraphAndForAnySize) {
  EXPECT_EQ(One(NEF_OP_ADD, {{4}, {4}}).key(), One(NEF_OP_ADD, {{4}, {4}}).key());
  const auto symbolic = [](const char* name, int64_t most) {
    ir::Graph graph;
    const ir::Dim dims[] = {graph.pool().symbol(name, 1, most), 4};
    build::Builder(graph).value(NEF_OP_RELU, std::vector{graph.add_input("x", NEF_FLOAT32, dims)});
    const optimize::Regions regions = optimize::single_node_regions(graph);
    RegionDesc desc;
    desc.set(graph, regions, regions.list[0], NEF_PRECISION_EXACT);
    return desc.key();
  };
  EXPECT_EQ(symbolic("batch", 8), symbolic("rows", 4096));
}

const plan::Device& cpu() {
  for (const plan::Device* d : context::Context::get().registry().devices()) {
    if (d->name == "cpu:0") return *d;
  }
  throw std::runtime_error("no cpu");
}

TEST(KernelCacheTest, CountsHitsAndMissesAndDropsWhatNobodyUses) {
  KernelCache cache("");
  One add(NEF_OP_ADD, {{4}, {4}}), sub(NEF_OP_SUB, {{4}, {4}});
  auto kernel = cache.get(cpu(), add.desc);
  EXPECT_EQ(cache.get(cpu(), add.desc), kernel);
  cache.get(cpu(), sub.desc);
  EXPECT_EQ(cache.stats().hits, 1u);
  EXPECT_EQ(cache.stats().misses, 2u);
  EXPECT_EQ(cache.stats().disk_misses, 0u);
  cache.evict();  // sub goes, add is in use
  EXPECT_EQ(cache.get(cpu(), add.desc), kernel);
  EXPECT_EQ(cache.stats().hits, 2u);
  cache.get(cpu(), sub.desc);
  EXPECT_EQ(cache.stats().misses, 3u);
  // Devices do not share kernels.
  EXPECT_NE(cache.get(context::Context::get().registry().reference(), add.desc), kernel);
}

TEST(KernelCacheTest, ThreadsGetOneKernel) {
  KernelCache cache("");
  One matmul(NEF_OP_MATMUL, {{32, 32}, {32, 32}});
  std::vector<std::shared_ptr<Kernel>> got(16);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] { got[t] = cache.get(cpu(), matmul.desc); });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& k : got) EXPECT_EQ(k, got[0]);
}

TEST(KernelCacheTest, KeepsOnDiskWhatABackendSerialises) {
  Folder folder;
  One matmul(NEF_OP_MATMUL, {{64, 256}, {256, 128}});
  {
    KernelCache first(folder.path());
    first.get(cpu(), matmul.desc);
    EXPECT_EQ(first.stats().disk_misses, 1u);
  }
  ASSERT_EQ(folder.files().size(), 1u);
  KernelCache second(folder.path());
  second.get(cpu(), matmul.desc);
  EXPECT_EQ(second.stats().disk_hits, 1u);
  EXPECT_EQ(second.stats().disk_misses, 0u);
}

// Its kernels are a letter; a stored one is taken when it is the letter of this release.
char release = 'a';
const plan::Device& device_of_releases() {
  static const nef_backend table = [] {
    nef_backend t{};
    t.name = "releases";
    t.version = "1";
    t.compile = [](int32_t, const nef_backend_region*, const void*, size_t,
                   nef_backend_kernel** out, nef_backend_error*) -> nef_code {
      *out = reinterpret_cast<nef_backend_kernel*>(new char(release));
      return NEF_OK;
    };
    t.kernel_free = [](nef_backend_kernel* k) { delete reinterpret_cast<char*>(k); };
    t.serialize = [](const nef_backend_kernel* k, void* out, size_t capacity) -> size_t {
      if (capacity > 0) std::memcpy(out, k, 1);
      return 1;
    };
    return t;
  }();
  static plan::Device device;
  device.backend = &table;
  return device;
}

TEST(KernelCacheTest, WhatAnotherReleaseLeftOnDiskIsNoHitAndGivesWay) {
  Folder folder;
  One add(NEF_OP_ADD, {{4}, {4}});
  const auto hits = [&] {
    KernelCache cache(folder.path());
    cache.get(device_of_releases(), add.desc);
    const KernelCache::Stats stats = cache.stats();
    EXPECT_EQ(stats.disk_hits + stats.disk_misses, 1u);
    return stats.disk_hits;
  };
  EXPECT_EQ(hits(), 0u);
  EXPECT_EQ(hits(), 1u);
  release = 'b';
  EXPECT_EQ(hits(), 0u);
  EXPECT_EQ(hits(), 1u);
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST(KernelCacheTest, ADevicesArchitectureIsPartOfTheKey) {
  Folder folder;
  One add(NEF_OP_ADD, {{4}, {4}});
  plan::Device device = device_of_releases();
  for (const char* arch : {"one compiler", "another"}) {
    device.info.arch = arch;
    KernelCache cache(folder.path());
    cache.get(device, add.desc);
    EXPECT_EQ(cache.stats().disk_misses, 1u);
  }
  EXPECT_EQ(folder.files().size(), 2u);
}

TEST(DiskCacheTest, GivesBackWhatWasWritten) {
  Folder folder;
  const DiskCache cache(folder.path() + "/made/when/needed");
  const std::string key("a key\0with a NUL", 16);
  const std::vector<char> blob = {'b', 0, 'l', -1};
  EXPECT_TRUE(cache.read(key).empty());
  cache.write(key, blob);
  EXPECT_EQ(cache.read(key), blob);
  EXPECT_TRUE(cache.read("a key").empty());
  cache.write(key, {'n', 'e', 'w'});
  EXPECT_EQ(cache.read(key), (std::vector<char>{'n', 'e', 'w'}));
  EXPECT_EQ(folder.files().size(), 1u);  // no temporary file stays
}

TEST(DiskCacheTest, IgnoresDamagedEntries) {
  Folder folder;
  const DiskCache cache(folder.path());
  const std::string key = "key";
  const std::vector<char> blob(100, 'x');
  cache.write(key, blob);
  const fs::path file = folder.files().at(0);
  std::string good(fs::file_size(file), '\0');
  std::ifstream(file, std::ios::binary)
      .read(good.data(), static_cast<std::streamsize>(good.size()));
  const auto with = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    return cache.read(key);
  };
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    EXPECT_TRUE(with(bad).empty()) << "byte " << i;
  }
  for (size_t n = 0; n < good.size(); n += 7) EXPECT_TRUE(with(good.substr(0, n)).empty()) << n;
  EXPECT_EQ(with(good), blob);
}

TEST(DiskCacheTest, AFolderThatCannotBeUsedIsAnEmptyCache) {
  const DiskCache nowhere("/proc/no/such/place");
  nowhere.write("key", {'x'});
  EXPECT_TRUE(nowhere.read("key").empty());
}

// The entry's name, which depends on the key only.
std::string name_of(const std::string& key) {
  Folder folder;
  DiskCache(folder.path()).write(key, {'x'});
  return folder.files().at(0).filename();
}

bool read_back(const DiskCache& cache) {
  cache.write("key", {'x'});
  return cache.read("key") == std::vector<char>{'x'};
}

uint32_t mode_of(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 ? st.st_mode & 07777 : 0;
}

TEST(DiskCacheTest, FoldersAreForThisUserAlone) {
  Folder folder;
  const mode_t before = ::umask(0);
  EXPECT_TRUE(read_back(DiskCache(folder.path() + "/a/b", "backend")));
  ::umask(before);
  for (const char* made : {"/a", "/a/b", "/a/b/backend"}) {
    EXPECT_EQ(mode_of(folder.path() + made), 0700u) << made;
  }
  EXPECT_EQ(mode_of(folder.path() + "/a/b/backend/" + name_of("key")), 0600u);
}

TEST(DiskCacheTest, AFolderOfSomebodyElseIsRefusedWithAReason) {
  Folder folder;
  const std::string root = folder.path() + "/root", there = root + "/backend";
  const auto refused = [&](const char* why) {
    const DiskCache cache(root, "backend");
    EXPECT_FALSE(read_back(cache)) << why;
    EXPECT_NE(cache.refusal().find(why), std::string::npos) << cache.refusal();
  };
  fs::create_directories(there);
  for (const std::string& part : {root, there}) {
    for (const mode_t mode : {0720, 0702, 01777}) {
      ASSERT_EQ(::chmod(part.c_str(), mode), 0);
      refused("can be written by others");
    }
    ASSERT_EQ(::chmod(part.c_str(), 0700), 0);
    fs::rename(part, part + ".real");
    fs::create_directory_symlink(part + ".real", part);
    refused("is a symbolic link");
    fs::remove(part);
    std::ofstream(part) << "x";
    refused("is no folder");
    fs::remove(part);
    fs::rename(part + ".real", part);
  }
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(there.c_str(), 12345, 12345), 0);
    refused("belongs to another user");
    ASSERT_EQ(::chown(there.c_str(), 0, 0), 0);
  }
  EXPECT_TRUE(folder.files().empty());
  const DiskCache cache(root, "backend");
  EXPECT_TRUE(read_back(cache));
  EXPECT_EQ(cache.refusal(), "");
  EXPECT_FALSE(read_back(DiskCache(root, "../backend")));
}

TEST(DiskCacheTest, ReadsItsOwnRegularFilesOnly) {
  Folder folder;
  const DiskCache cache(folder.path());
  ASSERT_TRUE(read_back(cache));
  const fs::path entry = folder.path() + "/" + name_of("key"), other = folder.path() + "/other";
  const auto readable = [&] { return !cache.read("key").empty(); };

  ASSERT_EQ(::chmod(entry.c_str(), 0620), 0);
  EXPECT_FALSE(readable()) << "others can write it";
  ASSERT_EQ(::chmod(entry.c_str(), 0600), 0);
  fs::create_hard_link(entry, other);
  EXPECT_FALSE(readable()) << "it has a second name";
  fs::remove(entry);
  fs::create_symlink(other, entry);
  EXPECT_FALSE(readable()) << "it is a link";
  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  EXPECT_FALSE(readable()) << "it is a pipe";
  fs::remove(entry);
  fs::create_directory(entry);
  EXPECT_FALSE(read_back(cache)) << "it is a folder";
  fs::remove(entry);
  EXPECT_TRUE(read_back(cache));
  std::ofstream(entry, std::ios::app) << "more";
  EXPECT_FALSE(readable()) << "it is longer than it says";
  if (::geteuid() == 0) {
    ASSERT_TRUE(read_back(cache));
    ASSERT_EQ(::chown(entry.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(readable()) << "it belongs to another user";
  }
  EXPECT_EQ(folder.files().size(), 2u);  // no temporary file stays
}

// Sparse: only the length counts.
void make_old(const fs::path& path, uintmax_t bytes, int hours) {
  if (!fs::exists(path)) std::ofstream(path) << "x";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  fs::resize_file(path, bytes);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
}

TEST(DiskCacheTest, TrimmingRemovesItsOwnFilesOnly) {
  constexpr uintmax_t huge = uintmax_t{600} << 20, cap = uintmax_t{512} << 20;
  Folder folder, elsewhere;
  const auto at = [&](const std::string& name) { return fs::path(folder.path()) / name; };
  const std::string digits(31, 'a');
  const std::vector<std::string> foreign = {
      "movie.mkv",         digits,           digits + "aa",
      digits + "A",        digits + "a.tmp", digits + "a.tmp1",
      digits + "a.tmp1.x", digits + "a.bak", ".pull-" + digits + "a",
  };
  for (const std::string& name : foreign) make_old(at(name), huge, 48);
  const fs::path target = fs::path(elsewhere.path()) / "target";
  make_old(target, huge, 48);
  fs::create_symlink(target, at(digits + "b"));
  fs::create_hard_link(target, at(digits + "c"));
  fs::create_directory(at(digits + "d"));
  ASSERT_EQ(::mkfifo(at(digits + "e").c_str(), 0600), 0);
  const auto kept = [&] {
    for (const std::string& name : foreign) EXPECT_TRUE(fs::exists(at(name))) << name;
    EXPECT_TRUE(fs::exists(target));
    for (const char c : {'b', 'c', 'd', 'e'}) {
      EXPECT_TRUE(fs::exists(fs::symlink_status(at(digits + c)))) << c;
    }
  };
  {
    // What is foreign does not count: an old entry stays beside it.
    make_old(at(digits + "0"), 1000, 24);
    EXPECT_TRUE(read_back(DiskCache(folder.path())));
    EXPECT_TRUE(fs::exists(at(digits + "0")));
    kept();
  }
  make_old(at(digits + "1"), cap - 100, 23);
  make_old(at(digits + "2.tmp77.3"), 10, 2);  // left over
  make_old(at(digits + "3.tmp77.3"), 10, 0);  // perhaps still being written
  EXPECT_TRUE(read_back(DiskCache(folder.path())));
  EXPECT_FALSE(fs::exists(at(digits + "0"))) << "the oldest entry";
  EXPECT_TRUE(fs::exists(at(digits + "1"))) << "without the oldest there is room";
  EXPECT_FALSE(fs::exists(at(digits + "2.tmp77.3")));
  EXPECT_TRUE(fs::exists(at(digits + "3.tmp77.3")));
  make_old(at(digits + "1"), huge, 23);
  EXPECT_TRUE(read_back(DiskCache(folder.path())));
  EXPECT_FALSE(fs::exists(at(digits + "1")));
  EXPECT_TRUE(fs::exists(at(digits + "3.tmp77.3")));
  kept();
}

TEST(KernelCacheTest, ARefusedFolderIsAnEventOfTheProgram) {
  Folder folder;
  One matmul(NEF_OP_MATMUL, {{64, 256}, {256, 128}});
  KernelCache cache(folder.path());
  cache.get(cpu(), matmul.desc);
  EXPECT_EQ(cache.refusal(), "");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  KernelCache open(folder.path());
  EXPECT_NE(open.get(cpu(), matmul.desc), nullptr);
  EXPECT_NE(open.refusal().find("can be written by others"), std::string::npos);
  EXPECT_EQ(open.stats().disk_hits, 0u);

  context::Context& context = context::Context::get();
  compile::Environment env = context.environment();
  env.kernels = &open;
  const auto graph = std::make_shared<ir::Graph>();
  const ir::Dim left[] = {64, 256}, right[] = {256, 128};
  const ValueId in[] = {graph->add_input("a", NEF_FLOAT32, left),
                        graph->add_input("b", NEF_FLOAT32, right)};
  graph->add_output("y", build::Builder(*graph).value(NEF_OP_MATMUL, in));
  const auto program = compile::compile(graph, {}, env);
  ASSERT_EQ(program->events.size(), 1u);
  EXPECT_EQ(program->events[0].what, "kernels are not kept on disk");
  EXPECT_NE(program->events[0].why.find(folder.path()), std::string::npos);
}

TEST(DiskCacheTest, WritersMeetWithoutHarm) {
  Folder folder;
  const DiskCache cache(folder.path());
  std::vector<std::thread> threads;
  std::atomic<int> torn{0};
  for (char t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 10; ++k) {
        cache.write("key", std::vector<char>(1000, t));
        const auto got = cache.read("key");
        for (char c : got) torn += c != got[0];
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(folder.files().size(), 1u);
}

}  // namespace
}  // namespace nef::compile
