/* SPDX-License-Identifier: Apache-2.0 */
/* Lacks an entry. */
#define FAULT_NAME "incomplete"
#include "fault_impl.h"

static nef_backend table;

const nef_backend* nef_backend_entry(void) {
  table = fault_table;
  table.compile = NULL;
  return &table;
}
