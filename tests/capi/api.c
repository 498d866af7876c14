/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of nef.h outside of runs: NULL, ownership, options of other sizes, graphs, files. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <unistd.h>

static nef_tensor* vector(float a, float b) {
  const int64_t two = 2;
  const float data[2] = {a, b};
  nef_tensor* t;
  OK(nef_tensor_create(NEF_FLOAT32, 1, &two, data, &t));
  return t;
}

static void library(void) {
  /* This program also runs on later libraries, see packaging/abi. */
  CHECK(nef_version()[0] != '\0');
  CHECK(nef_abi_version() >= NEF_ABI_VERSION);
  CHECK(strcmp(nef_code_name(NEF_SHAPE_MISMATCH), "shape_mismatch") == 0);
  CHECK(strcmp(nef_code_name(-5), "unknown") == 0 && strcmp(nef_code_name(9999), "unknown") == 0);
  for (nef_dtype d = NEF_BOOL; d <= NEF_FLOAT64; ++d) {
    CHECK(nef_dtype_size(d) > 0 && nef_dtype_from_name(nef_dtype_name(d)) == d);
  }
  CHECK(nef_dtype_size(0) == 0 && nef_dtype_size(99) == 0 && nef_dtype_size(-1) == 0);
  CHECK(strcmp(nef_dtype_name(99), "invalid") == 0);
  CHECK(nef_dtype_from_name("float12") == NEF_DTYPE_INVALID);
  CHECK(nef_dtype_from_name(NULL) == NEF_DTYPE_INVALID);
}

static void null_is_no_crash(void) {
  nef_tensor* t = NULL;
  nef_graph* g = NULL;
  nef_program* p = NULL;
  char* text = NULL;
  const void* data = NULL;
  nef_status_release(NULL);
  nef_string_free(NULL);
  nef_tensor_release(NULL);
  nef_graph_release(NULL);
  nef_program_release(NULL);
  nef_weights_release(NULL);
  nef_counters_read(NULL);
  CHECK(nef_tensor_retain(NULL) == NULL && nef_graph_retain(NULL) == NULL &&
        nef_program_retain(NULL) == NULL);
  CHECK(nef_status_code(NULL) == NEF_OK && nef_status_message(NULL)[0] == '\0');
  CHECK(nef_tensor_rank(NULL) == 0 && nef_tensor_dtype(NULL) == NEF_DTYPE_INVALID);
  CHECK(nef_tensor_dim(NULL, 0) == NULL && !nef_tensor_ready(NULL));
  CHECK(nef_graph_node_count(NULL) == 0 && nef_weights_name(NULL, 0) == NULL);
  const int64_t shape[1] = {1};
  const float one = 1;
  FAILS(nef_tensor_create(NEF_FLOAT32, 1, shape, &one, NULL), NEF_INVALID_ARGUMENT, "out pointer");
  FAILS(nef_tensor_create(NEF_FLOAT32, 1, NULL, &one, &t), NEF_INVALID_ARGUMENT, "shape");
  FAILS(nef_tensor_create(NEF_FLOAT32, 1, shape, NULL, &t), NEF_INVALID_ARGUMENT, "data");
  FAILS(nef_tensor_input(NULL, NEF_FLOAT32, 0, NULL, &t), NEF_INVALID_ARGUMENT, "name");
  FAILS(nef_tensor_data(NULL, &data, NULL), NEF_INVALID_ARGUMENT, "tensor");
  FAILS(nef_execute(NULL), NEF_INVALID_ARGUMENT, "tensor");
  FAILS(nef_add(NULL, NULL, &t), NEF_INVALID_ARGUMENT, "NULL");
  FAILS(nef_op_call(NULL, NULL, 0, NULL, 0, NULL, 1, &t), NEF_INVALID_ARGUMENT, "name");
  FAILS(nef_graph_capture(NULL, NULL, 0, &g), NEF_INVALID_ARGUMENT, "at least one output");
  FAILS(nef_graph_load(NULL, NULL, &g), NEF_INVALID_ARGUMENT, "path");
  FAILS(nef_graph_load_bytes(NULL, 5, NULL, &g), NEF_INVALID_ARGUMENT, "data");
  FAILS(nef_graph_save(NULL, "x.nef", NULL), NEF_INVALID_ARGUMENT, "graph");
  FAILS(nef_graph_describe(NULL, &text), NEF_INVALID_ARGUMENT, "graph");
  FAILS(nef_graph_compile(NULL, NULL, &p), NEF_INVALID_ARGUMENT, "graph");
  FAILS(nef_program_run(NULL, NULL, 0, NULL, 0), NEF_INVALID_ARGUMENT, "program");
  FAILS(nef_program_plan(NULL, &text), NEF_INVALID_ARGUMENT, "program");
  FAILS(nef_program_events(NULL, &text), NEF_INVALID_ARGUMENT, "program");
  CHECK(t == NULL && g == NULL && p == NULL && text == NULL && data == NULL); /* left untouched */
}

