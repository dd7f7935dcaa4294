/* SPDX-License-Identifier: MIT */
/* Executable graphs: a launch makes one operation a step, and submits all of them. */
#include <stdlib.h>

#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/graph/graph_exec_state.h"
#include "cpu/graph/graph_memory.h"
#include "cpu/graph/graph_ticket.h"
#include "cpu/queue/event.h"
#include "cpu/queue/order.h"
#include "cpu/queue/ticket.h"
#include "cpu/work/value.h"

/* ---- tracks ---- */

static void
track_release(struct ha_queue *queue)
{
    free(queue);
}

/* Makes the queues of the tracks for a launch into `stream`; track 0 is the stream
 * itself if it is of the right device. Pool lock held; false without memory. */
static bool
tracks_make(struct ha_graph_exec *exec, const struct ha_stream *stream)
{
    struct ha_device *home = stream->queue.device;
    exec->own_first = exec->track_devices[0] != NULL && exec->track_devices[0] != home;
    for (uint32_t i = exec->own_first ? 0 : 1; i < exec->track_count; i++) {
        struct ha_device *device =
            exec->track_devices[i] != NULL ? exec->track_devices[i] : home;
        int priority = exec->track_priorities[i] < stream->queue.priority
                           ? exec->track_priorities[i]
                           : stream->queue.priority;
        struct ha_track *track = exec->tracks[i];
        if (track != NULL && track->queue.device == device) {
            ha_queue_set_priority(&track->queue, priority);
            continue;
        }
        if (track != NULL) {
            ha_queue_release(&track->queue);
        }
        exec->tracks[i] = track = calloc(1, sizeof *track);
        if (track == NULL) {
            return false;
        }
        ha_queue_init(&track->queue, device, false, priority);
        track->queue.release = track_release;
    }
    return true;
}

/* ---- operations ---- */

static const struct ha_op_class join_class = {.name = "graph", .flags = HA_OP_ALWAYS};

static struct ha_op *
join_op(void)
{
    struct ha_op *op = ha_op_new(&join_class);
    if (op != NULL) {
        op->caller = true;
    }
    return op;
}

static void
op_drop(struct ha_op *op)
{
    if (op->class->finish != NULL) {
        op->class->finish(op);
    }
    ha_op_discard(op);
}

static void
ops_drop(struct ha_graph_exec *exec, uint32_t first)
{
    for (uint32_t i = first; i < exec->step_count; i++) {
        if (exec->steps[i].op != NULL) {
            op_drop(exec->steps[i].op);
        }
        exec->steps[i].op = NULL;
    }
}

static struct ha_op *
step_op(const struct ha_step *step)
{
    bool none = step->node->disabled;
    struct ha_op *op = none ? NULL : ha_node_op(step->node, &none);
    return none ? join_op() : op;
}

/* Makes the operations of all steps; all or none. */
static bool
ops_make(struct ha_graph_exec *exec)
{
    for (uint32_t i = 0; i < exec->step_count; i++) {
        exec->steps[i].op = NULL;
    }
    for (uint32_t i = 0; i < exec->step_count; i++) {
        struct ha_step *step = &exec->steps[i];
        step->op = step_op(step);
        /* Its befores, the beginning, the launch before, and an event. */
        if (step->op == NULL || !ha_op_reserve(step->op, step->count + 3)) {
            ops_drop(exec, 0);
            return false;
        }
    }
    return true;
}

static struct ha_queue *
queue_of(const struct ha_graph_exec *exec, struct ha_stream *stream, uint32_t track)
{
    return track == 0 && !exec->own_first ? &stream->queue
                                          : &exec->tracks[track]->queue;
}

/* Gives the step its place in the order of the graph: behind its befores, or what the
 * stream knew (`begun`). */
static void
step_order(const struct ha_graph_exec *exec, const struct ha_queue *queue,
           struct ha_step *step, struct ha_past *begun)
{
    step->past = ha_past_keep(begun);
    for (uint32_t k = 0; k < step->count; k++) {
        const struct ha_step *before = &exec->steps[exec->befores[step->first + k]];
        struct ha_past *both = ha_past_join(step->past, before->past);
        ha_past_release(step->past);
        step->past = both;
    }
    if (step->node->type == hipGraphNodeTypeWaitEvent && !step->node->disabled) {
        struct ha_past *both =
            ha_past_join(step->past, ha_event_past(step->node->event));
        ha_past_release(step->past);
        step->past = both;
    }
    if (step->node->type == hipGraphNodeTypeBatchMemOp && !step->node->disabled) {
        ha_values_tell(step->op, step->past);
        ha_values_order(&step->past, step->node->batch.values,
                        step->node->batch.params.count);
    }
    ha_order_node(queue, step->op, &step->past);
    ha_event_will_know(step->op, step->past);
}

/* The end of the launch, and the next one of the graph, know all steps. */
static void
steps_end(struct ha_graph_exec *exec, struct ha_queue *queue)
{
    for (uint32_t i = 0; i < exec->step_count; i++) {
        ha_order_learn(queue, exec->steps[i].past);
        ha_past_release(exec->steps[i].past);
        exec->steps[i].past = NULL;
    }
    ha_past_release(exec->past);
    exec->past = ha_order_past(queue);
}

