/* SPDX-License-Identifier: MIT */
/* Executable graphs: the steps, and the track of each. */
#include <stdlib.h>
#include <string.h>

#include "cpu/base/error.h"
#include "cpu/graph/graph_exec_state.h"
#include "cpu/module/module.h"
#include "cpu/queue/event.h"

#define NO_STEP UINT32_MAX
#define NO_TRACK UINT32_MAX

/* What stands behind a node while its graph is laid out: the steps that have to be done
 * before what follows it. */
struct ends {
    uint32_t *steps; /* owned */
    uint32_t count;
};

/* While a graph is laid out, the graphs in its nodes with it.  A *gathering* joins ends
 * into one; there is one at a time. */
struct layout {
    struct ha_graph_exec *exec; /* borrowed */
    struct ha_node *cycle;      /* a node that is on one */
    uint32_t *marks;            /* owned; per step: the gathering that has it */
    uint32_t mark_room;
    uint32_t gathering; /* number of the newest */
};

static bool
ends_add(struct ends *ends, uint32_t step)
{
    if ((ends->count & (ends->count - 1)) == 0) { /* grows at powers of two */
        size_t room = ends->count == 0 ? 1 : (size_t)ends->count * 2;
        uint32_t *steps = realloc(ends->steps, room * sizeof *steps);
        if (steps == NULL) {
            return false;
        }
        ends->steps = steps;
    }
    ends->steps[ends->count++] = step;
    return true;
}

/* Begins a gathering; false without memory. */
static bool
gather_begin(struct layout *layout)
{
    uint32_t count = layout->exec->step_count;
    if (count > layout->mark_room) {
        uint32_t room = layout->mark_room * 2 > count ? layout->mark_room * 2 : count;
        uint32_t *marks = realloc(layout->marks, room * sizeof *marks);
        if (marks == NULL) {
            return false;
        }
        memset(marks + layout->mark_room, 0,
               (room - layout->mark_room) * sizeof *marks);
        layout->marks = marks;
        layout->mark_room = room;
    }
    layout->gathering++;
    return true;
}

/* Adds the steps of `more` that the gathering does not have. */
static bool
gather(struct layout *layout, struct ends *ends, const struct ends *more)
{
    for (uint32_t i = 0; i < more->count; i++) {
        uint32_t step = more->steps[i];
        if (layout->marks[step] == layout->gathering) {
            continue;
        }
        layout->marks[step] = layout->gathering;
        if (!ends_add(ends, step)) {
            return false;
        }
    }
    return true;
}

/* `ends` has nothing yet. */
static bool
ends_copy(struct ends *ends, const struct ends *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (!ends_add(ends, from->steps[i])) {
            return false;
        }
    }
    return true;
}

static bool
name_add(struct ha_graph_exec *exec, struct ha_node *node)
{
    if ((exec->name_count & (exec->name_count - 1)) == 0) {
        size_t room = exec->name_count == 0 ? 1 : (size_t)exec->name_count * 2;
        struct ha_named *names = realloc(exec->names, room * sizeof *names);
        if (names == NULL) {
            return false;
        }
        exec->names = names;
    }
    exec->names[exec->name_count++] =
        (struct ha_named){.original = node->original, .node = node};
    return true;
}

/* A step for the node behind the steps in `before`; NO_STEP without memory. */
static uint32_t
step_add(struct ha_graph_exec *exec, struct ha_node *node, const struct ends *before)
{
    uint32_t number = exec->step_count;
    if ((number & (number - 1)) == 0) {
        size_t room = number == 0 ? 1 : (size_t)number * 2;
        struct ha_step *steps = realloc(exec->steps, room * sizeof *steps);
        if (steps == NULL) {
            return NO_STEP;
        }
        exec->steps = steps;
    }
    if (exec->before_count + before->count > exec->before_room) {
        uint32_t room = exec->before_room * 2 + before->count;
        uint32_t *befores = realloc(exec->befores, room * sizeof *befores);
        if (befores == NULL) {
            return NO_STEP;
        }
        exec->befores = befores;
        exec->before_room = room;
    }
    exec->steps[number] = (struct ha_step){
        .node = node, .first = exec->before_count, .count = before->count};
    for (uint32_t i = 0; i < before->count; i++) {
        exec->befores[exec->before_count++] = before->steps[i];
    }
    exec->step_count++;
    return number;
}

