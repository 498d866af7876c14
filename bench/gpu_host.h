// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/api.h"
#include "bench/rows.h"

namespace nef::bench {

// How long this thread waited for the GPU, and how long it took to launch, to queue copies and to
// note events: the driver's functions are timed from here on.
class HostTimes {
 public:
  HostTimes() {
    auto& driver = const_cast<cuda::DriverApi&>(cuda::driver());
    time<&gpu::DriverCalls::event_synchronize>(driver.calls, waited_);
    time<&gpu::DriverCalls::stream_synchronize>(driver.calls, waited_);
    time<&gpu::DriverCalls::to_host>(driver.calls, waited_);  // waits where memory is not pinned
    time<&gpu::DriverCalls::graph_launch>(driver.calls, launched_);
    time<&gpu::DriverCalls::to_device>(driver.calls, queued_);
    time<&gpu::DriverCalls::event_record>(driver.calls, queued_);
  }
  static void reset() { waited_ = launched_ = queued_ = 0; }
  static double waited() { return waited_; }
  static double launched() { return launched_; }
  static double queued() { return queued_; }

 private:
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
