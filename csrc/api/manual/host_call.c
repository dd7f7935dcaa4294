/* SPDX-License-Identifier: MIT */
#include "api/manual/host_call.h"

#include <stdatomic.h>

#include "adapters/together.h"
#include "api/generated/calls.h"
#include "api/manual/host_ticket.h"
#include "core/fork.h"
#include "core/status.h"

#define TABLE_FIRST_COUNT 64u
#define EVERY_DEVICE (-2)

/* Ticket = generation << 32 | index. The generation begins with 1 and counts uses of
 * the entry; an entry whose generation would begin anew is used no more. */
struct entry {
    struct ha_host_call call; /* owned references; none in a free entry */
    enum ha_host_use use;
    uint32_t generation;
    uint32_t next_free; /* index + 1 of another free entry; 0 = none */
    int device;         /* or HA_HOST_NO_DEVICE */
};

struct later {
    struct later *next;
    PyObject *object; /* owned */
    bool call;
};

/* Of all but the atomics. */
static struct ha_guard guard;

static struct {
    struct entry *entries; /* owned */
    uint32_t count;
    uint32_t first_free; /* index + 1; 0 = none */
    long once_count;     /* entries with HA_HOST_ONCE */
} table;

static struct {
    struct later *first, *last; /* owned */
    bool working;               /* a thread works it off */
    atomic_bool scheduled;      /* the main thread has been asked to */
    atomic_bool postponed;      /* it was inside a host function then */
} list;

static ha_host_runner runner;
static atomic_bool forked; /* the table is that of the parent process */
static _Thread_local unsigned inside_depth;

/* ---- what is over ---- */

static void
finish(PyObject *object, bool call)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    if (call) {
        PyObject *result = PyObject_CallNoArgs(object);
        if (result == NULL) {
            PyErr_WriteUnraisable(object);
        }
        Py_XDECREF(result);
    }
    Py_DECREF(object);
    PyErr_Restore(type, value, traceback);
}

/* False where another thread, or this one further out, is at it. */
static bool
begin_work(void)
{
    ha_guard_take(&guard);
    bool ours = !list.working;
    list.working = true;
    ha_guard_give(&guard);
    return ours;
}

/* Takes the first item off the list, or ends the work with NULL: an item that comes
 * later finds nobody at work. */
static struct later *
next_item(void)
{
    ha_guard_take(&guard);
    struct later *item = list.first;
    if (item == NULL) {
        list.working = false;
    } else {
        list.first = item->next;
        list.last = item->next != NULL ? list.last : NULL;
    }
    ha_guard_give(&guard);
    return item;
}

/* Works the list off; also done by the main thread on its own. Does nothing inside a
 * host function. */
static void
release_now(void)
{
    struct later *item;

    if (inside_depth > 0 || !begin_work()) {
        return; /* what finalizers add is found by the loop that runs them */
    }
    while ((item = next_item()) != NULL) {
        PyObject *object = item->object;
        bool call = item->call;
        PyMem_Free(item);
        finish(object, call);
    }
}

static int
work_off(void *Py_UNUSED(context))
{
    atomic_store(&list.scheduled, false);
    if (inside_depth > 0) {
        atomic_store(&list.postponed, true);
    } else {
        release_now();
    }
    return 0;
}

/* Where Python's queue of such calls is full, the next one that asks gets more luck. */
static void
schedule(void)
{
    if (!atomic_exchange(&list.scheduled, true) &&
        Py_AddPendingCall(work_off, NULL) < 0) {
        atomic_store(&list.scheduled, false);
    }
}

static void
later(PyObject *object, bool call)
{
    struct later *item = PyMem_Malloc(sizeof *item);

    if (item == NULL) {
        finish(object, call);
        return;
    }
    *item = (struct later){.object = object, .call = call};
    ha_guard_take(&guard);
    if (list.last != NULL) {
        list.last->next = item;
    } else {
        list.first = item;
    }
    list.last = item;
    ha_guard_give(&guard);
    schedule();
}

