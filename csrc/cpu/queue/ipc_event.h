/* SPDX-License-Identifier: MIT */
/* The page of a shared file that an event of several processes has in common.
 *
 * Each record of the event takes a number, in whatever process; when the stream passes
 * it, the number is *done*.  Waiting means waiting for the newest number at the time of
 * the call.  If the process that recorded last is gone and the number is not done, it
 * never will be: waiting fails then.
 *
 *      0: newest number         16: counts what was done (futex)
 *      8: who recorded it       24: 1 until who created the event destroys it
 *                               64: the done number of each of the last 64 records
 *
 * Ownership: references are counted; operations that wait have one.
 *
 * Locks: none; the page is changed by atomic operations only.  Its other users may
 * write anything, so nothing read from it is used as an address or an index. */
#ifndef HA_CPU_QUEUE_IPC_EVENT_H
#define HA_CPU_QUEUE_IPC_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hip.h"

struct ha_op;
struct ha_ipc_event;

/* A new one, or NULL with the failure recorded; with one reference. */
struct ha_ipc_event *ha_ipc_event_new(void);
void ha_ipc_event_retain(struct ha_ipc_event *event);
void ha_ipc_event_release(struct ha_ipc_event *event);

/* The event is destroyed in this process; if it was created here, no other process can
 * open it any more. */
void ha_ipc_event_retire(struct ha_ipc_event *event);

hipError_t ha_ipc_event_export(const struct ha_ipc_event *event,
                               hipIpcEventHandle_t *handle);
hipError_t ha_ipc_event_open(const hipIpcEventHandle_t *handle,
                             struct ha_ipc_event **event);

/* The number of a new record; it must become done. */
uint64_t ha_ipc_event_record(struct ha_ipc_event *event);
void ha_ipc_event_pass(struct ha_ipc_event *event, uint64_t number);

/* The number of the newest record, 0 without one, and whether it is done. */
uint64_t ha_ipc_event_newest(const struct ha_ipc_event *event);
bool ha_ipc_event_is_done(const struct ha_ipc_event *event, uint64_t number);

/* Returns when the number is done; fails if it can't be any more, or with
 * hipErrorNotReady if the program interrupted the wait. No lock held. */
hipError_t ha_ipc_event_wait(struct ha_ipc_event *event, uint64_t number);

/* An operation that is over when the number is done, or NULL without memory. Pool lock
 * held. */
struct ha_op *ha_ipc_event_op(struct ha_ipc_event *event, uint64_t number);

#endif
