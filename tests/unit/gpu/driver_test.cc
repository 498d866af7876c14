// SPDX-License-Identifier: Apache-2.0
// What a device asks of its vendor's driver, noted by functions in the driver's place.
#include "backends/gpu/driver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace nef::gpu {
namespace {

// Handles are addresses of these; each is handed out once.
char handles[256];
size_t handles_given = 0;
void* stream_that_captures = nullptr;
Fault faults[128];
std::set<void*> events_of_captures, events_waited_for, other_events;

int make_handle(void** out) {
  *out = &handles[handles_given++];
  return 0;
}

DriverCalls noting_calls() {
  DriverCalls c;
  c.stream_create = [](void** out, unsigned) { return make_handle(out); };
  c.stream_destroy = [](void*) { return 0; };
  c.stream_synchronize = [](void*) { return 0; };
  c.stream_wait = [](void*, void*, unsigned) { return 0; };
  c.event_create = [](void** out, unsigned) { return make_handle(out); };
  c.event_record = [](void* event, void* stream) {
    (stream == stream_that_captures ? events_of_captures : other_events).insert(event);
    return 0;
  };
  c.event_synchronize = [](void* event) {
    events_waited_for.insert(event);
    return 0;
  };
  c.to_host = [](void*, void*, size_t, void*) { return 0; };
  c.host_alloc = [](void** out, size_t bytes, unsigned) {
    *out = faults;
    return bytes <= sizeof faults ? 0 : kOutOfMemory;
  };
  c.host_free = [](void*) { return 0; };
  c.host_pointer = [](void** out, void* host, unsigned) {
    *out = host;
    return 0;
  };
  c.capture_begin = [](void* stream, int) {
    stream_that_captures = stream;
    return 0;
  };
  c.capture_end = [](void*, void** graph) {
    stream_that_captures = nullptr;
    return make_handle(graph);
  };
  c.graph_instantiate = [](void** out, void*, unsigned long long) { return make_handle(out); };
  c.graph_free = [](void*) { return 0; };
  c.graph_exec_free = [](void*) { return 0; };
  return c;
}

class NotingDevice : public DriverDevice {
 public:
  NotingDevice(const DriverCalls& calls, PinnedRanges& pinned)
      : DriverDevice(calls, pinned, 0, UINT64_MAX) {}
  std::vector<uint8_t> build(const std::string&) override { return {}; }
  void launch(void*, const Grid&, const void*, size_t, Stream&) override {}
  void check(int result, const char* what) const override {
    if (result != 0) throw BackendError(NEF_INTERNAL, what);
  }

