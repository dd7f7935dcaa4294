/* SPDX-License-Identifier: MIT */
/* What test tools share: they compile as C11 and as C++17, and say what happens on
 * stderr, one write a line. */
#ifndef HA_TESTS_TOOL_H
#define HA_TESTS_TOOL_H

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
#define TOOL_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TOOL_EXPORT __attribute__((visibility("default")))
#endif

#ifndef TOOL_NAME
#define TOOL_NAME "tool"
#endif

#define TOOL_UNUSED __attribute__((unused))

static TOOL_UNUSED void
say(const char *format, ...)
{
    char line[512];
    va_list values;
    int used = snprintf(line, sizeof line, "%s: ", TOOL_NAME);

    va_start(values, format);
    used += vsnprintf(line + used, sizeof line - (size_t)used - 1, format, values);
    va_end(values);
    line[used++] = '\n';
    if (write(2, line, (size_t)used) < 0) {
        abort();
    }
}

/* Says what failed; the test looks for it. */
#define EXPECT(call, want)                                                             \
    do {                                                                               \
        rocprofiler_status_t got_ = (call);                                            \
        if (got_ != ROCPROFILER_STATUS_##want) {                                       \
            say("FAILED line %d: %s is %s, not %s", __LINE__, #call,                   \
                rocprofiler_get_status_name(got_), #want);                             \
        }                                                                              \
    } while (0)

#define GOOD(call) EXPECT(call, SUCCESS)

static int tool_initialize(rocprofiler_client_finalize_t end, void *data);
static void tool_finalize(void *data);
static rocprofiler_client_id_t *tool_id;

#ifndef TOOL_OWN_CONFIGURE
TOOL_EXPORT rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {
        sizeof(rocprofiler_tool_configure_result_t), tool_initialize, tool_finalize,
        NULL};

    say("configure %u %s priority %u size %zu", version, runtime_version, priority,
        client_id->size);
    client_id->name = TOOL_NAME;
    tool_id = client_id;
#ifdef TOOL_DECLINES
    return client_id->name == NULL ? &result : NULL;
#else
    return &result;
#endif
}
#endif

#endif