void
ha_host_call_later(PyObject *callable)
{
    later(callable, true);
}

static void
release_later(PyObject *object)
{
    if (inside_depth > 0) {
        later(object, false);
    } else {
        Py_DECREF(object);
    }
}

bool
ha_host_inside(void)
{
    return inside_depth > 0;
}

void
ha_host_enter(void)
{
    inside_depth++;
}

void
ha_host_leave(void)
{
    inside_depth--;
    if (inside_depth == 0 && atomic_exchange(&list.postponed, false)) {
        schedule();
    }
}

/* ---- tickets ---- */

void
ha_host_call_drop(struct ha_host_call *call)
{
    PyObject *objects[] = {call->callable, call->user, call->stream, call->module};

    *call = (struct ha_host_call){.callable = NULL};
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        if (objects[i] != NULL) {
            release_later(objects[i]);
        }
    }
}

/* Guard held.  Frees the entry and hands its references to `call`. */
static void
entry_end(uint32_t index, struct ha_host_call *call)
{
    struct entry *entry = &table.entries[index];

    *call = entry->call;
    entry->call = (struct ha_host_call){.callable = NULL};
    table.once_count -= entry->use == HA_HOST_ONCE;
    entry->use = HA_HOST_FREE;
    entry->generation++;
    if (entry->generation != 0) {
        entry->next_free = table.first_free;
        table.first_free = index + 1;
    }
}

/* Ends the next ticket of a device, or of any, from entry `*at` on; false where there
 * is none. */
static bool
end_next(int device, uint32_t *at, struct ha_host_call *call)
{
    bool found = false;

    ha_guard_take(&guard);
    for (; !found && *at < table.count; (*at)++) {
        const struct entry *entry = &table.entries[*at];
        if (entry->use != HA_HOST_FREE &&
            (device == EVERY_DEVICE || entry->device == device)) {
            entry_end(*at, call);
            found = true;
        }
    }
    ha_guard_give(&guard);
    return found;
}

/* Ends the tickets of a device, or all. Dropping runs finalizers, which may
 * make tickets, so the table is looked up anew each time. */
static void
end_all(int device)
{
    struct ha_host_call call;

    for (uint32_t at = 0; end_next(device, &at, &call);) {
        ha_host_call_drop(&call);
    }
}

/* A forked child has its parent's tickets, but no device that would call them. */
static void
check_fork(void)
{
    if (atomic_load(&forked) && atomic_exchange(&forked, false)) {
        ha_guard_take(&guard);
        list.working = false;
        ha_guard_give(&guard);
        end_all(EVERY_DEVICE);
    }
}

static void
after_fork_child(void)
{
    atomic_store(&forked, true);
    atomic_store(&list.scheduled, false);
}

/* Guard held.  The entry of a ticket in use, or NULL. */
static struct entry *
entry_of(uint64_t ticket)
{
    uint32_t index = (uint32_t)ticket, generation = (uint32_t)(ticket >> 32);

    if (index >= table.count || table.entries[index].use == HA_HOST_FREE ||
        table.entries[index].generation != generation) {
        return NULL;
    }
    return &table.entries[index];
}

/* Guard held: 0, or -1 without memory. */
static int
table_grow(void)
{
    uint32_t count = table.count > 0 ? table.count * 2 : TABLE_FIRST_COUNT;
    struct entry *grown = NULL;

    if (count > table.count) {
        grown = PyMem_Realloc(table.entries, count * sizeof *grown);
    }
    if (grown == NULL) {
        return -1;
    }
    for (uint32_t i = count; i-- > table.count;) {
        grown[i] = (struct entry){.generation = 1, .next_free = table.first_free};
        table.first_free = i + 1;
    }
    table.entries = grown;
    HA_PUBLISH(table.count, count);
    return 0;
}

