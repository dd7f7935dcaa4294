/* SPDX-License-Identifier: MIT */
/* External identifiers: what tools have pushed for a thread and a context, and what
 * they answer to requests. */
#ifndef HA_ROCPROFILER_EXTERNAL_H
#define HA_ROCPROFILER_EXTERNAL_H

#include "rocprofiler/sdk.h"

/* The external identifier for `context` of something that begins on this thread now. */
rocprofiler_user_data_t
ha_external_id(unsigned context,
               rocprofiler_external_correlation_id_request_kind_t kind, int operation,
               uint64_t internal);

#endif
