/* SPDX-License-Identifier: Apache-2.0 */
/* Not thread-safe, with two devices: counts calls that meet. */
#define FAULT_NAME "serial"
#define FAULT_FLAGS NEF_BACKEND_SERIAL
#define FAULT_DEVICES 2
#include "fault_impl.h"

const nef_backend* nef_backend_entry(void) { return &fault_table; }
