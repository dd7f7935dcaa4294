/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_found.h"

#include <stdio.h>
#include <string.h>

#include "cpu/base/thread.h"
#include "cpu/check/finding.h"
#include "cpu/check/stack.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/check_tree.h"
#include "cpu/memory/shadow_origin.h"

#define MESSAGE_BYTES 384

static const char *
call_name(void)
{
    const char *name = ha_thread_self()->function;
    return name != NULL ? name : "HIP";
}

/* The side of the call that this thread is in. */
static struct ha_check_side
side_of_call(uint32_t bits, uint64_t bytes, const struct ha_check_stack *stack)
{
    struct ha_check_side side = {
        .bits = bits,
        .bytes = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX),
        .call = call_name(),
        .stack = ha_check_stack_text(stack)};
    for (unsigned axis = 0; axis < 3; axis++) {
        side.block[axis] = side.thread[axis] = HA_CHECK_NOWHERE;
    }
    return side;
}

/* ---- frees ---- */

/* `there`: a record holds the address. */
static enum ha_check_what
judge_free(const void *ptr, bool there, const struct ha_record *record,
           char message[MESSAGE_BYTES])
{
    const char *call = call_name();
    const char *by = there && record->freed != NULL ? record->freed : "HIP";
    const char *from =
        there && record->allocated != NULL ? record->allocated : "HIP before the check";

    if (!there) {
        (void)snprintf(message, MESSAGE_BYTES,
                       "%s of %p, which is no memory that HIP allocated", call, ptr);
    } else if ((uintptr_t)ptr != record->base) {
        (void)snprintf(message, MESSAGE_BYTES,
                       "%s of %p, which is byte %zu of the %zu bytes of %s at 0x%zx",
                       call, ptr, (size_t)((uintptr_t)ptr - record->base),
                       (size_t)record->bytes, from, (size_t)record->base);
    } else if (record->state != HA_RECORD_ALIVE || record->pending) {
        (void)snprintf(message, MESSAGE_BYTES,
                       "%s of %p, which %s has freed already (%zu bytes of %s)", call,
                       ptr, by, (size_t)record->bytes, from);
        return HA_FOUND_DOUBLE_FREE;
    } else {
        (void)snprintf(message, MESSAGE_BYTES,
                       "%s of %p, which is memory of another kind (%zu bytes of %s)",
                       call, ptr, (size_t)record->bytes, from);
    }
    return HA_FOUND_INVALID_FREE;
}

static bool
is_asked_for(void)
{
    return (ha_check_kinds() & (uint32_t)HA_CHECK_MEMORY) != 0;
}

void
ha_found_bad_free(const void *ptr)
{
    if (!is_asked_for()) {
        return;
    }
    char message[MESSAGE_BYTES];
    struct ha_record record = {.base = 0};
    bool there = ha_checked_look((uintptr_t)ptr, true, &record);
    struct ha_check_finding found = {
        .what = judge_free(ptr, there, &record, message),
        .device = there ? record.device : ha_thread_self()->device,
        .message = message,
        .address = (uintptr_t)ptr,
        .here = side_of_call(HA_CHECK_FREES, 0, ha_check_stack_take())};

    ha_checked_tell(&record, &found.memory);
    found.advice = found.what == HA_FOUND_DOUBLE_FREE
                       ? "free it once; forget the pointer where it is freed"
                       : "free what the allocating call gave, by the call that belongs "
                         "to it";
    ha_finding_add(&found);
}

/* ---- accesses ---- */

static const char *
verb_of(uint32_t bits)
{
    return (bits & HA_CHECK_WRITES) != 0 ? "writes" : "reads";
}

static const char *
advice_for(enum ha_check_what what)
{
    switch (what) {
    case HA_FOUND_OUT_OF_BOUNDS:
        return "allocate more, or pass fewer bytes; sizes are in bytes, not in elements";
    case HA_FOUND_USE_AFTER_FREE:
        return "free it after its last use";
    case HA_FOUND_READ_ONLY:
        return "give the device access by hipMemSetAccess";
    default:
        return "pass memory that HIP allocated or mapped with access, or register it";
    }
}

/* With the memory that is described. */
static void
add_access(enum ha_check_what what, uintptr_t at, uint64_t bytes, uint32_t bits,
           int device, const struct ha_check_memory *memory)
{
    char message[MESSAGE_BYTES];
    char relation[HA_CHECKED_TEXT_BYTES];
    uintptr_t end = memory->base + memory->bytes;
    bool runs_out = what == HA_FOUND_OUT_OF_BOUNDS && at >= memory->base && at < end;

    ha_checked_relation(at, bytes, memory, relation);
    (void)snprintf(message, sizeof message, "%s %s %zu bytes, %s", call_name(),
                   verb_of(bits), (size_t)bytes, relation);
    ha_finding_add(&(struct ha_check_finding){
        .what = what,
        .device = device,
        .message = message,
        .advice = advice_for(what),
        .address = runs_out ? end : at,
        .here = side_of_call(bits, bytes, ha_check_stack_taken()),
        .memory = *memory});
}

