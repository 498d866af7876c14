/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the background: one is waited for and leaves a timeline, one is cancelled. */
#include <nef/nef.h>

#include <stdio.h>
#include <stdlib.h>

enum { kSize = 256, kLayers = 400 };

static void check(nef_status* st) {
  if (st == NULL) return;
  fprintf(stderr, "%s: %s\n", nef_code_name(nef_status_code(st)), nef_status_message(st));
  exit(1);
}

/* tanh(... tanh(tanh(x w) w) ...): long enough to be cancelled half way. */
static nef_program* build(void) {
  static float w_data[kSize * kSize];
  for (int i = 0; i < kSize * kSize; ++i) w_data[i] = (float)(i % 7) / kSize;
  const int64_t w_shape[2] = {kSize, kSize};
  const nef_dim x_dims[2] = {{0, "batch", 1, kSize}, {kSize, NULL, 0, 0}};
  nef_tensor *x, *w, *product;
  check(nef_tensor_input("x", NEF_FLOAT32, 2, x_dims, &x));
  check(nef_tensor_create(NEF_FLOAT32, 2, w_shape, w_data, &w));
  for (int i = 0; i < kLayers; ++i) {
    check(nef_matmul(x, w, &product));
    nef_tensor_release(x);
    check(nef_tanh(product, &x));
    nef_tensor_release(product);
  }
  const nef_tensor* outputs[1] = {x};
  const char* names[1] = {"y"};
  nef_graph* graph;
  nef_program* program;
  check(nef_graph_capture(outputs, names, 1, &graph));
  check(nef_graph_compile(graph, NULL, &program));
  nef_graph_release(graph);
  nef_tensor_release(x);
  nef_tensor_release(w);
  return program;
}

static nef_run* prepare(nef_program* program) {
  static float x_data[kSize * kSize];
  const int64_t shape[2] = {kSize, kSize};
  nef_tensor* x;
  nef_run* run;
  check(nef_tensor_create(NEF_FLOAT32, 2, shape, x_data, &x));
  check(nef_run_create(program, &run));
  check(nef_run_set_input(run, 0, x));
  nef_tensor_release(x); /* the run keeps its own reference */
  return run;
}

static void wait_for_result(nef_program* program, const char* trace_path) {
  nef_run* run = prepare(program);
  nef_run_enable_trace(run);
  check(nef_run_start(run)); /* returns at once */
  check(nef_run_wait(run));
  nef_tensor* y;
  check(nef_run_output(run, 0, &y));
  printf("done, output of rank %d\n", (int)nef_tensor_rank(y));
  nef_tensor_release(y);

  char* trace;
  check(nef_run_trace(run, &trace));
  FILE* file = fopen(trace_path, "w");
  if (file == NULL || fputs(trace, file) == EOF || fclose(file) != 0) {
    fprintf(stderr, "cannot write %s\n", trace_path);
    exit(1);
  }
  printf("timeline written\n");
  nef_string_free(trace);
  nef_run_release(run);
}

static int cancel(nef_program* program) {
  nef_run* run = prepare(program);
  check(nef_run_start(run));
  nef_run_cancel(run); /* from any thread; does not block */
  nef_status* st = nef_run_wait(run);
  const nef_code code = nef_status_code(st);
  printf("cancelled run: %s\n", nef_code_name(code));
  nef_status_release(st);
  nef_run_release(run);
  return code == NEF_CANCELLED;
}

int main(int argc, char** argv) {
  nef_program* program = build();
  wait_for_result(program, argc > 1 ? argv[1] : "example_trace.json");
  const int cancelled = cancel(program);
  nef_program_release(program);
  return !cancelled;
}
