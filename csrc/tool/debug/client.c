/* SPDX-License-Identifier: MIT */
/* A client of the program's connects: what that needs of the rest of the library. */
#include "tool/debug/sink.h"
#include "tool/debug/stream.h"
#include "tool/debug/watch.h"
#include "tool/forks.h"
#include "tool/include/hipadapt/debug_stream.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT hipadapt_debug_stream_status_t
hipadapt_debug_stream_connect_types(int device, const uint32_t *types, size_t count,
                                    int *stream_fd)
{
    if (stream_fd == NULL || (types == NULL && count > 0)) {
        return HIPADAPT_DEBUG_STREAM_INVALID;
    }
    if (ha_forks_watch() != HA_OK) {
        return HIPADAPT_DEBUG_STREAM_RESOURCE;
    }
    hipadapt_debug_stream_status_t status =
        ha_debug_stream_connect(device, types, count, stream_fd);
    if (status == HIPADAPT_DEBUG_STREAM_INVALID && ha_watch_leave(device)) {
        status = ha_debug_stream_connect(device, types, count, stream_fd);
        ha_watch_return(device);
    }
    if (status == HIPADAPT_DEBUG_STREAM_SUCCESS && !ha_debug_sink_give() && count > 0) {
        hipadapt_debug_stream_close(*stream_fd);
        status = HIPADAPT_DEBUG_STREAM_NOT_SUPPORTED;
    }
    return status;
}

EXPORT hipadapt_debug_stream_status_t
hipadapt_debug_stream_connect(int device, int *stream_fd)
{
    return hipadapt_debug_stream_connect_types(device, NULL, 0, stream_fd);
}
