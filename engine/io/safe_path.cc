// SPDX-License-Identifier: Apache-2.0
#include "engine/io/safe_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

#include "engine/io/limits.h"
#include "engine/io/text.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

[[noreturn]] void unsafe(std::string_view name, const std::string& why) {
  fail(NEF_UNSAFE_PATH, "load", cat("data file ", in_quotes(name), " ", why));
}

// Fails with the errno of an open beneath a folder.
[[noreturn]] void refused(const std::string& name, int err) {
  if (err == ELOOP || err == EXDEV || err == ENOTDIR) {
    unsafe(name,
           "is, or is reached through, a symbolic link; pass data_root to allow links "
           "inside a folder you trust");
  }
  io_error("load", in_quotes(name), "cannot open data file", err);
}

Fd open_folder(const std::string& path, const std::string& name) {
  Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd)
    io_error("load", path, cat("cannot open the folder of data file ", in_quotes(name)).c_str(),
             errno);
  return fd;
}

// Component by component, for kernels and sandboxes without openat2.
Fd walk(const Fd& folder, std::string_view name, int* err) {
  Fd at(::dup(folder.get()));
  while (true) {
    const size_t slash = name.find('/');
    const std::string part(name.substr(0, slash));
    const bool last = slash == std::string_view::npos;
    Fd next(::openat(at.get(), part.c_str(),
                     last ? kFileFlags : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) {
      *err = errno;
      return Fd();
    }
    if (last) return next;
    at = std::move(next);
    name.remove_prefix(slash + 1);
  }
}

Fd open_without_links(const Fd& folder, const std::string& name, int* err) {
  open_how how = {};
  how.flags = kFileFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, folder.get(), name.c_str(), &how, sizeof how);
  if (fd >= 0) return Fd(static_cast<int>(fd));
  if (errno == ENOSYS || errno == EPERM || errno == EINVAL) return walk(folder, name, err);
  *err = errno;
  return Fd();
}

std::string real_path(const std::string& path, const std::string& name) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr)
    io_error("load", path, cat("cannot resolve data file ", in_quotes(name)).c_str(), errno);
  std::string out = resolved;
  ::free(resolved);
  return out;
}

// Resolves links first and then opens the resolved path without following any, so that a link
// swapped in between is refused instead of followed.
Fd open_in_root(const std::string& folder, const std::string& root, const std::string& name) {
  const std::string top = real_path(root, name);
  const std::string file = real_path(cat(folder, "/", name), name);
  const std::string prefix = top == "/" ? top : top + "/";
  if (file.compare(0, prefix.size(), prefix) != 0) {
    unsafe(name, cat("lies outside the data root ", in_quotes(root)));
  }
  int err = 0;
  Fd fd = open_without_links(open_folder(top, name), file.substr(prefix.size()), &err);
  if (!fd) refused(name, err);
  return fd;
}

}  // namespace

const char* path_fault(std::string_view name) {
  if (const char* fault = name_fault(name)) return fault;
  if (name[0] == '/') return "is an absolute path; name a file in the folder of the .nef file";
  if (name.find('\\') != std::string_view::npos) return "holds a backslash";
  while (true) {
    const size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part == "..") return "leaves its folder with '..'";
    if (part.empty() || part == ".") return "has an empty or '.' part";
    if (slash == std::string_view::npos) return nullptr;
    name.remove_prefix(slash + 1);
  }
}

Fd open_beneath(const std::string& folder, const std::string& root, const std::string& name) {
  if (const char* fault = path_fault(name)) unsafe(name, fault);
  if (!root.empty()) return open_in_root(folder, root, name);
  int err = 0;
  Fd fd = open_without_links(open_folder(folder, name), name, &err);
  if (!fd) refused(name, err);
  struct stat st;
  if (::fstat(fd.get(), &st) != 0) io_error("load", in_quotes(name), "cannot stat", errno);
  if (S_ISREG(st.st_mode) && st.st_nlink > 1) {
    unsafe(name,
           "has a second hard link; copy it, or pass data_root to allow links inside a "
           "folder you trust");
  }
  return fd;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string file_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace nef::io
