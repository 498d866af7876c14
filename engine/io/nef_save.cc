// SPDX-License-Identifier: Apache-2.0
// The way out: plain JSON with its data file, or a bundle.
#include "engine/io/atomic_file.h"
#include "engine/io/nef.h"
#include "engine/io/nef_text.h"
#include "engine/io/read_back.h"
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

void write_bundle(Sink& sink, const ir::Graph& graph, const SaveOptions& options) {
  std::vector<StTensor> tensors(1);
  const std::string text = nef_text(graph, {}, options.edges, options.limits, &tensors);
  tensors[0] = {"nef.graph",
                "U8",
                {static_cast<int64_t>(text.size())},
                std::as_bytes(std::span(text)),
                nullptr};
  write_safetensors(sink, tensors, {{"format", "nef"}}, options.alignment, options.limits);
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

// What has been written and has no name yet.
std::shared_ptr<const SafeTensors> written(AtomicFile& file, const std::string& path,
                                           const SaveOptions& options) {
  file.finish();
  return SafeTensors::open(open_file(file.temporary()), path, SafeTensors::Access::Map,
                           options.limits);
}

void save_plain(const ir::Graph& graph, const std::string& path, const SaveOptions& options) {
  const std::string name = weights_name(path);
  const std::string weights = cat(folder_of(path), "/", name);
  std::vector<StTensor> tensors;
  const std::string text =
      nef_text(graph, {.store_large = true, .file = name}, options.edges, options.limits, &tensors);
  AtomicFile json(path);
  json.write(std::as_bytes(std::span(text)));
  if (tensors.empty()) {
    read_back_text(text, path, {}, nullptr, options.limits);
    return json.commit();
  }
  if (const char* fault = path_fault(name)) {
    fail(NEF_INVALID_ARGUMENT, "save",
         cat("the name of the data file ", in_quotes(name), " ", fault));
  }
  check_replaceable(weights, path);
  AtomicFile data(weights);
  write_safetensors(data, tensors, kWeightsMark, options.alignment, options.limits);
  read_back_text(text, path, name, written(data, weights, options), options.limits);
  AtomicFile::commit_both(data, json);
}

}  // namespace

void save_nef(const ir::Graph& graph, const std::string& path, const SaveOptions& options) {
  if (!options.bundle) return save_plain(graph, path, options);
  AtomicFile file(path);
  write_bundle(file, graph, options);
  read_back_bundle(written(file, path, options), options.limits);
  file.commit();
}

std::string nef_bytes(const ir::Graph& graph, const SaveOptions& options) {
  std::string out;
  if (options.bundle) {
    StringSink sink(out);
    write_bundle(sink, graph, options);
    read_back_bundle(
        SafeTensors::from_bytes(std::as_bytes(std::span(out)), "the bundle", options.limits),
        options.limits);
    return out;
  }
  std::vector<StTensor> none;
  out = nef_text(graph, {.store_large = false, .file = {}}, options.edges, options.limits, &none);
  read_back_text(out, "the graph", {}, nullptr, options.limits);
  return out;
}

}  // namespace nef::io
