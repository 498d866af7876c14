/* SPDX-License-Identifier: Apache-2.0 */
/* Its probe fails. */
#define FAULT_NAME "probe"
#define FAULT_PROBE_FAILURE "driver 1.2 is older than 3.4: update it"
#include "fault_impl.h"

const nef_backend* nef_backend_entry(void) { return &fault_table; }
