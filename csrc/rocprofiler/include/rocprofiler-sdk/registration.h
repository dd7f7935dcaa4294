/* SPDX-License-Identifier: MIT */
/* How a library becomes a tool.
 *
 * A tool exports rocprofiler_configure.  It is found when it is loaded or linked before
 * the first call of the runtime, when ROCP_TOOL_LIBRARIES names it (entries are
 * separated by comma, colon or space), or when it hands its function to
 * rocprofiler_force_configure.
 *
 * Order: rocprofiler_configure of every tool; then `initialize` of every tool that
 * returned a result, where contexts and services are made; at the end, or when the tool
 * calls the function it was given, `finalize`. */
#ifndef ROCPROFILER_SDK_REGISTRATION_H
#define ROCPROFILER_SDK_REGISTRATION_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* `name` is set by the tool; the struct lives as long as the process. */
typedef struct rocprofiler_client_id_t {
    size_t size;
    const char *name;
    const uint32_t handle;
} rocprofiler_client_id_t;

/* Finalizes the tool now. */
typedef void (*rocprofiler_client_finalize_t)(rocprofiler_client_id_t);

/* Not 0: the tool failed; its contexts are dropped and it isn't called again. */
typedef int (*rocprofiler_tool_initialize_t)(
    rocprofiler_client_finalize_t finalize_func, void *tool_data);

typedef void (*rocprofiler_tool_finalize_t)(void *tool_data);

typedef struct rocprofiler_tool_configure_result_t {
    size_t size; /* of this struct */
    rocprofiler_tool_initialize_t initialize;
    rocprofiler_tool_finalize_t finalize;
    void *tool_data; /* given to both */
} rocprofiler_tool_configure_result_t;

/* `status`: 1 once tools are initialized, -1 while they are, 0 before. */
rocprofiler_status_t rocprofiler_is_initialized(int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/* The same for the end. */
rocprofiler_status_t rocprofiler_is_finalized(int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/* Written by the tool.  `version` is 10000 * major + 100 * minor + patch, `priority`
 * the number of tools that were asked before.  NULL declines. */
rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

typedef rocprofiler_tool_configure_result_t *(*rocprofiler_configure_func_t)(
    uint32_t version, const char *runtime_version, uint32_t priority,
    rocprofiler_client_id_t *client_id);

/* Configures and initializes a tool now; the runtime may have been used before.  NULL
 * means all tools that are found now, and none of those that are known already.
 * ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED: while tools are being initialized, or
 * the tool takes part already;
 * ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES: 128 tools take part;
 * ROCPROFILER_STATUS_ERROR_FINALIZED: after the end. */
rocprofiler_status_t rocprofiler_force_configure(
    rocprofiler_configure_func_t configure_func) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
