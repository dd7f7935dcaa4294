/* SPDX-License-Identifier: MIT */
#include "cpu/graph/graph_ticket.h"

#include <stdlib.h>

#include "cpu/base/handle.h"
#include "cpu/graph/graph_exec_state.h"
#include "cpu/module/module.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"
#include "cpu/work/launch.h"

struct entry {
    struct ha_function *function; /* owned reference; NULL: no launch */
    struct ha_launch_request request;
    enum { NOTHING, LAUNCHES, COPIES, FILLS, HOSTS } kind;
    union {
        struct ha_copy copy;
        struct ha_fill fill;
        hipHostFn_t host;
    };
    hipStream_t stream;
    int device; /* of the stream */
    struct ha_ticket *ticket;
};

struct ha_graph_tickets {
    uint32_t count;
    struct entry entries[]; /* one a step */
};

static void
entry_set(struct entry *entry, const struct ha_node *node)
{
    if (node->disabled) {
        return;
    }
    if (node->type == hipGraphNodeTypeKernel) {
        entry->kind = LAUNCHES;
        entry->function = node->kernel.function;
        entry->request = node->kernel.request;
        entry->request.stream = entry->stream;
        ha_handle_retain(entry->function->handle);
    } else if (node->type == hipGraphNodeTypeMemcpy && node->copy.work) {
        entry->kind = COPIES;
        entry->copy = node->copy.copy;
    } else if (node->type == hipGraphNodeTypeMemset && node->fill.work) {
        entry->kind = FILLS;
        entry->fill = node->fill.fill;
    } else if (node->type == hipGraphNodeTypeHost) {
        entry->kind = HOSTS;
        entry->host = node->host.fn;
    }
}

struct ha_graph_tickets *
ha_graph_tickets_list(const struct ha_graph_exec *exec, hipStream_t stream, int device)
{
    if (!ha_activity_wants(HA_WANT_DISPATCH | HA_WANT_COPY | HA_WANT_HOST)) {
        return NULL;
    }
    struct ha_graph_tickets *tickets =
        malloc(sizeof *tickets + exec->step_count * sizeof *tickets->entries);
    if (tickets != NULL) {
        tickets->count = exec->step_count;
        for (uint32_t i = 0; i < tickets->count; i++) {
            tickets->entries[i] = (struct entry){.stream = stream, .device = device};
            entry_set(&tickets->entries[i], exec->steps[i].node);
        }
    }
    return tickets;
}

void
ha_graph_tickets_make(struct ha_graph_tickets *tickets)
{
    ha_tickets_together(true);
    for (uint32_t i = 0; i < tickets->count; i++) {
        struct entry *entry = &tickets->entries[i];
        switch (entry->kind) {
        case LAUNCHES:
            entry->ticket = ha_launch_ticket(entry->function, &entry->request);
            break;
        case COPIES:
            entry->ticket = ha_copy_ticket(&entry->copy, entry->stream);
            break;
        case FILLS:
            entry->ticket = ha_fill_ticket(&entry->fill, entry->stream, entry->device);
            break;
        case HOSTS:
            entry->ticket = ha_stream_call_ticket((uintptr_t)entry->host, entry->stream,
                                                  entry->device);
            break;
        default:
            break;
        }
    }
    ha_tickets_together(false);
}

/* The graph may have been changed since. */
static bool
entry_fits(const struct entry *entry, const struct ha_node *node)
{
    if (node->disabled) {
        return false;
    }
    switch (entry->kind) {
    case LAUNCHES:
        return node->type == hipGraphNodeTypeKernel &&
               node->kernel.function == entry->function;
    case COPIES:
        return node->type == hipGraphNodeTypeMemcpy;
    case HOSTS:
        return node->type == hipGraphNodeTypeHost;
    default:
        return node->type == hipGraphNodeTypeMemset;
    }
}

void
ha_graph_tickets_give(struct ha_graph_tickets *tickets, struct ha_graph_exec *exec)
{
    if (tickets->count != exec->step_count) {
        return;
    }
    for (uint32_t i = 0; i < tickets->count; i++) {
        struct entry *entry = &tickets->entries[i];
        if (entry->ticket != NULL && entry_fits(entry, exec->steps[i].node)) {
            exec->steps[i].op->ticket = entry->ticket;
            entry->ticket = NULL;
        }
    }
}

void
ha_graph_tickets_free(struct ha_graph_tickets *tickets)
{
    for (uint32_t i = 0; tickets != NULL && i < tickets->count; i++) {
        ha_ticket_drop(tickets->entries[i].ticket);
        if (tickets->entries[i].function != NULL) {
            ha_function_leave(tickets->entries[i].function);
        }
    }
    free(tickets);
}
