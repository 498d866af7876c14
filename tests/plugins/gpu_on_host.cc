// SPDX-License-Identifier: Apache-2.0
// The GPU kernels without a GPU: a device that compiles their text as plain C++ and runs every
// thread of a grid on the host, those of a block as coroutines that meet at barriers. Slow, and
// exact.
#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include "backends/gpu/source.h"
#include "backends/gpu/table.h"

// Copies that came behind a replay and waited for nothing else.
extern "C" {
__attribute__((visibility("default"))) std::atomic<int> nef_test_replay_copies{0};
}

namespace nef::gpu {
namespace {

struct Index {
  unsigned x, y, z;
};

// What a compiled kernel library offers beside its kernels.
struct Library {
  void* handle = nullptr;
  Index *thread = nullptr, *block = nullptr, *threads = nullptr, *blocks = nullptr;
  void (**barrier)() = nullptr;
  bool meets = false;  // its kernels have barriers
};

// The threads of one block, in turns from barrier to barrier.
class Block {
 public:
  static void run(const Library& lib, void (*kernel)(const void*), const void* params,
                  unsigned threads) {
    Block block(lib, kernel, params, threads);
    current_ = &block;
    *lib.barrier = [] { current_->yield(); };
    block.run_all();
  }

 private:
  static constexpr size_t kStack = size_t{64} << 10;
  Block(const Library& lib, void (*kernel)(const void*), const void* params, unsigned threads)
      : lib_(lib), kernel_(kernel), params_(params), done_(threads, false), contexts_(threads) {
    if (stacks_.size() < threads * kStack) stacks_.resize(threads * kStack);
  }
  void yield() { swapcontext(&contexts_[at_], &home_); }
  static void body() {
    Block& b = *current_;
    b.kernel_(b.params_);
    b.done_[b.at_] = true;
  }
  void run_all() {
    const auto n = static_cast<unsigned>(contexts_.size());
    for (unsigned t = 0; t < n; ++t) {
      getcontext(&contexts_[t]);
      contexts_[t].uc_stack.ss_sp = stacks_.data() + t * kStack;
      contexts_[t].uc_stack.ss_size = kStack;
      contexts_[t].uc_link = &home_;
      makecontext(&contexts_[t], body, 0);
    }
    for (unsigned left = n; left > 0;) {
      const unsigned before = left;
      left = 0;
      for (at_ = 0; at_ < n; ++at_) {
        if (done_[at_]) continue;
        lib_.thread->x = at_;
        swapcontext(&home_, &contexts_[at_]);
        left += done_[at_] ? 0 : 1;
      }
      // All threads of a block meet at a barrier, or none.
      if (left != 0 && left != before) std::abort();
    }
  }

  static inline Block* current_ = nullptr;
  static inline std::vector<char> stacks_;
  const Library& lib_;
  void (*kernel_)(const void*);
  const void* params_;
  std::vector<bool> done_;
  std::vector<ucontext_t> contexts_;
  ucontext_t home_{};
  unsigned at_ = 0;
};

class HostModule : public Module {
 public:
  explicit HostModule(const std::vector<uint8_t>& code) {
    static std::atomic<int> serial{0};
    const std::string path =
        "/tmp/nef-gpu-" + std::to_string(getpid()) + "-" + std::to_string(serial++) + ".so";
    FILE* f = std::fopen(path.c_str(), "wb");
    if (f == nullptr) throw BackendError(NEF_IO, "cannot write " + path);
    std::fwrite(code.data(), 1, code.size(), f);
    std::fclose(f);
    lib_.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    unlink(path.c_str());
    if (lib_.handle == nullptr) throw BackendError(NEF_COMPILE_FAILED, dlerror());
    find("nef_thread", lib_.thread);
    find("nef_block", lib_.block);
    find("nef_threads", lib_.threads);
    find("nef_blocks", lib_.blocks);
    find("nef_barrier_fn", lib_.barrier);
    lib_.meets = dlsym(lib_.handle, "nef_has_barriers") != nullptr;
  }
  ~HostModule() override { dlclose(lib_.handle); }
  struct Entry {
    const Library* library;
    void (*kernel)(const void*);
  };
  void* function(const char* name) override {
    std::lock_guard lock(mutex_);
    for (const auto& [known, entry] : entries_) {
      if (known == name) return entry.get();
    }
    auto entry = std::make_unique<Entry>();
    entry->library = &lib_;
    find(name, entry->kernel);
    entries_.emplace_back(name, std::move(entry));
    return entries_.back().second.get();
  }

