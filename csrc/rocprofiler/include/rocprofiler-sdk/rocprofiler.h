/* SPDX-License-Identifier: MIT */
/* Everything that a tool needs: the C interface of rocprofiler-sdk 1.2, as far as
 * hipadapt provides it.  A tool that was compiled with these headers runs with AMD's
 * library, and one that was compiled with AMD's runs with ours. */
#ifndef ROCPROFILER_SDK_ROCPROFILER_H
#define ROCPROFILER_SDK_ROCPROFILER_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hip.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/ompt.h>
#include <rocprofiler-sdk/pc_sampling.h>
#include <rocprofiler-sdk/version.h>

#if ROCPROFILER_SDK_BETA_COMPAT > 0
#include <rocprofiler-sdk/deprecated/counters.h>
#include <rocprofiler-sdk/deprecated/profile_config.h>
#endif

/* AMD's headers bring these, and tools count on it. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <tuple>
#endif

ROCPROFILER_EXTERN_C_INIT

/* Of the library that is loaded; each output may be NULL. */
rocprofiler_status_t rocprofiler_get_version(uint32_t *major, uint32_t *minor,
                                             uint32_t *patch) ROCPROFILER_API;
rocprofiler_status_t
rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/* The clock of all records. */
rocprofiler_status_t
rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

rocprofiler_status_t
rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/* NULL for a number that is no status. */
const char *rocprofiler_get_status_name(rocprofiler_status_t status) ROCPROFILER_API;
const char *rocprofiler_get_status_string(rocprofiler_status_t status) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
