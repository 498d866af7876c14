// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstring>

#include "backends/cpu/gemm.h"

namespace nef::cpu {
namespace {

constexpr uint32_t kVersion = 1;
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
