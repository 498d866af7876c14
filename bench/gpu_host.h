// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/api.h"
#include "bench/rows.h"

namespace nef::bench {

// How long this thread waited for the GPU, and how long it took to launch, to queue copies and to
// note events: the driver's functions are timed once they have been told to. The clock costs time
// too, so what is not looked at is not timed.
class HostTimes {
 public:
  static void time_waits() {
    auto& calls = driver_calls();
    time<&gpu::DriverCalls::event_synchronize>(calls, waited_);
    time<&gpu::DriverCalls::stream_synchronize>(calls, waited_);
  }
  static void time_launches() {
    auto& calls = driver_calls();
    time<&gpu::DriverCalls::graph_launch>(calls, launched_);
    time<&gpu::DriverCalls::to_device>(calls, queued_);
    time<&gpu::DriverCalls::to_host>(calls, queued_);
    time<&gpu::DriverCalls::event_record>(calls, queued_);
    time<&gpu::DriverCalls::stream_wait>(calls, queued_);
  }
  static void reset() { waited_ = launched_ = queued_ = 0; }
  static double waited() { return waited_; }
  static double launched() { return launched_; }
  static double queued() { return queued_; }

 private:
  static gpu::DriverCalls& driver_calls() {
    return const_cast<cuda::DriverApi&>(cuda::driver()).calls;
  }
  template <auto kMember, typename... P>
  struct Timed {
    static inline cuda::CUresult (*real)(P...) = nullptr;
    static inline double* sum = nullptr;
    static cuda::CUresult call(P... p) {
      const double begin = now();
      const cuda::CUresult result = real(p...);
      *sum += now() - begin;
      return result;
    }
  };
  template <auto kMember, typename Table>
  static void time(Table& table, double& sum) {
    wrap<kMember>(table.*kMember, sum);
  }
  template <auto kMember, typename... P>
  static void wrap(cuda::CUresult (*&function)(P...), double& sum) {
    using Wrapper = Timed<kMember, P...>;
    if (Wrapper::real != nullptr) return;
    Wrapper::real = function;
    Wrapper::sum = &sum;
    function = Wrapper::call;
  }

  static inline double waited_ = 0, launched_ = 0, queued_ = 0;
};

}  // namespace nef::bench
