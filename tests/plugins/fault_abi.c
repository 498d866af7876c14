/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks another ABI version: every entry is a trap, so that dispatching a byte shows. */
#define FAULT_NAME "abi"
#include "fault_impl.h"

static nef_backend table;

static nef_code trap_init(const nef_backend_host* host, nef_backend_error* err) {
  (void)host;
  (void)err;
  abort();
}

const nef_backend* nef_backend_entry(void) {
  table = fault_table;
  table.abi_version = 99;
  table.name = (const char*)(uintptr_t)1;
  table.init = trap_init;
  return &table;
}
