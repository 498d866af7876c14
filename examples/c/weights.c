/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the tensors of a safetensors file, which are mapped and not read. Without an argument it
 * makes a small one first: a .nef bundle is a safetensors file, too. */
#include <nef/nef.h>

#include <stdio.h>
#include <stdlib.h>

static void check(nef_status* st) {
  if (st == NULL) return;
  fprintf(stderr, "%s: %s\n", nef_code_name(nef_status_code(st)), nef_status_message(st));
  exit(1);
}

static void make(const char* path) {
  static float table_data[50 * 8];
  const int64_t table_shape[2] = {50, 8};
  const nef_dim ids_dims[1] = {{0, "n", 0, 0}};
  nef_tensor *table, *ids, *rows;
  check(nef_tensor_create(NEF_FLOAT32, 2, table_shape, table_data, &table));
  check(nef_tensor_input("ids", NEF_INT64, 1, ids_dims, &ids));
  check(nef_gather(table, ids, 0, &rows));
  const nef_tensor* outputs[1] = {rows};
  const char* names[1] = {"rows"};
  nef_graph* graph;
  check(nef_graph_capture(outputs, names, 1, &graph));
  nef_save_options options;
  nef_save_options_init(&options, sizeof options);
  options.bundle = 1;
  check(nef_graph_save(graph, path, &options));
  nef_graph_release(graph);
  nef_tensor_release(table);
  nef_tensor_release(ids);
  nef_tensor_release(rows);
}

static void show(const nef_weights* weights, const char* name) {
  nef_tensor* tensor;
  check(nef_weights_tensor(weights, name, &tensor));
  printf("%-16s %s [", name, nef_dtype_name(nef_tensor_dtype(tensor)));
  int64_t shape[16];
  const size_t rank = nef_tensor_shape(tensor, shape, 16);
  for (size_t i = 0; i < rank; ++i) printf("%s%lld", i ? " " : "", (long long)shape[i]);
  printf("]\n");
  nef_tensor_release(tensor);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "example_weights.nef";
  if (argc < 2) make(path);
  nef_weights* weights;
  check(nef_weights_open(path, &weights));
  for (size_t i = 0; i < nef_weights_count(weights); ++i)
    show(weights, nef_weights_name(weights, i));
  nef_weights_release(weights);
  return 0;
}
