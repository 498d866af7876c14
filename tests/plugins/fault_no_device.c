/* SPDX-License-Identifier: Apache-2.0 */
/* Starts well and finds nothing. */
#define FAULT_NAME "nodevice"
#define FAULT_DEVICES 0
#include "fault_impl.h"

const nef_backend* nef_backend_entry(void) { return &fault_table; }
