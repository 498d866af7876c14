// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/library.h"

#include <cstdlib>
#include <filesystem>

namespace nef::gpu {
namespace {

using backends::BackendError;

std::vector<std::string> split(const char* list) {
  std::vector<std::string> out;
  std::string rest = list == nullptr ? "" : list;
  for (size_t begin = 0; begin <= rest.size();) {
    const size_t end = std::min(rest.find(':', begin), rest.size());
    if (end > begin) out.push_back(rest.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Folders in order; "" stands for the loader's own rules.
std::vector<std::string> folders_of(const LibraryPlaces& places) {
  std::vector<std::string> out = split(std::getenv(places.variable));
  out.emplace_back();
  for (const char* name : places.roots) {
    if (const char* root = std::getenv(name))
      out.push_back(std::string(root) + "/" + places.folder);
  }
  out.emplace_back(places.fallback);
  return out;
}

void open_companions(const std::string& folder, const char* prefix) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) {
      ::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
  }
}

}  // namespace

void* open_library(const LibraryPlaces& places, std::initializer_list<const char*> names,
                   const char* companions) {
  std::string first;
  size_t tried = 0;
  for (const std::string& folder : folders_of(places)) {
    for (const char* name : names) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      if (!folder.empty() && companions != nullptr && std::filesystem::exists(path)) {
        open_companions(folder, companions);
      }
      ++tried;
      if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
      const std::string why = ::dlerror();
      // What is there but does not load says more than what is absent.
      if (first.empty() || (!folder.empty() && std::filesystem::exists(path))) first = why;
    }
  }
  throw BackendError(NEF_BACKEND_UNAVAILABLE, first + " (tried " + std::to_string(tried) +
                                                  " places; " + places.variable + " to add one)");
}

}  // namespace nef::gpu
