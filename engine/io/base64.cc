// SPDX-License-Identifier: Apache-2.0
#include "engine/io/base64.h"

#include <array>
#include <cstdint>

namespace nef::io {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kBad = 0xff;

constexpr std::array<uint8_t, 256> make_values() {
  std::array<uint8_t, 256> v{};
  for (auto& x : v) x = kBad;
  for (uint8_t i = 0; i < 64; ++i) v[static_cast<unsigned char>(kAlphabet[i])] = i;
  return v;
}
constexpr std::array<uint8_t, 256> kValues = make_values();

size_t padding(std::string_view text) {
  if (text.empty() || text.back() != '=') return 0;
  return text[text.size() - 2] == '=' ? 2 : 1;
}

}  // namespace

void append_base64(std::string& out, std::span<const std::byte> bytes) {
  out.reserve(out.size() + (bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t v = std::to_integer<uint32_t>(bytes[i]) << 16;
    if (left > 1) v |= std::to_integer<uint32_t>(bytes[i + 1]) << 8;
    if (left > 2) v |= std::to_integer<uint32_t>(bytes[i + 2]);
    out += kAlphabet[v >> 18];
    out += kAlphabet[v >> 12 & 63];
    out += left > 1 ? kAlphabet[v >> 6 & 63] : '=';
    out += left > 2 ? kAlphabet[v & 63] : '=';
  }
}

bool base64_size(std::string_view text, size_t* out) {
  if (text.size() % 4 != 0) return false;
  *out = text.size() / 4 * 3 - padding(text);
  return true;
}

size_t decode_base64(std::string_view text, std::byte* out) {
  const size_t pad = padding(text);
  const size_t digits = text.size() - pad;
  uint32_t bits = 0;
  unsigned held = 0;
  for (size_t i = 0; i < digits; ++i) {
    const uint8_t v = kValues[static_cast<unsigned char>(text[i])];
    if (v == kBad) return i;
    bits = bits << 6 | v;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    *out++ = static_cast<std::byte>(bits >> held & 0xff);
  }
  // Left-over bits that are not zero would let two texts mean the same bytes.
  if (pad != 0 && (bits & ((1u << held) - 1)) != 0) return digits - 1;
  return std::string_view::npos;
}

}  // namespace nef::io
