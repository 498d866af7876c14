/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a graph with a batch of any size, saves it, loads it, and runs one program for two
 * batch sizes: y = gelu(x @ w + b). */
#include <nef/nef.h>
#include <stdio.h>
#include <stdlib.h>

static void check(nef_status* st) {
  if (st == NULL) return;
  fprintf(stderr, "%s: %s\n", nef_code_name(nef_status_code(st)), nef_status_message(st));
  exit(1);
}

static nef_graph* build(void) {
  const float w_data[6] = {0.5f, -1, 2, 1, 0, -0.5f}, b_data[2] = {0.1f, -0.1f};
  const int64_t w_shape[2] = {3, 2}, b_shape[1] = {2};
  const nef_dim x_dims[2] = {{0, "batch", 1, 64}, {3, NULL, 0, 0}};
  nef_tensor *x, *w, *b, *xw, *sum, *y;
  check(nef_tensor_input("x", NEF_FLOAT32, 2, x_dims, &x));
  check(nef_tensor_create(NEF_FLOAT32, 2, w_shape, w_data, &w));
  check(nef_tensor_create(NEF_FLOAT32, 1, b_shape, b_data, &b));
  check(nef_matmul(x, w, &xw));
  check(nef_add(xw, b, &sum));
  check(nef_gelu(sum, NULL, &y));

  const nef_tensor* outputs[1] = {y};
  const char* names[1] = {"y"};
  nef_graph* graph;
  check(nef_graph_capture(outputs, names, 1, &graph));
  nef_tensor_release(x);
  nef_tensor_release(w);
  nef_tensor_release(b);
  nef_tensor_release(xw);
  nef_tensor_release(sum);
  nef_tensor_release(y);
  return graph;
}

static void run(nef_program* program, int64_t batch) {
  float x_data[6] = {1, 2, 3, -1, -2, -3}, y_data[4];
  const int64_t shape[2] = {batch, 3};
  nef_tensor *x, *y;
  check(nef_tensor_create(NEF_FLOAT32, 2, shape, x_data, &x));
  check(nef_program_run(program, &x, 1, &y, 1));
  check(nef_tensor_read(y, y_data, sizeof(float) * 2 * (size_t)batch));
  for (int64_t i = 0; i < batch; ++i) printf("%8.4f %8.4f\n", y_data[2 * i], y_data[2 * i + 1]);
  nef_tensor_release(x);
  nef_tensor_release(y);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "example.nef";
  nef_graph* graph = build();
  check(nef_graph_save(graph, path, NULL));
  nef_graph_release(graph);

  check(nef_graph_load(path, NULL, &graph));
  nef_program* program;
  check(nef_graph_compile(graph, NULL, &program));
  printf("batch 1\n");
  run(program, 1);
  printf("batch 2\n");
  run(program, 2);
  nef_program_release(program);
  nef_graph_release(graph);
  return 0;
}
