/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for C tests: the first that fails prints its line and ends the program. */
#ifndef NEF_TESTS_CHECK_H
#define NEF_TESTS_CHECK_H

#include <nef/nef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

/* Success is wanted. */
#define OK(call) check_status((call), NEF_OK, "", #call, __LINE__)
/* That code, with that text in the message. */
#define FAILS(call, code, words) check_status((call), (code), (words), #call, __LINE__)

static inline void check_status(nef_status* status, nef_code code, const char* words,
                                const char* call, int line) {
  const char* message = nef_status_message(status);
  if (nef_status_code(status) != code || strstr(message, words) == NULL) {
    fprintf(stderr, "line %d: %s: got %s \"%s\", want %s \"%s\"\n", line, call,
            nef_code_name(nef_status_code(status)), message, nef_code_name(code), words);
    exit(1);
  }
  nef_status_release(status);
}

/* Objects alive, for leak checks. */
static inline uint64_t live_objects(void) {
  nef_counters c;
  memset(&c, 0, sizeof c);
  c.struct_size = sizeof c;
  nef_counters_read(&c);
  return c.live_tensors + c.live_graphs + c.live_programs + c.live_runs + c.live_statuses;
}

#endif /* NEF_TESTS_CHECK_H */
