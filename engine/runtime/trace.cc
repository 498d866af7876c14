// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/trace.h"

#include <cjson/cJSON.h>
#include <time.h>

#include <memory>

#include "engine/ir/error.h"

namespace nef::runtime {

int64_t Trace::now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

namespace {

void add_span(cJSON* events, const compile::Program& program, const Trace::Span& span,
              int64_t origin) {
  const compile::Step& step = program.steps[span.step];
  cJSON* e = cJSON_CreateObject();
  cJSON_AddStringToObject(e, "ph", "X");
  cJSON_AddNumberToObject(e, "pid", step.device + 1);
  cJSON_AddNumberToObject(e, "tid", span.lane);
  cJSON_AddNumberToObject(e, "ts", static_cast<double>(span.begin - origin) / 1000.0);
  cJSON_AddNumberToObject(e, "dur", static_cast<double>(span.end - span.begin) / 1000.0);
  cJSON* args = cJSON_AddObjectToObject(e, "args");
  std::string name;
  const char* category = "copy";
  if (step.kind == compile::Step::Kind::Copy) {
    name = cat("copy ", program.graph->value_label(program.step_values[step.first_value].value));
  } else {
    const auto& region = program.regions.list[step.region];
    name = program.graph->node_label(program.regions.root(region));
    category = step.kind == compile::Step::Kind::Blocks ? "blocks" : "kernel";
    if (step.kind == compile::Step::Kind::Size) {
      name = "size of " + name;
      category = "size";
    } else if (step.kind == compile::Step::Kind::Launch) {
      cJSON_AddStringToObject(args, "kernel", step.prepared->kernel().name());
      cJSON_AddNumberToObject(args, "nodes", region.node_count);
    }
  }
  cJSON_AddStringToObject(e, "name", name.c_str());
  cJSON_AddStringToObject(e, "cat", category);
  cJSON_AddItemToArray(events, e);
}

// Runs of blocks lie within the span of their node. Recursion is bounded by how deep they nest.
void add_spans(cJSON* events, const Trace& trace, int64_t origin) {
  for (const Trace::Span& span : trace.spans) {
    if (span.end != 0) add_span(events, *trace.program, span, origin);
  }
  for (const Trace& nested : trace.nested) add_spans(events, nested, origin);
}

}  // namespace

std::string Trace::json() const {
  if (program == nullptr) fail(NEF_INVALID_ARGUMENT, "trace", "nothing has been traced");
  const std::unique_ptr<cJSON, void (*)(cJSON*)> root(cJSON_CreateObject(), cJSON_Delete);
  cJSON* events = cJSON_AddArrayToObject(root.get(), "traceEvents");
  for (size_t d = 0; d < program->devices.size(); ++d) {
    cJSON* e = cJSON_CreateObject();
    cJSON_AddStringToObject(e, "ph", "M");
    cJSON_AddStringToObject(e, "name", "process_name");
    cJSON_AddNumberToObject(e, "pid", static_cast<double>(d + 1));
    cJSON* args = cJSON_AddObjectToObject(e, "args");
    cJSON_AddStringToObject(args, "name", program->devices[d]->name.c_str());
    cJSON_AddItemToArray(events, e);
  }
  add_spans(events, *this, spans.empty() ? 0 : spans.front().begin);
  cJSON_AddStringToObject(root.get(), "displayTimeUnit", "ms");
  const std::unique_ptr<char, void (*)(void*)> text(cJSON_PrintUnformatted(root.get()), cJSON_free);
  if (text == nullptr) fail(NEF_OUT_OF_MEMORY, "trace", "no memory for the trace's text");
  return text.get();
}

}  // namespace nef::runtime
