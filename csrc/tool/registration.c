/* SPDX-License-Identifier: MIT */
/* The library as a tool of rocprofiler-sdk; tool.h says what it asks for. */
#include "tool/sdk.h"

static int
initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize;
    (void)data;
    return 0;
}

rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize,
                                                         NULL, NULL};

    (void)version;
    (void)runtime_version;
    (void)priority;
    client_id->name = "hipadapt";
    return &result;
}
