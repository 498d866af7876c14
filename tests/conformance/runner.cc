// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <regex>
#include <utility>

#include "backends/reference/reference.h"
#include "engine/ir/dtype.h"

namespace nef::conformance {
namespace {

constexpr size_t kGuard = 64;
constexpr uint8_t kPoison = 0xA5;

// Device memory between two guard zones; poisoned when made.
class GuardedBuffer {
 public:
  GuardedBuffer(const nef_backend& backend, size_t bytes) : backend_(backend), bytes_(bytes) {
    nef_backend_error err{message_, sizeof message_};
    void* base = nullptr;
    if (backend.alloc(0, total(), &base, &err) != NEF_OK) base = nullptr;
    base_ = static_cast<char*>(base);
    if (base_ != nullptr) poison();
  }
  ~GuardedBuffer() {
    if (base_ != nullptr) backend_.free(0, base_, total());
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  bool ok() const { return base_ != nullptr; }
  void* data() const { return base_ + kGuard; }
  void poison() {
    const std::vector<uint8_t> bytes(total(), kPoison);
    move(base_, bytes.data(), bytes.size(), NEF_COPY_HOST_TO_DEVICE);
  }
  void write(const std::vector<uint8_t>& bytes) {
    move(data(), bytes.data(), bytes.size(), NEF_COPY_HOST_TO_DEVICE);
  }
  std::vector<uint8_t> read() const {
    std::vector<uint8_t> bytes(bytes_);
    move(bytes.data(), data(), bytes_, NEF_COPY_DEVICE_TO_HOST);
    return bytes;
  }
  bool guards_intact() const {
    std::vector<uint8_t> bytes(total());
    move(bytes.data(), base_, bytes.size(), NEF_COPY_DEVICE_TO_HOST);
    const auto poisoned = [](uint8_t b) { return b == kPoison; };
    return std::all_of(bytes.begin(), bytes.begin() + kGuard, poisoned) &&
           std::all_of(bytes.end() - kGuard, bytes.end(), poisoned);
  }

 private:
  size_t total() const { return bytes_ + 2 * kGuard; }
  void move(void* to, const void* from, size_t bytes, nef_copy_kind kind) const {
    if (bytes == 0) return;
    if (backend_.copy == nullptr) std::memcpy(to, from, bytes);
    else backend_.copy(0, to, from, bytes, kind, nullptr);
  }

  const nef_backend& backend_;
  size_t bytes_;
  char* base_ = nullptr;
  char message_[256] = {};
};

size_t byte_size(const Tensor& t) {
  return static_cast<size_t>(t.count()) * ir::dtype_size(t.dtype);
}

// One run of one case: the region as C arrays and the memory behind it.
class Execution {
 public:
  Execution(const nef_backend& backend, const Case& c, const Mode& mode)
      : backend_(backend), case_(c), mode_(mode) {
    make_values();
    make_nodes();
    region_ = {sizeof(region_),
               c.kind,
               NEF_PRECISION_EXACT,
               static_cast<int32_t>(values_.size()),
               static_cast<int32_t>(nodes_.size()),
               values_.data(),
               nodes_.data()};
  }
  ~Execution() {
    if (prepared_ != nullptr) backend_.prepared_free(prepared_);
    if (kernel_ != nullptr) backend_.kernel_free(kernel_);
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  RunResult run() {
    if (backend_.supports(0, &region_, &err_) == 0) {
      result_.refused = true;
      return fail(NEF_UNSUPPORTED);
    }
    nef_code code = backend_.compile(0, &region_, nullptr, 0, &kernel_, &err_);
    if (code != NEF_OK) return fail(code);
    if (!make_buffers()) return fail(NEF_DEVICE_OUT_OF_MEMORY);
    code = backend_.prepare(kernel_, tensors_.data(), &prepared_, &err_);
    if (code != NEF_OK) return fail(code);
    const size_t bytes = backend_.scratch_bytes(prepared_, tensors_.data());
    GuardedBuffer scratch(backend_, bytes);
    for (int repeat = 0; repeat < 2; ++repeat) {
      scratch.poison();
      if (!launch(scratch)) return std::move(result_);
    }
    return std::move(result_);
  }

 private:
  void note(nef_code code) {
    result_.code = code;
    result_.message = message_;
  }
  RunResult fail(nef_code code) {
    note(code);
    return std::move(result_);
  }

  nef_value_kind kind_of(size_t i) const {
    switch (case_.values[i].role) {
      case Role::Internal: return NEF_VALUE_INTERNAL;
      case Role::Output: return NEF_VALUE_OUTPUT;
      case Role::HostInput: return mode_.literal_host ? NEF_VALUE_LITERAL : NEF_VALUE_INPUT;
      default: return mode_.constant_weights && i > 0 ? NEF_VALUE_CONSTANT : NEF_VALUE_INPUT;
    }
  }

  void make_values() {
    for (size_t i = 0; i < case_.values.size(); ++i) {
      const Tensor& t = case_.values[i].tensor;
      const nef_value_kind kind = kind_of(i);
      const bool fixed = kind == NEF_VALUE_LITERAL || kind == NEF_VALUE_CONSTANT;
      dims_.push_back(t.dims);
      if (mode_.unknown_dims && !fixed) {
        std::fill(dims_.back().begin(), dims_.back().end(), NEF_DIM_UNKNOWN);
      }
      values_.push_back({kind, t.dtype, static_cast<int32_t>(t.dims.size()), 0, nullptr,
                         kind == NEF_VALUE_LITERAL ? t.bytes.data() : nullptr});
    }
    for (size_t i = 0; i < values_.size(); ++i) values_[i].dims = dims_[i].data();
  }
  void make_nodes() {
    for (const CaseNode& n : case_.nodes) {
      nodes_.push_back({n.op, static_cast<int32_t>(n.inputs.size()),
                        static_cast<int32_t>(n.outputs.size()),
                        static_cast<int32_t>(n.attrs.size()), n.inputs.data(), n.outputs.data(),
                        n.attrs.empty() ? nullptr : n.attrs.data()});
    }
  }
  bool make_buffers() {
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor& t = case_.values[i].tensor;
      const nef_value_kind kind = values_[i].kind;
      buffers_.push_back(nullptr);
      tensors_.push_back({nullptr, t.dims.data()});
      if (kind == NEF_VALUE_CONSTANT || case_.values[i].role == Role::HostInput) {
        // Host memory: the case's own bytes, which nobody may write.
        if (kind != NEF_VALUE_LITERAL) tensors_[i].data = const_cast<uint8_t*>(t.bytes.data());
      } else if (kind != NEF_VALUE_INTERNAL) {
        buffers_[i] = std::make_unique<GuardedBuffer>(backend_, byte_size(t));
        if (!buffers_[i]->ok()) return false;
        buffers_[i]->write(t.bytes);
        tensors_[i].data = buffers_[i]->data();
      }
    }
    return true;
  }

