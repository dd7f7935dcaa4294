/* SPDX-License-Identifier: MIT */
/* Where memory lies, and what HIP is asked about it.
 *
 * A *place* says where memory can be reached from: the device, the host, or both.  The
 * adapters may not call HIP themselves; the room above gives them a table of *hooks*
 * (csrc/api/memory_hooks.c).  Without a table a place that was not given stays
 * unknown, and what needs HIP raises.
 *
 * All hooks need the GIL.  Those that may wait release it meanwhile; `find` never does.
 * Those that answer int give 0, or -1 with an exception, unless they say otherwise. */
#ifndef HA_ADAPTERS_MEMORY_H
#define HA_ADAPTERS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ha_memory_place {
    HA_PLACE_UNKNOWN, /* not given: HIP is asked where it matters */
    HA_PLACE_DEVICE,
    HA_PLACE_PINNED,
    HA_PLACE_MANAGED,
    HA_PLACE_HOST, /* memory of the process that HIP need not know */
    HA_PLACE_COUNT
};

struct ha_memory_hooks {
    /* Place and device of an address.  1: filled; 0: HIP does not know the address, or
     * is not loaded, and nothing is changed.  No exception. */
    int (*find)(const void *address, enum ha_memory_place *place, int *device);
    /* Whether the processor reads the device's memory: it is the CPU device. */
    bool (*device_is_host)(void);
    /* Waits for the stream, or for all work of the device where `stream` is NULL. */
    int (*synchronize)(int device, const uintptr_t *stream);
    /* Lets work that is put into `second` from now on wait for what is in `first`. */
    int (*order)(int device, uintptr_t first, uintptr_t second);
    /* Copies between any two places and waits for it. */
    int (*copy)(void *dst, const void *src, size_t bytes);
    /* Memory of the place; `device` -1 = the current one, else switched to meanwhile.
     */
    int (*allocate)(enum ha_memory_place place, int device, size_t bytes,
                    void **address);
    /* Frees what `allocate` gave.  No exception; what HIP says is ignored. */
    void (*release)(enum ha_memory_place place, void *address);
    /* The device that is current in this thread. */
    int (*current_device)(int *device);
};

static inline bool
ha_place_is_host(enum ha_memory_place place)
{
    return place == HA_PLACE_HOST || place == HA_PLACE_PINNED ||
           place == HA_PLACE_MANAGED;
}

/* "device", "pinned", ...; NULL for a place that is not known. */
const char *ha_place_name(enum ha_memory_place place);

#endif
