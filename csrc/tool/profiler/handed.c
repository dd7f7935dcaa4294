/* SPDX-License-Identifier: MIT */
#include "tool/profiler/handed.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/name.h"
#include "tool/profiler/recorder.h"

static _Atomic uint64_t text_bytes;

/* A copy that ha_handed_free gives back.  False: no room. */
static bool
copy_args(const char *args, char **copy)
{
    size_t bytes = args != NULL && args[0] != '\0' ? strlen(args) + 1 : 0;

    *copy = NULL;
    if (bytes == 0) {
        return true;
    }
    if (atomic_fetch_add(&text_bytes, bytes) + bytes <= HA_HANDED_BYTES_MAX) {
        *copy = malloc(bytes);
    }
    if (*copy == NULL) {
        atomic_fetch_sub(&text_bytes, bytes);
        return false;
    }
    memcpy(*copy, args, bytes);
    return true;
}

static void
free_args(char *args)
{
    if (args != NULL) {
        atomic_fetch_sub(&text_bytes, strlen(args) + 1);
        free(args);
    }
}

void
ha_handed_put(const char *name, uint64_t start, uint64_t end, uint32_t thread,
              uint64_t external, const char *args)
{
    struct ha_collector *collector = ha_recorder_collector();
    uint32_t number = ha_name_of(name);
    struct ha_ring *ring;
    char *copy;

    if ((number == 0 && name[0] != '\0') || !copy_args(args, &copy)) {
        atomic_fetch_add(&collector->lost, 1);
        return;
    }
    struct ha_trace_event *event = ha_ring_reserve(collector, &ring);
    if (event == NULL) {
        free_args(copy);
        return;
    }
    *event = (struct ha_trace_event){
        .kind = HA_KIND_HANDED,
        .thread = thread,
        .start = start,
        .end = end,
        .name = number,
        .external = external,
        .object = (uintptr_t)copy,
        .device = HA_DEVICE_NONE,
        .source_device = HA_DEVICE_NONE,
    };
    ha_ring_commit(ring);
}

const char *
ha_handed_args(const struct ha_trace_event *event)
{
    return (const char *)(uintptr_t)event->object;
}

void
ha_handed_free(const struct ha_trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == HA_KIND_HANDED) {
            free_args((char *)(uintptr_t)events[i].object);
        }
    }
}
