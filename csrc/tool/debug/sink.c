/* SPDX-License-Identifier: MIT */
#include "tool/debug/sink.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "abi/debug_sink.h"
#include "core/loaded.h"
#include "tool/debug/stream.h"
#include "tool/include/hipadapt/debug_stream.h"

typedef hipadapt_debug_stream_payload_debug_tensor_read_t payload_t;
typedef hipadapt_debug_stream_payload_kernel_t kernel_t;

_Static_assert(sizeof(kernel_t) == 512, "a fixed head");

enum { TENSOR = HIPADAPT_DEBUG_STREAM_EVENT_TYPE_DEBUG_TENSOR_READ };

static void *
tensor_begin(const struct ha_debug_tensor *tensor, void **data)
{
    uint64_t bytes = sizeof(payload_t) + tensor->bytes;

    if (tensor->bytes > UINT64_MAX - sizeof(payload_t) ||
        !ha_debug_stream_admits(tensor->device, TENSOR, bytes)) {
        return NULL;
    }
    payload_t *payload = malloc(bytes);
    if (payload == NULL) {
        ha_debug_stream_send(tensor->device, TENSOR, NULL, bytes);
        return NULL;
    }
    memset(payload, 0, sizeof *payload);
    (void)strncpy(payload->prefix, tensor->prefix, sizeof payload->prefix - 1);
    (void)strncpy(payload->tensor_dtype, tensor->dtype,
                  sizeof payload->tensor_dtype - 1);
    payload->device = (uint32_t)tensor->device;
    payload->pipe = tensor->pipe;
    memcpy(payload->tensor_shape, tensor->shape, sizeof payload->tensor_shape);
    payload->tensor_data_size = tensor->bytes;
    *data = payload->tensor_data;
    return payload;
}

static void
tensor_end(void *ticket, int sent)
{
    payload_t *payload = ticket;

    if (sent) {
        ha_debug_stream_send((int)payload->device, TENSOR, payload,
                             sizeof *payload + payload->tensor_data_size);
    } else {
        free(payload);
    }
}

static void
set_kernel(kernel_t *payload, const struct ha_debug_event *event)
{
    memset(payload, 0, sizeof *payload);
    (void)strncpy(payload->kernel, event->kernel, sizeof payload->kernel - 1);
    payload->device = (uint32_t)event->device;
    payload->pipe = event->kind == HA_DEBUG_PRINT ? 1 : 0;
    payload->launch = event->launch;
    payload->begin_ns = event->begin_ns;
    payload->end_ns = event->end_ns;
    memcpy(payload->grid, event->grid, sizeof payload->grid);
    memcpy(payload->block, event->block, sizeof payload->block);
    if (event->kind == HA_DEBUG_PRINT) {
        memcpy(payload->at_block, event->at[0], sizeof payload->at_block);
        memcpy(payload->at_thread, event->at[1], sizeof payload->at_thread);
    }
    payload->status = event->status;
    payload->text_size = event->text_bytes;
    if (event->text_bytes > 0) {
        memcpy(payload->text, event->text, event->text_bytes);
    }
    payload->text[event->text_bytes] = 0;
}

static void
on_event(const struct ha_debug_event *event)
{
    uint64_t bytes = sizeof(kernel_t) + event->text_bytes + 1;

    if (ha_debug_stream_admits(event->device, event->kind, bytes)) {
        kernel_t *payload = malloc(bytes);
        if (payload != NULL) {
            set_kernel(payload, event);
        }
        ha_debug_stream_send(event->device, event->kind, payload, bytes);
    }
}

static const struct ha_debug_sink sink = {
    .size = sizeof sink,
    .tensor_begin = tensor_begin,
    .tensor_end = tensor_end,
    .wants = ha_debug_stream_wants,
    .event = on_event,
};

static int
give(void *library, const char *path, void *data)
{
    void *symbol = dlsym(library, "hipadaptDebugSink");
    bool *taken = data;
    ha_debug_sink_set set;

    (void)path;
    memcpy(&set, &symbol, sizeof set);
    if (symbol != NULL && set(&sink) == 0) {
        *taken = true;
    }
    return 1;
}

bool
ha_debug_sink_give(void)
{
    bool taken = false;

    ha_loaded_each(give, &taken);
    return taken;
}
