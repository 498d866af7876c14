/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the devices that were found and the backends that were not, with the reason. Paths given
 * as arguments are backend plugins to load first. */
#include <nef/nef.h>

#include <stdio.h>

static int complain(nef_status* st) {
  fprintf(stderr, "%s\n", nef_status_message(st));
  nef_status_release(st);
  return 1;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    nef_status* st = nef_backend_load(argv[i]);
    if (st != NULL) return complain(st);
  }
  printf("NEF %s, ABI %u\n", nef_version(), (unsigned)nef_abi_version());
  for (size_t i = 0; i < nef_device_count(); ++i) {
    nef_device_info device = {.struct_size = sizeof device};
    nef_status* st = nef_device(i, &device);
    if (st != NULL) return complain(st);
    if (!device.available) {
      printf("%-12s not found: %s\n", device.name, device.reason);
    } else if (device.memory_bytes == 0) { /* unknown */
      printf("%-12s %s\n", device.name, device.description);
    } else {
      printf("%-12s %s, %.1f GiB\n", device.name, device.description,
             (double)device.memory_bytes / (1 << 30));
    }
  }
  return 0;
}
