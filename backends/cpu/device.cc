// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/device.h"

#include "backends/cpu/targets.h"

#include <hwy/highway.h>
#include <hwy/per_target.h>
#include <unistd.h>
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "backends/cpu/kernel.h"

namespace nef::cpu {
namespace {

#if HWY_ARCH_X86
constexpr const char* kArchFamily = "x86-64";
#elif HWY_ARCH_ARM_A64
constexpr const char* kArchFamily = "aarch64";
#else
constexpr const char* kArchFamily = "generic";
#endif

// Highway numbers better targets lower, so the best one is the lowest bit.
int64_t best_target() {
  const int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable & -usable;
}

std::string target_names(int64_t targets) {
  std::string names;
  for (; targets != 0; targets &= targets - 1) {
    if (!names.empty()) names += ", ";
    names += hwy::TargetName(targets & -targets);
  }
  return names;
}

int64_t target_by_name(const char* name) {
  for (int64_t left = HWY_TARGETS; left != 0; left &= left - 1) {
    if (std::strcmp(hwy::TargetName(left & -left), name) == 0) return left & -left;
  }
  throw BackendError(NEF_INVALID_ARGUMENT, std::string("NEF_CPU_TARGET is '") + name +
                                               "', expected one of " + target_names(HWY_TARGETS));
}

#if HWY_ARCH_X86
// AMD's families of processors; 0 for those of others.
unsigned amd_family() {
  unsigned most = 0, vendor[3] = {}, a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &most, &vendor[0], &vendor[2], &vendor[1]) == 0) return 0;
  if (std::memcmp(vendor, "AuthenticAMD", sizeof vendor) != 0) return 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return 0;
  const unsigned base = a >> 8 & 0xf, more = a >> 20 & 0xff;
  return base == 0xf ? base + more : base;
}
#endif

// "model name" of the first CPU; ARM kernels do not list one.
std::string model_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return std::string(kArchFamily) + " CPU";
}

uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : 0;
}

// Float32 FMA throughput of a core at 2.7 GHz with two FMA pipes, by vector width.
double flops_per_core() {
  const double lanes = static_cast<double>(hwy::VectorBytes()) / 4;
  return lanes * 2 * 2 * 2.7e9;
}

}  // namespace

bool reads_ahead_by_itself() {
#if HWY_ARCH_X86
  constexpr unsigned kFamilyOfZen4 = 0x19;
  static const bool answer = amd_family() == kFamilyOfZen4;
  return answer;
#else
  return false;
#endif
}

void choose_target() {
  const char* forced = std::getenv("NEF_CPU_TARGET");
  if (forced == nullptr || *forced == '\0') return;
  const int64_t target = target_by_name(forced);
  if ((hwy::SupportedTargets() & target) == 0) {
    throw BackendError(NEF_UNSUPPORTED, std::string("NEF_CPU_TARGET is '") + forced +
                                            "', but this CPU has only " +
                                            target_names(hwy::SupportedTargets() & HWY_TARGETS));
  }
  // The lower targets stay, for units that are not compiled for this one.
  hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(target - 1));
}

void describe_device(nef_backend_device* out) {
  static const std::string target = hwy::TargetName(best_target());
  static const std::string description = model_name() + ", " + target;
  static const std::string arch = std::string(kArchFamily) + "/" + target;
  const double cores = std::max(1, host().num_threads());
  out->struct_size = sizeof(*out);
  out->kind = NEF_DEVICE_CPU;
  out->flags = NEF_DEVICE_HOST_MEMORY;
  out->description = description.c_str();
  out->arch = arch.c_str();
  out->memory_bytes = memory_bytes();
  out->flops_per_second = cores * flops_per_core();
  out->bytes_per_second = std::min(cores * 12e9, 200e9);
  out->link_bytes_per_second = 0;
  out->launch_seconds = 1e-6;
}

}  // namespace nef::cpu
