/* SPDX-License-Identifier: MIT */
/* Buffers: records are collected and given to the tool in batches, on a thread of its
 * own. */
#ifndef ROCPROFILER_SDK_BUFFER_H
#define ROCPROFILER_SDK_BUFFER_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* A batch, in the order of collection.  `drop_count`: records that found no room since
 * the batch before (ROCPROFILER_BUFFER_POLICY_DISCARD). */
typedef void (*rocprofiler_buffer_tracing_cb_t)(rocprofiler_context_id_t context,
                                                rocprofiler_buffer_id_t buffer_id,
                                                rocprofiler_record_header_t **headers,
                                                size_t num_headers, void *data,
                                                uint64_t drop_count);

/* `size` bytes of records; a batch is given when `watermark` bytes of them are there.
 * Only within a tool's `initialize`. */
rocprofiler_status_t
rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
                          size_t watermark, rocprofiler_buffer_policy_t policy,
                          rocprofiler_buffer_tracing_cb_t callback, void *callback_data,
                          rocprofiler_buffer_id_t *buffer_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(5, 7);

/* ..._BUFFER_BUSY while a batch is being given, or its context is active.  A context
 * one of whose services had the buffer can't be started any more: ..._BUFFER_NOT_FOUND.
 */
rocprofiler_status_t
rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

/* Gives all records that are there, and waits until the tool has them; from within a
 * batch of the same buffer, ..._BUFFER_BUSY. */
rocprofiler_status_t
rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
