/* SPDX-License-Identifier: MIT */
/* Handles that the program holds: streams, events, modules, functions, hiprtc programs,
 * libraries and their kernels, link states, memory allocations, pools and so on.
 *
 * A *handle* is a number, never an address:
 *
 *     63..60   59..56   55..32       31..6   5..0
 *     0        5        generation   index   kind
 *
 * Bits 59..56 make it non-canonical as a pointer, so a handle can't be taken for
 * memory, nor memory for a handle.  `index` names a *slot* of the table of its kind,
 * and the generation of a slot rises when its object dies, so freed, made-up and
 * wrong-kind numbers are recognised without touching any memory of the object.
 *
 * Ownership: a slot counts references.  Creation gives the first one to the table;
 * ha_handle_retire takes the number out of use and hands that reference to the caller;
 * the caller that releases the last one destroys the object.  Objects whose whole life
 * is guarded by a lock (streams and events: the pool's) use ha_handle_peek under that
 * lock instead.
 *
 * Locks: finding, acquiring and releasing take none; creation and the end of a slot
 * take the table's own lock, which is a leaf: nothing is locked or called while it is
 * held. */
#ifndef HA_CPU_BASE_HANDLE_H
#define HA_CPU_BASE_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

enum ha_handle_kind {
    HA_HANDLE_STREAM = 1,
    HA_HANDLE_EVENT,
    HA_HANDLE_MODULE,
    HA_HANDLE_FUNCTION,
    HA_HANDLE_PROGRAM,
    HA_HANDLE_LIBRARY,
    HA_HANDLE_KERNEL,
    HA_HANDLE_LINK,
    HA_HANDLE_GRAPH,
    HA_HANDLE_NODE,
    HA_HANDLE_EXEC,
    HA_HANDLE_USER_OBJECT,
    HA_HANDLE_ARRAY,
    HA_HANDLE_PHYSICAL,
    HA_HANDLE_POOL,
    HA_HANDLE_EXTERNAL_MEMORY,
    HA_HANDLE_KIND_COUNT,
};

/* A new handle for `object`, with one reference; 0 if memory or numbers ran out. */
uint64_t ha_handle_create(enum ha_handle_kind kind, void *object);

/* The living object, with one more reference, or NULL. */
void *ha_handle_acquire(enum ha_handle_kind kind, uint64_t handle);

/* The living object without a reference, or NULL.  Needs: the lock under which objects
 * of this kind are retired. */
void *ha_handle_peek(enum ha_handle_kind kind, uint64_t handle);

/* One more reference for a caller that has one. */
void ha_handle_retain(uint64_t handle);

/* Drops a reference; true if it was the last: the caller destroys the object. */
bool ha_handle_release(uint64_t handle);

/* Takes the handle out of use; the object, or NULL if it was not in use (exactly one of
 * several racing callers gets it).  The caller then releases the table's reference. */
void *ha_handle_retire(enum ha_handle_kind kind, uint64_t handle);

/* Calls `visit` with each living handle of the kind; objects may be retired meanwhile.
 */
void ha_handle_each(enum ha_handle_kind kind,
                    void (*visit)(uint64_t handle, void *context), void *context);

/* In a forked child, single-threaded: every number so far is dead, objects are left
 * alone. */
void ha_handle_after_fork_child(void);

#endif