  bool launch(GuardedBuffer& scratch) {
    result_.outputs.clear();
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].kind == NEF_VALUE_OUTPUT) buffers_[i]->poison();
    }
    const nef_code code = run_on_stream(scratch.data());
    if (!memory_intact(scratch)) return false;
    if (code != NEF_OK) {
      note(code);
      return false;
    }
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i].kind != NEF_VALUE_OUTPUT) continue;
      const Tensor& t = case_.values[i].tensor;
      result_.outputs.push_back({t.dtype, t.dims, buffers_[i]->read()});
    }
    return true;
  }

  nef_code run_on_stream(void* scratch) {
    if (backend_.stream_create == nullptr) {
      return backend_.launch(prepared_, nullptr, tensors_.data(), scratch, &err_);
    }
    nef_backend_stream* stream = nullptr;
    nef_code code = backend_.stream_create(0, &stream, &err_);
    if (code != NEF_OK) return code;
    code = backend_.launch(prepared_, stream, tensors_.data(), scratch, &err_);
    if (code == NEF_OK) code = backend_.stream_synchronize(stream, &err_);
    backend_.stream_destroy(stream);
    return code;
  }

  bool memory_intact(const GuardedBuffer& scratch) {
    std::string fault;
    if (!scratch.guards_intact()) fault = "wrote outside its scratch memory";
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i] == nullptr) continue;
      if (!buffers_[i]->guards_intact()) fault = "wrote outside value " + std::to_string(i);
      if (values_[i].kind == NEF_VALUE_INPUT &&
          buffers_[i]->read() != case_.values[i].tensor.bytes) {
        fault = "changed input value " + std::to_string(i);
      }
    }
    if (fault.empty()) return true;
    result_.code = NEF_INTERNAL;
    result_.message = fault;
    return false;
  }

  const nef_backend& backend_;
  const Case& case_;
  Mode mode_;
  nef_backend_region region_{};
  std::vector<std::vector<int64_t>> dims_;
  std::vector<nef_backend_value> values_;
  std::vector<nef_backend_node> nodes_;
  std::vector<std::unique_ptr<GuardedBuffer>> buffers_;
  std::vector<nef_backend_tensor> tensors_;
  nef_backend_kernel* kernel_ = nullptr;
  nef_backend_prepared* prepared_ = nullptr;
  char message_[512] = {};
  nef_backend_error err_{message_, sizeof message_};
  RunResult result_;
};