void
ha_found_bad_access(const void *ptr, uint64_t bytes, uint32_t bits, bool forbidden)
{
    if (!is_asked_for()) {
        return;
    }
    struct ha_checked_range range;
    struct ha_check_memory memory;
    uintptr_t at = (uintptr_t)ptr;
    enum ha_check_what what = ha_checked_what(at, bytes);

    if (forbidden) {
        what = (bits & HA_CHECK_WRITES) != 0 ? HA_FOUND_READ_ONLY
                                             : HA_FOUND_UNKNOWN_MEMORY;
    }

    (void)ha_check_stack_take();
    (void)ha_checked_find(at, bytes, &range);
    ha_checked_describe(at, bytes, &memory);
    add_access(what, at, bytes, bits,
               range.space != HA_SPACE_UNKNOWN ? range.device
                                               : ha_thread_self()->device,
               &memory);
}

void
ha_found_late_access(const void *ptr, uint64_t bytes, uint32_t bits, uint64_t stream)
{
    struct ha_record record;
    struct ha_check_memory memory;

    if (!is_asked_for() || !ha_checked_look((uintptr_t)ptr, false, &record) ||
        (record.state == HA_RECORD_ALIVE &&
         (!record.pending || record.stream != stream))) {
        return; /* not alive: the free has run since the arguments were looked at */
    }
    (void)ha_checked_look((uintptr_t)ptr, true, &record);
    ha_checked_tell(&record, &memory);
    add_access(HA_FOUND_USE_AFTER_FREE, (uintptr_t)ptr, bytes, bits, record.device,
               &memory);
}

void
ha_found_computed(uint64_t bytes, uint32_t origin, const char *call,
                  const struct ha_check_stack *stack)
{
    struct ha_check_finding found = {
        .what = HA_FOUND_UNINITIALISED,
        .device = ha_thread_self()->device,
        .message = "the host gets what a kernel computed from memory that nobody wrote",
        .here = side_of_call(HA_CHECK_READS, bytes, stack)};

    if ((ha_check_kinds() & (uint32_t)HA_CHECK_INIT) == 0) {
        return;
    }
    found.here.call = call != NULL ? call : "HIP";
    ha_origin_tell(origin, &found.memory);
    found.address = found.memory.base;
    ha_finding_add(&found);
}

/* ---- at the end ---- */

void
ha_found_damage(const void *at, const void *base)
{
    char message[MESSAGE_BYTES];
    struct ha_check_memory memory;
    struct ha_record record;

    if (!is_asked_for() || !ha_checked_look((uintptr_t)base, false, &record) ||
        record.told) {
        return; /* who did it is known */
    }
    (void)ha_checked_look((uintptr_t)base, true, &record);
    bool inside = (uintptr_t)at - record.base < record.bytes;
    bool before = (uintptr_t)at < record.base;
    ha_checked_tell(&record, &memory);
    if (inside) {
        (void)snprintf(message, sizeof message,
                       "somebody wrote to byte %zu of %zu bytes that were freed",
                       (size_t)((uintptr_t)at - record.base), (size_t)record.bytes);
    } else {
        (void)snprintf(message, sizeof message,
                       "somebody wrote %s of the %zu bytes at 0x%zx (first at 0x%zx)",
                       before ? "before the beginning" : "past the end",
                       (size_t)record.bytes, (size_t)record.base, (size_t)at);
    }
    ha_finding_add(&(struct ha_check_finding){
        .what = inside ? HA_FOUND_USE_AFTER_FREE : HA_FOUND_OUT_OF_BOUNDS,
        .device = record.device,
        .message = message,
        .advice = "the host or a kernel without checks did it; the stack says where it "
                  "was seen",
        .address = (uintptr_t)at,
        .here = side_of_call(HA_CHECK_WRITES, 0, ha_check_stack_taken()),
        .memory = memory});
}

/* Graphs free their memory themselves, modules their variables. */
static bool
is_of_program(const struct ha_record *record)
{
    return record->allocated != NULL && !record->owned &&
           (record->kind == HA_MEMORY_DEVICE || record->kind == HA_MEMORY_MANAGED ||
            record->kind == HA_MEMORY_HOST || record->kind == HA_MEMORY_ARRAY ||
            record->kind == HA_MEMORY_POOL);
}

static void
tell_leak(const struct ha_record *record)
{
    char message[MESSAGE_BYTES];
    struct ha_check_memory memory;

    if (!is_of_program(record) || record->name != NULL) {
        return;
    }
    ha_checked_tell(record, &memory);
    (void)snprintf(message, sizeof message, "%zu bytes of %s are not freed",
                   (size_t)record->bytes, record->allocated);
    struct ha_check_finding found = {.what = HA_FOUND_LEAK,
                                     .device = record->device,
                                     .message = message,
                                     .advice = "free it when it is not used any more",
                                     .address = record->base,
                                     .here = side_of_call(0, 0, record->allocated_by),
                                     .memory = memory};
    found.here.call = record->allocated;
    ha_finding_add(&found);
}

void
ha_found_at_end(void)
{
    if (ha_checked()) {
        ha_memory_look_for_damage();
    }
    if ((ha_check_kinds() & (uint32_t)HA_CHECK_LEAKS) != 0) {
        ha_checked_each_alive(tell_leak);
    }
}
