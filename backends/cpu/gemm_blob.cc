// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "backends/cpu/gemm.h"

namespace nef::cpu {
namespace {

constexpr uint32_t kVersion = 2;
constexpr int64_t kMaxSize = 1 << 16;

struct Blob {
  uint32_t magic;  // "NGEM"
  uint32_t version;
  uint32_t mr, nr;
  uint32_t kc, mc;
  uint32_t checksum;
};
constexpr uint32_t kMagic = 0x4d45474e;

uint32_t checksum(const Blob& blob) {
  uint32_t hash = 2166136261u;  // FNV-1a over everything before the sum
  const auto* bytes = reinterpret_cast<const uint8_t*>(&blob);
  for (size_t i = 0; i < offsetof(Blob, checksum); ++i) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

}  // namespace

int64_t GemmBlocking::default_depth() {
  constexpr int64_t kLeast = 256, kMost = 1024;
  static const int64_t depth = [&] {
#ifdef _SC_LEVEL2_CACHE_SIZE
    const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
    const int64_t bytes = 0;
#endif
    // Six tenths of it, as the panels of B pass through it too.
    return std::clamp<int64_t>(bytes / 10 * 6 / (kRows * 4) / 256 * 256, kLeast, kMost);
  }();
  return depth;
}

std::vector<uint8_t> save_blocking(const GemmBlocking& blocking) {
  const auto& ops = gemm_ops<float>();
  Blob blob{kMagic,
            kVersion,
            static_cast<uint32_t>(ops.mr),
            static_cast<uint32_t>(ops.nr),
            static_cast<uint32_t>(blocking.kc),
            static_cast<uint32_t>(blocking.mc),
            0};
  blob.checksum = checksum(blob);
  std::vector<uint8_t> bytes(sizeof(blob));
  std::memcpy(bytes.data(), &blob, sizeof(blob));
  return bytes;
}

void load_blocking(const uint8_t* bytes, size_t size, GemmBlocking* out) {
  Blob blob;
  if (size != sizeof(blob)) return;
  std::memcpy(&blob, bytes, sizeof(blob));
  const auto& ops = gemm_ops<float>();
  if (blob.magic != kMagic || blob.version != kVersion || blob.checksum != checksum(blob)) return;
  if (blob.mr != ops.mr || blob.nr != ops.nr) return;
  if (blob.kc < 16 || blob.kc > kMaxSize || blob.mc < 1 || blob.mc > kMaxSize) return;
  out->kc = blob.kc;
  out->mc = blob.mc;
}

}  // namespace nef::cpu
