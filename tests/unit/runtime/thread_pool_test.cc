// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

namespace nef::runtime {
namespace {

// A pool of four, whatever the machine has. It is read when the pool is made, that is before any
// test of this program uses it.
const int kSet = ::setenv("NEF_NUM_THREADS", "4", 1);

class Pool : public ::testing::Test {
 protected:
  ThreadPool& pool = ThreadPool::shared();
};

struct Hits {
  explicit Hits(size_t n) : count(n) {}
  std::vector<std::atomic<int>> count;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  int calls = 0;

  static void run(void* self, int64_t begin, int64_t end) {
    auto& h = *static_cast<Hits*>(self);
    for (int64_t i = begin; i < end; ++i) h.count[static_cast<size_t>(i)].fetch_add(1);
    std::lock_guard lock(h.mutex);
    h.threads.insert(std::this_thread::get_id());
    ++h.calls;
  }
  bool each_once() const {
    for (const auto& c : count) {
      if (c != 1) return false;
    }
    return true;
  }
};

TEST_F(Pool, HasTheSizeTheEnvironmentSays) {
  ASSERT_EQ(kSet, 0);
  EXPECT_EQ(pool.threads(), 4);
}

TEST_F(Pool, EachIndexOnce) {
  for (size_t n : {1u, 2u, 3u, 63u, 64u, 1000u, 100000u}) {
    for (int64_t grain : {1, 7, 1000}) {
      Hits hits(n);
      pool.parallel_for(static_cast<int64_t>(n), grain, Hits::run, &hits);
      EXPECT_TRUE(hits.each_once()) << n << ' ' << grain;
      EXPECT_LE(hits.threads.size(), 4u);
    }
  }
}

TEST_F(Pool, NothingToDoCallsNothing) {
  for (int64_t n : {0, -5}) {
    pool.parallel_for(
        n, 1, [](void*, int64_t, int64_t) { FAIL(); }, nullptr);
  }
}

TEST_F(Pool, ChunksAreNoSmallerThanTheGrain) {
  std::atomic<int64_t> smallest{1 << 30};
  pool.parallel_for(
      1000, 100,
      [](void* arg, int64_t begin, int64_t end) {
        auto& least = *static_cast<std::atomic<int64_t>*>(arg);
        int64_t seen = least;
        while (end < 1000 && end - begin < seen &&
               !least.compare_exchange_weak(seen, end - begin)) {
        }
      },
      &smallest);
  EXPECT_GE(smallest, 100);
}

TEST_F(Pool, SmallLoopsWakeNobody) {
  // Threads park at some time after the last loop; a small one is then left to its caller.
  for (int attempt = 0; attempt < 200; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Hits hits(100);
    pool.parallel_for(100, 100, Hits::run, &hits);
    ASSERT_TRUE(hits.each_once());
    if (hits.calls == 1) return;
  }
  FAIL() << "small loops were always shared";
}

// Hits whose first part, where there are others, is held open for longer than a busy processor
// keeps a thread waiting, so that another one comes.
struct Waits : Hits {
  using Hits::Hits;
  std::atomic<int> begun{0};

  static void run(void* self, int64_t begin, int64_t end) {
    auto& w = *static_cast<Waits*>(self);
    const bool whole = end - begin == static_cast<int64_t>(w.count.size());
    const auto late = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    ++w.begun;
    // Without giving its processor away: the others would be parked again before it comes back.
    while (!whole && w.begun < 2 && std::chrono::steady_clock::now() < late) continue;
    Hits::run(static_cast<Hits*>(&w), begin, end);
  }
};

TEST_F(Pool, SmallLoopsAreSharedWithThreadsThatAreAwake) {
  for (int attempt = 0; attempt < 2000; ++attempt) {
    Waits all(1000), small(100);
    pool.parallel_for(1000, 1, Waits::run, &all);
    pool.parallel_for(100, 100, Waits::run, &small);
    ASSERT_TRUE(all.each_once() && small.each_once());
    EXPECT_LE(small.calls, 9);  // an eighth of the grain, or what is left
    if (small.calls > 1) return;
  }
  FAIL() << "no small loop was shared";
}

TEST_F(Pool, NestedLoopsRunAlone) {
  struct Outer {
    ThreadPool* pool;
    std::atomic<int64_t> sum{0};
    std::atomic<int> split{0};
  } outer{&pool};
  pool.parallel_for(
      64, 1,
      [](void* arg, int64_t begin, int64_t end) {
        auto& o = *static_cast<Outer*>(arg);
        for (int64_t i = begin; i < end; ++i) {
          o.pool->parallel_for(
              1000, 1,
              [](void* inner, int64_t b, int64_t e) {
                auto& in = *static_cast<Outer*>(inner);
                in.sum += e - b;
                in.split += e - b != 1000;
              },
              &o);
        }
      },
      &outer);
  EXPECT_EQ(outer.sum, 64 * 1000);
  EXPECT_EQ(outer.split, 0);
}

TEST_F(Pool, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        Hits hits(500);
        pool.parallel_for(500, 1, Hits::run, &hits);
        wrong += !hits.each_once();
      }
    });
  }
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Pool, ALimitHoldsWhileItLives) {
  {
    const ThreadLimit one(1);
    Hits hits(1000);
    pool.parallel_for(1000, 1, Hits::run, &hits);
    EXPECT_TRUE(hits.each_once());
    EXPECT_EQ(hits.threads.size(), 1u);
    {
      const ThreadLimit two(2);
      Hits more(1000);
      pool.parallel_for(1000, 1, Hits::run, &more);
      EXPECT_LE(more.threads.size(), 2u);
    }
    Hits again(1000);
    pool.parallel_for(1000, 1, Hits::run, &again);
    EXPECT_EQ(again.threads.size(), 1u);
  }
}

TEST_F(Pool, AChildAfterForkHasAPoolOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in a forked child";
#endif
  Hits hits(1000);
  pool.parallel_for(1000, 1, Hits::run, &hits);
  for (int k = 0; k < 5; ++k) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(60);  // a child that hangs is a failure, not a hanging test
      Hits mine(1000);
      ThreadPool::shared().parallel_for(1000, 1, Hits::run, &mine);
      ::_exit(mine.each_once() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  Hits after(1000);
  pool.parallel_for(1000, 1, Hits::run, &after);
  EXPECT_TRUE(after.each_once());
}

}  // namespace
}  // namespace nef::runtime
