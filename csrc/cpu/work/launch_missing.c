/* SPDX-License-Identifier: MIT */
#include "cpu/work/launch_missing.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/thread.h"
#include "cpu/module/register.h"
#include "cpu/queue/device_fault.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"

/* The operation's payload. */
struct missing {
    char *text; /* owned, or NULL */
};

static void
missing_finish(struct ha_op *op)
{
    free(((struct missing *)(void *)op->payload)->text);
}

/* It has nothing to run: its error is there from the start. */
static const struct ha_op_class missing_class = {
    .name = "kernel that cannot run",
    .finish = missing_finish,
};

/* The device has the fault at once. */
static void
fault_now(struct ha_device *device, hipError_t code, const char *text)
{
    ha_pool_lock();
    ha_device_set_fault(device, code, text);
    ha_pool_unlock();
}

/* The operation that ends with the fault, or NULL without memory. Lock held. */
static struct ha_op *
missing_op(hipError_t code, const char *text)
{
    struct ha_op *op = ha_op_new(&missing_class);
    if (op == NULL) {
        return NULL;
    }
    struct missing *missing = (struct missing *)(void *)op->payload;
    missing->text = strdup(text);
    op->error = code;
    op->error_text = missing->text;
    return op;
}

void
ha_launch_missing(struct ha_stream *stream, hipError_t code, const char *text)
{
    struct ha_device *device = stream->queue.device;
    struct ha_op *op = NULL;
    if (stream->front == NULL && !ha_stream_is_idle(stream)) {
        op = missing_op(code, text);
    }
    if (op == NULL) {
        ha_device_set_fault(device, code, text);
        ha_pool_unlock();
    } else if (ha_stream_run(stream, op, HA_RUN_ASYNC) != hipSuccess) {
        fault_now(device, code, text);
    }
}

hipError_t
ha_launch_missing_node(struct ha_device *device, const void *address, hipError_t code)
{
    if (code != hipErrorDeinitialized && ha_register_cannot_run(address)) {
        fault_now(device, code, ha_thread_self()->text);
    }
    return code;
}