/* Submits the operation of a step behind those before it. */
static void
step_submit(struct ha_graph_exec *exec, struct ha_stream *stream, struct ha_step *step,
            struct ha_past *begun)
{
    struct ha_queue *queue = queue_of(exec, stream, step->track);
    for (uint32_t k = 0; k < step->count; k++) {
        const struct ha_step *before = &exec->steps[exec->befores[step->first + k]];
        if (before->track != step->track) {
            ha_op_depend(step->op, queue_of(exec, stream, before->track),
                         before->number);
        }
    }
    if (step->node->type == hipGraphNodeTypeWaitEvent && !step->node->disabled) {
        ha_event_depend(step->node->event, step->op);
    }
    ha_event_will_pass(step->op, queue);
    if (ha_order_on()) {
        step_order(exec, queue, step, begun);
    }
    step->number = ha_queue_submit(queue, step->op, HA_SUBMIT_WAKE);
    step->op = NULL;
}

/* Submits what was made. The first operation is ordered by the rules of streams, so it
 * alone can fail. */
static bool
ops_submit(struct ha_graph_exec *exec, struct ha_stream *stream, struct ha_op *begin,
           struct ha_op *end)
{
    bool entered[HA_TRACK_MAX] = {false};
    uint64_t tails[HA_TRACK_MAX] = {0};
    if (exec->last != NULL) {
        ha_op_depend(begin, exec->last, exec->last_number);
        ha_order_learn(&stream->queue, exec->past);
    }
    uint64_t begun = ha_stream_submit(stream, begin, HA_SUBMIT_RUN);
    if (begun == 0) {
        return false;
    }
    entered[0] = !exec->own_first;
    struct ha_past *known = ha_order_past(&stream->queue);
    for (uint32_t i = 0; i < exec->step_count; i++) {
        struct ha_step *step = &exec->steps[i];
        if (!entered[step->track]) {
            ha_op_depend(step->op, &stream->queue, begun);
            entered[step->track] = true;
        }
        step_submit(exec, stream, step, known);
        tails[step->track] = step->number;
    }
    for (uint32_t track = exec->own_first ? 0 : 1; track < exec->track_count; track++) {
        ha_op_depend(end, queue_of(exec, stream, track), tails[track]);
    }
    ha_past_release(known);
    steps_end(exec, &stream->queue);
    uint64_t ended = ha_queue_submit(&stream->queue, end, HA_SUBMIT_RUN);
    ha_queue_retain(&stream->queue);
    if (exec->last != NULL) {
        ha_queue_release(exec->last);
    }
    exec->last = &stream->queue;
    exec->last_number = ended;
    return true;
}

/* Allocations that the program still has can't be made again. */
static hipError_t
memory_check(const struct ha_graph_exec *exec)
{
    bool again = (exec->flags &
                  (unsigned long long)hipGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    for (uint32_t i = 0; i < exec->memory_nodes.count && !again; i++) {
        const struct ha_node *node = exec->memory_nodes.items[i];
        if (node->type == hipGraphNodeTypeMemAlloc &&
            ha_graph_memory_in_use(node->alloc.memory)) {
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "the %zu bytes at %p, which this graph allocates, were not freed since "
                "its last launch",
                node->alloc.params.bytesize, node->alloc.params.dptr);
        }
    }
    return hipSuccess;
}

/* What copies and fills use may have been freed since they were made. */
static hipError_t
copies_check(const struct ha_graph_exec *exec)
{
    hipError_t code = hipSuccess;
    for (uint32_t i = 0; i < exec->step_count && code == hipSuccess; i++) {
        const struct ha_node *node = exec->steps[i].node;
        bool work;
        if (node->disabled) {
            continue;
        }
        if (node->type == hipGraphNodeTypeMemcpy && node->copy.work) {
            code = ha_copy_check(&node->copy.copy, &work);
        } else if (node->type == hipGraphNodeTypeMemset && node->fill.work) {
            code = ha_fill_check(&node->fill.fill, &work);
        }
    }
    return code;
}

static void
memory_pass(const struct ha_graph_exec *exec)
{
    for (uint32_t i = 0; i < exec->memory_nodes.count; i++) {
        const struct ha_node *node = exec->memory_nodes.items[i];
        if (node->type == hipGraphNodeTypeMemAlloc) {
            ha_graph_memory_use(node->alloc.memory, true);
        } else {
            struct ha_graph_memory *memory = ha_graph_memory_find(node->freed);
            if (memory != NULL) {
                ha_graph_memory_use(memory, false);
            }
        }
    }
}

hipError_t
ha_graph_exec_run(struct ha_graph_exec *exec, struct ha_stream *stream,
                  struct ha_graph_tickets *tickets)
{
    hipError_t code = hipSuccess;
    struct ha_op *begin = join_op();
    struct ha_op *end = join_op();
    if (begin == NULL || end == NULL || !ha_op_reserve(begin, 1) ||
        !ha_op_reserve(end, exec->track_count) || !tracks_make(exec, stream) ||
        !ops_make(exec)) {
        code = hipErrorOutOfMemory;
    } else {
        if (tickets != NULL) {
            ha_graph_tickets_give(tickets, exec);
        }
        if (ops_submit(exec, stream, begin, end)) {
            end = NULL;
            memory_pass(exec);
        } else {
            ops_drop(exec, 0);
            code = hipErrorOutOfMemory;
        }
        begin = NULL; /* submitted, or gone with the failure */
    }
    if (begin != NULL) {
        ha_op_discard(begin);
    }
    if (end != NULL) {
        ha_op_discard(end);
    }
    return code == hipSuccess
               ? hipSuccess
               : ha_cpu_fail(code, "no memory for a launch of the graph");
}

hipError_t
ha_graph_exec_ready(hipGraphExec_t handle, struct ha_graph_exec **exec)
{
    struct ha_graph_exec *found = ha_graph_exec_find(handle);
    if (found == NULL) {
        return hipErrorInvalidValue;
    }
    hipError_t code = memory_check(found);
    if (code == hipSuccess) {
        code = copies_check(found);
    }
    if (code == hipSuccess) {
        *exec = found;
    }
    return code;
}
