// SPDX-License-Identifier: Apache-2.0
#include "engine/context/registry.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "engine/ir/error.h"
#include "engine/runtime/thread_pool.h"

namespace nef::context {

namespace {

constexpr size_t kMessageBytes = 1024;

void host_parallel_for(int64_t n, int64_t grain, nef_parallel_fn fn, void* arg) {
  runtime::ThreadPool::shared().parallel_for(n, grain, fn, arg);
}
int32_t host_num_threads() { return runtime::ThreadPool::shared().threads(); }

const nef_backend_host kHost = {sizeof(nef_backend_host), host_parallel_for, host_num_threads};

bool is_reference(const nef_backend& b) { return std::strcmp(b.name, "reference") == 0; }

// The engine calls these without asking.
bool complete(const nef_backend& b) {
  return b.name != nullptr && b.version != nullptr && b.init != nullptr &&
         b.device_count != nullptr && b.device_info != nullptr && b.alloc != nullptr &&
         b.free != nullptr && b.supports != nullptr && b.compile != nullptr &&
         b.kernel_free != nullptr && b.kernel_name != nullptr && b.prepare != nullptr &&
         b.prepared_free != nullptr && b.launch != nullptr;
}

}  // namespace

Registry::Registry() {
  for (const BackendEntry entry : builtin_backends()) {
    try {
      add(entry(), nullptr);
    } catch (const Error&) {
      // It is listed as absent, with the reason; the process goes on without it.
    }
  }
  const char* list = std::getenv("NEF_BACKEND_PATH");
  std::string paths = list == nullptr ? "" : list;
  for (size_t begin = 0; begin < paths.size();) {
    size_t end = paths.find(':', begin);
    if (end == std::string::npos) end = paths.size();
    const std::string path = paths.substr(begin, end - begin);
    begin = end + 1;
    if (path.empty()) continue;
    try {
      load(path);
    } catch (const Error&) {
      // As above: the device list says why.
    }
  }
}

void Registry::load(const std::string& path) {
  if (path.find('/') == std::string::npos) {
    const std::string reason =
        cat("\"", path, "\" is no path: a plugin is named by its file, with a folder");
    add_absent(path, reason);
    fail(NEF_INVALID_ARGUMENT, "backend", reason);
  }
  // Opening a pipe would wait for its writer, and hold the loader's lock all the while.
  struct stat st;
  if (::stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) {
    const std::string reason = cat("cannot open ", path, ": it is no regular file");
    add_absent(path, reason);
    fail(NEF_BACKEND_UNAVAILABLE, "backend", reason);
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = cat("cannot open ", path, ": ", ::dlerror());
    add_absent(path, reason);
    fail(NEF_BACKEND_UNAVAILABLE, "backend", reason);
  }
  void* symbol = ::dlsym(library, NEF_BACKEND_ENTRY_SYMBOL);
  if (symbol == nullptr) {
    const std::string reason = cat(path, " exports no " NEF_BACKEND_ENTRY_SYMBOL);
    ::dlclose(library);
    add_absent(path, reason);
    fail(NEF_ABI_MISMATCH, "backend", reason);
  }
  nef_backend_entry_fn entry;
  static_assert(sizeof entry == sizeof symbol);
  std::memcpy(&entry, &symbol, sizeof entry);
  add(entry(), &path);
}

void Registry::add_absent(const std::string& backend, const std::string& reason) {
  std::lock_guard lock(mutex_);
  DeviceRecord r;
  r.name = r.backend = backend;
  r.reason = reason;
  records_.push_back(std::move(r));
}

void Registry::add(const nef_backend* table, const std::string* file) {
  const std::string origin = file == nullptr ? "built in" : *file;
  // Only these two fields may be read before they have been checked.
  constexpr size_t kLeast = offsetof(nef_backend, name);
  if (table == nullptr || table->abi_version != NEF_BACKEND_ABI_VERSION ||
      table->struct_size < kLeast) {
    const std::string reason =
        cat(origin, " speaks backend ABI version ", table == nullptr ? 0 : table->abi_version,
            ", this library speaks ", NEF_BACKEND_ABI_VERSION);
    add_absent(origin, reason);
    fail(NEF_ABI_MISMATCH, "backend", reason);
  }
  // A table of a shorter struct misses only optional entries at its end.
  nef_backend own{};
  std::memcpy(&own, table, std::min(sizeof own, table->struct_size));
  if (!complete(own)) {
    const std::string reason = cat(origin, ": its table lacks entries that every backend has");
    add_absent(origin, reason);
    fail(NEF_ABI_MISMATCH, "backend", reason);
  }
  // One plugin after another: two of one name must not both get past the check.
  std::lock_guard adding(add_mutex_);
  {
    std::lock_guard lock(mutex_);
    for (const nef_backend& t : tables_) {
      if (std::strcmp(t.name, own.name) != 0) continue;
      fail(NEF_DUPLICATE_NAME, "backend",
           cat(origin, ": a backend named \"", own.name, "\" is loaded already"));
    }
  }
  char message[kMessageBytes] = "";
  nef_backend_error err{message, sizeof message};
  if (own.init(&kHost, &err) != NEF_OK) {
    const std::string reason = message[0] == '\0' ? "its probe failed without a reason" : message;
    add_absent(own.name, reason);
    fail(NEF_BACKEND_UNAVAILABLE, "backend", cat(own.name, ": ", reason));
  }
  const int32_t count = own.device_count();
  if (count <= 0) add_absent(own.name, "it found no device");

  std::lock_guard lock(mutex_);
  tables_.push_back(own);
  const auto serial = std::make_shared<std::mutex>();
  for (int32_t i = 0; i < count; ++i) {
    nef_backend_device info{};
    info.struct_size = sizeof info;
    DeviceRecord r;
    r.backend = own.name;
    r.name = cat(own.name, ":", i);
    message[0] = '\0';
    const bool found = own.device_info(i, &info, &err) == NEF_OK;
    const bool reachable = (info.flags & NEF_DEVICE_HOST_MEMORY) != 0 || own.copy != nullptr;
    if (!found || !reachable) {
      r.reason = found                ? "it has memory of its own, and its table no copy"
                 : message[0] == '\0' ? "its probe failed without a reason"
                                      : message;
      records_.push_back(std::move(r));
      continue;
    }
    plan::Device& d = devices_.emplace_back();
    d.backend = &tables_.back();
    d.index = i;
    d.name = r.name;
    d.info = info;
    d.serial = serial;
    d.plugin = file != nullptr;
    r.available = true;
    r.device = &d;
    r.kind = info.kind;
    r.memory_bytes = info.memory_bytes;
    r.description = info.description == nullptr ? "" : info.description;
    records_.push_back(std::move(r));
  }
}

std::vector<const plan::Device*> Registry::devices() const {
  std::lock_guard lock(mutex_);
  std::vector<const plan::Device*> out;
  for (const plan::Device& d : devices_) {
    if (!is_reference(*d.backend)) out.push_back(&d);
  }
  for (const plan::Device& d : devices_) {
    if (is_reference(*d.backend)) out.push_back(&d);
  }
  return out;
}

const plan::Device& Registry::reference() const {
  std::lock_guard lock(mutex_);
  for (const plan::Device& d : devices_) {
    if (is_reference(*d.backend)) return d;
  }
  fail(NEF_BACKEND_UNAVAILABLE, "backend", "the reference backend is not linked in");
}

std::vector<const DeviceRecord*> Registry::records() const {
  std::lock_guard lock(mutex_);
  std::vector<const DeviceRecord*> out;
  for (const DeviceRecord& r : records_) out.push_back(&r);
  return out;
}

}  // namespace nef::context
