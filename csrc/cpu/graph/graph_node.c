/* SPDX-License-Identifier: MIT */
/* What nodes do: the work of each type, checked and copied when it is given. */
#include <stdlib.h>
#include <string.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/base/thread.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_memory.h"
#include "cpu/module/module.h"
#include "cpu/module/register.h"
#include "cpu/queue/event.h"
#include "cpu/queue/stream.h"
#include "cpu/work/copy_shape.h"
#include "cpu/work/launch_missing.h"
#include "cpu/work/value.h"

#define ARGUMENT_ALIGN 64u

/* ---- kernels ---- */

/* Copies the request with its arguments; NULL in *memory if there are none. */
static hipError_t
request_copy(const struct ha_function *function, const struct ha_launch_request *from,
             struct ha_launch_request *to, void **memory)
{
    const struct ha_image_kernel *kernel = function->kernel;
    *to = *from;
    to->stream = NULL;
    to->extra = NULL;
    to->params = NULL;
    *memory = NULL;
    if (kernel->arg_count == 0) {
        return hipSuccess;
    }
    size_t align = function->packed_align > ARGUMENT_ALIGN ? function->packed_align
                                                           : ARGUMENT_ALIGN;
    size_t room = (function->packed_bytes + align - 1) / align * align;
    size_t total = room + kernel->arg_count * sizeof(void *);
    unsigned char *bytes = aligned_alloc(align, (total + align - 1) / align * align);
    if (bytes == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for the kernel's arguments");
    }
    void **params = (void **)(void *)(bytes + room);
    const unsigned char *packed = NULL;
    if (from->extra != NULL) {
        packed = ha_launch_packed(from->extra);
    }
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct ha_image_arg *arg = &kernel->args[i];
        params[i] = bytes + arg->offset;
        memcpy(params[i], packed != NULL ? packed + arg->offset : from->params[i],
               arg->size);
    }
    to->params = params;
    *memory = bytes;
    return hipSuccess;
}

static void
kernel_drop(struct ha_kernel_node *kernel)
{
    if (kernel->function != NULL) {
        ha_function_leave(kernel->function);
    }
    free(kernel->memory);
    kernel->function = NULL;
    kernel->memory = NULL;
}

hipError_t
ha_node_set_launch(struct ha_node *node, struct ha_function *function,
                   const struct ha_launch_request *request)
{
    struct ha_launch_request copy;
    void *memory;
    hipError_t code = ha_launch_check(function, request);
    if (code == hipSuccess) {
        code = request_copy(function, request, &copy, &memory);
    }
    if (code != hipSuccess) {
        return code;
    }
    ha_handle_retain(function->handle);
    kernel_drop(&node->kernel);
    node->kernel.function = function;
    node->kernel.request = copy;
    node->kernel.memory = memory;
    if (copy.cooperative) {
        node->kernel.set[HA_ATTRIBUTE_COOPERATIVE] = true;
        node->kernel.values[HA_ATTRIBUTE_COOPERATIVE].cooperative = 1;
    }
    return hipSuccess;
}

hipError_t
ha_node_set_cooperative(struct ha_node *node, bool cooperative)
{
    struct ha_launch_request request = node->kernel.request;
    request.cooperative = cooperative;
    hipError_t code = ha_launch_check(node->kernel.function, &request);
    if (code == hipSuccess) {
        node->kernel.request.cooperative = cooperative;
    }
    return code;
}

hipError_t
ha_node_set_kernel(struct ha_node *node, const hipKernelNodeParams *params)
{
    if (params->func == NULL) {
        return ha_cpu_fail_null("func");
    }
    struct ha_function *function;
    struct ha_device *device = ha_device_get(ha_thread_self()->device);
    hipError_t code = ha_function_resolve(params->func, device,
                                          hipErrorInvalidDeviceFunction, &function);
    if (code != hipSuccess) {
        return ha_launch_missing_node(device, params->func, code);
    }
    const struct ha_launch_request request = {
        .grid = {params->gridDim.x, params->gridDim.y, params->gridDim.z},
        .block = {params->blockDim.x, params->blockDim.y, params->blockDim.z},
        .shared_bytes = params->sharedMemBytes,
        .cooperative = node->kernel.request.cooperative,
        .address = params->func,
        .params = params->kernelParams,
        .extra = params->extra,
    };
    const struct ha_function *before = node->kernel.function;
    if (node->graph->executable && before != NULL &&
        before->device != function->device) {
        code = ha_cpu_fail(hipErrorInvalidValue,
                           "the node is of device %d, the function of device %d",
                           before->device->id, function->device->id);
    } else {
        code = ha_node_set_launch(node, function, &request);
    }
    ha_function_leave(function);
    return code;
}

void
ha_node_get_kernel(const struct ha_node *node, hipKernelNodeParams *params)
{
    const struct ha_launch_request *request = &node->kernel.request;
    const void *handle = (const void *)(uintptr_t)node->kernel.function->handle;
    *params = (hipKernelNodeParams){
        .func =
            (void *)(uintptr_t)(request->address != NULL ? request->address : handle),
        .gridDim = {request->grid[0], request->grid[1], request->grid[2]},
        .blockDim = {request->block[0], request->block[1], request->block[2]},
        .sharedMemBytes = (unsigned)request->shared_bytes,
        .kernelParams = request->params,
    };
}