static void tensors(void) {
  nef_tensor* t;
  const int64_t shape[17] = {2, 3}, negative[1] = {-1};
  const int64_t huge[2] = {INT64_C(1) << 62, INT64_C(1) << 62};
  const float data[6] = {1, 2, 3, 4, 5, 6};
  FAILS(nef_tensor_create(99, 2, shape, data, &t), NEF_INVALID_ARGUMENT, "99");
  FAILS(nef_tensor_create(NEF_FLOAT32, 17, shape, data, &t), NEF_LIMIT_EXCEEDED, "16");
  FAILS(nef_tensor_create(NEF_FLOAT32, 1, negative, data, &t), NEF_INVALID_ARGUMENT, "-1");
  FAILS(nef_tensor_create(NEF_FLOAT32, 2, huge, data, &t), NEF_LIMIT_EXCEEDED, "");
  OK(nef_tensor_create(NEF_FLOAT32, 2, shape, data, &t));
  int64_t got_shape[2] = {0, 77};
  CHECK(nef_tensor_rank(t) == 2 && nef_tensor_dtype(t) == NEF_FLOAT32 && nef_tensor_ready(t));
  CHECK(nef_tensor_shape(t, got_shape, 1) == 2 && got_shape[0] == 2 && got_shape[1] == 77);
  CHECK(nef_tensor_shape(t, NULL, 0) == 2);
  char* dim = nef_tensor_dim(t, 1);
  CHECK(strcmp(dim, "3") == 0 && nef_tensor_dim(t, 2) == NULL);
  nef_string_free(dim);
  float got[6];
  FAILS(nef_tensor_read(t, got, sizeof got - 1), NEF_INVALID_ARGUMENT, "24 bytes");
  OK(nef_tensor_read(t, got, sizeof got));
  CHECK(memcmp(got, data, sizeof data) == 0);
  CHECK(nef_tensor_retain(t) == t);
  nef_tensor_release(t);
  OK(nef_tensor_read(t, got, sizeof got));
  nef_tensor_release(t);

  const int64_t nothing[2] = {0, 3};
  OK(nef_tensor_create(NEF_FLOAT32, 2, nothing, NULL, &t));
  OK(nef_tensor_read(t, NULL, 0));
  nef_tensor_release(t);
}

static int released;
static void on_release(void* data, void* user) {
  CHECK(data != NULL && user == &released);
  ++released;
}

static void wrapped_memory(void) {
  static float memory[2] = {3, 4};
  const int64_t two = 2;
  nef_tensor *t, *y;
  FAILS(nef_tensor_wrap(NEF_FLOAT32, 1, &two, memory, 4, on_release, &released, &t),
        NEF_SHAPE_MISMATCH, "8 bytes");
  CHECK(released == 1); /* also when it fails */
  FAILS(nef_tensor_wrap(NEF_FLOAT32, 1, &two, (char*)memory + 1, 8, on_release, &released, &t),
        NEF_INVALID_ARGUMENT, "aligned");
  CHECK(released == 2);
  OK(nef_tensor_wrap(NEF_FLOAT32, 1, &two, memory, 8, on_release, &released, &t));
  OK(nef_neg(t, &y));
  nef_tensor_release(t);
  CHECK(released == 2); /* y still needs it */
  float got[2];
  OK(nef_tensor_read(y, got, sizeof got));
  CHECK(got[0] == -3 && got[1] == -4 && released == 3); /* computed: let go */
  nef_tensor_release(y);
}

