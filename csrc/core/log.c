/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/env.h"

#define LINE_BYTES 2304

static _Atomic int seen_level = 1;
static _Thread_local bool own_thread;

void
ha_log_own_thread(void)
{
    own_thread = true;
}

int
ha_log_enabled(int level)
{
    if (!own_thread) {
        /* Not ha_env_long: that one logs. */
        const char *text = ha_env(HA_ENV_LOG);
        atomic_store(&seen_level, text != NULL ? atoi(text) : 0);
    }
    return level <= 0 || atomic_load(&seen_level) >= level;
}

void
ha_log(int level, const char *format, ...)
{
    static const char prefix[] = "hipadapt: ";
    char line[LINE_BYTES];
    size_t used = sizeof prefix - 1;
    int saved = errno;
    va_list values;

    if (!ha_log_enabled(level)) {
        return;
    }
    (void)snprintf(line, sizeof line, "%s", prefix);
    va_start(values, format);
    int wrote = vsnprintf(line + used, sizeof line - used - 1, format, values);
    va_end(values);
    if (wrote > 0) {
        size_t room = sizeof line - used - 2;
        used += (size_t)wrote < room ? (size_t)wrote : room;
    }
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0) {
        /* There is no other place to tell it. */
    }
    errno = saved;
}
