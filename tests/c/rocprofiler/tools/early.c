/* SPDX-License-Identifier: MIT */
/* Would configure itself when it is loaded, if nobody does. */
#include "tool.h"

static __attribute__((constructor)) void
start(void)
{
    int status = 7;

    GOOD(rocprofiler_is_initialized(&status));
    say("loaded: initialized %d", status);
    if (status == 0) {
        GOOD(rocprofiler_force_configure(rocprofiler_configure));
    }
}

static int
tool_initialize(rocprofiler_client_finalize_t end, void *data)
{
    (void)end;
    (void)data;
    say("initialize");
    return 0;
}

static void
tool_finalize(void *data)
{
    (void)data;
    say("finalize");
}
