// SPDX-License-Identifier: Apache-2.0
// Shapes of a .nef file: numbers, and expressions over symbols in quotes.
#include "engine/io/document.h"
#include "engine/io/json_scan.h"
#include "engine/io/limits.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

// Texts remembered, so that "batch" is parsed once and not for each tensor.
constexpr size_t kMaxDimCache = 4096;

}  // namespace

void ShapeReader::name_symbols(const std::string& where, JsonSpan span) {
  JsonSpan element;
  for (JsonWalk walk(span); walk.next_element(&element);) {
    if (!element.is_string()) continue;
    std::string text = decode_json_string(element.text.substr(1, element.text.size() - 2));
    if (text.size() > kMaxDimText || named_.size() >= kMaxDimCache) continue;
    if (!named_.insert(text).second) continue;
    ir::DimPool scratch;
    try {
      scratch.parse(text);
      for (uint32_t id = 0; id < scratch.size(); ++id) {
        const auto& e = scratch.expr(ir::DimPool::dim_of(id));
        const bool named = e.kind == ir::DimPool::Kind::Symbol && !e.name.empty();
        if (named) graph_.pool().symbol(e.name);
      }
    } catch (const Error& e) {
      doc_.stop(e.code(), where, e.message());
    }
  }
}

ir::ShapeId ShapeReader::read(const std::string& where, JsonSpan span) {
  ir::Shape shape;
  JsonSpan element;
  for (JsonWalk walk(span); walk.next_element(&element);) {
    const ir::Dim dim = read_dim(where, element);
    try {
      shape.push(dim);
    } catch (const Error& e) {
      doc_.stop(e.code(), where, e.message());
    }
  }
  return graph_.shapes().intern(shape);
}

ir::Dim ShapeReader::read_dim(const std::string& where, JsonSpan span) {
  if (span.is_string()) {
    const ir::Dim dim =
        parse_dim(where, decode_json_string(span.text.substr(1, span.text.size() - 2)));
    if (graph_.pool().upper(dim) < 0) {
      doc_.stop(NEF_OUT_OF_RANGE, where, "a dim that is always negative");
    }
    return dim;
  }
  int64_t v = 0;
  if (!json_int(*parse_json(span), &v)) {
    doc_.stop(NEF_PARSE, where, "a dim is an integer or an expression in quotes");
  }
  if (v < 0) doc_.stop(NEF_OUT_OF_RANGE, where, cat("negative dim ", v));
  return ir::Dim::of(v);
}

ir::Dim ShapeReader::parse_dim(const std::string& where, const std::string& text) {
  if (const auto it = dims_.find(text); it != dims_.end()) return it->second;
  if (text.size() > kMaxDimText) {
    doc_.stop(NEF_LIMIT_EXCEEDED, where, cat("a dim of more than ", kMaxDimText, " bytes"));
  }
  ir::Dim dim = 0;
  try {
    dim = graph_.pool().parse(text);
  } catch (const Error& e) {
    doc_.stop(e.code(), where, e.message());
  }
  // Each "?" is a dim of its own.
  if (text.find('?') == std::string::npos && dims_.size() < kMaxDimCache) dims_.emplace(text, dim);
  return dim;
}

}  // namespace nef::io
