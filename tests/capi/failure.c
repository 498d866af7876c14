/* SPDX-License-Identifier: Apache-2.0 */
/* What a C program sees when a device fails, through the plugins of tests/plugins. */
#define _POSIX_C_SOURCE 200809L
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define IN 16
#define OUT 8
#define MOST 64

static const char* plugin(const char* name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s.so", NEF_TEST_PLUGIN_DIR, name);
  return path;
}

static void obey(void) {
  unsetenv("NEF_FAULT_MEMORY");
  unsetenv("NEF_FAULT_COMPILE");
  unsetenv("NEF_FAULT_PREPARE");
  unsetenv("NEF_FAULT_LOST");
}

static float w_data[IN * OUT];

/* relu(x @ w) + 1 for any batch. */
static nef_graph* layer(void) {
  const nef_dim x_dims[2] = {{0, "batch", 1, MOST}, {IN, NULL, 0, 0}};
  const int64_t w_shape[2] = {IN, OUT}, more_shape[2] = {1, 1};
  const float one = 1;
  nef_tensor *x, *w, *xw, *one_t, *scaled, *y;
  for (int i = 0; i < IN * OUT; ++i) w_data[i] = (float)((i * 7) % 11 - 5);
  OK(nef_tensor_input("x", NEF_FLOAT32, 2, x_dims, &x));
  OK(nef_tensor_create(NEF_FLOAT32, 2, w_shape, w_data, &w));
  OK(nef_tensor_create(NEF_FLOAT32, 2, more_shape, &one, &one_t));
  OK(nef_matmul(x, w, &xw));
  OK(nef_relu(xw, &y));
  OK(nef_add(y, one_t, &scaled));
  const nef_tensor* outputs[1] = {scaled};
  const char* names[1] = {"y"};
  nef_graph* graph;
  OK(nef_graph_capture(outputs, names, 1, &graph));
  nef_tensor_release(x);
  nef_tensor_release(w);
  nef_tensor_release(one_t);
  nef_tensor_release(xw);
  nef_tensor_release(y);
  nef_tensor_release(scaled);
  return graph;
}

static nef_status* compile_on(const nef_graph* graph, const char* device, int strict,
                              nef_program** out) {
  nef_compile_options o;
  nef_compile_options_init(&o, sizeof o);
  o.device = device;
  o.strict = strict;
  return nef_graph_compile(graph, &o, out);
}

static nef_status* run_rows(nef_program* program, int64_t rows, nef_tensor** out) {
  float data[MOST * IN];
  const int64_t shape[2] = {rows, IN};
  for (int64_t i = 0; i < rows * IN; ++i) data[i] = (float)((i * 5) % 13 - 6);
  nef_tensor* x;
  OK(nef_tensor_create(NEF_FLOAT32, 2, shape, data, &x));
  nef_status* status = nef_program_run(program, &x, 1, out, 1);
  nef_tensor_release(x);
  return status;
}

/* Small integers: exact in any order of summation. */
static void run_right(nef_program* program, int64_t rows) {
  nef_tensor* y;
  float got[MOST * OUT];
  OK(run_rows(program, rows, &y));
  OK(nef_tensor_read(y, got, sizeof(float) * (size_t)(rows * OUT)));
  nef_tensor_release(y);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < OUT; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < IN; ++k) {
        sum += (float)(((i * IN + k) * 5) % 13 - 6) * w_data[k * OUT + j];
      }
      CHECK(got[i * OUT + j] == (sum > 0 ? sum : 0) + 1);
    }
  }
}

/* The events' text holds these words in this order. */
static void events_are(const nef_program* program, const char* const* words, size_t count) {
  char* json;
  OK(nef_program_events(program, &json));
  const char* at = json;
  for (size_t i = 0; i < count; ++i) {
    const char* found = strstr(at, words[i]);
    if (found == NULL) fprintf(stderr, "no \"%s\" where it belongs in %s\n", words[i], json);
    CHECK(found != NULL);
    at = found + strlen(words[i]);
  }
  if (count == 0) CHECK(strcmp(json, "[]") == 0);
  nef_string_free(json);
}

static void out_of_memory(const nef_graph* graph) {
  nef_program* program;
  OK(compile_on(graph, "fault", 0, &program));
  run_right(program, 3);
  events_are(program, NULL, 0);
  setenv("NEF_FAULT_MEMORY", "2000", 1); /* weights take 516, a row 64 to 96 */
  run_right(program, MOST);
  const char* const split[] = {"out of memory", "device memory is short", "evicting",
                               "still out of memory", "smaller batches"};
  events_are(program, split, 5);
  setenv("NEF_FAULT_MEMORY", "520", 1);
  run_right(program, MOST);
  const char* const moved[] = {"smaller batches", "still out of memory", "fault:0", "\"cpu\""};
  events_are(program, moved, 4);
  obey();
  nef_program_release(program);
}

