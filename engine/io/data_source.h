// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/io/document.h"
#include "engine/io/nef.h"
#include "engine/io/safetensors.h"

namespace nef::io {

// Where the data of a file's constants comes from: its text, its bundle, or files beside it.
class DataSource {
 public:
  // `folder`: of the .nef file, "" when it came from memory. `bundle` may be null.
  DataSource(std::string folder, const LoadOptions& options,
             std::shared_ptr<const SafeTensors> bundle);

  // A data file that is open already.
  void add(const std::string& file, std::shared_ptr<const SafeTensors> container);

  // The bytes of a declared constant, checked against its type.
  std::shared_ptr<ir::Buffer> load(const Document& doc, const DocDeclaration& d,
                                   const ir::Graph& graph);

 private:
  const SafeTensors& container(const Document& doc, const std::string& where,
                               const std::string& file);
  std::shared_ptr<ir::Buffer> stored(const Document& doc, const DocDeclaration& d,
                                     const ir::Graph& graph, const std::string& where);

  std::string folder_;
  const LoadOptions& options_;
  std::shared_ptr<const SafeTensors> bundle_;
  std::map<std::string, std::shared_ptr<const SafeTensors>> files_;
  // One buffer for each stored tensor, so that shared weights stay shared.
  std::map<std::pair<const SafeTensors*, std::string>, std::shared_ptr<ir::Buffer>> buffers_;
};

}  // namespace nef::io