/* Guard held, and an entry is free: its ticket. */
static uint64_t
entry_begin(const struct ha_host_call *call, enum ha_host_use use, int device)
{
    uint32_t index = table.first_free - 1;
    struct entry *entry = &table.entries[index];

    table.first_free = entry->next_free;
    entry->call.callable = Py_NewRef(call->callable);
    entry->call.user = Py_NewRef(call->user);
    entry->call.stream = Py_XNewRef(call->stream);
    entry->call.module = Py_NewRef(call->module);
    entry->use = use;
    entry->device = device;
    table.once_count += use == HA_HOST_ONCE;
    return (uint64_t)entry->generation << 32 | index;
}

uint64_t
ha_host_ticket_new(const struct ha_host_call *call, enum ha_host_use use, int device)
{
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "Python callables as host functions work in the main "
                        "interpreter only");
        return 0;
    }
    check_fork();
    release_now();
    ha_guard_take(&guard);
    uint64_t ticket =
        table.first_free != 0 || table_grow() == 0 ? entry_begin(call, use, device) : 0;
    ha_guard_give(&guard);
    if (ticket == 0) {
        PyErr_NoMemory();
    }
    return ticket;
}

void
ha_host_ticket_end(uint64_t ticket)
{
    struct ha_host_call call;

    check_fork();
    ha_guard_take(&guard);
    bool there = entry_of(ticket) != NULL;
    if (there) {
        entry_end((uint32_t)ticket, &call);
    }
    ha_guard_give(&guard);
    if (there) {
        ha_host_call_drop(&call);
    }
}

void
ha_host_ticket_set_device(uint64_t ticket, int device)
{
    check_fork();
    ha_guard_take(&guard);
    struct entry *entry = entry_of(ticket);
    if (entry != NULL) {
        entry->device = device;
    }
    ha_guard_give(&guard);
}

bool
ha_host_call_take(uint64_t ticket, struct ha_host_call *call)
{
    check_fork();
    ha_guard_take(&guard);
    struct entry *entry = entry_of(ticket);
    if (entry != NULL && entry->use == HA_HOST_ONCE) {
        entry_end((uint32_t)ticket, call);
    } else if (entry != NULL) {
        *call = entry->call;
        Py_INCREF(call->callable);
        Py_INCREF(call->user);
        Py_XINCREF(call->stream);
        Py_INCREF(call->module);
    }
    ha_guard_give(&guard);
    return entry != NULL;
}

long
ha_host_call_count(void)
{
    check_fork();
    ha_guard_take(&guard);
    long count = table.once_count;
    ha_guard_give(&guard);
    return count;
}

void
ha_host_calls_reset(void)
{
    int device = HA_HOST_NO_DEVICE;

    if (HA_READ(table.count) > 0 && ha_calls.hipGetDevice != NULL &&
        ha_calls.hipGetDevice(&device) == hipSuccess && device >= 0) {
        end_all(device);
    }
}

void
ha_host_calls_end(void)
{
    end_all(EVERY_DEVICE);
    release_now();
    ha_guard_take(&guard);
    PyMem_Free(table.entries);
    table.entries = NULL;
    HA_PUBLISH(table.count, 0);
    table.first_free = 0;
    ha_guard_give(&guard);
}

int
ha_host_set_runner(ha_host_runner function)
{
    if (ha_fork_register(after_fork_child) != HA_OK) {
        PyErr_SetString(PyExc_RuntimeError, ha_error_text());
        return -1;
    }
    runner = function;
    return 0;
}

/* ---- what HIP calls ---- */

void
ha_host_trampoline(void *context)
{
    runner((uint64_t)(uintptr_t)context, 0);
}

void
ha_host_trampoline_callback(hipStream_t Py_UNUSED(stream), hipError_t status,
                            void *context)
{
    runner((uint64_t)(uintptr_t)context, (int)status);
}