static void compile_failure(void) {
  nef_graph* graph = layer();
  nef_program* program;
  setenv("NEF_FAULT_COMPILE", "matmul", 1);
  FAILS(compile_on(graph, "fault", 1, &program), NEF_FALLBACK_FORBIDDEN, "crashed on matmul");
  OK(compile_on(graph, "fault", 0, &program));
  const char* const words[] = {"compile of", "matmul", "crashed on matmul", "fault:0", "cpu:0"};
  events_are(program, words, 5);
  run_right(program, 5);
  obey();
  nef_program_release(program);
  nef_graph_release(graph);
}

static void device_lost(const nef_graph* graph) {
  nef_program* program;
  nef_tensor* y;
  OK(compile_on(graph, "fault", 1, &program));
  setenv("NEF_FAULT_LOST", "1", 1);
  FAILS(run_rows(program, 2, &y), NEF_FALLBACK_FORBIDDEN, "fell off the bus");
  nef_program_release(program);
  OK(compile_on(graph, "fault", 0, &program));
  run_right(program, 2);
  const char* const words[] = {"device lost", "fell off the bus", "fault:0", "\"cpu\""};
  events_are(program, words, 4);
  obey();
  nef_program_release(program);
}

static void absent(const char* name, const char* reason) {
  for (size_t i = 0; i < nef_device_count(); ++i) {
    nef_device_info info;
    info.struct_size = sizeof info;
    OK(nef_device(i, &info));
    if (strcmp(info.name, name) != 0) continue;
    CHECK(!info.available && strstr(info.reason, reason) != NULL);
    return;
  }
  fprintf(stderr, "%s is not listed\n", name);
  exit(1);
}

static void plugins_that_do_not_load(void) {
  FAILS(nef_backend_load(plugin("fault_probe")), NEF_BACKEND_UNAVAILABLE, "older than 3.4");
  absent("probe", "older than 3.4");
  FAILS(nef_backend_load(plugin("fault_abi")), NEF_ABI_MISMATCH, "version 99");
  absent(plugin("fault_abi"), "version 99");
  FAILS(nef_backend_load(plugin("fault_short")), NEF_ABI_MISMATCH, "lacks");
  FAILS(nef_backend_load(plugin("fault_incomplete")), NEF_ABI_MISMATCH, "lacks");
  FAILS(nef_backend_load(plugin("fault_no_symbol")), NEF_ABI_MISMATCH, "nef_backend_entry");
  FAILS(nef_backend_load(plugin("fault_missing")), NEF_BACKEND_UNAVAILABLE, "cannot open");
}

/* A pipe would be waited for, with the lock of the loader held. */
static void a_plugin_that_is_no_file(void) {
  char path[] = "/tmp/nef-plugin-XXXXXX";
  CHECK(mkdtemp(path) != NULL);
  FAILS(nef_backend_load(path), NEF_BACKEND_UNAVAILABLE, "no regular file");
  CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
  FAILS(nef_backend_load(path), NEF_BACKEND_UNAVAILABLE, "no regular file");
  CHECK(unlink(path) == 0);
}

/* Whoever prints a message is safe from the names in it. */
static void messages_are_printable(void) {
  static const char text[] =
      "{\"version\": \"1.0\", \"nef_format\": \"graph-v1\", \"graph\": {\"inputs\": [\"x\"], "
      "\"nodes\": [], \"outputs\": [\"x\"]}, \"tensors\": {\"x\": {\"shape\": "
      "[\"b\\u001b[2J\\nforged\\u202e\"], \"dtype\": \"float32\"}}}";
  nef_graph* graph;
  nef_status* status = nef_graph_load_bytes(text, sizeof text - 1, NULL, &graph);
  CHECK(status != NULL && strstr(nef_status_message(status), "b\\x1b[2J") != NULL);
  for (const char* c = nef_status_message(status); *c != '\0'; ++c) {
    CHECK((unsigned char)*c >= ' ' && (unsigned char)*c < 0x7f);
  }
  nef_status_release(status);
}

static void cycle(void) {
  nef_graph* graph;
  FAILS(nef_graph_load(NEF_TEST_DATA_DIR "/nef/malformed/cycle_two.nef", NULL, &graph),
        NEF_GRAPH_CYCLE, "cycle");
}

int main(void) {
  obey();
  plugins_that_do_not_load();
  a_plugin_that_is_no_file();
  messages_are_printable();
  cycle();
  const uint64_t before = live_objects();
  nef_graph* graph = layer();
  nef_program* program;
  FAILS(compile_on(graph, "fault", 0, &program), NEF_BACKEND_UNAVAILABLE, "\"fault\"");
  OK(nef_backend_load(plugin("fault_backend")));
  FAILS(nef_backend_load(plugin("fault_backend")), NEF_DUPLICATE_NAME, "loaded already");
  compile_failure(); /* first: no kernel of the layer is cached yet */
  out_of_memory(graph);
  device_lost(graph);
  nef_graph_release(graph);
  CHECK(live_objects() == before);
  puts("failure: all as it should be");
  return 0;
}
