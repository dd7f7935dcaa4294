/* SPDX-License-Identifier: MIT */
#include "cpu/submit/graph.h"

#include "cpu/graph/capture.h"
#include "cpu/graph/graph_exec.h"
#include "cpu/graph/graph_ticket.h"
#include "cpu/queue/order.h"
#include "cpu/queue/ticket.h"
#include "cpu/submit/door.h"

struct call {
    struct ha_door door;
    hipGraphExec_t handle;
    struct ha_graph_exec *exec;       /* borrowed while the graph lock is held */
    struct ha_graph_tickets *tickets; /* owned, or NULL */
    struct ha_queue *full; /* owned: the stream has more work than it should; or NULL */
};

/* Tickets for a launch that is about to run: no lock is held while they are made, so
 * the graph is looked at again.  Graph and pool lock held on entry and on success, the
 * graph lock on failure. */
static hipError_t
tickets_make(struct call *call)
{
    call->tickets = ha_graph_tickets_list(call->exec, call->door.handle,
                                          call->door.stream->queue.device->id);
    if (call->tickets == NULL) {
        return hipSuccess;
    }
    ha_door_leave(&call->door);
    ha_graph_unlock();
    ha_graph_tickets_make(call->tickets);
    ha_graph_lock();
    hipError_t code = ha_graph_exec_ready(call->handle, &call->exec);
    if (code != hipSuccess) {
        ha_door_abandon(&call->door);
        return code;
    }
    return ha_door_return(&call->door);
}

/* Graph and pool lock held on entry; the pool lock is given back. */
static hipError_t
run(struct call *call)
{
    struct ha_queue *queue = &call->door.stream->queue;
    ha_queue_retain(queue);
    hipError_t code = ha_graph_exec_run(call->exec, call->door.stream, call->tickets);
    if (ha_queue_is_long(queue)) {
        call->full = queue;
    } else {
        ha_queue_release(queue);
    }
    ha_pool_unlock();
    return code;
}

/* Graph lock held. */
static hipError_t
launch(struct call *call)
{
    hipError_t code = ha_graph_exec_ready(call->handle, &call->exec);
    if (code == hipSuccess) {
        code = ha_door_open(&call->door);
    }
    if (code == hipSuccess && ha_activity_wants(HA_WANT_DISPATCH | HA_WANT_COPY) &&
        !ha_door_captures(&call->door)) {
        code = tickets_make(call);
    }
    if (code != hipSuccess) {
        return code;
    }
    return ha_door_captures(&call->door)
               ? ha_capture_graph(ha_door_front(&call->door),
                                  ha_graph_exec_graph(call->exec))
               : run(call);
}

hipError_t
ha_submit_graph(hipGraphExec_t exec, hipStream_t stream, struct ha_device *device)
{
    struct call call = {.door = {.handle = stream, .device = device}, .handle = exec};
    ha_order_call();
    ha_graph_lock();
    hipError_t code = launch(&call);
    ha_graph_unlock();
    ha_graph_tickets_free(call.tickets);
    if (call.full != NULL) {
        ha_pool_lock();
        ha_queue_throttle(call.full);
        ha_queue_release(call.full);
        ha_pool_unlock();
    }
    return code;
}
