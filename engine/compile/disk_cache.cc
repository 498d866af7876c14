// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace nef::compile {

namespace fs = std::filesystem;

namespace {

constexpr char kMagic[8] = {'N', 'E', 'F', 'K', 'C', '0', '0', '1'};
constexpr size_t kMaxEntry = 64u << 20;
constexpr uintmax_t kMaxTotal = 512u << 20;
// The folder is listed once in so many bytes; it is over its cap by that at most.
constexpr uint64_t kTrimEvery = kMaxTotal / 16;

uint64_t fnv(std::string_view bytes, uint64_t h) {
  for (const unsigned char c : bytes) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

struct Header {
  char magic[8];
  uint64_t key_size, blob_size, checksum;
};

struct File {
  explicit File(int fd) : fd(fd) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd;
};

bool read_all(int fd, void* data, size_t bytes) {
  auto* p = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::read(fd, p, bytes);
    if (n <= 0) return false;
    p += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool write_all(int fd, const void* data, size_t bytes) {
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::write(fd, p, bytes);
    if (n <= 0) return false;
    p += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

// What earlier processes left is unknown: the first write looks.
DiskCache::DiskCache(std::string directory)
    : directory_(std::move(directory)), untrimmed_(kTrimEvery) {}

std::string DiskCache::path_of(const std::string& key) const {
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(fnv(key, 0xcbf29ce484222325ull)),
                static_cast<unsigned long long>(fnv(key, 0x9e3779b97f4a7c15ull)));
  return directory_ + "/" + name;
}

std::vector<char> DiskCache::read(const std::string& key) const {
  const File file(::open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return {};
  Header h;
  if (!read_all(file.fd, &h, sizeof h)) return {};
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0) return {};
  if (h.key_size != key.size() || h.blob_size > kMaxEntry) return {};
  std::string stored(key.size(), '\0');
  std::vector<char> blob(h.blob_size);
  if (!read_all(file.fd, stored.data(), stored.size()) || stored != key) return {};
  if (!read_all(file.fd, blob.data(), blob.size())) return {};
  if (fnv({blob.data(), blob.size()}, fnv(stored, 0)) != h.checksum) return {};
  return blob;
}

void DiskCache::write(const std::string& key, const std::vector<char>& blob) const {
  if (blob.empty() || blob.size() > kMaxEntry) return;
  std::error_code ec;
  fs::create_directories(directory_, ec);
  if (ec) return;
  static std::atomic<unsigned> counter{0};
  const std::string path = path_of(key);
  const std::string temp =
      path + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(counter.fetch_add(1));
  Header h;
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.key_size = key.size();
  h.blob_size = blob.size();
  h.checksum = fnv({blob.data(), blob.size()}, fnv(key, 0));
  bool good = false;
  {
    const File file(::open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (file.fd < 0) return;
    good = write_all(file.fd, &h, sizeof h) && write_all(file.fd, key.data(), key.size()) &&
           write_all(file.fd, blob.data(), blob.size()) && ::fsync(file.fd) == 0;
  }
  if (!good || ::rename(temp.c_str(), path.c_str()) != 0) ::unlink(temp.c_str());
  const uint64_t bytes = sizeof h + key.size() + blob.size();
  if (untrimmed_.fetch_add(bytes, std::memory_order_relaxed) + bytes < kTrimEvery) return;
  untrimmed_.store(0, std::memory_order_relaxed);
  trim();
}

// Oldest entries go when the folder is over its cap.
void DiskCache::trim() const {
  struct Item {
    fs::path path;
    fs::file_time_type time;
    uintmax_t bytes;
  };
  std::vector<Item> items;
  uintmax_t total = 0;
  std::error_code ec;
  for (fs::directory_iterator it(directory_, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code item_ec;
    const uintmax_t bytes = it->file_size(item_ec);
    if (item_ec) continue;
    items.push_back({it->path(), it->last_write_time(item_ec), bytes});
    total += bytes;
  }
  if (total <= kMaxTotal) return;
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.time < b.time; });
  for (const Item& item : items) {
    if (total <= kMaxTotal) return;
    if (fs::remove(item.path, ec)) total -= item.bytes;
  }
}

}  // namespace nef::compile
