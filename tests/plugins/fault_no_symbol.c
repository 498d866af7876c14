/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is no plugin. */
__attribute__((visibility("default"))) int nef_no_backend_here(void);

int nef_no_backend_here(void) { return 1; }
