/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: in the foreground, in the background, cancelled, twice, traced, released in any order. */
#include <sched.h>
#include <time.h>

#include "check.h"

#define N 64
#define DEPTH 200

/* A chain of matmuls: long enough to be met on its way. */
static nef_graph* chain(void) {
  const nef_dim dims[2] = {{N, NULL, 0, 0}, {N, NULL, 0, 0}};
  const int64_t shape[2] = {N, N};
  float identity[N * N];
  memset(identity, 0, sizeof identity);
  for (int i = 0; i < N; ++i) identity[i * N + i] = 1;
  nef_tensor *x, *w, *next;
  OK(nef_tensor_input("x", NEF_FLOAT32, 2, dims, &x));
  OK(nef_tensor_create(NEF_FLOAT32, 2, shape, identity, &w));
  for (int i = 0; i < DEPTH; ++i) {
    OK(nef_matmul(x, w, &next));
    nef_tensor_release(x);
    x = next;
  }
  const nef_tensor* outputs[1] = {x};
  const char* names[1] = {"y"};
  nef_graph* graph;
  OK(nef_graph_capture(outputs, names, 1, &graph));
  nef_tensor_release(x);
  nef_tensor_release(w);
  return graph;
}

static nef_tensor* data(void) {
  const int64_t shape[2] = {N, N};
  float values[N * N];
  for (int i = 0; i < N * N; ++i) values[i] = (float)i;
  nef_tensor* t;
  OK(nef_tensor_create(NEF_FLOAT32, 2, shape, values, &t));
  return t;
}

static nef_run* ready(nef_program* program, nef_tensor* x) {
  nef_run* run;
  OK(nef_run_create(program, &run));
  OK(nef_run_set_input(run, 0, x));
  return run;
}

static void right(nef_run* run) {
  nef_tensor* y;
  float got[N * N];
  OK(nef_run_output(run, 0, &y));
  OK(nef_tensor_read(y, got, sizeof got));
  for (int i = 0; i < N * N; ++i) CHECK(got[i] == (float)i);
  nef_tensor_release(y);
}

static void once_only(nef_program* program, nef_tensor* x) {
  nef_run* run = ready(program, x);
  nef_tensor* y;
  char* json;
  FAILS(nef_run_wait(run), NEF_INVALID_ARGUMENT, "has not been started");
  FAILS(nef_run_output(run, 0, &y), NEF_INVALID_ARGUMENT, "not done");
  OK(nef_run_execute(run));
  CHECK(nef_run_done(run));
  right(run);
  FAILS(nef_run_execute(run), NEF_INVALID_ARGUMENT, "executes once");
  FAILS(nef_run_start(run), NEF_INVALID_ARGUMENT, "executes once");
  FAILS(nef_run_set_input(run, 0, x), NEF_INVALID_ARGUMENT, "has started");
  FAILS(nef_run_output(run, 1, &y), NEF_OUT_OF_RANGE, "output 1");
  FAILS(nef_run_trace(run, &json), NEF_INVALID_ARGUMENT, "not traced");
  OK(nef_run_wait(run)); /* done is done */
  nef_run_release(run);
}

static void inputs_are_checked(nef_program* program, nef_tensor* x) {
  nef_run* run;
  nef_tensor* scalar;
  const double one = 1;
  OK(nef_run_create(program, &run));
  FAILS(nef_run_set_input(run, 1, x), NEF_OUT_OF_RANGE, "input 1");
  FAILS(nef_run_set_input(run, 0, NULL), NEF_INVALID_ARGUMENT, "the tensor");
  FAILS(nef_run_execute(run), NEF_INVALID_ARGUMENT, "\"x\" was not set");
  nef_run_release(run);
  OK(nef_tensor_create(NEF_FLOAT64, 0, NULL, &one, &scalar));
  run = ready(program, scalar);
  FAILS(nef_run_execute(run), NEF_DTYPE_MISMATCH, "float64");
  nef_run_release(run);
  nef_tensor_release(scalar);
}

static void in_the_background(nef_program* program, nef_tensor* x) {
  nef_run* runs[8];
  for (int i = 0; i < 8; ++i) OK(nef_run_start(runs[i] = ready(program, x)));
  for (int i = 7; i >= 0; --i) {
    OK(nef_run_wait(runs[i]));
    CHECK(nef_run_done(runs[i]));
    right(runs[i]);
    nef_run_release(runs[i]);
  }
}

static void cancelled(nef_program* program, nef_tensor* x) {
  nef_run* run = ready(program, x);
  nef_tensor* y;
  nef_run_cancel(run); /* before it starts */
  FAILS(nef_run_execute(run), NEF_CANCELLED, "before step 0");
  FAILS(nef_run_wait(run), NEF_CANCELLED, "before step 0"); /* each call a fresh copy */
  FAILS(nef_run_output(run, 0, &y), NEF_CANCELLED, "before step 0");
  nef_run_release(run);

  int met = 0;
  for (int i = 0; i < 50; ++i) {
    run = ready(program, x);
    OK(nef_run_start(run));
    nef_run_cancel(run);
    nef_status* status = nef_run_wait(run);
    CHECK(status == NULL || nef_status_code(status) == NEF_CANCELLED);
    met += status != NULL;
    nef_status_release(status);
    nef_run_cancel(run); /* a no-op when done */
    nef_run_release(run);
  }
  CHECK(met > 0);
  /* The program is none the worse. */
  run = ready(program, x);
  OK(nef_run_execute(run));
  right(run);
  nef_run_release(run);
}

