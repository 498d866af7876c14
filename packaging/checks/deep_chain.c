/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of unary nodes through the whole pipeline, on a thread with a small stack.
 * usage: deep_chain NODES STACK_KIB FILE */
#define _POSIX_C_SOURCE 200809L
#include <nef/nef.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define WIDTH 16

static int64_t nodes;
static const char* path;

static void must(nef_status* status, const char* stage) {
  if (status == NULL) return;
  fprintf(stderr, "%s: %s: %s\n", stage, nef_code_name(nef_status_code(status)),
          nef_status_message(status));
  exit(1);
}

/* Prints what a stage took. */
static void took(const char* stage) {
  static struct timespec before;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (stage != NULL) {
    printf("%-8s %7.3f s\n", stage,
           (double)(now.tv_sec - before.tv_sec) + 1e-9 * (double)(now.tv_nsec - before.tv_nsec));
    fflush(stdout);
  }
  before = now;
}

static nef_tensor* build(void) {
  const nef_dim dims[1] = {{WIDTH, NULL, 0, 0}};
  nef_tensor *x, *next;
  must(nef_tensor_input("x", NEF_FLOAT32, 1, dims, &x), "build");
  for (int64_t i = 0; i < nodes; ++i) {
    /* In turn, so that no two neighbours undo each other. */
    must(i % 2 == 0 ? nef_neg(x, &next) : nef_abs(x, &next), "build");
    nef_tensor_release(x);
    x = next;
  }
  return x;
}

static void run(nef_program* program) {
  const int64_t shape[1] = {WIDTH};
  float data[WIDTH], got[WIDTH];
  for (int i = 0; i < WIDTH; ++i) data[i] = (float)(i - 5);
  nef_tensor *x, *y;
  must(nef_tensor_create(NEF_FLOAT32, 1, shape, data, &x), "run");
  must(nef_program_run(program, &x, 1, &y, 1), "run");
  must(nef_tensor_read(y, got, sizeof got), "run");
  for (int i = 0; i < WIDTH; ++i) {
    const float magnitude = data[i] < 0 ? -data[i] : data[i];
    if (got[i] == (nodes % 2 == 0 ? magnitude : -magnitude)) continue;
    fprintf(stderr, "element %d is %g for %g\n", i, (double)got[i], (double)data[i]);
    exit(1);
  }
  nef_tensor_release(x);
  nef_tensor_release(y);
}

static void* pipeline(void* unused) {
  (void)unused;
  took(NULL);
  nef_tensor* y = build();
  took("build");

  nef_graph* graph;
  const nef_tensor* outputs[1];
  const char* names[1] = {"y"};
  outputs[0] = y;
  must(nef_graph_capture(outputs, names, 1, &graph), "capture");
  took("capture");
  nef_tensor_release(y);
  took("free");
  must(nef_graph_save(graph, path, NULL), "save");
  nef_graph_release(graph);
  took("save");
  struct stat file;
  if (stat(path, &file) == 0) printf("file     %7.1f MB\n", (double)file.st_size / 1e6);
  must(nef_graph_load(path, NULL, &graph), "load");
  took("load");
  if (nef_graph_node_count(graph) != (size_t)nodes) {
    fprintf(stderr, "%zu nodes were loaded\n", nef_graph_node_count(graph));
    exit(1);
  }
  nef_program* program;
  must(nef_graph_compile(graph, NULL, &program), "plan");
  took("plan");
  run(program);
  took("run");
  run(program);
  took("run 2");
  nef_program_release(program);
  nef_graph_release(graph);
  took("free");
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: deep_chain NODES STACK_KIB FILE\n");
    return 2;
  }
  nodes = strtoll(argv[1], NULL, 10);
  const size_t stack = (size_t)strtoull(argv[2], NULL, 10) * 1024;
  path = argv[3];
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (nodes < 1 || pthread_attr_setstacksize(&attributes, stack) != 0 ||
      pthread_create(&thread, &attributes, pipeline, NULL) != 0) {
    fprintf(stderr, "no thread with a stack of %s KiB for %s nodes\n", argv[2], argv[1]);
    return 1;
  }
  pthread_join(thread, NULL);
  printf("%lld nodes on a %zu KiB stack: built, saved, loaded, planned, run, freed\n",
         (long long)nodes, stack / 1024);
  return 0;
}
