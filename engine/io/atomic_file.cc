// SPDX-License-Identifier: Apache-2.0
#include "engine/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "engine/io/safe_path.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr int kAttempts = 100;

void write_all(const Fd& fd, const char* data, size_t bytes, const std::string& label) {
  while (bytes > 0) {
    const ssize_t n = ::write(fd.get(), data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) io_error("save", label, "cannot write", errno);
    data += n;
    bytes -= static_cast<size_t>(n);
  }
}

// A name no other writer uses: process id and a counter, and O_EXCL settles the rest.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return cat(folder_of(path), "/.", file_of(path), ".", static_cast<long>(::getpid()), "-",
             counter.fetch_add(1), ".tmp");
}

// A rename must survive a power cut. Some file systems cannot sync a folder: the data is safe
// then, only the name may come late.
void sync_folder(const std::string& path) {
  const Fd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail(NEF_INVALID_ARGUMENT, "save", "the path is empty or holds a NUL byte");
  }
  struct stat st;
  if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) {
    fail(NEF_IO, "save", cat(path, ": exists and is not a regular file"));
  }
  for (int i = 0; i < kAttempts && !fd_; ++i) {
    temporary_ = temporary_name(path);
    fd_ = Fd(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!fd_ && errno != EEXIST) break;
  }
  if (!fd_) {
    const int err = errno;
    temporary_.clear();
    io_error("save", path, "cannot create", err);
  }
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const char*>(bytes.data());
  if (bytes.size() < kBufferBytes) {
    pending_.append(data, bytes.size());
    if (pending_.size() >= kBufferBytes) flush();
    return;
  }
  flush();
  write_all(fd_, data, bytes.size(), path_);
}

void AtomicFile::flush() {
  write_all(fd_, pending_.data(), pending_.size(), path_);
  pending_.clear();
}

void AtomicFile::finish() {
  if (finished_) return;
  flush();
  if (::fsync(fd_.get()) != 0) io_error("save", path_, "cannot sync", errno);
  finished_ = true;
}

void AtomicFile::rename() {
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    io_error("save", path_, "cannot rename into place", errno);
  }
  temporary_.clear();
}

// Swaps the new file with what has its name; the old one is at temporary() then.
bool AtomicFile::exchange() {
  return ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0;
}

void AtomicFile::commit() {
  finish();
  rename();
  sync_folder(path_);
}

void AtomicFile::commit_both(AtomicFile& first, AtomicFile& second) {
  first.finish();
  second.finish();
  std::string old;  // where what was at first.path_ is meanwhile
  struct stat st;
  if (::lstat(first.path_.c_str(), &st) == 0) {
    if (first.exchange()) {
      old = std::exchange(first.temporary_, {});
    } else {
      // A file system that cannot swap: for a moment there is no such file, never a wrong one.
      old = temporary_name(first.path_);
      if (::rename(first.path_.c_str(), old.c_str()) != 0) {
        io_error("save", first.path_, "cannot rename away", errno);
      }
    }
  }
  try {
    if (!first.temporary_.empty()) first.rename();
    second.rename();
  } catch (...) {
    if (!old.empty()) ::rename(old.c_str(), first.path_.c_str());
    else if (first.temporary_.empty()) ::unlink(first.path_.c_str());
    throw;
  }
  if (!old.empty()) ::unlink(old.c_str());
  sync_folder(first.path_);
  if (folder_of(second.path_) != folder_of(first.path_)) sync_folder(second.path_);
}

}  // namespace nef::io
