// SPDX-License-Identifier: Apache-2.0
// What a launch and the link to the host cost, on the device at hand: a few milliseconds.
#include <algorithm>
#include <array>
#include <chrono>

#include "backends/gpu/driver.h"

namespace nef::gpu {
namespace {

constexpr size_t kSmall = size_t{64} << 10, kLarge = size_t{1} << 20, kMost = size_t{4} << 20;
constexpr int kSamples = 7, kLaunches = 32;
constexpr double kMostSeconds = 0.05;  // of all of it

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Measurement {
 public:
  // The stream comes last: what it is used with is there by then.
  explicit Measurement(DriverDevice& device)
      : device_(device),
        memory_(device.alloc(kMost)),
        host_(device.host_alloc(kMost)),
        stream_(device.make_stream()) {}
  ~Measurement() {
    stream_.reset();
    device_.host_free(host_);
    device_.free(memory_);
  }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  MeasuredCosts run() {
    const Link in = link([&](size_t n) { return calls().to_device(memory_, host_, n, stream()); });
    const Link out = link([&](size_t n) { return calls().to_host(host_, memory_, n, stream()); });
    MeasuredCosts costs;
    costs.link_seconds = (in.seconds + out.seconds) / 2;
    costs.link_bytes = 2 / (1 / in.bytes + 1 / out.bytes);
    costs.launch_seconds = launch();
    return costs;
  }

 private:
  struct Link {
    double seconds, bytes;  // of the smallest copy, per second beyond
  };
  const DriverCalls& calls() const { return device_.calls(); }
  void* stream() const { return static_cast<DriverStream&>(*stream_).get(); }

  // Median seconds of what `queue` queues, until it is done.
  template <typename Queue>
  double time(const Queue& queue) {
    std::array<double, kSamples> samples{};
    for (int i = -1; i < kSamples; ++i) {  // the first one warms up
      const double begin = now();
      if (begin - begin_ > kMostSeconds) {
        throw BackendError(NEF_INTERNAL, "measuring took longer than 50 ms");
      }
      queue();
      stream_->synchronize();
      if (i >= 0) samples[static_cast<size_t>(i)] = now() - begin;
    }
    std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
    return samples[kSamples / 2];
  }
  template <typename Copy>
  Link link(const Copy& copy) {
    const DriverDevice::Current current(device_);
    const auto seconds = [&](size_t n) {
      return time([&] { device_.check(copy(n), "a copy that is timed"); });
    };
    const double small = seconds(kSmall), large = seconds(kLarge), most = seconds(kMost);
    if (most <= large) {
      throw BackendError(NEF_INTERNAL, "4 MiB were copied in less time than 1 MiB");
    }
    const double bytes = static_cast<double>(kMost - kLarge) / (most - large);
    return {std::max(1e-7, small - static_cast<double>(kSmall) / bytes), bytes};
  }
  // The smallest piece of work on the device stands for a kernel, which would have to be compiled.
  double launch() {
    const DriverDevice::Current current(device_);
    auto* to = static_cast<char*>(memory_) + kSmall;
    return time([&] {
             for (int i = 0; i < kLaunches; ++i) {
               device_.check(calls().on_device(to, memory_, 64, stream()), "a launch");
             }
           }) /
           kLaunches;
  }

  DriverDevice& device_;
  const double begin_ = now();
  void* const memory_;
  void* const host_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace

MeasuredCosts DriverDevice::measure() { return Measurement(*this).run(); }

}  // namespace nef::gpu
