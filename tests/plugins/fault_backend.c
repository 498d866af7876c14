/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that does as it is told. */
#define FAULT_NAME "fault"
#include "fault_impl.h"

const nef_backend* nef_backend_entry(void) { return &fault_table; }
