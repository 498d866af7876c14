/* SPDX-License-Identifier: Apache-2.0 */
/* What errors look like: a code to act on, the op or stage that failed, and a message for people.
 * Makes four mistakes and shows each of them. */
#include <nef/nef.h>

#include <stdio.h>
#include <string.h>

/* Takes over a status: 1 when it is the one expected. */
static int show(const char* mistake, nef_status* st, nef_code expected) {
  const nef_code code = nef_status_code(st); /* NEF_OK for NULL */
  printf("%s\n  %s in \"%s\": %s\n", mistake, nef_code_name(code), nef_status_op(st),
         nef_status_message(st));
  nef_status_release(st);
  return code == expected;
}

int main(void) {
  const float data[6] = {1, 2, 3, 4, 5, 6};
  const int64_t shape[2] = {2, 3};
  nef_tensor *a = NULL, *out = NULL;
  nef_status* st = nef_tensor_create(NEF_FLOAT32, 2, shape, data, &a);
  if (st != NULL) return !show("out of memory?", st, NEF_OK);

  int good = show("shapes that do not fit", nef_matmul(a, a, &out), NEF_SHAPE_MISMATCH);
  /* On failure out-parameters are left as they were. */
  good = good && out == NULL;

  float too_small[2];
  good &= show("a buffer of the wrong size", nef_tensor_read(a, too_small, sizeof too_small),
               NEF_INVALID_ARGUMENT);

  const nef_tensor* inputs[1] = {a};
  good &= show("an op by a name that is none",
               nef_op_call("sofmax", inputs, 1, NULL, 0, "", 1, &out), NEF_UNKNOWN_OP);

  const char* broken =
      "{\"version\": \"1.0\", \"nef_format\": \"graph-v1\","
      " \"graph\": {\"outputs\": [\"a\"], \"nodes\": ["
      "  {\"id\": \"first\", \"op\": \"add\", \"inputs\": [\"b\", \"b\"], \"output\": \"a\"},"
      "  {\"id\": \"second\", \"op\": \"neg\", \"inputs\": [\"a\"], \"output\": \"b\"}]},"
      " \"tensors\": {\"a\": {\"shape\": [2], \"dtype\": \"float32\"}}}";
  nef_graph* graph = NULL;
  good &= show("a graph that bites its tail",
               nef_graph_load_bytes(broken, strlen(broken), NULL, &graph), NEF_GRAPH_CYCLE);

  nef_tensor_release(a);
  return !good;
}
