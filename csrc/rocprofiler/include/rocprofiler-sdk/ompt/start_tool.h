/* SPDX-License-Identifier: MIT */
/* OpenMP's own interface for tools, handed on: not here, so its runtimes are told that
 * there is no tool. */
#ifndef ROCPROFILER_SDK_OMPT_START_TOOL_H
#define ROCPROFILER_SDK_OMPT_START_TOOL_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

struct ompt_start_tool_result_t;

/* 0, always. */
rocprofiler_status_t rocprofiler_ompt_is_initialized(int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_ompt_is_finalized(int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/* NULL: there is no tool. */
struct ompt_start_tool_result_t *
rocprofiler_ompt_start_tool(unsigned int omp_version,
                            const char *runtime_version) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
