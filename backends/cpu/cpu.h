// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

// The table of the built-in `cpu` backend.
const nef_backend* nef_backend_cpu(void);

#ifdef __cplusplus
}
#endif