 private:
  template <typename T>
  void find(const char* name, T& out) {
    void* p = dlsym(lib_.handle, name);
    if (p == nullptr) throw BackendError(NEF_INTERNAL, std::string("no symbol ") + name);
    std::memcpy(&out, &p, sizeof p);
  }
  Library lib_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::unique_ptr<Entry>>> entries_;
};

// Where launches that this thread notes are to note their faults.
thread_local Fault* noted_fault = nullptr;

// Work on a stream beside the first one is done as late as it may be, so that what does not wait
// for it, or takes its memory, is found out.
class HostStream : public Stream {
 public:
  // The first stream is every thread's.
  void synchronize() override { run_to(added()); }
  void* fault_on_device() override { return noted_fault == nullptr ? &fault_ : noted_fault; }
  Fault& fault() override { return fault_; }
  void add(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  // Work so far, and all of that done.
  size_t added() {
    std::lock_guard lock(mutex_);
    return done_ + work_.size();
  }
  void run_to(size_t count) {
    for (;;) {
      std::function<void()> work;
      {
        std::lock_guard lock(mutex_);
        if (done_ >= count) return;
        work = std::move(work_.front());
        work_.pop_front();
        ++done_;
      }
      work();
    }
  }

 private:
  std::mutex mutex_;
  std::deque<std::function<void()>> work_;
  size_t done_ = 0;
  Fault fault_;
};

class HostDevice : public Device {
 public:
  HostDevice() {
    info_.description = "GPU kernels on the host";
    info_.arch = info_.build = "host";
    info_.flops = 1e13;
    info_.bytes = 1e12;
    info_.link_bytes = 1e10;
    info_.launch_seconds = 1e-5;
  }
  const DeviceInfo& info() const override { return info_; }
  void* alloc(size_t bytes) override {
    void* p = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
    if (p == nullptr) throw BackendError(NEF_DEVICE_OUT_OF_MEMORY, "no memory");
    return p;
  }
  void free(void* ptr) override { std::free(ptr); }
  void* host_alloc(size_t bytes) override { return alloc(bytes); }
  void host_free(void* ptr) override { std::free(ptr); }
  void copy(void* dst, const void* src, size_t bytes, nef_copy_kind) override {
    std::memcpy(dst, src, bytes);
  }
  void copy_to_host(void* dst, const void* src, size_t bytes, Stream& stream) override {
    queue(stream, [=] { std::memcpy(dst, src, bytes); });
  }
  void copy_on_device(void* dst, const void* src, size_t bytes, Stream& stream) override {
    queue(stream, [=] { std::memcpy(dst, src, bytes); });
  }
  void wait(Stream& stream, Stream& other) override {
    // What is noted is done in the order in which it came.
    if (noting_) return;
    auto& before = static_cast<HostStream&>(other);
    queue(stream, [&before, count = before.added()] { before.run_to(count); });
  }
  void evict() override {}
  uint64_t memory_available() override { return 0; }
  Stream& default_stream() override { return stream_; }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<HostStream>(); }

  std::vector<uint8_t> build(const std::string& source) override {
    // For compilers of real devices to look at.
    if (const char* keep = std::getenv("NEF_TEST_GPU_SOURCES")) {
      const std::string name =
          std::string(keep) + "/" + std::to_string(std::hash<std::string>()(source));
      if (FILE* f = std::fopen((name + ".cu").c_str(), "w")) {
        std::fputs(source.c_str(), f);
        std::fclose(f);
      }
    }
    char folder[] = "/tmp/nef-gpu-XXXXXX";
    if (mkdtemp(folder) == nullptr) throw BackendError(NEF_IO, "no folder for kernels");
    const std::string base = std::string(folder) + "/k";
    FILE* f = std::fopen((base + ".cc").c_str(), "w");
    if (f == nullptr) throw BackendError(NEF_IO, "cannot write " + base);
    std::fputs("#define NEF_HOST 1\n#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n", f);
    std::fputs(source.c_str(), f);
    // Kernels behind the prelude meet at barriers when they, or the prelude's functions they call,
    // do.
    const std::string_view text = std::string_view(source).substr(std::strlen(kPrelude));
    if (text.find("__syncthreads") != text.npos || text.find("join_line") != text.npos) {
      std::fputs("extern \"C\" { int nef_has_barriers = 1; }\n", f);
    }
    std::fclose(f);
    const char* compiler = std::getenv("NEF_TEST_CXX");
    const std::string command =
        std::string(compiler == nullptr ? "c++" : compiler) +
        " -std=c++20 -O1 -w -ffp-contract=off -fno-exceptions -fPIC -shared -o " + base + ".so " +
        base + ".cc -lm 2> " + base + ".log";
    const int status = std::system(command.c_str());
    const std::string log = read(base + ".log");
    const std::string code = read(base + ".so");
    const std::string remove = std::string("rm -rf ") + folder;
    if (status != 0) throw BackendError(NEF_COMPILE_FAILED, log.substr(0, 400));
    if (std::system(remove.c_str()) != 0) throw BackendError(NEF_IO, "cannot remove a folder");
    return {code.begin(), code.end()};
  }
  std::unique_ptr<Module> load(const std::vector<uint8_t>& code) override {
    return std::make_unique<HostModule>(code);
  }

