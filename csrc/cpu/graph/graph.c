/* SPDX-License-Identifier: MIT */
#include "cpu/graph/graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/graph/graph_memory.h"
#include "cpu/graph/graph_state.h"
#include "cpu/graph/user_object.h"

#define NODES_FIRST 4u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ha_due *due_list; /* under the lock: what the next unlock runs */
static uint64_t next_id = 1;    /* under the lock: of graphs and nodes */
static uint32_t walk;           /* under the lock: number of the newest walk */

/* ---- lock ---- */

void
ha_graph_lock(void)
{
    pthread_mutex_lock(&lock);
}

void
ha_graph_unlock(void)
{
    struct ha_due *due = due_list;
    due_list = NULL;
    pthread_mutex_unlock(&lock);
    while (due != NULL) {
        struct ha_due *next = due->next;
        due->run(due);
        due = next;
    }
}

void
ha_graph_defer(struct ha_due *due)
{
    due->next = due_list;
    due_list = due;
}

void
ha_graph_after_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    due_list = NULL;
    ha_graph_memory_after_fork_child();
}

/* ---- lists ---- */

bool
ha_nodes_add(struct ha_nodes *nodes, struct ha_node *node)
{
    if (nodes->count == nodes->room) {
        uint32_t room = nodes->room == 0 ? NODES_FIRST : nodes->room * 2;
        struct ha_node **items = realloc(nodes->items, room * sizeof *items);
        if (items == NULL) {
            return false;
        }
        nodes->items = items;
        nodes->room = room;
    }
    nodes->items[nodes->count++] = node;
    return true;
}

void
ha_nodes_remove(struct ha_nodes *nodes, const struct ha_node *node)
{
    for (uint32_t i = nodes->count; i-- > 0;) {
        if (nodes->items[i] == node) {
            nodes->count--;
            memmove(&nodes->items[i], &nodes->items[i + 1],
                    (nodes->count - i) * sizeof nodes->items[i]);
            return;
        }
    }
}

bool
ha_nodes_have(const struct ha_nodes *nodes, const struct ha_node *node)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        if (nodes->items[i] == node) {
            return true;
        }
    }
    return false;
}

void
ha_nodes_clear(struct ha_nodes *nodes)
{
    free(nodes->items);
    *nodes = (struct ha_nodes){.items = NULL};
}

/* ---- graphs ---- */

struct ha_graph *
ha_graph_new(void)
{
    struct ha_graph *graph = calloc(1, sizeof *graph);
    if (graph != NULL) {
        graph->id = next_id++;
        graph->handle = ha_handle_create(HA_HANDLE_GRAPH, graph);
    }
    if (graph == NULL || graph->handle == 0) {
        free(graph);
        ha_cpu_fail(hipErrorOutOfMemory, "no memory for another graph");
        return NULL;
    }
    return graph;
}

/* Frees a node whose edges are not used again. */
static void
node_destroy(struct ha_node *node)
{
    ha_node_drop_work(node);
    ha_nodes_clear(&node->befores);
    ha_nodes_clear(&node->afters);
    if (ha_handle_retire(HA_HANDLE_NODE, node->handle) != NULL) {
        ha_handle_release(node->handle);
    }
    free(node);
}

void
ha_graph_free(struct ha_graph *graph)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        node_destroy(graph->nodes.items[i]);
    }
    ha_nodes_clear(&graph->nodes);
    for (uint32_t i = 0; i < graph->object_count; i++) {
        ha_user_object_release(graph->objects[i], 1);
    }
    free(graph->objects);
    if (ha_handle_retire(HA_HANDLE_GRAPH, graph->handle) != NULL) {
        ha_handle_release(graph->handle);
    }
    free(graph);
}

struct ha_graph *
ha_graph_find(hipGraph_t handle)
{
    struct ha_graph *graph =
        ha_handle_peek(HA_HANDLE_GRAPH, (uint64_t)(uintptr_t)handle);
    if (graph == NULL) {
        ha_cpu_fail(hipErrorInvalidValue, "argument 'graph' (%p) is not a living graph",
                    (void *)handle);
    }
    return graph;
}

struct ha_node *
ha_graph_sort(struct ha_graph *graph, struct ha_node **order)
{
    uint32_t done = 0;
    /* `mark` counts the befores that do not stand in `order` yet. */
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        struct ha_node *node = graph->nodes.items[i];
        node->mark = node->befores.count;
        if (node->mark == 0) {
            order[done++] = node;
        }
    }
    for (uint32_t next = 0; next < done; next++) {
        const struct ha_nodes *afters = &order[next]->afters;
        for (uint32_t i = 0; i < afters->count; i++) {
            if (--afters->items[i]->mark == 0) {
                order[done++] = afters->items[i];
            }
        }
    }
    for (uint32_t i = 0; done < graph->nodes.count && i < graph->nodes.count; i++) {
        if (graph->nodes.items[i]->mark != 0) {
            return graph->nodes.items[i];
        }
    }
    return NULL;
}

/* Copies nodes, then edges; nodes of both graphs have the same indices. */
static bool
clone_nodes(const struct ha_graph *graph, struct ha_graph *clone, bool executable)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct ha_node *source = graph->nodes.items[i];
        struct ha_node *node = ha_node_new(clone, source->type, NULL, 0);
        if (node == NULL || ha_node_set_like(node, source, executable) != hipSuccess) {
            return false;
        }
        node->original = source->handle;
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct ha_nodes *befores = &graph->nodes.items[i]->befores;
        for (uint32_t k = 0; k < befores->count; k++) {
            if (ha_node_connect(clone->nodes.items[befores->items[k]->index],
                                clone->nodes.items[i]) != hipSuccess) {
                return false;
            }
        }
    }
    return true;
}