std::string show(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", v);
  return text;
}

std::string at_element(const Tensor& t, int64_t i) {
  std::string out = std::string(ir::dtype_name(t.dtype)) + " [" + dims_name(t.dims) + "] element " +
                    std::to_string(i);
  return out;
}

// Units in the last place between two floats; 0 when equal, infinity when of another kind.
double ulps_between(double got, double want, nef_dtype dtype, double magnitude) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  if (got == want) return 0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(want)) return infinity;
  // Next to overflow one side may round to infinity: count it as the next number.
  const double top = max_finite(dtype) * (1 + epsilon(dtype) / 2);
  const double g = std::isinf(got) ? std::copysign(top, got) : got;
  const double w = std::isinf(want) ? std::copysign(top, want) : want;
  const double scale = std::max({std::fabs(w), magnitude, min_normal(dtype)});
  return std::fabs(g / scale - w / scale) / epsilon(dtype);
}

std::string compare_ints(const Tensor& got, const Tensor& want) {
  for (int64_t i = 0; i < want.count(); ++i) {
    if (int_at(got, i) == int_at(want, i)) continue;
    return at_element(want, i) + ": got " + std::to_string(int_at(got, i)) + ", want " +
           std::to_string(int_at(want, i));
  }
  return "";
}

// Counts one case in one mode into the report.
class Judge {
 public:
  Judge(const nef_backend& backend, Report& report) : backend_(backend), report_(report) {}

  void judge(const Case& c, const Mode& mode) {
    Tally& tally = report_.by_dtype[c.dtype];
    const RunResult got = run_case(backend_, c, mode);
    if (got.refused) {
      ++tally.refused;
      report_.refusals.push_back(label(c, mode) + ": " + got.message);
      return;
    }
    ++tally.run;
    const std::string fault = difference(c, mode, got, tally);
    if (fault.empty()) ++tally.passed;
    else report_.failures.push_back(label(c, mode) + ": " + fault);
  }

 private:
  static std::string label(const Case& c, const Mode& mode) {
    return std::string(ir::dtype_name(c.dtype)) + " " + c.name + " (" + mode.name + ")";
  }
  std::string difference(const Case& c, const Mode& mode, const RunResult& got, Tally& tally) {
    if (got.code != c.expect) {
      return "code " + std::to_string(got.code) + " instead of " + std::to_string(c.expect) +
             (got.message.empty() ? "" : ": " + got.message);
    }
    if (c.expect != NEF_OK) return got.message.empty() ? "an error without a message" : "";
    const RunResult want = run_case(*nef_backend_reference(), c, mode);
    if (want.code != NEF_OK) return "the reference itself failed: " + want.message;
    for (size_t i = 0; i < want.outputs.size(); ++i) {
      const std::string fault =
          compare(got.outputs[i], want.outputs[i], c.tolerance, &tally.worst_ulps);
      if (!fault.empty()) return "output " + std::to_string(i) + ", " + fault;
    }
    return "";
  }

