// SPDX-License-Identifier: Apache-2.0
#include "engine/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "engine/io/json.h"
#include "engine/io/json_scan.h"
#include "engine/io/limits.h"
#include "engine/io/text.h"
#include "engine/ir/bools.h"
#include "engine/ir/checked.h"
#include "engine/ir/error.h"

namespace nef::io {
namespace {

static_assert(std::endian::native == std::endian::little, "weights are little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxStRank = 64;
constexpr std::string_view kMetadataKey = "__metadata__";

struct StDtype {
  const char* name;
  unsigned bits;
  nef_dtype dtype;
};
constexpr StDtype kDtypes[] = {
    {"BOOL", 8, NEF_BOOL},
    {"U8", 8, NEF_UINT8},
    {"I8", 8, NEF_INT8},
    {"I16", 16, NEF_INT16},
    {"U16", 16, NEF_UINT16},
    {"F16", 16, NEF_FLOAT16},
    {"BF16", 16, NEF_BFLOAT16},
    {"I32", 32, NEF_INT32},
    {"U32", 32, NEF_UINT32},
    {"F32", 32, NEF_FLOAT32},
    {"I64", 64, NEF_INT64},
    {"U64", 64, NEF_UINT64},
    {"F64", 64, NEF_FLOAT64},
    {"C64", 64, 0},
    {"F4", 4, 0},
    {"F6_E2M3", 6, 0},
    {"F6_E3M2", 6, 0},
    {"F8_E5M2", 8, NEF_FLOAT8_E5M2},
    {"F8_E4M3", 8, NEF_FLOAT8_E4M3FN},
    {"F8_E8M0", 8, 0},
    {"F8_E5M2FNUZ", 8, 0},
    {"F8_E4M3FNUZ", 8, 0},
};

const StDtype* find_dtype(std::string_view name) {
  for (const StDtype& d : kDtypes) {
    if (name == d.name) return &d;
  }
  return nullptr;
}

uint64_t read_length(const std::byte* p) {
  uint64_t n;
  std::memcpy(&n, p, sizeof n);
  return n;
}

[[noreturn]] void bad(const std::string& label, std::string what) {
  fail(NEF_PARSE, "load", cat(label, ": ", std::move(what)));
}

// The length word, checked against the file.
uint64_t header_bytes(uint64_t length, uint64_t file_bytes, const std::string& label,
                      const Limits& limits) {
  if (length > limits.header_bytes) {
    fail(NEF_LIMIT_EXCEEDED, "load",
         cat(label, ": header of ", length, " bytes; at most ", limits.header_bytes,
             " are allowed"));
  }
  if (length > file_bytes - kLengthBytes) {
    bad(label, cat("the header needs ", length, " bytes, the file has ", file_bytes - kLengthBytes,
                   " after its length: it is cut short"));
  }
  return length;
}

void need_length(uint64_t file_bytes, const std::string& label) {
  if (file_bytes < kLengthBytes) {
    bad(label, cat("a safetensors file has at least 8 bytes, this one ", file_bytes));
  }
}

bool read_extent(const cJSON& item, uint64_t* out) {
  int64_t v = 0;
  if (!cJSON_IsNumber(&item) || !json_int(item, &v) || v < 0) return false;
  *out = static_cast<uint64_t>(v);
  return true;
}

// One tensor of the header; messages begin with `where`.
class EntryReader {
 public:
  EntryReader(const std::string& label, StEntry& entry)
      : where_(cat(label, ": tensor ", in_quotes(entry.name))), entry_(entry) {}

  void read(const cJSON& object) {
    if (!cJSON_IsObject(&object)) stop(cat("expected an object, got ", json_kind(object)));
    bool shape = false, offsets = false;
    for (const cJSON& field : JsonChildren(object)) {
      const std::string_view key = field.string;
      if (key == "dtype") read_dtype(field);
      else if (key == "shape") read_shape(field), shape = true;
      else if (key == "data_offsets") read_offsets(field), offsets = true;
      else stop(cat("unknown key ", in_quotes(key)));
    }
    if (dtype_ == nullptr) stop("has no dtype");
    if (!shape) stop("has no shape");
    if (!offsets) stop("has no data_offsets");
    check_size();
  }

 private:
  [[noreturn]] void stop(const std::string& what) const {
    fail(NEF_PARSE, "load", cat(where_, ": ", what));
  }

  void read_dtype(const cJSON& field) {
    if (!cJSON_IsString(&field)) stop("dtype is not a string");
    dtype_ = find_dtype(field.valuestring);
    if (dtype_ == nullptr) {
      fail(NEF_UNSUPPORTED, "load", cat(where_, ": unknown dtype ", in_quotes(field.valuestring)));
    }
    entry_.dtype_name = dtype_->name;
    entry_.dtype = dtype_->dtype;
  }

  void read_shape(const cJSON& field) {
    if (!cJSON_IsArray(&field)) stop("shape is not an array");
    for (const cJSON& dim : JsonChildren(field)) {
      uint64_t v = 0;
      if (!read_extent(dim, &v)) stop("shape holds something that is no dim");
      if (entry_.shape.size() == kMaxStRank) {
        fail(NEF_LIMIT_EXCEEDED, "load", cat(where_, ": more than ", kMaxStRank, " dims"));
      }
      entry_.shape.push_back(static_cast<int64_t>(v));
    }
  }

  void read_offsets(const cJSON& field) {
    uint64_t* const ends[] = {&entry_.begin, &entry_.end};
    size_t n = 0;
    if (cJSON_IsArray(&field)) {
      for (const cJSON& item : JsonChildren(field)) {
        if (n == 2 || !read_extent(item, ends[n])) stop("data_offsets is not [begin, end]");
        ++n;
      }
    }
    if (n != 2) stop("data_offsets is not [begin, end]");
    if (entry_.end < entry_.begin) stop("data_offsets end before they begin");
  }

  // A 0 dim makes 0 elements whatever the others are.
  void check_size() const {
    int64_t bits = dtype_->bits;
    for (const int64_t dim : entry_.shape) {
      if (dim == 0) bits = 0;
    }
    for (const int64_t dim : entry_.shape) {
      if (bits != 0 && !ir::checked_mul(bits, dim, &bits)) {
        fail(NEF_LIMIT_EXCEEDED, "load", cat(where_, ": its shape has more than 2^63 bits"));
      }
    }
    if (bits % 8 != 0) stop("its elements do not fill whole bytes");
    const uint64_t have = entry_.end - entry_.begin;
    if (static_cast<uint64_t>(bits) / 8 != have) {
      stop(cat("shape and dtype need ", bits / 8, " bytes, data_offsets hold ", have));
    }
  }

  const std::string where_;
  StEntry& entry_;
  const StDtype* dtype_ = nullptr;
};

std::map<std::string, std::string> read_metadata(JsonSpan span, const std::string& label) {
  std::map<std::string, std::string> out;
  if (!span.is_object()) bad(label, "__metadata__ is not an object");
  std::string key;
  JsonSpan value;
  for (JsonWalk walk(span); walk.next_member(&key, &value);) {
    if (!value.is_string()) bad(label, cat("__metadata__ ", in_quotes(key), " is not a string"));
    out.emplace(key, decode_json_string(value.text.substr(1, value.text.size() - 2)));
  }
  return out;
}

}  // namespace

const char* st_dtype_name(nef_dtype dtype) {
  for (const StDtype& d : kDtypes) {
    if (d.dtype == dtype) return d.name;
  }
  fail(NEF_INTERNAL, "save", cat("no safetensors name for dtype ", dtype));
}

const char* data_fault(nef_dtype dtype, const ir::Buffer& data) {
  if (dtype != NEF_BOOL || ir::are_bools(data.data(), data.bytes())) return nullptr;
  return "a bool that is neither 0 nor 1";
}

const char* st_name_fault(std::string_view name) {
  return name == kMetadataKey ? "belongs to the format" : name_fault(name);
}

bool looks_like_safetensors(std::span<const std::byte> start, uint64_t file_bytes) {
  // A JSON text has no NUL among its first bytes, a header length always has.
  return start.size() >= kLengthBytes && file_bytes >= kLengthBytes &&
         read_length(start.data()) <= std::numeric_limits<uint32_t>::max();
}

std::shared_ptr<const SafeTensors> SafeTensors::open(const std::string& path, Access access,
                                                     const Limits& limits) {
  return open(open_file(path), path, access, limits);
}

std::shared_ptr<const SafeTensors> SafeTensors::open(const Fd& fd, const std::string& label,
                                                     Access access, const Limits& limits) {
  const CLocale locale;
  const uint64_t size = regular_size(fd, label);
  need_length(size, label);
  std::byte word[kLengthBytes];
  read_exact(fd, 0, word, sizeof word, label);
  const uint64_t length = header_bytes(read_length(word), size, label, limits);
  // The header is read, not looked at through the mapping: it must not change while it is checked.
  std::string header(length, '\0');
  read_exact(fd, kLengthBytes, header.data(), header.size(), label);

  std::shared_ptr<SafeTensors> st(new SafeTensors);
  st->label_ = label;
  st->read_header(header, size - kLengthBytes - length, limits);
  if (access == Access::Map) {
    st->whole_ = map_file(fd, size, label);
  } else {
    st->whole_ = ir::Buffer::allocate(size);
    read_exact(fd, 0, st->whole_->data(), size, label);
  }
  st->data_ = static_cast<const std::byte*>(st->whole_->data()) + kLengthBytes + length;
  return st;
}

std::shared_ptr<const SafeTensors> SafeTensors::from_bytes(std::span<const std::byte> bytes,
                                                           const std::string& label,
                                                           const Limits& limits) {
  const CLocale locale;
  need_length(bytes.size(), label);
  const uint64_t length = header_bytes(read_length(bytes.data()), bytes.size(), label, limits);
  const std::span<const std::byte> header = bytes.subspan(kLengthBytes, length);
  std::shared_ptr<SafeTensors> st(new SafeTensors);
  st->label_ = label;
  st->read_header({reinterpret_cast<const char*>(header.data()), header.size()},
                  bytes.size() - kLengthBytes - length, limits);
  st->data_ = bytes.data() + kLengthBytes + length;
  return st;
}

void SafeTensors::read_header(std::string_view header, uint64_t data_bytes, const Limits& limits) {
  if (header.empty() || header[0] != '{') bad(label_, "the header does not begin with '{'");
  if (header.back() == '\0') {
    bad(label_, "the header is padded with NUL bytes; the format asks for spaces");
  }
  scan_json(header, cat(label_, ": header"), {.bytes = limits.header_bytes});
  std::string name;
  JsonSpan value;
  for (JsonWalk walk({header}); walk.next_member(&name, &value);) {
    if (name == kMetadataKey) {
      metadata_ = read_metadata(value, label_);
      continue;
    }
    if (entries_.size() == limits.container_tensors) {
      fail(NEF_LIMIT_EXCEEDED, "load",
           cat(label_, ": more than ", limits.container_tensors, " tensors"));
    }
    if (const char* fault = st_name_fault(name)) bad(label_, cat("the name of a tensor ", fault));
    StEntry& entry = entries_.emplace_back();
    entry.name = name;
    EntryReader(label_, entry).read(*parse_json(value));
  }
  check_layout(data_bytes);
}

void SafeTensors::check_layout(uint64_t data_bytes) {
  std::sort(entries_.begin(), entries_.end(), [](const StEntry& a, const StEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const StEntry& e : entries_) {
    if (e.begin != at) {
      bad(label_,
          cat("tensor ", in_quotes(e.name), " begins at byte ", e.begin, " of the data, ", at,
              " bytes are taken before it: tensors must follow each other without holes "
              "or overlaps"));
    }
    at = e.end;
  }
  if (at > data_bytes) {
    bad(label_, cat("the header describes ", at, " bytes of data, the file holds ", data_bytes,
                    ": it is cut short"));
  }
  if (at < data_bytes) {
    bad(label_, cat(data_bytes - at, " bytes follow the last tensor"));
  }
  by_name_.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) by_name_.emplace(entries_[i].name, i);
}

const StEntry* SafeTensors::find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : &entries_[it->second];
}

std::shared_ptr<ir::Buffer> SafeTensors::data(const StEntry& entry, bool* copied) const {
  const std::byte* from = data_ + entry.begin;
  const size_t bytes = entry.end - entry.begin;
  const size_t unit = std::max<size_t>(ir::dtype_size(entry.dtype), 1);
  const bool aligned = reinterpret_cast<uintptr_t>(from) % unit == 0;
  const bool copy = !whole_ || !aligned;
  if (copied != nullptr) *copied = copy;
  if (!copy) {
    return ir::Buffer::slice(
        whole_, static_cast<size_t>(from - static_cast<std::byte*>(whole_->data())), bytes);
  }
  auto out = ir::Buffer::allocate(bytes);
  if (bytes != 0) std::memcpy(out->data(), from, bytes);
  return out;
}

}  // namespace nef::io
