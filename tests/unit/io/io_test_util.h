// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/nef.h"
#include "engine/ir/error.h"

namespace nef::io {

// A folder of its own for each test, removed at the end.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nef_io_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Runs `body` and returns the error it throws; fails the test when it throws none.
inline Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    return e;
  }
  ADD_FAILURE() << "no error";
  return Error(NEF_OK, "", "");
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::shared_ptr<const ir::Graph> load_text(const std::string& text) {
  return load_nef_bytes(std::as_bytes(std::span(text)));
}

template <typename T>
std::shared_ptr<ir::Buffer> buffer_of(const std::vector<T>& values) {
  auto out = ir::Buffer::allocate(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(out->data(), values.data(), out->bytes());
  return out;
}

// A safetensors file from header text and data, with nothing checked.
inline std::string raw_safetensors(const std::string& header, const std::string& data) {
  const uint64_t n = header.size();
  std::string out(reinterpret_cast<const char*>(&n), sizeof n);
  return out + header + data;
}

}  // namespace nef::io
