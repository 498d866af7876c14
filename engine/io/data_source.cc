// SPDX-License-Identifier: Apache-2.0
#include "engine/io/data_source.h"

#include <algorithm>

#include "engine/io/limits.h"
#include "engine/io/safe_path.h"
#include "engine/io/text.h"
#include "engine/ir/dtype.h"
#include "engine/ir/error.h"

namespace nef::io {

DataSource::DataSource(std::string folder, const LoadOptions& options,
                       std::shared_ptr<const SafeTensors> bundle)
    : folder_(std::move(folder)), options_(options), bundle_(std::move(bundle)) {
  if (folder_.empty()) folder_ = options.data_root;
}

std::shared_ptr<ir::Buffer> DataSource::load(const Document& doc, const DocDeclaration& d,
                                             const ir::Graph& graph) {
  const std::string where = cat("tensors ", in_quotes(doc.tensors[d.tensor].name));
  const auto dims = graph.shapes().dims(d.shape);
  if (!graph.shapes().is_static(d.shape)) {
    doc.stop(NEF_SHAPE_MISMATCH, where,
             cat("has data but a symbolic shape ", ir::shape_str(dims, graph.pool())));
  }
  int64_t bytes = 0;
  try {
    bytes = ir::byte_count(d.dtype, dims);
  } catch (const Error& e) {
    doc.stop(e.code(), where, e.message());
  }
  auto buffer = d.inline_data ? d.inline_data : stored(doc, d, graph, where);
  if (buffer->bytes() != static_cast<size_t>(bytes)) {
    doc.stop(NEF_SHAPE_MISMATCH, where,
             cat(ir::dtype_name(d.dtype), " ", ir::shape_str(dims, graph.pool()), " needs ", bytes,
                 " bytes, the data has ", buffer->bytes()));
  }
  if (const char* fault = data_fault(d.dtype, *buffer)) doc.stop(NEF_PARSE, where, fault);
  return buffer;
}

std::shared_ptr<ir::Buffer> DataSource::stored(const Document& doc, const DocDeclaration& d,
                                               const ir::Graph& graph, const std::string& where) {
  const SafeTensors& st = container(doc, where, d.file);
  const StEntry* entry = st.find(d.key);
  if (entry == nullptr) {
    doc.stop(NEF_UNKNOWN_NAME, where, cat("no tensor ", in_quotes(d.key), " in ", st.label()));
  }
  if (entry->dtype != d.dtype) {
    doc.stop(NEF_DTYPE_MISMATCH, where,
             cat("declared as ", ir::dtype_name(d.dtype), ", stored as ", entry->dtype_name, " in ",
                 st.label()));
  }
  const auto dims = graph.shapes().dims(d.shape);
  if (!std::equal(dims.begin(), dims.end(), entry->shape.begin(), entry->shape.end())) {
    doc.stop(NEF_SHAPE_MISMATCH, where,
             cat("declared as ", ir::shape_str(dims, graph.pool()), ", stored as ",
                 ir::shape_str(entry->shape), " in ", st.label()));
  }
  auto& buffer = buffers_[{&st, d.key}];
  if (buffer) return buffer;
  bool copied = false;
  buffer = st.data(*entry, &copied);
  if (options_.info != nullptr) {
    const bool mapped = options_.map_weights && !copied;
    ++(mapped ? options_.info->mapped_tensors : options_.info->copied_tensors);
  }
  return buffer;
}

const SafeTensors& DataSource::container(const Document& doc, const std::string& where,
                                         const std::string& file) {
  if (file.empty()) {
    if (!bundle_) doc.stop(NEF_UNKNOWN_NAME, where, "names no data file, and this is no bundle");
    return *bundle_;
  }
  if (const auto it = files_.find(file); it != files_.end()) return *it->second;
  if (folder_.empty()) {
    doc.stop(NEF_UNSAFE_PATH, where,
             cat("data file ", in_quotes(file),
                 " cannot be found from memory; pass data_root, or save a "
                 "bundle"));
  }
  if (files_.size() >= options_.limits.data_files) {
    doc.stop(NEF_LIMIT_EXCEEDED, where,
             cat("more than ", options_.limits.data_files, " data files"));
  }
  const auto access = options_.map_weights ? SafeTensors::Access::Map : SafeTensors::Access::Copy;
  std::shared_ptr<const SafeTensors> st;
  try {
    const Fd fd = open_beneath(folder_, options_.data_root, file);
    st = SafeTensors::open(fd, cat(folder_, "/", file), access, options_.limits);
  } catch (const Error& e) {
    doc.stop(e.code(), where, e.message());
  }
  return *(files_[file] = std::move(st));
}

void DataSource::add(const std::string& file, std::shared_ptr<const SafeTensors> container) {
  if (files_.size() >= options_.limits.data_files) {
    fail(NEF_LIMIT_EXCEEDED, "load", cat("more than ", options_.limits.data_files, " data files"));
  }
  files_[file] = std::move(container);
}

}  // namespace nef::io
