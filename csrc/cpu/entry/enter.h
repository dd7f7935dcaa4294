/* SPDX-License-Identifier: MIT */
/* How entry points begin, beyond ha_enter and ha_enter_query (cpu/entry/runtime.h), and
 * the checks of arguments that many of them have.
 *
 * An *out* entry point gives its answer through a pointer that must be there.  Failures
 * name the argument as HIP spells it.  What most calls pass is inline.  No locks. */
#ifndef HA_CPU_ENTRY_ENTER_H
#define HA_CPU_ENTRY_ENTER_H

#include <stddef.h>

#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/entry/runtime.h"

struct ha_device;

/* Fails for a pointer that is NULL; of two, for the first one that is. */
static inline hipError_t
ha_need(const char *argument, const void *pointer)
{
    return pointer != NULL ? hipSuccess : ha_cpu_fail_null(argument);
}

static inline hipError_t
ha_need_both(const char *first, const void *first_pointer, const char *second,
             const void *second_pointer)
{
    hipError_t code = ha_need(first, first_pointer);
    return code == hipSuccess ? ha_need(second, second_pointer) : code;
}

/* ha_enter for a call with a pointer that must not be NULL. */
static inline hipError_t
ha_enter_out(const char *function, const char *argument, const void *pointer,
             struct ha_device **device)
{
    hipError_t code = ha_enter(function, device);
    return code == hipSuccess ? ha_need(argument, pointer) : code;
}

/* ha_enter_query for a call with a pointer that must not be NULL. */
static inline hipError_t
ha_enter_query_out(const char *function, const char *argument, const void *pointer)
{
    hipError_t code = ha_enter_query(function);
    return code == hipSuccess ? ha_need(argument, pointer) : code;
}

/* ha_enter for a call that is unsafe while a stream is captured: refused by the rules
 * of the thread's capture mode. */
hipError_t ha_enter_unsafe(const char *function, struct ha_device **device);

/* ha_enter_query for a call about the device with this number. */
hipError_t ha_enter_for_device(const char *function, int id, struct ha_device **device);
hipError_t ha_enter_for_device_out(const char *function, int id, const char *argument,
                                   const void *pointer, struct ha_device **device);

/* ha_enter_query for a call about the current device. */
hipError_t ha_enter_for_current(const char *function, struct ha_device **device);
hipError_t ha_enter_for_current_out(const char *function, const char *argument,
                                    const void *pointer, struct ha_device **device);

/* For a call whose argument 'flags' means nothing: fails unless it is 0. */
hipError_t ha_need_no_flags(unsigned long long flags);

#endif