struct ha_graph *
ha_graph_clone(const struct ha_graph *graph, bool executable)
{
    struct ha_graph *clone = ha_graph_new();
    if (clone == NULL) {
        return NULL;
    }
    clone->original = graph->handle;
    clone->executable = executable;
    if (graph->object_count > 0) {
        clone->objects = malloc(graph->object_count * sizeof(struct ha_user_object *));
        if (clone->objects == NULL) {
            ha_graph_free(clone);
            ha_cpu_fail(hipErrorOutOfMemory, "no memory for a copy of the graph");
            return NULL;
        }
        for (uint32_t i = 0; i < graph->object_count; i++) {
            ha_user_object_retain(graph->objects[i], 1);
            clone->objects[clone->object_count++] = graph->objects[i];
        }
    }
    if (!clone_nodes(graph, clone, executable)) {
        ha_graph_free(clone);
        return NULL;
    }
    return clone;
}

/* ---- nodes ---- */

static void
node_unlink(struct ha_node *node)
{
    struct ha_graph *graph = node->graph;
    /* From the end, where lists are searched first. */
    while (node->befores.count > 0) {
        ha_node_disconnect(node->befores.items[node->befores.count - 1], node);
    }
    while (node->afters.count > 0) {
        ha_node_disconnect(node, node->afters.items[node->afters.count - 1]);
    }
    ha_nodes_remove(&graph->nodes, node);
    for (uint32_t i = node->index; i < graph->nodes.count; i++) {
        graph->nodes.items[i]->index = i;
    }
}

void
ha_node_free(struct ha_node *node)
{
    node_unlink(node);
    node_destroy(node);
}

struct ha_node *
ha_node_new(struct ha_graph *graph, hipGraphNodeType type,
            const hipGraphNode_t *befores, size_t count)
{
    struct ha_node *node = calloc(1, sizeof *node);
    if (node != NULL) {
        node->graph = graph;
        node->type = type;
        node->id = next_id++;
        node->index = graph->nodes.count;
        node->handle = ha_handle_create(HA_HANDLE_NODE, node);
    }
    if (node == NULL || node->handle == 0 || !ha_nodes_add(&graph->nodes, node)) {
        if (node != NULL) {
            node->type = hipGraphNodeTypeEmpty;
            node_destroy(node);
        }
        ha_cpu_fail(hipErrorOutOfMemory, "no memory for another node");
        return NULL;
    }
    if (count > 0 && befores == NULL) {
        ha_node_free(node);
        ha_cpu_fail(hipErrorInvalidValue,
                    "argument 'pDependencies' is NULL, but numDependencies is %zu",
                    count);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct ha_node *before = ha_node_find(befores[i]);
        if (before == NULL || ha_node_connect(before, node) != hipSuccess) {
            ha_node_free(node);
            return NULL;
        }
    }
    return node;
}

struct ha_node *
ha_node_find(hipGraphNode_t handle)
{
    struct ha_node *node = ha_handle_peek(HA_HANDLE_NODE, (uint64_t)(uintptr_t)handle);
    if (node == NULL) {
        ha_cpu_fail(hipErrorInvalidValue, "%p is not a living node of a graph",
                    (void *)handle);
    }
    return node;
}

struct ha_node *
ha_node_find_type(hipGraphNode_t handle, hipGraphNodeType type)
{
    struct ha_node *node = ha_node_find(handle);
    if (node != NULL && node->type != type) {
        ha_cpu_fail(hipErrorInvalidValue, "the node is of type %d, not of type %d",
                    (int)node->type, (int)type);
        return NULL;
    }
    return node;
}

/* An edge is in two lists; nodes that meet in one have a long list and short ones. */
static bool
are_connected(const struct ha_node *before, const struct ha_node *after)
{
    return before->afters.count < after->befores.count
               ? ha_nodes_have(&before->afters, after)
               : ha_nodes_have(&after->befores, before);
}

hipError_t
ha_node_connect(struct ha_node *before, struct ha_node *after)
{
    if (before->graph != after->graph || before == after) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           before == after ? "a node can't depend on itself"
                                           : "the nodes belong to different graphs");
    }
    if (are_connected(before, after)) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the node has this dependency already");
    }
    if (!ha_nodes_add(&after->befores, before)) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another dependency");
    }
    if (!ha_nodes_add(&before->afters, after)) {
        ha_nodes_remove(&after->befores, before);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another dependency");
    }
    return hipSuccess;
}

void
ha_node_disconnect(struct ha_node *before, struct ha_node *after)
{
    ha_nodes_remove(&after->befores, before);
    ha_nodes_remove(&before->afters, after);
}

/* ---- walks ---- */

static bool
reaches(const struct ha_node *from, const struct ha_node *to)
{
    /* Not recursive: chains are as long as the program likes. */
    struct ha_nodes open = {.items = NULL};
    bool found = from == to;
    uint32_t number = ++walk;
    if (!found && !ha_nodes_add(&open, (struct ha_node *)(uintptr_t)from)) {
        return false;
    }
    while (!found && open.count > 0) {
        const struct ha_nodes *afters = &open.items[--open.count]->afters;
        for (uint32_t i = 0; i < afters->count && !found; i++) {
            struct ha_node *after = afters->items[i];
            if (after == to) {
                found = true;
            } else if (after->seen != number) {
                after->seen = number;
                if (!ha_nodes_add(&open, after)) {
                    break;
                }
            }
        }
    }
    ha_nodes_clear(&open);
    return found;
}

bool
ha_node_stands_before(const struct ha_node *node, const struct ha_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        if (reaches(node, nodes->items[i])) {
            return true;
        }
    }
    return false;
}
