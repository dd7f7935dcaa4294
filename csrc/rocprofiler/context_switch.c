/* SPDX-License-Identifier: MIT */
#include "rocprofiler/context_switch.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "rocprofiler/activity.h"
#include "rocprofiler/buffer.h"
#include "rocprofiler/client.h"
#include "rocprofiler/context.h"
#include "rocprofiler/counting.h"
#include "rocprofiler/lock.h"
#include "rocprofiler/sdk.h"

static void
end_contexts(const struct ha_client *client, bool for_good)
{
    unsigned count = atomic_load(&ha_context_count);
    uint64_t counting = 0;

    ha_lock(HA_LOCK_CONTEXTS);
    for (unsigned i = 0; i < count; i++) {
        struct ha_context *context = ha_contexts[i];
        if (client != NULL && context->client != client) {
            continue;
        }
        if (for_good) {
            atomic_store(&context->dropped, true);
        }
        if (atomic_exchange(&context->active, false) && context->counting != NULL) {
            counting |= UINT64_C(1) << i;
        }
    }
    ha_contexts_recount_locked();
    ha_unlock(HA_LOCK_CONTEXTS);
    for (; counting != 0; counting &= counting - 1) {
        unsigned number = (unsigned)__builtin_ctzll(counting);
        ha_counting_switch(ha_context_id(number), ha_contexts[number], false);
    }
    ha_activity_switched();
}

void
ha_contexts_stop(const struct ha_client *client)
{
    end_contexts(client, false);
}

void
ha_contexts_drop(const struct ha_client *client)
{
    end_contexts(client, true);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_create_context(rocprofiler_context_id_t *context_id)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

    if (!ha_client_in_window()) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    if (context_id == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (context_id->handle != 0) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO;
    }
    struct ha_context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    context->client = ha_client_current();
    ha_lock(HA_LOCK_CONTEXTS);
    unsigned number = atomic_load(&ha_context_count);
    if (number < HA_CONTEXTS_MAX) {
        ha_contexts[number] = context;
        atomic_store(&ha_context_count, number + 1);
        *context_id = ha_context_id(number);
    } else {
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
        free(context);
    }
    ha_unlock(HA_LOCK_CONTEXTS);
    return status;
}

static rocprofiler_status_t
set_active(rocprofiler_context_id_t id, bool active)
{
    struct ha_context *context = ha_context_find(id);

    if (context == NULL) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    }
    if (active && (atomic_load(&context->dropped) || ha_client_finalized())) {
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    if (active && !ha_buffers_there(id)) {
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    }
    ha_lock(HA_LOCK_CONTEXTS);
    bool before = atomic_exchange(&context->active, active);
    if (before != active) {
        ha_contexts_recount_locked();
    }
    ha_unlock(HA_LOCK_CONTEXTS);
    if (context->counting != NULL && before != active) {
        ha_counting_switch(id, context, active);
    }
    if (before != active) {
        ha_activity_switched();
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_start_context(rocprofiler_context_id_t context_id)
{
    return set_active(context_id, true);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_stop_context(rocprofiler_context_id_t context_id)
{
    return set_active(context_id, false);
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_context_is_active(rocprofiler_context_id_t context_id, int *status)
{
    const struct ha_context *context = ha_context_find(context_id);

    if (status == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (context == NULL) {
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    }
    *status = atomic_load(&context->active) ? 1 : 0;
    return ROCPROFILER_STATUS_SUCCESS;
}

HA_SDK_EXPORT rocprofiler_status_t
rocprofiler_context_is_valid(rocprofiler_context_id_t context_id, int *status)
{
    const struct ha_context *context = ha_context_find(context_id);

    if (status == NULL) {
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    }
    *status = context != NULL && (!atomic_load(&context->dropped) ||
                                  ha_client_finalizing(context->client))
                  ? 1
                  : 0;
    return ROCPROFILER_STATUS_SUCCESS;
}
