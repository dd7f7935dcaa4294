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

static const struct ha_debug_sink sink = {
    .size = sizeof sink,
    .tensor_begin = tensor_begin,
    .tensor_end = tensor_end,
};

static int
give(void *library, const char *path, void *data)
{
    void *symbol = dlsym(library, "hipadaptDebugSink");
    ha_debug_sink_set set;

    (void)path;
    (void)data;
    memcpy(&set, &symbol, sizeof set);
    if (symbol != NULL) {
        (void)set(&sink);
    }
    return 1;
}

void
ha_debug_sink_give(void)
{
    ha_loaded_each(give, NULL);
}
