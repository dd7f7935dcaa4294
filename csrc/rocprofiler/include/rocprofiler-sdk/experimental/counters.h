/* SPDX-License-Identifier: MIT */
/* Counters that a tool defines: not here, where counters are those of the kernel. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_COUNTERS_H
#define ROCPROFILER_SDK_EXPERIMENTAL_COUNTERS_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* ..._NOT_IMPLEMENTED. */
rocprofiler_status_t
rocprofiler_load_counter_definition(const char *yaml, size_t size,
                                    rocprofiler_counter_flag_t flags) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