/* True if the node gets no step: it only lends its edges, where that doesn't make more
 * of them. */
static bool
lends_edges(const struct ha_node *node, const struct ends *before)
{
    switch (node->type) {
    case hipGraphNodeTypeEmpty:
        return before->count <= 1 || node->afters.count <= 1;
    case hipGraphNodeTypeMemAlloc:
    case hipGraphNodeTypeMemFree:
        return true;
    default:
        return false;
    }
}

static bool lay_out(struct layout *layout, struct ha_graph *graph,
                    const struct ends *entry, struct ends *exit);

static bool
lay_out_node(struct layout *layout, struct ha_node *node, const struct ends *before,
             struct ends *ends)
{
    struct ha_graph_exec *exec = layout->exec;
    if (!name_add(exec, node)) {
        return false;
    }
    if (node->type == hipGraphNodeTypeGraph) {
        return lay_out(layout, node->child, before, ends);
    }
    if (node->type == hipGraphNodeTypeMemAlloc ||
        node->type == hipGraphNodeTypeMemFree) {
        exec->allocates = exec->allocates || node->type == hipGraphNodeTypeMemAlloc;
        if (!ha_nodes_add(&exec->memory_nodes, node)) {
            return false;
        }
    }
    if (lends_edges(node, before)) {
        return ends_copy(ends, before);
    }
    uint32_t step = step_add(exec, node, before);
    return step != NO_STEP && ends_add(ends, step);
}

/* What the node stands behind: the ends of the nodes before it, or of what stands
 * before its graph. */
static bool
gather_befores(struct layout *layout, const struct ha_node *node,
               const struct ends *ends, const struct ends *entry, struct ends *before)
{
    const struct ha_nodes *befores = &node->befores;
    if (befores->count == 0) {
        return ends_copy(before, entry);
    }
    bool good = gather_begin(layout);
    for (uint32_t k = 0; k < befores->count && good; k++) {
        good = gather(layout, before, &ends[befores->items[k]->index]);
    }
    return good;
}

/* The ends of the nodes that nothing follows. */
static bool
gather_exit(struct layout *layout, const struct ha_graph *graph,
            struct ha_node *const *order, const struct ends *ends, struct ends *exit)
{
    bool good = gather_begin(layout);
    for (uint32_t i = 0; i < graph->nodes.count && good; i++) {
        good =
            order[i]->afters.count > 0 || gather(layout, exit, &ends[order[i]->index]);
    }
    return good;
}

/* Adds the steps of a graph behind those of `entry`; `exit` gets what stands before its
 * followers. False without memory, or with the node that is on a cycle in the layout.
 */
static bool
lay_out(struct layout *layout, struct ha_graph *graph, const struct ends *entry,
        struct ends *exit)
{
    uint32_t count = graph->nodes.count;
    bool good = false;
    if (count == 0) {
        return ends_copy(exit, entry);
    }
    struct ha_node **order = malloc(count * sizeof(struct ha_node *));
    struct ends *ends = calloc(count, sizeof *ends);
    if (order != NULL && ends != NULL) {
        layout->cycle = ha_graph_sort(graph, order);
        good = layout->cycle == NULL;
    }
    for (uint32_t i = 0; i < count && good; i++) {
        struct ha_node *node = order[i];
        struct ends before = {.steps = NULL};
        good = gather_befores(layout, node, ends, entry, &before) &&
               lay_out_node(layout, node, &before, &ends[node->index]);
        free(before.steps);
    }
    good = good && gather_exit(layout, graph, order, ends, exit);
    for (uint32_t i = 0; i < count && ends != NULL; i++) {
        free(ends[i].steps);
    }
    free(ends);
    free(order);
    return good;
}