static void released_early(nef_program* program, nef_tensor* x) {
  for (int i = 0; i < 20; ++i) {
    nef_run* run = ready(program, x);
    OK(nef_run_start(run));
    if (i % 2 == 0) {
      nef_run_retain(run);
      nef_run_release(run);
    }
    nef_run_release(run); /* cancels it and waits */
  }
}

static void release_run(void* bytes, void* run) {
  (void)bytes;
  nef_run_release(*(nef_run**)run);
}

/* The run's thread computes its lazy input, drops what that was made of, and with it the run. */
static void released_by_its_own_thread(nef_program* program) {
  static float values[N * N];
  const int64_t shape[2] = {N, N};
  const uint64_t before = live_objects();
  nef_tensor *leaf, *lazy;
  nef_run* run = NULL;
  OK(nef_tensor_wrap(NEF_FLOAT32, 2, shape, values, sizeof values, release_run, &run, &leaf));
  OK(nef_relu(leaf, &lazy));
  nef_tensor_release(leaf);
  run = ready(program, lazy);
  nef_tensor_release(lazy);
  OK(nef_run_start(run));
  for (time_t end = time(NULL) + 30; live_objects() != before && time(NULL) < end;) sched_yield();
  CHECK(live_objects() == before);
}

static size_t count_of(const char* text, const char* word) {
  size_t n = 0;
  for (const char* at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) ++n;
  return n;
}

static void traced(nef_program* program, nef_tensor* x) {
  nef_run* run = ready(program, x);
  char* json;
  nef_run_enable_trace(run);
  FAILS(nef_run_trace(run, &json), NEF_INVALID_ARGUMENT, "not done");
  OK(nef_run_execute(run));
  OK(nef_run_trace(run, &json));
  CHECK(strncmp(json, "{\"traceEvents\":[", 16) == 0);
  CHECK(count_of(json, "\"ph\":\"X\"") == DEPTH);
  CHECK(count_of(json, "\"dur\":") == DEPTH && count_of(json, "\"ts\":") == DEPTH);
  CHECK(count_of(json, "\"cat\":\"kernel\"") == DEPTH);
  nef_string_free(json);
  nef_run_release(run);
}

static void any_order_of_release(void) {
  nef_graph* graph = chain();
  nef_program* program;
  OK(nef_graph_compile(graph, NULL, &program));
  nef_graph_release(graph);
  nef_tensor *x = data(), *y;
  nef_run* run = ready(program, x);
  nef_tensor_release(x);
  nef_program_release(program);
  OK(nef_run_start(run));
  OK(nef_run_wait(run));
  OK(nef_run_output(run, 0, &y));
  nef_run_release(run);
  float got[N * N];
  OK(nef_tensor_read(y, got, sizeof got));
  CHECK(got[N + 1] == (float)(N + 1));
  nef_tensor_release(y);
}

static void null_is_refused(void) {
  nef_run* run;
  nef_tensor* y;
  FAILS(nef_run_create(NULL, &run), NEF_INVALID_ARGUMENT, "the program");
  FAILS(nef_run_execute(NULL), NEF_INVALID_ARGUMENT, "the run");
  FAILS(nef_run_start(NULL), NEF_INVALID_ARGUMENT, "the run");
  FAILS(nef_run_wait(NULL), NEF_INVALID_ARGUMENT, "the run");
  FAILS(nef_run_output(NULL, 0, &y), NEF_INVALID_ARGUMENT, "the run");
  nef_run_cancel(NULL);
  nef_run_enable_trace(NULL);
  nef_run_release(NULL);
  CHECK(nef_run_retain(NULL) == NULL && !nef_run_done(NULL));
}

int main(void) {
  const uint64_t before = live_objects();
  nef_graph* graph = chain();
  nef_program* program;
  nef_compile_options o;
  nef_compile_options_init(&o, sizeof o);
  /* Every step its own, whatever the optimiser learns about identities. */
  o.disabled_passes = "canonicalise,fold,simplify,cse,fuse";
  OK(nef_graph_compile(graph, &o, &program));
  nef_tensor* x = data();
  once_only(program, x);
  inputs_are_checked(program, x);
  in_the_background(program, x);
  cancelled(program, x);
  released_early(program, x);
  released_by_its_own_thread(program);
  traced(program, x);
  any_order_of_release();
  null_is_refused();
  nef_tensor_release(x);
  nef_program_release(program);
  nef_graph_release(graph);
  CHECK(live_objects() == before);
  puts("run: all as it should be");
  return 0;
}
