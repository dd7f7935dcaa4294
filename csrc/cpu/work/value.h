/* SPDX-License-Identifier: MIT */
/* Stream memory operations: a stream writes a value to memory, or waits until memory
 * has one.
 *
 * A *batch* is one operation of a queue: writes and waits that are done in their order.
 * A wait whose condition does not hold puts its batch on the list of the *watcher*, a
 * thread that looks at all of them again and again and goes on with those whose time
 * has come.  So streams that wait keep no worker from its work, however many they are.
 *
 * Conditions are looked at with the memory's own width, and unsigned.
 *
 * Locks: the pool lock guards the list. */
#ifndef HA_CPU_WORK_VALUE_H
#define HA_CPU_WORK_VALUE_H

#include <stdint.h>

#include "abi/hip.h"

struct ha_op;

#define HA_VALUE_MAX 256u /* operations of a batch */

enum ha_value_kind { HA_VALUE_WRITE, HA_VALUE_WAIT, HA_VALUE_FENCE };

struct ha_value {
    enum ha_value_kind kind;
    uint32_t bytes;   /* 4 or 8 */
    uint32_t compare; /* hipStreamWaitValueGte ... */
    void *ptr;
    uint64_t value;
    uint64_t mask;
    uint64_t range_id; /* of the memory that it lies in */
};

/* Checks the memory and the comparison, and completes the fields from range_id on. */
hipError_t ha_value_check(struct ha_value *value);

/* Translates and checks what hipStreamBatchMemOp is given; `count` at most
 * HA_VALUE_MAX. */
hipError_t ha_values_read(const hipStreamBatchMemOpParams *params, unsigned count,
                          struct ha_value *values);
/* The other way; a mask is lost. */
void ha_value_write(const struct ha_value *value, hipStreamBatchMemOpParams *params);

/* The operation of a checked batch, with its own copy, or NULL without memory. Pool
 * lock held. */
struct ha_op *ha_value_op(const struct ha_value *values, unsigned count);

/* Tells the check of races of the batch, which is about to get its place: *past is what
 * comes before it, and what its followers know then. Pool lock held. */
struct ha_past;
void ha_values_order(struct ha_past **past, const struct ha_value *values,
                     unsigned count);

/* The operation of a batch that writes to memory that the host sees tells the host what
 * came before it. Pool lock held. */
void ha_values_tell(struct ha_op *op, struct ha_past *past);

/* In a forked child. */
void ha_value_after_fork_child(void);

#endif
