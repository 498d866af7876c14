// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "engine/runtime/float_mode.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace nef::runtime {

namespace {

constexpr int kSpins = 2000;  // about 20 us, then park
constexpr int64_t kSpinNanoseconds = 20'000;
constexpr int kChunksPerThread = 4;  // balance against uneven threads
constexpr int32_t kMaxThreads = 1024;

thread_local int32_t t_limit = 0;
thread_local bool t_inside = false;

std::atomic<ThreadPool*> g_pool{nullptr};
std::mutex g_pool_mutex;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

int64_t least_chunk(int64_t grain) { return std::max<int64_t>(1, grain / 8); }

int64_t nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int32_t from_environment() {
  const char* text = std::getenv("NEF_NUM_THREADS");
  if (text == nullptr) return 0;
  int32_t n = 0;
  const auto [end, ec] = std::from_chars(text, text + std::strlen(text), n);
  return ec == std::errc() && *end == '\0' && n > 0 ? std::min(n, kMaxThreads) : 0;
}

int32_t from_affinity() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

// The cgroup v2 quota in whole CPUs, rounded up; 0 = none.
int32_t from_cgroup() {
  std::FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "re");
  if (f == nullptr) return 0;
  long long quota = 0, period = 0;
  const int n = std::fscanf(f, "%lld %lld", &quota, &period);
  std::fclose(f);
  if (n != 2 || quota <= 0 || period <= 0) return 0;
  return static_cast<int32_t>((quota + period - 1) / period);
}

int32_t pool_size() {
  if (const int32_t n = from_environment(); n > 0) return n;
  const int32_t quota = from_cgroup();
  const int32_t cpus = from_affinity();
  return std::min(kMaxThreads, quota > 0 ? std::min(quota, cpus) : cpus);
}

// The child has none of the parent's workers; the old pool is left behind, whatever its locks.
void after_fork_in_child() { g_pool.store(nullptr, std::memory_order_relaxed); }
void before_fork() { g_pool_mutex.lock(); }
void after_fork_in_parent() { g_pool_mutex.unlock(); }
void after_fork_in_child_unlock() {
  after_fork_in_child();
  g_pool_mutex.unlock();
}

}  // namespace

ThreadLimit::ThreadLimit(int32_t most) : before_(t_limit) { t_limit = most; }
ThreadLimit::~ThreadLimit() { t_limit = before_; }

ThreadPool& ThreadPool::shared() {
  ThreadPool* pool = g_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  std::lock_guard lock(g_pool_mutex);
  pool = g_pool.load(std::memory_order_acquire);
  if (pool != nullptr) return *pool;
  static const int registered =
      pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child_unlock);
  (void)registered;
  pool = new ThreadPool(pool_size());  // never destroyed: workers may outlive static storage
  g_pool.store(pool, std::memory_order_release);
  return *pool;
}

ThreadPool::ThreadPool(int32_t threads) : threads_(threads) {
  try {
    for (int32_t i = 1; i < threads_; ++i) std::thread([this, i] { worker(i); }).detach();
  } catch (const std::system_error&) {
    // The system is out of threads: the callers then do more of the work themselves.
  }
}

void ThreadPool::run_chunks(const Job& job, int32_t part) {
  for (int32_t i = 0; i < job.parts; ++i) {
    Part& own = parts_[(part + i) % job.parts];
    while (own.next.load(std::memory_order_relaxed) < own.end) {
      const int64_t at = own.next.fetch_add(1, std::memory_order_relaxed);
      if (at >= own.end) break;
      job.fn(job.arg, at * job.chunk, std::min(job.n, (at + 1) * job.chunk));
    }
  }
}

void ThreadPool::worker(int32_t id) {
  t_inside = true;
  uint32_t seen = 0;
  while (true) {
    uint32_t now = generation_.load(std::memory_order_acquire);
    for (int spin = 0; now == seen && spin < kSpins; ++spin) {
      pause();
      now = generation_.load(std::memory_order_acquire);
    }
    if (now == seen) {
      parked_.fetch_add(1, std::memory_order_seq_cst);
      generation_.wait(seen, std::memory_order_seq_cst);
      parked_.fetch_sub(1, std::memory_order_relaxed);
      continue;
    }
    seen = now;
    Job job;
    int32_t part;
    {
      std::lock_guard lock(mutex_);
      if (!open_ || joined_ + 1 == job_.threads) continue;
      ++joined_;
      active_.fetch_add(1, std::memory_order_relaxed);
      job = job_;
      part = (job.threads == threads_ ? id : joined_) * job.parts / job.threads;
    }
    {
      const FlushSubnormals mode(job.flush);
      run_chunks(job, part);
    }
    active_.fetch_sub(1, std::memory_order_release);
  }
}

// A small loop is shared when others are awake. If small ones follow each other so closely that
// threads would not have parked between them, it is worth waking them.
bool ThreadPool::worth_sharing(int64_t n, int64_t grain) {
  if (n > grain) return true;
  if (n <= least_chunk(grain)) return false;
  if (parked_.load(std::memory_order_relaxed) < threads_ - 1) return true;
  const int64_t now = nanoseconds();
  return now - last_small_.exchange(now, std::memory_order_relaxed) < kSpinNanoseconds;
}

void ThreadPool::parallel_for(int64_t n, int64_t grain, Fn fn, void* arg) {
  if (n <= 0) return;
  grain = std::max<int64_t>(1, grain);
  const int32_t threads = t_limit > 0 ? std::min(t_limit, threads_) : threads_;
  if (t_inside || threads == 1 || !worth_sharing(n, grain) || !caller_.try_lock()) {
    return fn(arg, 0, n);
  }
  const int64_t wanted = static_cast<int64_t>(threads) * kChunksPerThread;
  const int64_t chunk = std::max(n > grain ? grain : least_chunk(grain), (n + wanted - 1) / wanted);
  share({fn, arg, n, chunk, threads, std::min(threads, kMostParts), flushes_subnormals()});
  caller_.unlock();
}

void ThreadPool::share(const Job& job) {
  {
    std::lock_guard lock(mutex_);
    job_ = job;
    joined_ = 0;
    open_ = true;
    const int64_t chunks = (job.n + job.chunk - 1) / job.chunk;
    for (int32_t i = 0; i < job.parts; ++i) {
      Part& part = parts_[i];
      part.next.store(chunks * i / job.parts, std::memory_order_relaxed);
      part.end = chunks * (i + 1) / job.parts;
    }
  }
  generation_.fetch_add(1, std::memory_order_seq_cst);
  if (parked_.load(std::memory_order_seq_cst) > 0) generation_.notify_all();
  t_inside = true;
  run_chunks(job, 0);
  t_inside = false;
  {
    std::lock_guard lock(mutex_);
    open_ = false;
  }
  for (int spin = 0; active_.load(std::memory_order_acquire) != 0; ++spin) {
    if (spin < kSpins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace nef::runtime
