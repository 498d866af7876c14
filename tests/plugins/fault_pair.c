/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices: a graph too large for one is spread over both. */
#define FAULT_NAME "pair"
#define FAULT_DEVICES 2
#include "fault_impl.h"

const nef_backend* nef_backend_entry(void) { return &fault_table; }
