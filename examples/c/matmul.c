/* SPDX-License-Identifier: Apache-2.0 */
/* Lazy tensors: nothing runs until a value is executed or read. Prints the product of two 2x2
 * matrices. */
#include <nef/nef.h>
#include <stdio.h>

int main(void) {
  const float a_data[4] = {1, 2, 3, 4}, b_data[4] = {5, 6, 7, 8};
  const int64_t shape[2] = {2, 2};
  float out[4];
  nef_tensor *a = NULL, *b = NULL, *c = NULL;
  nef_status* st = NULL;
  if ((st = nef_tensor_create(NEF_FLOAT32, 2, shape, a_data, &a)) ||
      (st = nef_tensor_create(NEF_FLOAT32, 2, shape, b_data, &b)) || (st = nef_matmul(a, b, &c)) ||
      (st = nef_execute(c)) || (st = nef_tensor_read(c, out, sizeof out))) {
    fprintf(stderr, "%s\n", nef_status_message(st));
  } else {
    printf("[[%g %g]\n [%g %g]]\n", out[0], out[1], out[2], out[3]);
  }
  const int failed = st != NULL;
  nef_status_release(st);
  nef_tensor_release(c);
  nef_tensor_release(b);
  nef_tensor_release(a);
  return failed;
}
