// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace nef::runtime {

// The process's one pool of workers. The caller of parallel_for takes part; workers spin briefly
// for the next job, then park. One job at a time: a second caller, or a nested call, runs its
// loop alone. Each thread begins with the same part of every loop, so that what one job left in its
// cache is there for the next, and then helps the others. Workers treat subnormal numbers as the
// caller's thread does. A forked child gets a pool of its own on first use.
class ThreadPool {
 public:
  using Fn = void (*)(void* arg, int64_t begin, int64_t end);

  static ThreadPool& shared();
  // Workers plus the caller: NEF_NUM_THREADS, else what affinity and the cgroup's quota leave.
  int32_t threads() const { return threads_; }
  // Runs fn over [0, n) in chunks of at least `grain`, which is worth waking a thread for. Up to
  // that, loops are shared with threads that are awake only, in chunks down to an eighth of it.
  void parallel_for(int64_t n, int64_t grain, Fn fn, void* arg);

 private:
  // A loop cut into chunks, of which each thread begins with a part; where there are many threads,
  // some share one.
  struct Job {
    Fn fn;
    void* arg;
    int64_t n, chunk;
    int32_t threads, parts;
    bool flush;
  };
  static constexpr int32_t kMostParts = 16;
  // What is left of a part: chunks [next, end).
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  explicit ThreadPool(int32_t threads);
  void worker(int32_t id);
  void run_chunks(const Job& job, int32_t part);
  bool worth_sharing(int64_t n, int64_t grain);
  void share(const Job& job);

  const int32_t threads_;
  std::mutex caller_;  // held by the caller of the current job
  std::mutex mutex_;   // guards the job and joining it
  Job job_{};
  int32_t joined_ = 0;
  bool open_ = false;
  Part parts_[kMostParts];
  std::atomic<int64_t> last_small_{0};
  alignas(64) std::atomic<int32_t> active_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};
  std::atomic<int32_t> parked_{0};
};

// Most threads that loops started by this thread use, while it lives; 0 = all.
class ThreadLimit {
 public:
  explicit ThreadLimit(int32_t most);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int32_t before_;
};

}  // namespace nef::runtime
