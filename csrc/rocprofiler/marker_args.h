/* SPDX-License-Identifier: MIT */
/* Arguments of marks and ranges. */
#ifndef HA_ROCPROFILER_MARKER_ARGS_H
#define HA_ROCPROFILER_MARKER_ARGS_H

#include "rocprofiler/sdk.h"

/* rocprofiler_iterate_callback_tracing_kind_operation_args of MARKER_* kinds. */
rocprofiler_status_t
ha_marker_arguments(const rocprofiler_callback_tracing_record_t *record,
                    rocprofiler_callback_tracing_operation_args_cb_t callback,
                    int follow_max, void *data);

#endif
