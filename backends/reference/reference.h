// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nef/backend.h>

// The oracle: every op and dtype of the table in plain scalar code, sums in double. Always
// present; other backends are judged against it.
extern "C" const nef_backend* nef_backend_reference(void);
