// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cjson/cJSON.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/ir/error.h"

namespace nef::io {

// A value inside a scanned JSON text. Walking a text by spans instead of parsing it whole keeps
// memory flat for graphs of millions of nodes: only one node at a time becomes a tree.
struct JsonSpan {
  std::string_view text;

  bool is_object() const { return !text.empty() && text[0] == '{'; }
  bool is_array() const { return !text.empty() && text[0] == '['; }
  bool is_string() const { return !text.empty() && text[0] == '"'; }
};

// Steps through the members of an object or the elements of an array of a scanned text.
class JsonWalk {
 public:
  explicit JsonWalk(JsonSpan container) : text_(container.text) {}
  bool next_element(JsonSpan* value);
  bool next_member(std::string* key, JsonSpan* value);

 private:
  bool open_next();
  void skip_space();
  JsonSpan take_value();

  std::string_view text_;
  size_t at_ = 1;
  bool first_ = true;
};

struct JsonDelete {
  void operator()(cJSON* item) const { cJSON_Delete(item); }
};
using JsonTree = std::unique_ptr<cJSON, JsonDelete>;

// Parses one value of a scanned text. Throws NEF_OUT_OF_MEMORY, as nothing else can be wrong.
JsonTree parse_json(JsonSpan span);
// An object without one of its members, which is not parsed but given as text ("" = absent): it may
// be large, and hold objects that are parsed by themselves.
JsonTree parse_json_without(JsonSpan object, std::string_view key, JsonSpan* member);

// The children of an array or object; siblings are a list, so never index them.
class JsonChildren {
 public:
  struct Iterator {
    const cJSON* item;
    const cJSON& operator*() const { return *item; }
    Iterator& operator++() {
      item = item->next;
      return *this;
    }
    bool operator!=(const Iterator& o) const { return item != o.item; }
  };
  explicit JsonChildren(const cJSON& parent) : parent_(parent) {}
  Iterator begin() const { return {parent_.child}; }
  Iterator end() const { return {nullptr}; }

 private:
  const cJSON& parent_;
};

// An integer, as a number or as a decimal string. False when it is neither or does not fit.
bool json_int(const cJSON& item, int64_t* out);
// A number, or one of the strings "NaN", "Infinity", "-Infinity".
bool json_float(const cJSON& item, double* out);

// Compact text of a tree, as it is written back: same tree, same bytes.
std::string json_text(const cJSON& item);

void append_json_int(std::string& out, int64_t v);   // as a string beyond 2^53
void append_json_float(std::string& out, double v);  // NaN and infinities as strings

// "a string", "an object", ... for messages.
const char* json_kind(const cJSON& item);

// cJSON reads numbers with strtod, which follows the process locale; this pins the calling
// thread to the C locale while a file is read.
class CLocale {
 public:
  CLocale();
  ~CLocale();
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  void* previous_;
};

}  // namespace nef::io