static void ops_by_name(void) {
  nef_tensor *x = vector(1, 2), *y;
  const nef_tensor* in[1] = {x};
  FAILS(nef_op_call("soft_max", in, 1, NULL, 0, NULL, 1, &y), NEF_UNKNOWN_OP, "softmax");
  nef_attr axis;
  memset(&axis, 0, sizeof axis);
  axis.struct_size = sizeof axis;
  axis.name = "axis";
  axis.type = NEF_ATTR_INT;
  axis.i = 5;
  FAILS(nef_op_call("softmax", in, 1, &axis, 1, NULL, 1, &y), NEF_INVALID_ARGUMENT, "axis");
  axis.i = 0;
  OK(nef_op_call("Softmax", in, 1, &axis, 1, "", 1, &y)); /* ONNX spelling */
  float got[2];
  OK(nef_tensor_read(y, got, sizeof got));
  CHECK(got[0] + got[1] > 0.9999f && got[0] + got[1] < 1.0001f);
  nef_tensor_release(y);
  axis.name = "axle";
  FAILS(nef_op_call("softmax", in, 1, &axis, 1, NULL, 1, &y), NEF_INVALID_ARGUMENT, "axle");
  axis.name = "axis";
  axis.type = 42;
  FAILS(nef_op_call("softmax", in, 1, &axis, 1, NULL, 1, &y), NEF_INVALID_ARGUMENT, "42");
  axis.struct_size = 3;
  FAILS(nef_op_call("softmax", in, 1, &axis, 1, NULL, 1, &y), NEF_INVALID_ARGUMENT, "struct_size");
  FAILS(nef_op_call("add", in, 1, NULL, 0, NULL, 1, &y), NEF_INVALID_ARGUMENT, "missing");
  nef_tensor_release(x);
}

/* Structs of an older and of a newer header. */
static void options_of_other_sizes(void) {
  struct {
    nef_compile_options known;
    int64_t unknown[4];
  } newer;
  nef_tensor *x = vector(1, 2), *y;
  OK(nef_neg(x, &y));
  const nef_tensor* outs[1] = {y};
  const char* names[1] = {"y"};
  nef_graph* g;
  nef_program* p;
  OK(nef_graph_capture(outs, names, 1, &g));
  memset(&newer, 0xff, sizeof newer);
  nef_compile_options_init(&newer.known, sizeof newer);
  CHECK(newer.known.struct_size == sizeof newer && newer.unknown[3] == 0);
  OK(nef_graph_compile(g, &newer.known, &p));
  nef_program_release(p);
  newer.unknown[1] = 1; /* asks for what this library does not know */
  FAILS(nef_graph_compile(g, &newer.known, &p), NEF_INVALID_ARGUMENT, "does not know");

  nef_compile_options older;
  memset(&older, 0xff, sizeof older);
  nef_compile_options_init(&older, offsetof(nef_compile_options, device));
  OK(nef_graph_compile(g, &older, &p)); /* the garbage behind it is not looked at */
  nef_program_release(p);
  memset(&older, 0xff, sizeof older); /* never initialised */
  FAILS(nef_graph_compile(g, &older, &p), NEF_INVALID_ARGUMENT, "_init");
  memset(&older, 0, sizeof older);
  FAILS(nef_graph_compile(g, &older, &p), NEF_INVALID_ARGUMENT, "_init");
  nef_compile_options_init(&older, sizeof older);
  older.precision = 7;
  FAILS(nef_graph_compile(g, &older, &p), NEF_INVALID_ARGUMENT, "precision 7");
  nef_compile_options_init(&older, sizeof older);
  older.threads = -1;
  FAILS(nef_graph_compile(g, &older, &p), NEF_INVALID_ARGUMENT, "threads");
  nef_compile_options_init(&older, sizeof older);
  older.device = "abacus";
  FAILS(nef_graph_compile(g, &older, &p), NEF_BACKEND_UNAVAILABLE, "abacus");

  nef_tensor_info short_info;
  memset(&short_info, 0xff, sizeof short_info);
  short_info.struct_size = offsetof(nef_tensor_info, rank);
  OK(nef_graph_output(g, 0, &short_info));
  CHECK(strcmp(short_info.name, "y") == 0 && short_info.dtype == NEF_FLOAT32);
  CHECK(short_info.rank == UINT32_MAX);
  short_info.struct_size = 0;
  FAILS(nef_graph_output(g, 0, &short_info), NEF_INVALID_ARGUMENT, "struct_size");
  nef_graph_release(g);
  nef_tensor_release(x);
  nef_tensor_release(y);
}

