/* SPDX-License-Identifier: MIT */
/* Threads that give batches to tools. */
#ifndef ROCPROFILER_SDK_INTERNAL_THREADING_H
#define ROCPROFILER_SDK_INTERNAL_THREADING_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

typedef void (*rocprofiler_internal_thread_library_cb_t)(rocprofiler_runtime_library_t,
                                                         void *);

/* `precreate` and `postcreate` (either may be NULL) are called around the creation of
 * each internal thread of the libraries in `libs`, a union of
 * rocprofiler_runtime_library_t. */
rocprofiler_status_t rocprofiler_at_internal_thread_create(
    rocprofiler_internal_thread_library_cb_t precreate,
    rocprofiler_internal_thread_library_cb_t postcreate, int libs,
    void *data) ROCPROFILER_API;

typedef struct rocprofiler_callback_thread_t {
    uint64_t handle;
} rocprofiler_callback_thread_t;

/* Only within a tool's `initialize`. */
rocprofiler_status_t rocprofiler_create_callback_thread(
    rocprofiler_callback_thread_t *cb_thread_id) ROCPROFILER_API ROCPROFILER_NONNULL(1);

/* Batches of the buffer come on that thread; without, they come on a shared one. */
rocprofiler_status_t rocprofiler_assign_callback_thread(
    rocprofiler_buffer_id_t buffer_id,
    rocprofiler_callback_thread_t cb_thread_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
