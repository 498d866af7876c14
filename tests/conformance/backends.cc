// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/backends.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <string_view>

#include "backends/cuda/cuda.h"
#include "backends/reference/reference.h"
#include "backends/rocm/rocm.h"
#if __has_include("backends/cpu/cpu.h") && !defined(NEF_CONFORMANCE_REFERENCE_ONLY)
#include "backends/cpu/cpu.h"
#define NEF_HAS_CPU_BACKEND 1
#endif

namespace nef::conformance {
namespace {

[[noreturn]] void give_up(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(1);
}

const nef_backend* open_plugin(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up("NEF_CONFORMANCE_PLUGIN", dlerror());
  const auto entry =
      reinterpret_cast<nef_backend_entry_fn>(dlsym(library, NEF_BACKEND_ENTRY_SYMBOL));
  if (entry == nullptr) give_up("NEF_CONFORMANCE_PLUGIN", dlerror());
  return entry();
}

std::vector<const nef_backend*> find_backends() {
  std::vector<const nef_backend*> out = {nef_backend_reference()};
#ifdef NEF_HAS_CPU_BACKEND
  out.push_back(nef_backend_cpu());
#endif
  // Where there is no GPU, there is nothing to compare.
  if (start(*nef_backend_cuda()).empty()) out.push_back(nef_backend_cuda());
  if (start(*nef_backend_rocm()).empty()) out.push_back(nef_backend_rocm());
  if (const char* path = std::getenv("NEF_CONFORMANCE_PLUGIN")) out.push_back(open_plugin(path));
  // Only one of them, by name.
  if (const char* only = std::getenv("NEF_CONFORMANCE_BACKEND")) {
    std::erase_if(out, [only](const nef_backend* b) { return std::strcmp(b->name, only) != 0; });
    if (out.empty()) give_up("NEF_CONFORMANCE_BACKEND", "no backend of this name");
  }
  for (const nef_backend* b : out) {
    const std::string why = start(*b);
    if (!why.empty()) give_up(b->name, why.c_str());
  }
  return out;
}

// A regular expression; "" where it is not set.
std::string read_names(const char* variable) {
  const char* names = std::getenv(variable);
  if (!names) return "";
  try {
    const std::regex valid(names, std::regex::extended);
  } catch (const std::regex_error& e) {
    give_up(variable, e.what());
  }
  return names;
}

Bounds read_bounds() {
  Bounds out;
  out.names = read_names("NEF_CONFORMANCE_CASES");
  out.without = read_names("NEF_CONFORMANCE_WITHOUT");
  if (const char* fewest = std::getenv("NEF_CONFORMANCE_FEWEST")) {
    const std::string_view text = fewest;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, out.fewest);
    if (error != std::errc() || stop != end || out.fewest < 1) {
      give_up("NEF_CONFORMANCE_FEWEST", "expected a number of cases");
    }
  }
  return out;
}

}  // namespace

const Bounds& bounds() {
  static const Bounds read = read_bounds();
  return read;
}

const std::vector<const nef_backend*>& backends() {
  static const std::vector<const nef_backend*> found = find_backends();
  return found;
}

}  // namespace nef::conformance
