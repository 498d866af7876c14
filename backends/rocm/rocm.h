// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

// The table of the built-in `rocm` backend. Without HIP its `init` fails with the reason.
const nef_backend* nef_backend_rocm(void);

#ifdef __cplusplus
}
#endif
