/* SPDX-License-Identifier: MIT */
/* How the functions of the public headers refuse an argument: a sentence with the
 * function, the argument and what is wrong with it, and HIPADAPT_PROFILE_INVALID. */
#ifndef HA_TOOL_PROFILER_REFUSE_H
#define HA_TOOL_PROFILER_REFUSE_H

#include "core/status.h"
#include "tool/include/hipadapt/profile.h"

static inline enum hipadapt_profile_result
ha_refuse(const char *function, const char *argument, const char *must)
{
    (void)ha_error_set(HA_ERROR_INVALID, "%s: argument '%s' %s", function, argument,
                       must);
    return HIPADAPT_PROFILE_INVALID;
}

/* A struct whose `size` is not that of this build; NULL is no struct. */
static inline enum hipadapt_profile_result
ha_refuse_struct(const char *function, const char *argument, const void *given)
{
    return ha_refuse(function, argument,
                     given == NULL ? "must not be NULL" : "has another size");
}

#endif