static void mapped_tensors(void) {
  FILE* file = tmpfile();
  CHECK(file != NULL && fwrite("?\1\2\3\4", 1, 5, file) == 5 && fflush(file) == 0);
  const int64_t shape[1] = {4}, longer[1] = {5};
  nef_tensor* t;
  uint8_t got[4];
  OK(nef_tensor_map(NEF_UINT8, 1, shape, fileno(file), 1, "w", &t));
  FAILS(nef_tensor_map(NEF_UINT8, 1, longer, fileno(file), 1, "w", &t), NEF_OUT_OF_RANGE, "w");
  FAILS(nef_tensor_map(NEF_UINT8, 1, shape, fileno(file), UINT64_MAX, NULL, &t), NEF_OUT_OF_RANGE,
        "tensor");
  FAILS(nef_tensor_map(NEF_UINT8, 1, shape, -1, 0, NULL, &t), NEF_IO, "stat");
  FAILS(nef_tensor_map(0, 1, shape, fileno(file), 0, NULL, &t), NEF_INVALID_ARGUMENT, "dtype");
  fclose(file);
  OK(nef_tensor_read(t, got, sizeof got));
  CHECK(got[0] == 1 && got[3] == 4);
  nef_tensor_release(t);
}

static void graphs_with_inputs(void) {
  const nef_dim dims[1] = {{2, NULL, 0, 0}};
  nef_tensor *a, *b, *y;
  nef_graph* g;
  OK(nef_tensor_input("a", NEF_FLOAT32, 1, dims, &a));
  OK(nef_tensor_input("b", NEF_FLOAT32, 1, dims, &b));
  OK(nef_neg(a, &y));
  const nef_tensor *outs[1] = {y}, *ins[2] = {b, a}, *twice[2] = {a, a}, *wrong[1] = {y};
  const char* names[1] = {"y"};
  OK(nef_graph_capture_inputs(ins, 2, outs, names, 1, &g));
  CHECK(nef_graph_input_count(g) == 2);
  nef_tensor_info info;
  info.struct_size = sizeof info;
  OK(nef_graph_input(g, 0, &info));
  CHECK(strcmp(info.name, "b") == 0);
  nef_graph_release(g);
  FAILS(nef_graph_capture_inputs(ins, 1, outs, names, 1, &g), NEF_UNKNOWN_NAME, "\"a\"");
  FAILS(nef_graph_capture_inputs(twice, 2, outs, names, 1, &g), NEF_DUPLICATE_NAME, "\"a\"");
  FAILS(nef_graph_capture_inputs(wrong, 1, outs, names, 1, &g), NEF_INVALID_ARGUMENT,
        "placeholder");
  FAILS(nef_graph_capture_inputs(NULL, 1, outs, names, 1, &g), NEF_INVALID_ARGUMENT, "inputs");
  nef_tensor_release(a);
  nef_tensor_release(b);
  nef_tensor_release(y);
}

