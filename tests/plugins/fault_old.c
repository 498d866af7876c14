/* SPDX-License-Identifier: Apache-2.0 */
/* A struct_size that ends before the optional entries: an older plugin, still welcome. What
 * follows in memory is not the table's. */
#define FAULT_NAME "old"
#include "fault_impl.h"

static nef_backend table;

const nef_backend* nef_backend_entry(void) {
  table = fault_table;
  memset((char*)&table + offsetof(nef_backend, in_place), 0x5a,
         sizeof table - offsetof(nef_backend, in_place));
  table.struct_size = offsetof(nef_backend, in_place);
  return &table;
}
