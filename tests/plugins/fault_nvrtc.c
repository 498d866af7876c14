/* SPDX-License-Identifier: Apache-2.0 */
/* An NVRTC that compiles nothing: every program is refused with a log. Stands in for the real one
 * in a folder of NEF_CUDA_PATH; see tests/unit/cuda/fault_test.cc. */
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static const char kLog[] = "fault_nvrtc compiles nothing";
static const int kArchs[] = {80, 90, 100};
static int program;

EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 0;
  return 0;
}
EXPORT const char* nvrtcGetErrorString(int result) {
  return result == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR_COMPILATION";
}
EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = (int)(sizeof kArchs / sizeof kArchs[0]);
  return 0;
}
EXPORT int nvrtcGetSupportedArchs(int* archs) {
  memcpy(archs, kArchs, sizeof kArchs);
  return 0;
}
EXPORT int nvrtcCreateProgram(int** out, const char* text, const char* name, int headers,
                              const char* const* bodies, const char* const* names) {
  (void)text, (void)name, (void)headers, (void)bodies, (void)names;
  *out = &program;
  return 0;
}
EXPORT int nvrtcCompileProgram(int* p, int options, const char* const* option) {
  (void)p, (void)options, (void)option;
  return 6;
}
EXPORT int nvrtcGetProgramLogSize(int* p, size_t* size) {
  (void)p;
  *size = sizeof kLog;
  return 0;
}
EXPORT int nvrtcGetProgramLog(int* p, char* log) {
  (void)p;
  memcpy(log, kLog, sizeof kLog);
  return 0;
}
EXPORT int nvrtcGetCUBINSize(int* p, size_t* size) {
  (void)p;
  *size = 0;
  return 0;
}
EXPORT int nvrtcGetCUBIN(int* p, char* code) {
  (void)p, (void)code;
  return 0;
}
EXPORT int nvrtcDestroyProgram(int** p) {
  *p = NULL;
  return 0;
}
