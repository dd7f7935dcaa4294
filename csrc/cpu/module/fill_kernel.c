/* SPDX-License-Identifier: MIT */
#include "cpu/module/fill_kernel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cpu/base/config.h"
#include "cpu/queue/ticket.h"

/* AMD's names of them. */
static const char *const names[] = {
    "__amd_rocclr_fillBufferAligned.kd",
    "__amd_rocclr_fillBufferAligned2D.kd",
};

enum { KERNELS = sizeof names / sizeof *names, ARGUMENT_BYTES = 64 };

enum state { UNTOLD, TELLING, TOLD };

static _Atomic int states[HA_DEVICE_MAX]; /* enum state */
static _Thread_local bool telling;        /* a tool that fills memory meanwhile */

static uint64_t
code_object_of(int device)
{
    return (uint64_t)device + 1;
}

static uint64_t
number_of(int device, int kernel)
{
    return (uint64_t)device * KERNELS + (uint64_t)kernel + 1;
}

static void
tell(int device)
{
    const struct ha_activity_sink *sink = ha_activity_current();
    struct ha_activity_code_object object = {
        .id = code_object_of(device),
        .device = device,
        .uri = "memory://hipadapt#fill",
    };

    sink->code_object(&object, 1);
    for (int i = 0; i < KERNELS; i++) {
        struct ha_activity_kernel kernel = {
            .id = number_of(device, i),
            .code_object = object.id,
            .name = names[i],
            .argument_bytes = ARGUMENT_BYTES,
            .argument_align = sizeof(uint64_t),
        };
        sink->kernel(&kernel, 1);
    }
}

/* Whoever comes first tells, and others wait for it: no record may name a kernel that
 * its tool has not heard of. */
static void
need_told(int device)
{
    int state = UNTOLD;

    if (telling) {
        return;
    }
    if (atomic_compare_exchange_strong(&states[device], &state, TELLING)) {
        bool told = ha_activity_wants(HA_WANT_CODE);
        telling = true;
        if (told) {
            tell(device);
        }
        atomic_store(&states[device], TOLD);
        if (!told && ha_activity_wants(HA_WANT_CODE)) {
            tell(device); /* somebody came to want it who found nothing to report */
        }
        telling = false;
        return;
    }
    while (atomic_load(&states[device]) == TELLING) {
        (void)sched_yield();
    }
}

uint64_t
ha_fill_kernel(int device, bool rows)
{
    if (atomic_load_explicit(&states[device], memory_order_acquire) != TOLD) {
        need_told(device);
    }
    return number_of(device, rows);
}

void
ha_fill_kernels_report(void)
{
    for (int device = 0; device < HA_DEVICE_MAX; device++) {
        if (atomic_load(&states[device]) == TOLD) {
            tell(device);
        }
    }
}

void
ha_fill_kernel_after_fork_child(void)
{
    telling = false;
    for (int device = 0; device < HA_DEVICE_MAX; device++) {
        int state = TELLING;
        (void)atomic_compare_exchange_strong(&states[device], &state, UNTOLD);
    }
}
