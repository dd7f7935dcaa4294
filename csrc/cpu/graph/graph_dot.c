/* SPDX-License-Identifier: MIT */
/* hipGraphDebugDotPrint: a graph as a file for graphviz. */
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "cpu/base/error.h"
#include "cpu/compile/buffer.h"
#include "cpu/graph/graph.h"
#include "cpu/module/module.h"
#include "cpu/queue/event.h"

static const char *const type_names[hipGraphNodeTypeCount] = {
    [hipGraphNodeTypeKernel] = "KERNEL",
    [hipGraphNodeTypeMemcpy] = "MEMCPY",
    [hipGraphNodeTypeMemset] = "MEMSET",
    [hipGraphNodeTypeHost] = "HOST",
    [hipGraphNodeTypeGraph] = "GRAPH",
    [hipGraphNodeTypeEmpty] = "EMPTY",
    [hipGraphNodeTypeWaitEvent] = "WAIT EVENT",
    [hipGraphNodeTypeEventRecord] = "EVENT RECORD",
    [hipGraphNodeTypeMemAlloc] = "MEM ALLOC",
    [hipGraphNodeTypeMemFree] = "MEM FREE",
    [hipGraphNodeTypeBatchMemOp] = "BATCH MEM OP",
};

static bool
asked(unsigned flags, hipGraphDebugDotFlags flag)
{
    return (flags & ((unsigned)hipGraphDebugDotFlagsVerbose | (unsigned)flag)) != 0;
}

/* Lines of a label are ended by \n, which dot reads as a new line. */
static void
print_work(struct ha_bytes *out, const struct ha_node *node, unsigned flags)
{
    const struct ha_launch_request *launch = &node->kernel.request;
    const hipMemcpy3DParms *copy = &node->copy.params;
    const hipMemsetParams *fill = &node->fill.params;
    switch (node->type) {
    case hipGraphNodeTypeKernel:
        ha_buffer_format(out, "\\n%s", node->kernel.function->kernel->name);
        if (asked(flags, hipGraphDebugDotFlagsKernelNodeParams)) {
            ha_buffer_format(out, "\\ngrid %u,%u,%u block %u,%u,%u shared %zu",
                             launch->grid[0], launch->grid[1], launch->grid[2],
                             launch->block[0], launch->block[1], launch->block[2],
                             launch->shared_bytes);
        }
        break;
    case hipGraphNodeTypeMemcpy:
        if (asked(flags, hipGraphDebugDotFlagsMemcpyNodeParams)) {
            ha_buffer_format(out, "\\n%p <- %p\\n%zu x %zu x %zu bytes",
                             copy->dstPtr.ptr, copy->srcPtr.ptr, copy->extent.width,
                             copy->extent.height, copy->extent.depth);
        }
        break;
    case hipGraphNodeTypeMemset:
        if (asked(flags, hipGraphDebugDotFlagsMemsetNodeParams)) {
            ha_buffer_format(out, "\\n%p = %u\\n%zu x %zu elements of %u bytes",
                             fill->dst, fill->value, fill->width, fill->height,
                             fill->elementSize);
        }
        break;
    case hipGraphNodeTypeHost:
        if (asked(flags, hipGraphDebugDotFlagsHostNodeParams)) {
            ha_buffer_format(out, "\\nfunction %p data %p",
                             (void *)(uintptr_t)node->host.fn, node->host.userData);
        }
        break;
    case hipGraphNodeTypeEventRecord:
    case hipGraphNodeTypeWaitEvent:
        if (asked(flags, hipGraphDebugDotFlagsEventNodeParams)) {
            ha_buffer_format(out, "\\nevent %p", (void *)ha_event_handle(node->event));
        }
        break;
    case hipGraphNodeTypeMemAlloc:
        ha_buffer_format(out, "\\n%zu bytes at %p", node->alloc.params.bytesize,
                         node->alloc.params.dptr);
        break;
    case hipGraphNodeTypeMemFree:
        ha_buffer_format(out, "\\n%p", node->freed);
        break;
    case hipGraphNodeTypeBatchMemOp:
        ha_buffer_format(out, "\\n%u operations", node->batch.params.count);
        break;
    default:
        break;
    }
}

static void
print_graph(struct ha_bytes *out, const struct ha_graph *graph, unsigned flags)
{
    ha_buffer_format(out, "subgraph \"cluster_%llu\" {\nlabel=\"graph_%llu\"\n",
                     (unsigned long long)graph->id, (unsigned long long)graph->id);
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct ha_node *node = graph->nodes.items[i];
        const char *name = type_names[node->type];
        ha_buffer_format(out, "\"node_%llu\" [shape=box label=\"%llu %s",
                         (unsigned long long)node->id, (unsigned long long)node->id,
                         name != NULL ? name : "OTHER");
        print_work(out, node, flags);
        if ((flags & (unsigned)hipGraphDebugDotFlagsHandles) != 0) {
            ha_buffer_format(out, "\\nhandle %p", (void *)(uintptr_t)node->handle);
        }
        ha_buffer_text(out, "\"]\n");
        if (node->type == hipGraphNodeTypeGraph) {
            print_graph(out, node->child, flags);
        }
    }
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct ha_node *node = graph->nodes.items[i];
        for (uint32_t k = 0; k < node->afters.count; k++) {
            ha_buffer_format(out, "\"node_%llu\" -> \"node_%llu\"\n",
                             (unsigned long long)node->id,
                             (unsigned long long)node->afters.items[k]->id);
        }
    }
    ha_buffer_text(out, "}\n");
}

hipError_t
ha_graph_print(const struct ha_graph *graph, const char *path, unsigned flags)
{
    struct ha_bytes out = {.bytes = NULL};
    ha_buffer_text(&out, "digraph hip {\n");
    print_graph(&out, graph, flags);
    ha_buffer_text(&out, "}\n");
    hipError_t code = hipSuccess;
    if (out.failed) {
        code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for the text of the graph");
    } else if (ha_file_write(path, out.bytes, out.size) != HA_OK) {
        code = ha_cpu_fail(hipErrorOperatingSystem, "%s", ha_error_text());
    }
    ha_buffer_release(&out);
    return code;
}