/* ---- the others ---- */

hipError_t
ha_node_set_host(struct ha_node *node, const hipHostNodeParams *params)
{
    if (params->fn == NULL) {
        return ha_cpu_fail_null("fn");
    }
    node->host = *params;
    return hipSuccess;
}

static hipError_t
child_set(struct ha_node *node, const struct ha_graph *child, bool executable)
{
    for (const struct ha_node *up = child->parent; up != NULL; up = up->graph->parent) {
        if (up->graph == node->graph) {
            return ha_cpu_fail(hipErrorInvalidValue, "a graph can't contain itself");
        }
    }
    struct ha_graph *copy = ha_graph_clone(child, executable);
    if (copy == NULL) {
        return hipErrorOutOfMemory;
    }
    if (node->child != NULL) {
        ha_graph_free(node->child);
    }
    copy->parent = node;
    node->child = copy;
    return hipSuccess;
}

hipError_t
ha_node_set_child(struct ha_node *node, const struct ha_graph *child)
{
    if (child == node->graph) {
        return ha_cpu_fail(hipErrorInvalidValue, "a graph can't contain itself");
    }
    return child_set(node, child, false);
}

static void
event_set(struct ha_node *node, struct ha_event *event)
{
    if (node->event != NULL) {
        ha_event_leave(node->event);
    }
    node->event = event;
}

hipError_t
ha_node_set_event(struct ha_node *node, hipEvent_t handle)
{
    struct ha_event *event = ha_event_acquire(handle);
    if (event == NULL) {
        return hipErrorInvalidHandle;
    }
    event_set(node, event);
    return hipSuccess;
}

static hipError_t
alloc_set(struct ha_node *node, const hipMemAllocNodeParams *params,
          struct ha_graph_memory *memory)
{
    struct ha_alloc_node alloc = {.params = *params, .memory = memory};
    if (params->accessDescCount > 0) {
        size_t bytes = params->accessDescCount * sizeof *alloc.access;
        alloc.access = malloc(bytes);
        if (alloc.access == NULL) {
            return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another node");
        }
        memcpy(alloc.access, params->accessDescs, bytes);
        alloc.params.accessDescs = alloc.access;
    }
    alloc.params.dptr = ha_graph_memory_address(memory);
    ha_node_drop_work(node);
    node->alloc = alloc;
    return hipSuccess;
}

hipError_t
ha_node_set_alloc(struct ha_node *node, hipMemAllocNodeParams *params)
{
    const hipMemLocation *location = &params->poolProps.location;
    struct ha_device *device =
        location->type == hipMemLocationTypeDevice ? ha_device_get(location->id) : NULL;
    if (params->poolProps.allocType != hipMemAllocationTypePinned || device == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "poolProps must be of type hipMemAllocationTypePinned and "
                           "name a device");
    }
    if (params->bytesize == 0 || params->bytesize > PTRDIFF_MAX) {
        return ha_cpu_fail(hipErrorInvalidValue, "bytesize is %zu", params->bytesize);
    }
    if (params->accessDescCount > HA_DEVICE_MAX ||
        (params->accessDescCount > 0 && params->accessDescs == NULL)) {
        return ha_cpu_fail(hipErrorInvalidValue, "accessDescs and accessDescCount are "
                                                 "no list of devices");
    }
    struct ha_graph_memory *memory = ha_graph_memory_new(device, params->bytesize);
    if (memory == NULL) {
        return hipErrorOutOfMemory;
    }
    hipError_t code = alloc_set(node, params, memory);
    if (code != hipSuccess) {
        ha_graph_memory_release(memory);
        return code;
    }
    params->dptr = node->alloc.params.dptr;
    return hipSuccess;
}

hipError_t
ha_node_set_free(struct ha_node *node, void *ptr)
{
    if (ha_graph_memory_find(ptr) == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%p is not memory of an allocation node", ptr);
    }
    node->freed = ptr;
    return hipSuccess;
}

static void
batch_drop(struct ha_batch_node *batch)
{
    free(batch->values);
    free(batch->params.paramArray);
    *batch = (struct ha_batch_node){.values = NULL};
}

/* Takes copies of both forms. */
static hipError_t
batch_take(struct ha_node *node, const hipBatchMemOpNodeParams *params,
           const struct ha_value *values)
{
    struct ha_batch_node batch = {.params = *params};
    batch.params.paramArray = malloc(params->count * sizeof *params->paramArray);
    batch.values = malloc(params->count * sizeof *values);
    if (batch.params.paramArray == NULL || batch.values == NULL) {
        batch_drop(&batch);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for %u operations",
                           params->count);
    }
    memcpy(batch.params.paramArray, params->paramArray,
           params->count * sizeof *params->paramArray);
    memcpy(batch.values, values, params->count * sizeof *values);
    batch_drop(&node->batch);
    node->batch = batch;
    return hipSuccess;
}

