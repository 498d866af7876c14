/* SPDX-License-Identifier: Apache-2.0 */
/* What tests and the fault-injecting plugins share.
 *
 * A plugin of fault_impl.h is a working GPU-like backend (float32 matmul, add, sub, mul, relu,
 * gelu) whose device addresses no host code can read. The environment tells it how to fail; it
 * is read at each call, so a test changes it as it goes:
 *
 *   NEF_FAULT_MEMORY   bytes of device memory, packed constants included
 *   NEF_FAULT_ROOM     what each device says it has free
 *   NEF_FAULT_CACHE    bytes of it that a cache holds, until the engine evicts it
 *   NEF_FAULT_COMPILE  compile fails for this op: "matmul"
 *   NEF_FAULT_PREPARE  prepare fails for this op
 *   NEF_FAULT_LOST     launches from this one on fail with "device lost": 1 is the next
 *                      one after nef_fault_reset
 *   NEF_FAULT_REFUSE   supports says no to this op
 *   NEF_FAULT_PIN      0: there is no pinned memory
 */
#ifndef NEF_TESTS_FAULT_H
#define NEF_TESTS_FAULT_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nef_fault_counts {
  long allocs, frees;          /* arenas */
  long bytes, most_bytes;      /* device memory in use: arenas, constants, cache */
  long to_device, from_device; /* copies */
  long compiles, prepares, launches, evictions;
  long overlaps;      /* calls of a serial backend that met another one */
  long host_pointers; /* launches or copies given an address that is not on the device */
} nef_fault_counts;

/* Symbols of a plugin, for dlsym. */
typedef void (*nef_fault_read_fn)(nef_fault_counts* out);
typedef void (*nef_fault_reset_fn)(void); /* zeroes all but bytes */
#define NEF_FAULT_READ_SYMBOL "nef_fault_read"
#define NEF_FAULT_RESET_SYMBOL "nef_fault_reset"

#ifdef __cplusplus
}
#endif

#endif /* NEF_TESTS_FAULT_H */