  const nef_backend& backend_;
  Report& report_;
};

// Of all values; none where the first one has none.
int64_t elements(const Case& c) {
  if (c.values.front().tensor.count() == 0) return 0;
  int64_t n = 0;
  for (const CaseValue& v : c.values) n += v.tensor.count();
  return n;
}

// Chunks in reverse order: a kernel may not rely on their order.
void parallel_for(int64_t n, int64_t grain, nef_parallel_fn fn, void* arg) {
  const int64_t chunk = std::max<int64_t>({grain, (n + 2) / 3, 1});
  int64_t begin = n > 0 ? (n - 1) / chunk * chunk : -1;
  for (; begin >= 0; begin -= chunk) fn(arg, begin, std::min(begin + chunk, n));
}
int32_t num_threads() { return 3; }
constexpr nef_backend_host kHost = {sizeof(nef_backend_host), parallel_for, num_threads};

}  // namespace

RunResult run_case(const nef_backend& backend, const Case& c, const Mode& mode) {
  return Execution(backend, c, mode).run();
}

std::string compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance,
                    double* worst) {
  if (got.dtype != want.dtype || got.dims != want.dims) {
    return std::string("type ") + ir::dtype_name(got.dtype) + " [" + dims_name(got.dims) +
           "] instead of " + ir::dtype_name(want.dtype) + " [" + dims_name(want.dims) + "]";
  }
  if (!is_float(want.dtype)) return compare_ints(got, want);
  std::string fault;
  double most = tolerance.ulps;
  for (int64_t i = 0; i < want.count(); ++i) {
    const double g = float_at(got, i), w = float_at(want, i);
    const double ulps = ulps_between(g, w, want.dtype, tolerance.magnitude);
    if (std::isfinite(ulps)) *worst = std::max(*worst, ulps);
    if (ulps <= most) continue;
    most = ulps;
    fault = at_element(want, i) + ": got " + show(g) + ", want " + show(w) + ", " + show(ulps) +
            " ulps apart, allowed " + show(tolerance.ulps);
  }
  return fault;
}

std::vector<const Case*> chosen(const CaseList& cases, const Bounds& bounds) {
  constexpr int64_t kShared = 256;  // elements of a case that give threads something to share
  const std::regex names(bounds.names, std::regex::extended);
  const std::regex without(bounds.without, std::regex::extended);
  std::vector<const Case*> out;
  for (const Case& c : cases) {
    if (bounds.fewest > 0 && elements(c) == 0) continue;
    if (!bounds.names.empty() && !std::regex_search(c.name, names)) continue;
    if (!bounds.without.empty() && std::regex_search(c.name, without)) continue;
    out.push_back(&c);
  }
  if (bounds.fewest == 0) return out;
  const auto rank = [](const Case* c) {
    const int64_t n = elements(*c);
    return std::pair(n < kShared, n < kShared ? -n : n);
  };
  std::ranges::stable_sort(out, {}, rank);
  return out;
}

Report conform(const nef_backend& backend, const CaseList& cases, const Bounds& bounds) {
  constexpr int kRuns = std::size(kModes);
  Report report;
  Judge judge(backend, report);
  for (const Case* c : chosen(cases, bounds)) {
    if (bounds.fewest > 0 && report.by_dtype[c->dtype].run >= bounds.fewest * kRuns) continue;
    for (const Mode& mode : kModes) judge.judge(*c, mode);
  }
  return report;
}

std::string start(const nef_backend& backend) {
  char message[512] = "";
  nef_backend_error err{message, sizeof message};
  if (backend.abi_version != NEF_BACKEND_ABI_VERSION) return "another ABI version";
  const nef_code code = backend.init(&kHost, &err);
  return code == NEF_OK ? "" : std::string("init failed: ") + message;
}

}  // namespace nef::conformance