hipError_t
ha_node_set_batch(struct ha_node *node, const hipBatchMemOpNodeParams *params)
{
    struct ha_value values[HA_VALUE_MAX];
    if (params->paramArray == NULL || params->count == 0 ||
        params->count > HA_VALUE_MAX || params->flags != 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "there must be 1 to %u operations, and flags must be 0",
                           HA_VALUE_MAX);
    }
    hipError_t code = ha_values_read(params->paramArray, params->count, values);
    return code != hipSuccess ? code : batch_take(node, params, values);
}

hipError_t
ha_node_set_values(struct ha_node *node, const struct ha_value *values, unsigned count)
{
    hipStreamBatchMemOpParams items[HA_VALUE_MAX];
    for (unsigned i = 0; i < count; i++) {
        ha_value_write(&values[i], &items[i]);
    }
    const hipBatchMemOpNodeParams params = {.count = count, .paramArray = items};
    return batch_take(node, &params, values);
}

/* ---- any type ---- */

hipError_t
ha_node_set_like(struct ha_node *node, const struct ha_node *source, bool executable)
{
    hipError_t code;
    switch (source->type) {
    case hipGraphNodeTypeKernel:
        code =
            ha_node_set_launch(node, source->kernel.function, &source->kernel.request);
        if (code == hipSuccess) {
            memcpy(node->kernel.set, source->kernel.set, sizeof node->kernel.set);
            memcpy(node->kernel.values, source->kernel.values,
                   sizeof node->kernel.values);
        }
        return code;
    case hipGraphNodeTypeMemcpy:
        node->copy = source->copy;
        return hipSuccess;
    case hipGraphNodeTypeMemset:
        node->fill = source->fill;
        return hipSuccess;
    case hipGraphNodeTypeHost:
        node->host = source->host;
        return hipSuccess;
    case hipGraphNodeTypeGraph:
        return child_set(node, source->child, executable);
    case hipGraphNodeTypeEmpty:
        return hipSuccess;
    case hipGraphNodeTypeEventRecord:
    case hipGraphNodeTypeWaitEvent:
        ha_event_retain(source->event);
        event_set(node, source->event);
        return hipSuccess;
    case hipGraphNodeTypeMemAlloc:
        if (!executable) {
            break;
        }
        ha_graph_memory_retain(source->alloc.memory);
        code = alloc_set(node, &source->alloc.params, source->alloc.memory);
        if (code != hipSuccess) {
            ha_graph_memory_release(source->alloc.memory);
        }
        return code;
    case hipGraphNodeTypeMemFree:
        if (!executable) {
            break;
        }
        node->freed = source->freed;
        return hipSuccess;
    case hipGraphNodeTypeBatchMemOp:
        return batch_take(node, &source->batch.params, source->batch.values);
    default:
        break;
    }
    return ha_cpu_fail(hipErrorNotSupported, "nodes of type %d can't be copied",
                       (int)source->type);
}

void
ha_node_drop_work(struct ha_node *node)
{
    switch (node->type) {
    case hipGraphNodeTypeKernel:
        kernel_drop(&node->kernel);
        break;
    case hipGraphNodeTypeGraph:
        if (node->child != NULL) {
            ha_graph_free(node->child);
        }
        node->child = NULL;
        break;
    case hipGraphNodeTypeEventRecord:
    case hipGraphNodeTypeWaitEvent:
        event_set(node, NULL);
        break;
    case hipGraphNodeTypeMemAlloc:
        free(node->alloc.access);
        if (node->alloc.memory != NULL) {
            ha_graph_memory_release(node->alloc.memory);
        }
        node->alloc = (struct ha_alloc_node){.access = NULL};
        break;
    case hipGraphNodeTypeBatchMemOp:
        batch_drop(&node->batch);
        break;
    default:
        break;
    }
}

static const struct ha_op_class join_class = {.name = "join", .flags = HA_OP_ALWAYS};

struct ha_op *
ha_node_op(const struct ha_node *node, bool *none)
{
    struct ha_op *op;
    *none = false;
    switch (node->type) {
    case hipGraphNodeTypeKernel:
        return ha_launch_op(node->kernel.function, &node->kernel.request);
    case hipGraphNodeTypeMemcpy:
        *none = !node->copy.work;
        return *none ? NULL : ha_copy_op(&node->copy.copy, NULL);
    case hipGraphNodeTypeMemset:
        *none = !node->fill.work;
        return *none ? NULL : ha_fill_op(&node->fill.fill);
    case hipGraphNodeTypeHost:
        return ha_stream_call_op(node->host.fn, NULL, node->host.userData, NULL);
    case hipGraphNodeTypeEventRecord:
        return ha_event_op(node->event);
    case hipGraphNodeTypeBatchMemOp:
        return ha_value_op(node->batch.values, node->batch.params.count);
    case hipGraphNodeTypeWaitEvent:
        op = ha_op_new(&join_class);
        if (op != NULL && !ha_event_depend(node->event, op)) {
            ha_op_discard(op);
            op = NULL;
        }
        return op;
    default:
        *none = true;
        return NULL;
    }
}