  void launch(void* function, const Grid& grid, const void* params, size_t bytes,
              Stream& stream) override {
    // As CUDA does, the parameters are taken as they are now.
    std::vector<char> own(static_cast<const char*>(params),
                          static_cast<const char*>(params) + bytes);
    queue(stream, [this, function, grid, own] { run(function, grid, own); });
  }
  void record() override {
    noting_.emplace();
    noting_for_ = std::make_unique<Fault>();
    noted_fault = noting_for_.get();
  }
  std::unique_ptr<Recording> recorded() override {
    auto out = std::make_unique<HostRecording>(std::move(*noting_), std::move(noting_for_));
    noting_.reset();
    noted_fault = nullptr;
    return out;
  }
  bool has_gemm(nef_dtype) const override { return false; }
  void gemm(const Gemm&, Stream&) override { throw BackendError(NEF_INTERNAL, "no library"); }

 private:
  using Work = std::vector<std::function<void()>>;
  class HostRecording : public Recording {
   public:
    HostRecording(Work work, std::unique_ptr<Fault> fault)
        : work_(std::move(work)), fault_(std::move(fault)) {}
    void launch() override {
      for (const auto& w : work_) w();
    }
    void run() override { launch(); }
    void copy_to_host(void* dst, const void* src, size_t bytes) override {
      ++nef_test_replay_copies;
      std::memcpy(dst, src, bytes);
    }
    Fault& fault() override { return *fault_; }

   private:
    Work work_;
    std::unique_ptr<Fault> fault_;
  };
  void queue(Stream& stream, std::function<void()> work) {
    if (noting_) noting_->push_back(std::move(work));
    else if (&stream != &stream_) static_cast<HostStream&>(stream).add(std::move(work));
    else work();
  }
  void run(void* function, const Grid& grid, std::vector<char> own) {
    const auto& entry = *static_cast<HostModule::Entry*>(function);
    const Library& lib = *entry.library;
    std::lock_guard lock(mutex_);
    *lib.threads = {grid.threads, 1, 1};
    *lib.blocks = {static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y), 1};
    *lib.thread = {0, 0, 0};
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        *lib.block = {x, y, 0};
        if (lib.meets) {
          Block::run(lib, entry.kernel, own.data(), grid.threads);
          continue;
        }
        for (unsigned t = 0; t < grid.threads; ++t) {
          lib.thread->x = t;
          entry.kernel(own.data());
        }
      }
    }
  }
  static std::string read(const std::string& path) {
    std::string out;
    if (FILE* f = std::fopen(path.c_str(), "rb")) {
      char part[4096];
      for (size_t n; (n = std::fread(part, 1, sizeof part, f)) > 0;) out.append(part, n);
      std::fclose(f);
    }
    return out;
  }
  static inline thread_local std::optional<Work> noting_;
  static inline thread_local std::unique_ptr<Fault> noting_for_;
  DeviceInfo info_;
  HostStream stream_;
  std::mutex mutex_;
};

class HostPlatform : public Platform {
 public:
  void open() override { device_ = std::make_unique<HostDevice>(); }
  size_t count() const override { return 1; }
  Device& device(size_t) override { return *device_; }

 private:
  std::unique_ptr<HostDevice> device_;
};

Backend& the_backend() {
  static HostPlatform platform;
  static Backend backend(platform);
  return backend;
}

}  // namespace
}  // namespace nef::gpu

extern "C" __attribute__((visibility("default"))) const nef_backend* nef_backend_entry(void) {
  static const nef_backend table = nef::gpu::make_table<nef::gpu::the_backend>("gpuhost", "1");
  return &table;
}
