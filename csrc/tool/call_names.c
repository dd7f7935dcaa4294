/* SPDX-License-Identifier: MIT */
#include "tool/call_names.h"

#include <stdatomic.h>
#include <stddef.h>

#include "tool/sdk.h"

enum { KNOWN = 1024 };

/* As the library says it, which is asked once for each. */
static const char *_Atomic names[KNOWN];

const char *
ha_call_name(int32_t operation)
{
    const char *name = NULL;
    uint64_t bytes = 0;

    if (operation < 0 || operation >= KNOWN) {
        return "unknown call";
    }
    const char *known = atomic_load_explicit(&names[operation], memory_order_relaxed);
    if (known != NULL) {
        return known;
    }
    if (ha_sdk.query_callback_tracing_kind_operation_name == NULL ||
        ha_sdk.query_callback_tracing_kind_operation_name(
            ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operation, &name, &bytes) !=
            ROCPROFILER_STATUS_SUCCESS ||
        name == NULL) {
        return "unknown call";
    }
    atomic_store_explicit(&names[operation], name, memory_order_relaxed);
    return name;
}
