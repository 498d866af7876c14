// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <regex>
#include <string>
#include <vector>

// The one form of all benchmark results: rows of name, value, unit, and a peer measured in the
// same call where there is one. Understands --json and --only REGEX.
namespace nef::bench {

struct Row {
  std::string name;
  double value = 0;
  std::string unit;
  std::string peer;  // "" = none
  double peer_value = 0;
  std::string note;
};

class Report {
 public:
  Report(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--json") == 0) json_ = true;
      if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) only_ = std::regex(argv[++i]);
    }
  }
  bool wants(const std::string& name) const { return std::regex_search(name, only_); }
  void print(const Row& r) const {
    const bool peer = !r.peer.empty();
    const double ratio = peer && r.value > 0 ? r.peer_value / r.value : 0;
    if (json_) {
      std::printf(
          "{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"peer\":\"%s\",\"peer_value\":%.6g,"
          "\"ratio\":%.4g,\"note\":\"%s\"}\n",
          r.name.c_str(), r.value, r.unit.c_str(), r.peer.c_str(), r.peer_value, ratio,
          r.note.c_str());
    } else if (peer) {
      std::printf("%-32s %12.4g %-4s  %s %.4g (%.2fx)  %s\n", r.name.c_str(), r.value,
                  r.unit.c_str(), r.peer.c_str(), r.peer_value, ratio, r.note.c_str());
    } else {
      std::printf("%-32s %12.4g %-4s  %s\n", r.name.c_str(), r.value, r.unit.c_str(),
                  r.note.c_str());
    }
    std::fflush(stdout);
  }

 private:
  bool json_ = false;
  std::regex only_{""};
};

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

// Median seconds of each run: they take turns for `seconds` apiece, so that a change of the
// machine's speed meets all of them.
inline std::vector<double> interleaved(const std::vector<std::function<void()>>& runs,
                                       double seconds) {
  std::vector<std::vector<double>> samples(runs.size());
  for (const auto& run : runs) run();
  const double all = seconds * static_cast<double>(runs.size());
  for (const double start = now(); samples[0].size() < 3 || now() - start < all;) {
    for (size_t i = 0; i < runs.size(); ++i) {
      const double t = now();
      runs[i]();
      samples[i].push_back(now() - t);
    }
  }
  std::vector<double> out;
  for (auto& s : samples) out.push_back(median(std::move(s)));
  return out;
}

}  // namespace nef::bench