int
ha_named_compare(const void *left, const void *right)
{
    uint64_t a = ((const struct ha_named *)left)->original;
    uint64_t b = ((const struct ha_named *)right)->original;
    return (a > b) - (a < b);
}

/* ---- tracks ---- */

static struct ha_device *
device_of(const struct ha_node *node)
{
    switch (node->type) {
    case hipGraphNodeTypeKernel:
        return node->kernel.function->device;
    case hipGraphNodeTypeEventRecord:
        return ha_event_device(node->event);
    default:
        return NULL;
    }
}

/* Highest priority that a node asks for, as queues count: the lowest number. */
static int
priority_of(const struct ha_graph_exec *exec, const struct ha_node *node)
{
    bool asked =
        (exec->flags & (unsigned long long)hipGraphInstantiateFlagUseNodePriority) != 0;
    if (!asked || node->type != hipGraphNodeTypeKernel ||
        !node->kernel.set[HA_ATTRIBUTE_PRIORITY]) {
        return HA_PRIORITY_LOW;
    }
    int priority = node->kernel.values[HA_ATTRIBUTE_PRIORITY].priority;
    return priority < HA_PRIORITY_HIGH  ? HA_PRIORITY_HIGH
           : priority > HA_PRIORITY_LOW ? HA_PRIORITY_LOW
                                        : priority;
}

/* A step of `device` (NULL: of any) can be given to the track. */
static bool
fits(const struct ha_graph_exec *exec, uint32_t track, const struct ha_device *device)
{
    const struct ha_device *own = exec->track_devices[track];
    return own == NULL || device == NULL || own == device;
}

/* The track of a step before it that is the newest there; else a new track, or any that
 * fits once there are enough. */
static uint32_t
choose_track(struct ha_graph_exec *exec, uint32_t number,
             const struct ha_device *device, const uint32_t *tails)
{
    const struct ha_step *step = &exec->steps[number];
    for (uint32_t k = 0; k < step->count; k++) {
        uint32_t before = exec->befores[step->first + k];
        uint32_t track = exec->steps[before].track;
        if (tails[track] == before && fits(exec, track, device)) {
            return track;
        }
    }
    if (number == 0) {
        return 0;
    }
    if (exec->track_count < HA_TRACKS_USUAL) {
        return exec->track_count++;
    }
    for (uint32_t i = 0; i < exec->track_count; i++) {
        uint32_t track = (number + i) % exec->track_count;
        if (fits(exec, track, device)) {
            return track;
        }
    }
    return exec->track_count++;
}

static void
tracks_assign(struct ha_graph_exec *exec)
{
    uint32_t tails[HA_TRACK_MAX];
    exec->track_count = 1;
    for (uint32_t i = 0; i < HA_TRACK_MAX; i++) {
        tails[i] = NO_STEP;
        exec->track_priorities[i] = HA_PRIORITY_LOW;
    }
    for (uint32_t i = 0; i < exec->step_count; i++) {
        struct ha_step *step = &exec->steps[i];
        struct ha_device *device = device_of(step->node);
        int priority = priority_of(exec, step->node);
        step->track = choose_track(exec, i, device, tails);
        tails[step->track] = i;
        if (device != NULL) {
            exec->track_devices[step->track] = device;
        }
        if (priority < exec->track_priorities[step->track]) {
            exec->track_priorities[step->track] = priority;
        }
    }
}

hipError_t
ha_graph_exec_lay_out(struct ha_graph_exec *exec, struct ha_node **cycle)
{
    struct layout layout = {.exec = exec};
    struct ends none = {.steps = NULL};
    struct ends exit = {.steps = NULL};
    bool good = lay_out(&layout, exec->graph, &none, &exit);
    free(exit.steps);
    free(layout.marks);
    *cycle = layout.cycle;
    if (*cycle != NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the dependencies of the graph form a cycle");
    }
    if (!good) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for an executable graph");
    }
    if (exec->name_count > 0) {
        qsort(exec->names, exec->name_count, sizeof *exec->names, ha_named_compare);
    }
    tracks_assign(exec);
    return hipSuccess;
}
