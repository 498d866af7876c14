// SPDX-License-Identifier: Apache-2.0
// The way out: plain JSON with its data file, or a bundle.
#include "engine/io/atomic_file.h"
#include "engine/io/limits.h"
#include "engine/io/nef.h"
#include "engine/io/nef_text.h"
#include "engine/io/safe_path.h"
#include "engine/io/safetensors.h"
#include "engine/io/text.h"
#include "engine/ir/error.h"

#include <sys/stat.h>

#include <optional>

namespace nef::io {
namespace {

// Marks data files that NEF wrote and may therefore replace.
const std::map<std::string, std::string> kWeightsMark = {{"format", "nef-weights"}};

void check_text(const std::string& text) {
  if (text.size() <= kMaxJsonBytes) return;
  fail(NEF_LIMIT_EXCEEDED, "save",
       cat("the graph needs ", text.size(), " bytes of text; at most ", kMaxJsonBytes,
           " can be read back"));
}

void write_bundle(Sink& sink, const ir::Graph& graph, const SaveOptions& options) {
  std::vector<StTensor> tensors(1);
  const std::string text = nef_text(graph, {}, options.edges, &tensors);
  check_text(text);
  tensors[0] = {"nef.graph",
                "U8",
                {static_cast<int64_t>(text.size())},
                std::as_bytes(std::span(text)),
                nullptr};
  write_safetensors(sink, tensors, {{"format", "nef"}}, options.alignment);
}

std::string weights_name(const std::string& path) {
  std::string stem = file_of(path);
  if (const size_t dot = stem.rfind('.'); dot != std::string::npos && dot > 0) stem.resize(dot);
  return stem + ".safetensors";
}

// The data file has a name the user did not type, so nothing of theirs may be lost to it.
void check_replaceable(const std::string& weights, const std::string& path) {
  if (file_of(weights) == file_of(path)) {
    fail(NEF_INVALID_ARGUMENT, "save",
         cat(path, ": its weights would go to the same file; call the graph *.nef"));
  }
  struct stat st;
  if (::lstat(weights.c_str(), &st) != 0) return;
  bool ours = false;
  try {
    const auto file = SafeTensors::open(weights);
    const auto& metadata = file->metadata();
    const auto it = metadata.find("format");
    ours = it != metadata.end() && it->second == kWeightsMark.at("format");
  } catch (const Error&) {
    ours = false;  // whatever it is, it is not a file of ours
  }
  if (ours) return;
  fail(NEF_IO, "save",
       cat(weights,
           ": exists and was not written by NEF; save under another name, "
           "move that file away, or save a bundle"));
}

void save_plain(const ir::Graph& graph, const std::string& path, const SaveOptions& options) {
  const std::string name = weights_name(path);
  const std::string weights = cat(folder_of(path), "/", name);
  std::vector<StTensor> tensors;
  const std::string text =
      nef_text(graph, {.store_large = true, .file = name}, options.edges, &tensors);
  check_text(text);
  AtomicFile json(path);
  json.write(std::as_bytes(std::span(text)));
  json.finish();
  if (!tensors.empty()) {
    if (const char* fault = path_fault(name)) {
      fail(NEF_INVALID_ARGUMENT, "save",
           cat("the name of the data file ", in_quotes(name), " ", fault));
    }
    check_replaceable(weights, path);
    AtomicFile data(weights);
    write_safetensors(data, tensors, kWeightsMark, options.alignment);
    data.commit();
  }
  json.commit();
}

}  // namespace

void save_nef(const ir::Graph& graph, const std::string& path, const SaveOptions& options) {
  if (!options.bundle) return save_plain(graph, path, options);
  AtomicFile file(path);
  write_bundle(file, graph, options);
  file.commit();
}

std::string nef_bytes(const ir::Graph& graph, const SaveOptions& options) {
  std::string out;
  if (options.bundle) {
    StringSink sink(out);
    write_bundle(sink, graph, options);
    return out;
  }
  std::vector<StTensor> none;
  out = nef_text(graph, {.store_large = false, .file = {}}, options.edges, &none);
  check_text(out);
  return out;
}

}  // namespace nef::io