static void graphs_and_files(void) {
  const nef_dim dims[2] = {{0, "batch", 1, 8}, {2, NULL, 0, 0}};
  nef_tensor *x, *w = vector(10, 20), *y;
  nef_graph *g, *again;
  OK(nef_tensor_input("x", NEF_FLOAT32, 2, dims, &x));
  FAILS(nef_execute(x), NEF_INVALID_ARGUMENT, "\"x\"");
  OK(nef_mul(x, w, &y));
  int64_t shape[2];
  CHECK(nef_tensor_shape(y, shape, 2) == 2 && shape[0] == -1 && shape[1] == 2);
  char* dim = nef_tensor_dim(y, 0);
  CHECK(strcmp(dim, "batch") == 0);
  nef_string_free(dim);
  const nef_tensor* outs[2] = {y, x};
  const char *names[2] = {"y", "x again"}, *same[2] = {"y", "y"};
  FAILS(nef_graph_capture(outs, same, 2, &g), NEF_DUPLICATE_NAME, "\"y\"");
  OK(nef_graph_capture(outs, names, 2, &g));
  nef_tensor_release(x);
  nef_tensor_release(w);
  nef_tensor_release(y);
  CHECK(nef_graph_input_count(g) == 1 && nef_graph_output_count(g) == 2);
  CHECK(nef_graph_node_count(g) == 1);
  nef_tensor_info info;
  info.struct_size = sizeof info;
  OK(nef_graph_input(g, 0, &info));
  CHECK(strcmp(info.name, "x") == 0 && info.rank == 2 && info.dims[0] == -1 && info.dims[1] == 2);
  CHECK(strcmp(info.dim_names[0], "batch") == 0 && info.dim_min[0] == 1 && info.dim_max[0] == 8);
  FAILS(nef_graph_input(g, 1, &info), NEF_OUT_OF_RANGE, "1");
  char* json;
  OK(nef_graph_describe(g, &json));
  CHECK(strstr(json, "mul") != NULL);
  nef_string_free(json);

  char path[] = "/tmp/nef-api-XXXXXX";
  const int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  nef_save_options save;
  nef_save_options_init(&save, sizeof save);
  for (save.bundle = 0; save.bundle < 2; ++save.bundle) {
    OK(nef_graph_save(g, path, &save));
    OK(nef_graph_load(path, NULL, &again));
    nef_program* p;
    OK(nef_graph_compile(again, NULL, &p));
    nef_graph_release(again);
    const float data[4] = {1, 2, 3, 4};
    const int64_t two[2] = {2, 2};
    nef_tensor *in, *out[2];
    OK(nef_tensor_create(NEF_FLOAT32, 2, two, data, &in));
    FAILS(nef_program_run(p, &in, 1, out, 1), NEF_INVALID_ARGUMENT, "2 outputs");
    OK(nef_program_run(p, &in, 1, out, 2));
    float got[4];
    OK(nef_tensor_read(out[0], got, sizeof got));
    CHECK(got[0] == 10 && got[1] == 40 && got[2] == 30 && got[3] == 80);
    OK(nef_tensor_read(out[1], got, sizeof got));
    CHECK(memcmp(got, data, sizeof data) == 0);
    nef_tensor_release(in);
    nef_tensor_release(out[0]);
    nef_tensor_release(out[1]);
    nef_program_release(p);
  }
  FAILS(nef_graph_save(g, "/no/such/folder/x.nef", NULL), NEF_IO, "/no/such/folder");
  nef_graph_release(g);
  unlink(path);
  FAILS(nef_graph_load(path, NULL, &again), NEF_IO, path);
  FAILS(nef_graph_load_bytes("{", 1, NULL, &again), NEF_PARSE, "");
  FAILS(nef_graph_load_bytes("", 0, NULL, &again), NEF_PARSE, "");
}

static void devices(void) {
  nef_device_info info;
  CHECK(nef_device_count() >= 2); /* cpu and reference at least */
  info.struct_size = sizeof info;
  FAILS(nef_device(nef_device_count(), &info), NEF_OUT_OF_RANGE, "device");
  FAILS(nef_device_measure(nef_device_count()), NEF_OUT_OF_RANGE, "device");
  for (size_t i = 0; i < nef_device_count(); ++i) {
    OK(nef_device(i, &info));
    CHECK(info.name[0] != '\0' && info.backend[0] != '\0');
    CHECK(info.available == (info.reason[0] == '\0'));
    CHECK(info.available == (info.costs[0] != '\0'));
    OK(nef_device_measure(i));
    OK(nef_device(i, &info));
    CHECK(strstr(info.costs, "not measured yet") == NULL);
  }
}

/* An error is a value: two of them, from one thread, keep apart. */
static void statuses_keep_apart(void) {
  nef_tensor *a = vector(1, 2), *out = NULL;
  const int64_t three = 3;
  const float data[3] = {1, 2, 3};
  nef_tensor* b;
  OK(nef_tensor_create(NEF_FLOAT32, 1, &three, data, &b));
  nef_status* shape = nef_add(a, b, &out);
  nef_status* unknown = nef_op_call("nope", NULL, 0, NULL, 0, NULL, 1, &out);
  CHECK(nef_status_code(shape) == NEF_SHAPE_MISMATCH && strcmp(nef_status_op(shape), "add") == 0);
  CHECK(nef_status_code(unknown) == NEF_UNKNOWN_OP && out == NULL);
  CHECK(strstr(nef_status_message(shape), "2") != NULL);
  nef_status_release(unknown);
  CHECK(nef_status_message(shape)[0] != '\0');
  nef_status_release(shape);
  nef_tensor_release(a);
  nef_tensor_release(b);
}

int main(void) {
  const uint64_t before = live_objects();
  library();
  null_is_no_crash();
  tensors();
  wrapped_memory();
  ops_by_name();
  options_of_other_sizes();
  mapped_tensors();
  graphs_with_inputs();
  graphs_and_files();
  devices();
  statuses_keep_apart();
  CHECK(live_objects() == before);
  puts("api: all as it should be");
  return 0;
}
