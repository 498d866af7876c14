/* SPDX-License-Identifier: Apache-2.0 */
/* run_overhead/c: nanoseconds of one nef_program_run of a one-node graph on 16 floats. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include <nef/nef.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 51, kRuns = 20000 };

static void check(nef_status* st) {
  if (st == NULL) return;
  fprintf(stderr, "%s\n", nef_status_message(st));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int matches(const char* pattern) {
  regex_t regex;
  if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0) return 0;
  const int found = regexec(&regex, "run_overhead/c", 0, NULL, 0) == 0;
  regfree(&regex);
  return found;
}

int main(int argc, char** argv) {
  int json = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--json") == 0) json = 1;
    if (strcmp(argv[i], "--only") == 0 && i + 1 < argc && !matches(argv[++i])) return 0;
  }
  const nef_dim dims[1] = {{16, NULL, 0, 0}};
  const int64_t shape[1] = {16};
  float data[16] = {0};
  nef_tensor *input, *y, *x;
  check(nef_tensor_input("x", NEF_FLOAT32, 1, dims, &input));
  check(nef_relu(input, &y));
  const nef_tensor* outputs[1] = {y};
  const char* names[1] = {"y"};
  nef_graph* graph;
  nef_program* program;
  check(nef_graph_capture(outputs, names, 1, &graph));
  check(nef_graph_compile(graph, NULL, &program));
  check(nef_tensor_create(NEF_FLOAT32, 1, shape, data, &x));
  double samples[kRounds];
  for (int r = 0; r < kRounds; ++r) {
    const double begin = now();
    for (int i = 0; i < kRuns; ++i) {
      nef_tensor* out;
      check(nef_program_run(program, &x, 1, &out, 1));
      nef_tensor_release(out);
    }
    samples[r] = (now() - begin) / kRuns * 1e9;
  }
  qsort(samples, kRounds, sizeof samples[0], by_value);
  if (json) {
    printf(
        "{\"name\":\"run_overhead/"
        "c\",\"value\":%.6g,\"unit\":\"ns\",\"peer\":\"\",\"peer_value\":0,\"ratio\":0,\"note\":"
        "\"median of %d rounds\"}\n",
        samples[kRounds / 2], kRounds);
  } else {
    printf("%-32s %12.4g ns    median of %d rounds of %d runs\n", "run_overhead/c",
           samples[kRounds / 2], kRounds, kRuns);
  }
  nef_tensor_release(input);
  nef_tensor_release(y);
  nef_tensor_release(x);
  nef_program_release(program);
  nef_graph_release(graph);
  return 0;
}
