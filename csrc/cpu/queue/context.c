/* SPDX-License-Identifier: MIT */
#include "cpu/queue/context.h"

#include <stdint.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/life.h"
#include "cpu/base/thread.h"

/* Non-canonical as an address, and no handle of cpu/base/handle.h. */
#define CONTEXT_TAG (UINT64_C(6) << 56)

static _Thread_local struct {
    uint32_t epoch; /* of the runtime that the entries belong to */
    unsigned depth;
    struct {
        uint8_t device;
        uint8_t before;          /* current device before it was pushed */
    } entries[HA_CONTEXT_DEPTH]; /* small: room for data of threads is scarce */
} stack;

/* Entries of a runtime before a fork are forgotten. */
static void
stack_refresh(void)
{
    if (stack.epoch != ha_life_epoch()) {
        stack.epoch = ha_life_epoch();
        stack.depth = 0;
    }
}

hipCtx_t
ha_context_of(const struct ha_device *device)
{
    return (hipCtx_t)(uintptr_t)(CONTEXT_TAG | (uint64_t)(unsigned)device->id);
}

struct ha_device *
ha_context_device(hipCtx_t context)
{
    uint64_t number = (uint64_t)(uintptr_t)context;
    if (number < CONTEXT_TAG || number - CONTEXT_TAG >= HA_DEVICE_MAX) {
        return NULL;
    }
    return ha_device_get((int)(number - CONTEXT_TAG));
}

bool
ha_context_push(struct ha_device *device)
{
    stack_refresh();
    if (stack.depth == HA_CONTEXT_DEPTH) {
        return false;
    }
    stack.entries[stack.depth].device = (uint8_t)device->id;
    stack.entries[stack.depth].before = (uint8_t)ha_thread_self()->device;
    stack.depth++;
    ha_thread_self()->device = device->id;
    return true;
}

struct ha_device *
ha_context_pop(void)
{
    stack_refresh();
    if (stack.depth == 0) {
        return NULL;
    }
    stack.depth--;
    ha_thread_self()->device = stack.entries[stack.depth].before;
    return ha_device_get(stack.entries[stack.depth].device);
}

void
ha_context_set(struct ha_device *device)
{
    stack_refresh();
    if (stack.depth > 0) {
        stack.entries[stack.depth - 1].device = (uint8_t)device->id;
        ha_thread_self()->device = device->id;
    } else {
        (void)ha_context_push(device); /* an empty stack has room */
    }
}

void
ha_context_forget(const struct ha_device *device)
{
    stack_refresh();
    unsigned kept = 0;
    for (unsigned i = 0; i < stack.depth; i++) {
        if (stack.entries[i].device != device->id) {
            stack.entries[kept++] = stack.entries[i];
        }
    }
    stack.depth = kept;
}
