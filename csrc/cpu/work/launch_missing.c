/* SPDX-License-Identifier: MIT */
#include "cpu/work/launch_missing.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/thread.h"
#include "cpu/entry/runtime.h"
#include "cpu/graph/capture.h"
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

static void
fault_now(struct ha_device *device, hipError_t code, const char *text)
{
    ha_pool_lock();
    ha_device_set_fault(device, code, text);
    ha_pool_unlock();
}

/* In stream order.  False if the stream can't take it. */
static bool
fault_queued(struct ha_stream *stream, hipError_t code, const char *text)
{
    struct ha_op *op = ha_op_new(&missing_class);
    if (op == NULL) {
        ha_pool_unlock();
        return false;
    }
    struct missing *missing = (struct missing *)(void *)op->payload;
    missing->text = strdup(text);
    op->error = code;
    op->error_text = missing->text;
    return ha_stream_run(stream, op, HA_RUN_ASYNC) == hipSuccess;
}

hipError_t
ha_launch_missing(struct ha_device *device, hipStream_t stream, const void *address,
                  hipError_t code)
{
    struct ha_stream *found;
    if (code == hipErrorDeinitialized || !ha_register_cannot_run(address)) {
        return code;
    }
    struct ha_thread *thread = ha_thread_self();
    const struct ha_thread failure = *thread; /* what follows may fail too */
    if (ha_capture_find_stream(stream, device, &found) == hipSuccess) {
        struct ha_device *owner = found->queue.device;
        if (found->front != NULL) {
            ha_capture_invalidate(found->front);
        }
        if (found->front != NULL || ha_stream_is_idle(found)) {
            ha_device_set_fault(owner, code, failure.text);
            ha_pool_unlock();
        } else if (!fault_queued(found, code, failure.text)) {
            fault_now(owner, code, failure.text);
        }
    }
    memcpy(thread->text, failure.text, sizeof thread->text);
    thread->last_error = failure.last_error;
    thread->last_call = failure.last_call;
    return code;
}

hipError_t
ha_launch_missing_node(struct ha_device *device, const void *address, hipError_t code)
{
    if (code != hipErrorDeinitialized && ha_register_cannot_run(address)) {
        fault_now(device, code, hipadaptGetErrorText());
    }
    return code;
}
