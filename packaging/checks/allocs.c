/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a warm program still does: cache misses, and heap allocations by number of steps.
 * The allocator's entry points are counted in front of glibc's own. */
#include <errno.h>
#include <nef/nef.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

static atomic_long allocations;
static void count(void) { atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed); }

void* malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  count();
  return __libc_calloc(n, bytes);
}
void* realloc(void* old, size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
void* memalign(size_t alignment, size_t bytes);
void* memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  count();
  void* p = __libc_memalign(alignment, bytes);
  if (p == NULL) return ENOMEM;
  *out = p;
  return 0;
}

#define WIDTH 64
#define REPEATS 100

static void must(nef_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s: %s\n", nef_code_name(nef_status_code(status)), nef_status_message(status));
  exit(1);
}

static nef_tensor* filled(float value) {
  const int64_t shape[2] = {WIDTH, WIDTH};
  static float data[WIDTH * WIDTH];
  for (int i = 0; i < WIDTH * WIDTH; ++i) data[i] = value;
  nef_tensor* t;
  must(nef_tensor_create(NEF_FLOAT32, 2, shape, data, &t));
  return t;
}

static nef_counters counters(void) {
  nef_counters c;
  memset(&c, 0, sizeof c);
  c.struct_size = sizeof c;
  nef_counters_read(&c);
  return c;
}

/* softmax(relu(x @ w) + x), executed lazily. */
static float lazy(float value) {
  nef_tensor *x = filled(value), *w = filled(0.5f), *xw, *r, *sum, *y;
  must(nef_matmul(x, w, &xw));
  must(nef_relu(xw, &r));
  must(nef_add(r, x, &sum));
  must(nef_softmax(sum, -1, &y));
  static float out[WIDTH * WIDTH];
  must(nef_tensor_read(y, out, sizeof out));
  nef_tensor* all[6] = {x, w, xw, r, sum, y};
  for (int i = 0; i < 6; ++i) nef_tensor_release(all[i]);
  return out[0];
}

static int hit_rates(void) {
  lazy(0);
  const nef_counters before = counters();
  for (int i = 1; i <= REPEATS; ++i) {
    const float got = lazy((float)i);
    if (got < 0.99f / WIDTH || got > 1.01f / WIDTH) {
      fprintf(stderr, "execution %d gives %g\n", i, (double)got);
      exit(1);
    }
  }
  const nef_counters after = counters();
  const uint64_t hits = after.program_cache_hits - before.program_cache_hits;
  const uint64_t misses = after.program_cache_misses - before.program_cache_misses;
  const uint64_t kernel_misses = after.kernel_cache_misses - before.kernel_cache_misses;
  printf("program cache: %llu hits, %llu misses in %d executions with new data: %.1f %%\n",
         (unsigned long long)hits, (unsigned long long)misses, REPEATS,
         100.0 * (double)hits / (double)(hits + misses));
  printf("kernel cache: %llu misses in them: %.1f %%\n", (unsigned long long)kernel_misses,
         kernel_misses == 0 ? 100.0 : 0.0);
  return hits == REPEATS && misses == 0 && kernel_misses == 0;
}

static nef_program* chain(int steps) {
  const nef_dim dims[2] = {{0, "rows", 1, 1024}, {WIDTH, NULL, 0, 0}};
  nef_tensor *x, *w = filled(1.0f / WIDTH), *next;
  must(nef_tensor_input("x", NEF_FLOAT32, 2, dims, &x));
  for (int i = 0; i < steps; ++i) {
    must(i % 3 == 0   ? nef_matmul(x, w, &next)
         : i % 3 == 1 ? nef_softmax(x, -1, &next)
                      : nef_neg(x, &next));
    nef_tensor_release(x);
    x = next;
  }
  const nef_tensor* outputs[1] = {x};
  const char* names[1] = {"y"};
  nef_graph* graph;
  nef_program* program;
  nef_compile_options o;
  nef_compile_options_init(&o, sizeof o);
  o.disabled_passes = "fuse"; /* every node a step */
  must(nef_graph_capture(outputs, names, 1, &graph));
  must(nef_graph_compile(graph, &o, &program));
  nef_graph_release(graph);
  nef_tensor_release(x);
  nef_tensor_release(w);
  return program;
}

/* Allocations of REPEATS warm runs with new data. */
static long of_runs(nef_program* program) {
  nef_tensor *inputs[REPEATS + 1], *outputs[REPEATS + 1];
  for (int i = 0; i <= REPEATS; ++i) inputs[i] = filled((float)i);
  must(nef_program_run(program, &inputs[REPEATS], 1, &outputs[REPEATS], 1));
  const long before = atomic_load(&allocations);
  for (int i = 0; i < REPEATS; ++i) must(nef_program_run(program, &inputs[i], 1, &outputs[i], 1));
  const long made = atomic_load(&allocations) - before;
  for (int i = 0; i <= REPEATS; ++i) {
    nef_tensor_release(inputs[i]);
    nef_tensor_release(outputs[i]);
  }
  return made;
}

static int allocations_per_step(void) {
  const int few = 9, many = 999;
  nef_program *small = chain(few), *large = chain(many);
  const long a = of_runs(small), b = of_runs(large);
  nef_program_release(small);
  nef_program_release(large);
  const double per_step = (double)(b - a) / REPEATS / (many - few);
  printf("allocations per run: %.2f with %d steps, %.2f with %d (its output and its handle)\n",
         (double)a / REPEATS, few, (double)b / REPEATS, many);
  printf("allocations per step: %g\n", per_step);
  return per_step == 0;
}

int main(void) {
  const int hits = hit_rates();
  return allocations_per_step() && hits ? 0 : 1;
}
