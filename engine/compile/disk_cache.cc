// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>

#include "engine/ir/error.h"

namespace nef::compile {

namespace {

constexpr char kMagic[8] = {'N', 'E', 'F', 'K', 'C', '0', '0', '1'};
constexpr size_t kMaxEntry = 64u << 20;
constexpr uint64_t kMaxTotal = 512u << 20;
// The folder is listed once in so many bytes; it is over its cap by that at most.
constexpr uint64_t kTrimEvery = kMaxTotal / 16;
constexpr size_t kNameDigits = 32;
constexpr std::string_view kTemporary = ".tmp";
// No writer takes so long: a temporary file of that age was left by one that died.
constexpr time_t kLeftOver = 3600;

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

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

bool temporary(std::string_view name) { return name.size() > kNameDigits; }

// Is that the name of an entry, or of its temporary file ("<entry>.tmp<process>.<number>")?
bool own_name(std::string_view name) {
  if (name.size() < kNameDigits || !all_of(name.substr(0, kNameDigits), "0123456789abcdef")) {
    return false;
  }
  std::string_view rest = name.substr(kNameDigits);
  if (rest.empty()) return true;
  if (!rest.starts_with(kTemporary)) return false;
  rest.remove_prefix(kTemporary.size());
  const size_t dot = rest.find('.');
  constexpr std::string_view digits = "0123456789";
  return dot != rest.npos && all_of(rest.substr(0, dot), digits) &&
         all_of(rest.substr(dot + 1), digits);
}

// A regular file that only this user can have written. A second hard link would be a file of
// somebody else's folder; none is left of an entry that was replaced while it was open.
bool own_file(const struct stat& st) {
  return S_ISREG(st.st_mode) && st.st_uid == ::geteuid() && st.st_nlink <= 1 &&
         (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Makes the folder and those above it where they are missing, for this user alone.
void make_folders(const std::string& path) {
  for (size_t at = 1; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/') continue;
    ::mkdir(path.substr(0, at).c_str(), 0700);  // what it could not do shows when it is opened
  }
}

}  // namespace

// What earlier processes left is unknown: the first write looks.
DiskCache::DiskCache(std::string root, const std::string& name)
    : root_(std::move(root)), name_(name), untrimmed_(kTrimEvery) {}

// -1 when the folder is missing or refused. Every step is opened from the one before it, so that
// what was looked at is what is used.
int DiskCache::find_folder(std::string* why) const {
  const auto step = [&](int at, const char* name, const std::string& path) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const int fd = ::openat(at, name, flags);
    struct stat st;
    if (fd < 0) {
      const bool found = ::fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
      if (found && S_ISLNK(st.st_mode)) *why = cat(path, " is a symbolic link; name its target");
      else if (found && !S_ISDIR(st.st_mode)) *why = cat(path, " is no folder");
      return -1;
    }
    if (::fstat(fd, &st) != 0) *why = cat(path, " cannot be looked at");
    else if (st.st_uid != ::geteuid()) *why = cat(path, " belongs to another user");
    else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      *why = cat(path, " can be written by others; chmod go-w puts that right");
    }
    if (why->empty()) return fd;
    ::close(fd);
    return -1;
  };
  const int root = step(AT_FDCWD, root_.c_str(), root_);
  if (root < 0 || name_.empty()) return root;
  const File parent(root);
  if (name_.find('/') != name_.npos || name_[0] == '.') {
    *why = cat("a backend's folder cannot be called ", name_);
    return -1;
  }
  return step(root, name_.c_str(), cat(root_, "/", name_));
}

int DiskCache::open_folder() const {
  std::string why;
  const int fd = find_folder(&why);
  refused_.store(!why.empty(), std::memory_order_relaxed);
  return fd;
}

std::string DiskCache::refusal() const {
  std::string why;
  if (!refused_.load(std::memory_order_relaxed)) return why;
  const File folder(find_folder(&why));
  return why;
}

std::string DiskCache::name_of(const std::string& key) {
  char name[kNameDigits + 1];
  std::snprintf(name, sizeof name, "%016llx%016llx",
                static_cast<unsigned long long>(fnv(key, 0xcbf29ce484222325ull)),
                static_cast<unsigned long long>(fnv(key, 0x9e3779b97f4a7c15ull)));
  return name;
}

std::vector<char> DiskCache::read(const std::string& key) const {
  const File folder(open_folder());
  if (folder.fd < 0) return {};
  // Not blocking: a pipe of that name must not keep the caller.
  const File file(
      ::openat(folder.fd, name_of(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st;
  if (file.fd < 0 || ::fstat(file.fd, &st) != 0 || !own_file(st)) return {};
  Header h;
  if (!read_all(file.fd, &h, sizeof h)) return {};
  if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0) return {};
  if (h.key_size != key.size() || h.blob_size > kMaxEntry) return {};
  if (static_cast<uint64_t>(st.st_size) != sizeof h + h.key_size + h.blob_size) return {};
  std::string stored(key.size(), '\0');
  std::vector<char> blob(h.blob_size);
  if (!read_all(file.fd, stored.data(), stored.size()) || stored != key) return {};
  if (!read_all(file.fd, blob.data(), blob.size())) return {};
  if (fnv({blob.data(), blob.size()}, fnv(stored, 0)) != h.checksum) return {};
  return blob;
}

void DiskCache::write(const std::string& key, const std::vector<char>& blob) const {
  if (blob.empty() || blob.size() > kMaxEntry) return;
  int fd = open_folder();
  if (fd < 0 && !refused_.load(std::memory_order_relaxed)) {
    make_folders(name_.empty() ? root_ : cat(root_, "/", name_));
    fd = open_folder();
  }
  const File folder(fd);
  if (fd < 0) return;
  static std::atomic<unsigned> counter{0};
  const std::string name = name_of(key);
  const std::string temp =
      cat(name, kTemporary.data(), static_cast<long>(::getpid()), '.', counter.fetch_add(1));
  Header h;
  std::memcpy(h.magic, kMagic, sizeof kMagic);
  h.key_size = key.size();
  h.blob_size = blob.size();
  h.checksum = fnv({blob.data(), blob.size()}, fnv(key, 0));
  bool good = false;
  {
    const File file(
        ::openat(fd, temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.fd < 0) return;
    good = write_all(file.fd, &h, sizeof h) && write_all(file.fd, key.data(), key.size()) &&
           write_all(file.fd, blob.data(), blob.size()) && ::fsync(file.fd) == 0;
  }
  if (!good || ::renameat(fd, temp.c_str(), fd, name.c_str()) != 0) ::unlinkat(fd, temp.c_str(), 0);
  const uint64_t bytes = sizeof h + key.size() + blob.size();
  if (untrimmed_.fetch_add(bytes, std::memory_order_relaxed) + bytes < kTrimEvery) return;
  untrimmed_.store(0, std::memory_order_relaxed);
  trim(fd);
}

// Oldest entries go when the folder is over its cap, and so does what dead writers left. Whatever
// else lies there neither counts nor goes.
void DiskCache::trim(int folder) {
  struct Item {
    std::string name;
    time_t time;
    uint64_t bytes;
  };
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(fd), ::closedir);
  if (list == nullptr) {
    ::close(fd);
    return;
  }
  std::vector<Item> items;
  uint64_t total = 0;
  const time_t now = ::time(nullptr);
  while (const dirent* entry = ::readdir(list.get())) {
    const char* name = entry->d_name;
    struct stat st;
    if (!own_name(name) || ::fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!own_file(st)) continue;
    if (temporary(name) && now - st.st_mtime > kLeftOver) {
      ::unlinkat(folder, name, 0);
      continue;
    }
    items.push_back({name, st.st_mtime, static_cast<uint64_t>(st.st_size)});
    total += items.back().bytes;
  }
  if (total <= kMaxTotal) return;
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.time < b.time; });
  for (const Item& item : items) {
    if (total <= kMaxTotal) return;
    if (::unlinkat(folder, item.name.c_str(), 0) == 0) total -= item.bytes;
  }
}

}  // namespace nef::compile
