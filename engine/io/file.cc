// SPDX-License-Identifier: Apache-2.0
#include "engine/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "engine/ir/error.h"

namespace nef::io {

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

void io_error(const char* op, const std::string& label, const char* what, int err) {
  fail(NEF_IO, op, cat(label, ": ", what, ": ", std::system_category().message(err)));
}

Fd open_file(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail(NEF_INVALID_ARGUMENT, "load", "the path is empty or holds a NUL byte");
  }
  // O_NONBLOCK: a FIFO must not hang the caller before it is refused.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) io_error("load", path, "cannot open", errno);
  return fd;
}

uint64_t regular_size(const Fd& fd, const std::string& label) {
  struct stat st;
  if (::fstat(fd.get(), &st) != 0) io_error("load", label, "cannot stat", errno);
  if (!S_ISREG(st.st_mode)) fail(NEF_IO, "load", cat(label, ": not a regular file"));
  return static_cast<uint64_t>(st.st_size);
}

void read_exact(const Fd& fd, uint64_t offset, void* out, size_t bytes, const std::string& label) {
  auto* to = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t n = ::pread(fd.get(), to, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) io_error("load", label, "cannot read", errno);
    if (n == 0) fail(NEF_IO, "load", cat(label, ": the file shrank while it was read"));
    to += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
}

std::shared_ptr<ir::Buffer> map_file(const Fd& fd, uint64_t size, const std::string& label) {
  if (size == 0 || size > SIZE_MAX)
    fail(NEF_IO, "load", cat(label, ": cannot map ", size, " bytes"));
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (data == MAP_FAILED) io_error("load", label, "cannot map", errno);
  auto buffer = ir::Buffer::wrap(data, size, [](void* p, size_t n) { ::munmap(p, n); });
  buffer->mark_mapped();
  if (regular_size(fd, label) != size) {
    fail(NEF_IO, "load", cat(label, ": the file changed size while it was opened"));
  }
  return buffer;
}

std::shared_ptr<ir::Buffer> map_range(int fd, uint64_t offset, uint64_t bytes,
                                      const std::string& label) {
  struct stat st;
  if (::fstat(fd, &st) != 0) io_error("map", label, "cannot stat", errno);
  if (!S_ISREG(st.st_mode)) fail(NEF_IO, "map", cat(label, ": not a regular file"));
  const auto size = static_cast<uint64_t>(st.st_size);
  if (offset > size || bytes > size - offset) {
    fail(NEF_OUT_OF_RANGE, "map",
         cat(label, ": bytes ", offset, " to ", offset, " + ", bytes, " of a file of ", size));
  }
  if (bytes == 0) return ir::Buffer::allocate(0);
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t start = offset / page * page;
  const size_t length = static_cast<size_t>(offset - start + bytes);
  void* data = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(start));
  if (data == MAP_FAILED) io_error("map", label, "cannot map", errno);
  auto whole = ir::Buffer::wrap(data, length, [](void* p, size_t n) { ::munmap(p, n); });
  whole->mark_mapped();
  return ir::Buffer::slice(std::move(whole), static_cast<size_t>(offset - start),
                           static_cast<size_t>(bytes));
}

}  // namespace nef::io
