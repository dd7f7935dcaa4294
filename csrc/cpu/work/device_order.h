/* SPDX-License-Identifier: MIT */
/* Work in a legacy default stream that touches memory of other devices.
 *
 * Default streams of different devices know nothing of each other, but a program that
 * copies in them counts on more: such a copy begins when all that both devices' default
 * streams (and blocking streams) were given before is done, and what they are given
 * afterwards begins when it is over.  Work in other streams is ordered by events only.
 *
 * Everything here needs the pool lock. */
#ifndef HA_CPU_WORK_DEVICE_ORDER_H
#define HA_CPU_WORK_DEVICE_ORDER_H

#include "cpu/queue/stream.h"

#define HA_ORDER_DEVICES_MAX 2 /* those of a copy's two sides */

struct ha_device_order {
    struct ha_device *others[HA_ORDER_DEVICES_MAX]; /* borrowed */
    unsigned count;
};

/* Adds the device that has the memory at `ptr`, if the stream is a legacy default
 * stream of another one.  Memory of the host and managed memory are no device's; a
 * device with blocking streams that are being captured is left out, since nothing can
 * wait for it. */
void ha_device_order_add(struct ha_device_order *order, const struct ha_stream *stream,
                         const void *ptr);

/* ha_stream_run for an operation that is ordered with these devices too. Gives the lock
 * back. */
hipError_t ha_device_order_run(const struct ha_device_order *order,
                               struct ha_stream *stream, struct ha_op *op,
                               enum ha_run how);

#endif
