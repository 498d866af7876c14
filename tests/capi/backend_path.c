/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins named by NEF_BACKEND_PATH: those that work are there, the others say why not, and the
 * process is none the worse. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#define DIR NEF_TEST_PLUGIN_DIR "/"

static nef_device_info device(const char* name) {
  nef_device_info info;
  for (size_t i = 0; i < nef_device_count(); ++i) {
    info.struct_size = sizeof info;
    OK(nef_device(i, &info));
    if (strcmp(info.name, name) == 0) return info;
  }
  fprintf(stderr, "%s is not listed\n", name);
  exit(1);
}

int main(void) {
  setenv("NEF_BACKEND_PATH",
         DIR "fault_abi.so::" DIR "fault_probe.so:" DIR "missing.so:" DIR "fault_backend.so:" DIR
             "fault_backend.so:no_folder.so",
         1);
  CHECK(device("cpu:0").available && device("reference:0").available);
  const nef_device_info fault = device("fault:0");
  CHECK(fault.available && fault.kind == NEF_DEVICE_GPU && fault.memory_bytes == 1u << 30);
  CHECK(strstr(device("probe").reason, "older than 3.4") != NULL);
  CHECK(strstr(device(DIR "fault_abi.so").reason, "version 99") != NULL);
  CHECK(strstr(device("no_folder.so").reason, "with a folder") != NULL);
  CHECK(strstr(device(DIR "missing.so").reason, "cannot open") != NULL);

  const int64_t three = 3;
  const float data[3] = {-1, 0, 2};
  float got[3];
  nef_tensor *x, *y;
  const nef_tensor* in[1];
  OK(nef_tensor_create(NEF_FLOAT32, 1, &three, data, &x));
  in[0] = x;
  OK(nef_op_call("relu", in, 1, NULL, 0, "fault", 1, &y));
  OK(nef_tensor_read(y, got, sizeof got));
  CHECK(got[0] == 0 && got[1] == 0 && got[2] == 2);
  nef_tensor_release(x);
  nef_tensor_release(y);
  puts("backend_path: all as it should be");
  return 0;
}
