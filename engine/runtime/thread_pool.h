// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace nef::runtime {

// The process's one pool of workers. The caller of parallel_for takes part; workers spin briefly
// for the next job, then park. One job at a time: a second caller, or a nested call, runs its
// loop alone. Workers treat subnormal numbers as the caller's thread does. A forked child gets a
// pool of its own on first use.
class ThreadPool {
 public:
  using Fn = void (*)(void* arg, int64_t begin, int64_t end);

  static ThreadPool& shared();
  // Workers plus the caller: NEF_NUM_THREADS, else what affinity and the cgroup's quota leave.
  int32_t threads() const { return threads_; }
  // Runs fn over [0, n) in chunks of at least `grain`.
  void parallel_for(int64_t n, int64_t grain, Fn fn, void* arg);

 private:
  explicit ThreadPool(int32_t threads);
  void worker();
  void run_chunks(Fn fn, void* arg, int64_t n, int64_t chunk);

  const int32_t threads_;
  std::mutex caller_;  // held by the caller of the current job
  std::mutex job_;     // guards the fields of the job and joining it
  Fn fn_ = nullptr;
  void* arg_ = nullptr;
  int64_t n_ = 0, chunk_ = 0;
  int32_t joined_ = 0, most_ = 0;
  bool open_ = false, flush_ = false;
  alignas(64) std::atomic<int64_t> next_{0};
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
