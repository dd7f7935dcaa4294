/* SPDX-License-Identifier: MIT */
/* HIP_STREAM_SET: around each call of HIP that names a stream, outside of what is
 * reported of the call itself. */
#ifndef HA_ROCPROFILER_STREAM_SET_H
#define HA_ROCPROFILER_STREAM_SET_H

#include "rocprofiler/api_call.h"
#include "rocprofiler/sdk.h"

/* Tells contexts that asked for it which stream the call names. */
void ha_stream_set(struct ha_api_call *call, rocprofiler_callback_phase_t phase);

#endif
