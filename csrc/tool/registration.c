/* SPDX-License-Identifier: MIT */
/* The library as a tool of rocprofiler-sdk; tool.h says what it asks for. */
#include "core/log.h"
#include "tool/debug/watch.h"
#include "tool/forks.h"
#include "tool/profiler/listen.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/whole.h"
#include "tool/sdk.h"
#include "tool/tool.h"
#include "tool/verbose/verbose.h"
#include "tool/verbose/watch.h"

static int
initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize;
    (void)data;
    if (ha_forks_watch() != HA_OK || ha_sdk_need() != HA_OK ||
        ha_recorder_configure() != HA_OK || ha_verbose_watch_configure() != HA_OK) {
        ha_log(0, "the profiler is left out: %s", ha_error_text());
        return -1;
    }
    ha_verbose_begin();
    ha_whole_begin(); /* first: a request that comes now is refused */
    ha_listen_from_environment();
    ha_whole_watch_signals(); /* last: a signal that is a request ends nothing */
    return 0;
}

/* The library has told everything by now. */
static void
finalize_tool(void *data)
{
    (void)data;
    ha_verbose_end();
    (void)ha_whole_end();
}

rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize,
                                                         finalize_tool, NULL};

    (void)version;
    (void)runtime_version;
    (void)priority;
    ha_watch_begin(); /* the device's library is there */
    /* A profiler's library that looks through all that is loaded finds it here too. */
    if (!ha_recorder_wanted()) {
        return NULL;
    }
    client_id->name = "hipadapt";
    return &result;
}