 private:
  int64_t enter() override { return 0; }
  void leave(int64_t) override {}
  std::unique_ptr<BlasLt> open_blas() const override {
    throw BackendError(NEF_BACKEND_UNAVAILABLE, "there is no library");
  }
};

// CUDA's driver crashed where another thread recorded an event that a capture had.
TEST(Driver, EventsOfACaptureAreNotRecordedElsewhere) {
  static const DriverCalls calls = noting_calls();
  static PinnedRanges pinned;
  static auto& device = *new NotingDevice(calls, pinned);  // devices are never destroyed
  char host[8] = {};
  pinned.add(host, sizeof host);
  const auto side = device.make_stream();
  const auto use_events = [&] {
    device.copy(host, host, sizeof host, NEF_COPY_DEVICE_TO_HOST);
    device.wait(*side, device.default_stream());
  };

  use_events();
  device.record();
  device.wait(*side, device.default_stream());
  device.wait(*side, device.default_stream());
  const auto recording = device.recorded();
  use_events();

  EXPECT_FALSE(events_of_captures.empty());
  EXPECT_FALSE(events_waited_for.empty());
  for (void* event : events_of_captures) EXPECT_FALSE(other_events.contains(event));
}

// What copies to the host were given last.
void *copied_to = nullptr, *copied_by = nullptr;
char outlet[1 << 20];
bool pins_outlets = true;

// Results leave through pinned memory by another stream than the one that runs are launched on;
// where none is to be had, as the driver does it.
TEST(Driver, ResultsLeaveByAStreamOfTheirOwn) {
  static DriverCalls calls = noting_calls();
  calls.host_alloc = [](void** out, size_t bytes, unsigned) {
    *out = bytes == sizeof outlet ? static_cast<void*>(outlet) : faults;
    return bytes != sizeof outlet || pins_outlets ? 0 : kOutOfMemory;
  };
  calls.to_host = [](void* dst, void* src, size_t bytes, void* stream) {
    copied_to = dst;
    copied_by = stream;
    std::memcpy(dst, src, bytes);
    return 0;
  };
  static PinnedRanges pinned;
  static auto& device = *new NotingDevice(calls, pinned);  // devices are never destroyed
  void* const launches = static_cast<DriverStream&>(device.default_stream()).get();
  const std::string there = "what a run computed";
  for (const bool pins : {false, true}) {
    pins_outlets = pins;
    std::string here(there.size(), '?');
    device.copy(here.data(), there.data(), there.size(), NEF_COPY_DEVICE_TO_HOST);
    EXPECT_EQ(here, there);
    EXPECT_EQ(copied_to, pins ? static_cast<void*>(outlet) : here.data());
    EXPECT_EQ(copied_by == launches, !pins);
  }
}

// Where an outlet cannot be made whole, what there is of it goes, and the next copy makes one.
TEST(Driver, AnOutletThatFailsLeavesNothingBehind) {
  static bool makes_streams = true, makes_events = true;
  static std::set<void*> memory, streams;
  static DriverCalls calls = noting_calls();
  calls.host_alloc = [](void** out, size_t bytes, unsigned) {
    *out = bytes == sizeof outlet ? static_cast<void*>(outlet) : faults;
    if (*out == outlet) memory.insert(*out);
    return 0;
  };
  calls.host_free = [](void* p) {
    memory.erase(p);
    return 0;
  };
  calls.stream_create = [](void** out, unsigned) {
    if (!makes_streams) return 1;
    make_handle(out);
    streams.insert(*out);
    return 0;
  };
  calls.stream_destroy = [](void* stream) {
    streams.erase(stream);
    return 0;
  };
  calls.event_create = [](void** out, unsigned) { return makes_events ? make_handle(out) : 1; };
  static PinnedRanges pinned;
  static auto& device = *new NotingDevice(calls, pinned);  // devices are never destroyed
  device.default_stream();
  char from[8] = {}, to[8] = {};
  const auto copy = [&] { device.copy(to, from, sizeof to, NEF_COPY_DEVICE_TO_HOST); };
  for (bool* makes : {&makes_streams, &makes_events}) {
    *makes = false;
    EXPECT_THROW(copy(), BackendError);
    EXPECT_TRUE(memory.empty());
    EXPECT_EQ(streams.size(), 1);  // that of launches
    *makes = true;
  }
  copy();
  EXPECT_EQ(memory.size(), 1);
  EXPECT_EQ(streams.size(), 2);
}

// What a replay made leaves behind that replay, whatever other threads have queued since.
TEST(Driver, ResultsOfAReplayWaitForNothingBehindIt) {
  static void *recorded_last = nullptr, *recorded_on = nullptr, *waited_for = nullptr;
  static DriverCalls calls = noting_calls();
  calls.host_alloc = [](void** out, size_t bytes, unsigned) {
    *out = bytes == sizeof outlet ? static_cast<void*>(outlet) : faults;
    return 0;
  };
  calls.event_record = [](void* event, void* stream) {
    recorded_last = event;
    recorded_on = stream;
    return 0;
  };
  calls.stream_wait = [](void*, void* event, unsigned) {
    waited_for = event;
    return 0;
  };
  calls.to_host = [](void* dst, void* src, size_t bytes, void*) {
    std::memcpy(dst, src, bytes);
    return 0;
  };
  calls.graph_launch = [](void*, void*) { return 0; };
  static PinnedRanges pinned;
  static auto& device = *new NotingDevice(calls, pinned);  // devices are never destroyed
  Stream& launches = device.default_stream();
  device.record();
  const auto recording = device.recorded();
  recording->launch();
  EXPECT_EQ(recorded_on, static_cast<DriverStream&>(launches).get());
  void* const behind_replay = recorded_last;
  const auto side = device.make_stream();
  device.wait(*side, launches);  // notes what is queued by then
  recorded_last = nullptr;

  const std::string there = "a result";
  std::string plain(there.size(), '?'), in_pinned_memory = plain;
  pinned.add(in_pinned_memory.data(), in_pinned_memory.size());
  for (std::string* here : {&plain, &in_pinned_memory}) {
    waited_for = nullptr;
    recording->copy_to_host(here->data(), there.data(), there.size());
    EXPECT_EQ(*here, there);
    EXPECT_EQ(waited_for, behind_replay);
    EXPECT_EQ(recorded_last, nullptr);
  }
  // More than an outlet holds leaves in pieces, also by a stream of its own.
  const std::string large((size_t{2} << 20) + 5, 'x');
  std::string here(large.size(), '?');
  recording->copy_to_host(here.data(), large.data(), large.size());
  EXPECT_EQ(here, large);
  EXPECT_NE(recorded_on, static_cast<DriverStream&>(launches).get());

  // Who has nothing to fetch waits for the same event.
  events_waited_for.clear();
  recording->run();
  EXPECT_EQ(recorded_last, behind_replay);
  EXPECT_EQ(events_waited_for, std::set<void*>{behind_replay});
}

}  // namespace
}  // namespace nef::gpu
