/* SPDX-License-Identifier: MIT */
#include "rocprofiler/host_function.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/log.h"
#include "rocprofiler/correlation.h"
#include "rocprofiler/in_tool.h"
#include "rocprofiler/stamp.h"

typedef void observer(const struct ha_host_function *function);

struct call {
    struct ha_correlation *correlation;
    struct ha_host_function told;
};

static observer *_Atomic current;

bool
ha_host_functions_wanted(void)
{
    return atomic_load(&current) != NULL;
}

void *
ha_host_function_begin(const struct ha_activity_host *host)
{
    const struct ha_scope *scope = ha_scope_current();

    if (!ha_host_functions_wanted() || ha_in_tool() > 0) {
        return NULL;
    }
    struct call *call = malloc(sizeof *call);
    if (call == NULL || (call->correlation = ha_correlation_hold()) == NULL) {
        ha_log(1, "no memory to trace a host function: it is left out");
        free(call);
        return NULL;
    }
    call->told = (struct ha_host_function){
        .correlation = call->correlation->internal,
        .ancestor = scope != NULL ? scope->ancestor : 0,
        .thread = ha_thread_id(),
        .stream = host->queue,
        .function = host->function,
        .device = host->device,
    };
    return call;
}

void
ha_host_function_end(void *ticket, uint64_t start, uint64_t end,
                     enum ha_activity_status status)
{
    struct call *call = ticket;
    observer *tell = atomic_load(&current);

    call->told.start = start;
    call->told.end = end;
    call->told.status = (int)status;
    ha_in_tool_enter();
    if (tell != NULL) {
        tell(&call->told);
    }
    ha_in_tool_leave();
    ha_correlation_drop(call->correlation);
    free(call);
}

void
ha_host_functions_observe(void (*told)(const struct ha_host_function *))
{
    atomic_store(&current, told);
}
