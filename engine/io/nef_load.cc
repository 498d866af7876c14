// SPDX-License-Identifier: Apache-2.0
// The way in: tells the kind of file, reads it, hands it on.
#include <algorithm>
#include <cstring>

#include "engine/io/data_source.h"
#include "engine/io/document.h"
#include "engine/io/graph_from_document.h"
#include "engine/io/json.h"
#include "engine/io/json_scan.h"
#include "engine/io/nef.h"
#include "engine/io/read_back.h"
#include "engine/io/safe_path.h"
#include "engine/io/safetensors.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

constexpr const char* kGraphTensor = "nef.graph";
constexpr size_t kStartBytes = 8;

void reach(const LoadOptions& options, LoadInfo::Stage stage) {
  if (options.info != nullptr) options.info->stage = stage;
}

std::shared_ptr<const ir::Graph> load_text(std::string_view text, const std::string& label,
                                           DataSource& data, const LoadOptions& options) {
  const Limits& limits = options.limits;
  scan_json(text, label,
            {.bytes = limits.json_bytes, .depth = limits.json_depth, .values = limits.json_values});
  reach(options, LoadInfo::Stage::Syntax);
  const CLocale locale;
  auto graph = std::make_shared<ir::Graph>();
  Document doc = read_document(text, label, limits, *graph);
  reach(options, LoadInfo::Stage::Structure);
  graph_from_document(std::move(doc), data, *graph);
  reach(options, LoadInfo::Stage::Done);
  return graph;
}

std::shared_ptr<const ir::Graph> load_bundle(std::shared_ptr<const SafeTensors> st,
                                             const std::string& folder,
                                             const LoadOptions& options) {
  const StEntry* entry = st->find(kGraphTensor);
  if (entry == nullptr) {
    fail(NEF_PARSE, "load",
         cat(st->label(),
             ": a safetensors file without the tensor 'nef.graph': "
             "it holds weights only, build a graph for them"));
  }
  if (entry->dtype != NEF_UINT8 || entry->shape.size() != 1) {
    fail(NEF_PARSE, "load", cat(st->label(), ": 'nef.graph' is not a U8 vector"));
  }
  if (options.info != nullptr) options.info->bundle = true;
  // A copy: a mapped text could change between its check and its use.
  const auto buffer = st->data(*entry);
  const std::string text(static_cast<const char*>(buffer->data()), buffer->bytes());
  const std::string label = st->label();
  DataSource data(folder, options, std::move(st));
  return load_text(text, label, data, options);
}

void refuse_known_formats(std::string_view start, const std::string& label) {
  if (start.empty()) fail(NEF_PARSE, "load", cat(label, ": the file is empty"));
  if (start.substr(0, 4) == "GGUF") {
    fail(NEF_UNSUPPORTED, "load", cat(label, ": this is a GGUF file, not a .nef graph"));
  }
  if (start.substr(0, 4) == "PK\x03\x04") {
    fail(NEF_UNSUPPORTED, "load", cat(label, ": this is a zip archive, not a .nef graph"));
  }
}

void begin(const LoadOptions& options) {
  if (options.info != nullptr) *options.info = LoadInfo();
}

}  // namespace

std::shared_ptr<const ir::Graph> load_nef(const std::string& path, const LoadOptions& options) {
  begin(options);
  const Fd fd = open_file(path);
  const uint64_t size = regular_size(fd, path);
  std::string text(std::min<uint64_t>(size, kStartBytes), '\0');
  read_exact(fd, 0, text.data(), text.size(), path);
  const std::string folder = folder_of(path);
  if (looks_like_safetensors(std::as_bytes(std::span(text)), size)) {
    const auto access = options.map_weights ? SafeTensors::Access::Map : SafeTensors::Access::Copy;
    return load_bundle(SafeTensors::open(fd, path, access, options.limits), folder, options);
  }
  refuse_known_formats(text, path);
  if (size > options.limits.json_bytes) {
    fail(NEF_LIMIT_EXCEEDED, "load",
         cat(path, ": JSON text of ", size, " bytes; at most ", options.limits.json_bytes,
             " are read"));
  }
  text.resize(size);
  read_exact(fd, 0, text.data(), size, path);
  DataSource data(folder, options, nullptr);
  return load_text(text, path, data, options);
}

std::shared_ptr<const ir::Graph> load_nef_bytes(std::span<const std::byte> bytes,
                                                const LoadOptions& options) {
  begin(options);
  if (looks_like_safetensors(bytes, bytes.size())) {
    return load_bundle(SafeTensors::from_bytes(bytes, options.label, options.limits), "", options);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  refuse_known_formats(text, options.label);
  DataSource data("", options, nullptr);
  return load_text(text, options.label, data, options);
}

// ---- what the writers call

namespace {

// The reader's refusal, as one to save.
template <typename Read>
void not_saved(const std::string& label, Read read) {
  try {
    read();
  } catch (const Error& e) {
    fail(e.code(), "save", cat(label, " is not written, for it could not be read: ", e.message()));
  }
}

}  // namespace

void read_back_bundle(std::shared_ptr<const SafeTensors> file, const Limits& limits) {
  LoadOptions options;
  options.limits = limits;
  const std::string label = file->label();
  not_saved(label, [&] { load_bundle(std::move(file), "", options); });
}

void read_back_text(std::string_view text, const std::string& label, const std::string& data_file,
                    std::shared_ptr<const SafeTensors> data, const Limits& limits) {
  LoadOptions options;
  options.limits = limits;
  DataSource source("", options, nullptr);
  not_saved(label, [&] {
    if (data) source.add(data_file, std::move(data));
    load_text(text, label, source, options);
  });
}

}  // namespace nef::io
