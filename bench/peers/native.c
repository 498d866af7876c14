// SPDX-License-Identifier: Apache-2.0
// Loops around calls of C libraries, so that Python's own time is not measured, and the rates at
// which this machine's memory is read and copied. Built by bench/peers.sh for the machine it is on.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef void* (*nef_run_fn)(void* program, void* const* inputs, size_t n_inputs, void** outputs,
                            size_t n_outputs);
typedef void (*nef_release_fn)(void* tensor);

// The outputs of the last run stay; returns the first error.
void* repeat_nef(nef_run_fn run, nef_release_fn release, void* program, void* const* inputs,
                 size_t n_inputs, void** outputs, size_t n_outputs, long times) {
  for (long t = 0; t < times; ++t) {
    for (size_t i = 0; i < n_outputs; ++i) {
      release(outputs[i]);
      outputs[i] = NULL;
    }
    void* status = run(program, inputs, n_inputs, outputs, n_outputs);
    if (status != NULL) return status;
  }
  return NULL;
}

typedef int (*onednn_execute_fn)(void* primitive, void* stream, int n, const void* args);
typedef int (*onednn_wait_fn)(void* stream);

int repeat_onednn(onednn_execute_fn execute, onednn_wait_fn wait, void* primitive, void* stream,
                  int n, const void* args, long times) {
  for (long t = 0; t < times; ++t) {
    int status = execute(primitive, stream, n, args);
    if (status == 0) status = wait(stream);
    if (status != 0) return status;
  }
  return 0;
}

typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float* a, int lda, const float* b, int ldb, float beta, float* c,
                         int ldc);

void repeat_sgemm(sgemm_fn sgemm, int m, int n, int k, const float* a, const float* b, float* c,
                  long times) {
  enum { kRowMajor = 101, kNoTrans = 111 };
  for (long t = 0; t < times; ++t) {
    sgemm(kRowMajor, kNoTrans, kNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
  }
}

// A vector as wide as the machine has; the compiler splits it where it has less.
typedef uint64_t wide __attribute__((vector_size(64)));

// Reads `bytes`, a multiple of 1024, `times` times; the result keeps the loads alive.
uint64_t read_memory(const void* data, size_t bytes, long times) {
  wide s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
  for (long t = 0; t < times; ++t) {
    const char* p = data;
    for (const char* end = p + bytes; p < end; p += 256) {
      const wide* v = (const wide*)p;
      __builtin_prefetch(p + 4096);
      __builtin_prefetch(p + 4160);
      __builtin_prefetch(p + 4224);
      __builtin_prefetch(p + 4288);
      s0 ^= v[0];
      s1 ^= v[1];
      s2 ^= v[2];
      s3 ^= v[3];
    }
    __asm__ volatile("" ::: "memory");
  }
  const wide s = s0 ^ s1 ^ s2 ^ s3;
  uint64_t out = 0;
  for (int i = 0; i < 8; ++i) out ^= s[i];
  return out;
}

// Copies with stores past the caches, where the machine has them.
void copy_memory(void* to, const void* from, size_t bytes, long times) {
  for (long t = 0; t < times; ++t) {
#if defined(__AVX512F__)
    for (size_t i = 0; i < bytes; i += 64) {
      _mm512_stream_si512((void*)((char*)to + i), _mm512_load_si512((const char*)from + i));
    }
    _mm_sfence();
#elif defined(__SSE2__)
    for (size_t i = 0; i < bytes; i += 16) {
      _mm_stream_si128((void*)((char*)to + i),
                       _mm_load_si128((const void*)((const char*)from + i)));
    }
    _mm_sfence();
#else
    memcpy(to, from, bytes);
#endif
  }
}
