/* SPDX-License-Identifier: MIT */
#include "cpu/queue/mark.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "core/dl.h"
#include "core/log.h"
#include "cpu/queue/ticket.h"

#define OWN "libroctx64.so.4"

enum { TEXT_BYTES = 512 };

static struct {
    int (*push)(const char *message);
    int (*pop)(void);
    void (*mark)(const char *message);
    atomic_int state; /* 0 unknown, 1 there, -1 not; last */
} roctx;

/* The one that the process has, else ours: either tells the profiler. */
static void *
find(void)
{
    static const char *const loaded[] = {"librocprofiler-sdk-roctx.so.1", OWN};
    static const char here; /* an address of this library */
    char path[4096];

    for (size_t i = 0; i < sizeof loaded / sizeof *loaded; i++) {
        void *library = dlopen(loaded[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library != NULL) {
            return library;
        }
    }
    return ha_dl_beside(&here, OWN, path, sizeof path)
               ? ha_dl_open(path, RTLD_NOW | RTLD_LOCAL, NULL)
               : NULL;
}

/* Several threads may look: all find the same. */
static bool
need(void)
{
    int state = atomic_load(&roctx.state);

    if (state != 0) {
        return state > 0;
    }
    void *library = find();
    if (library != NULL) {
        *(void **)&roctx.push = dlsym(library, "roctxRangePushA");
        *(void **)&roctx.pop = dlsym(library, "roctxRangePop");
        *(void **)&roctx.mark = dlsym(library, "roctxMarkA");
    }
    bool there = roctx.push != NULL && roctx.pop != NULL && roctx.mark != NULL;
    if (!there) {
        ha_log(1, "compilations are not marked: there is no roctx");
    }
    atomic_store(&roctx.state, there ? 1 : -1);
    return there;
}

bool
ha_mark_wanted(void)
{
    return ha_activity_wants(HA_WANT_MARK);
}

bool
ha_mark_begin(const char *call, const char *subject)
{
    char text[TEXT_BYTES];

    if (!ha_mark_wanted() || !need()) {
        return false;
    }
    (void)snprintf(text, sizeof text, "%s: %s", call, subject);
    (void)roctx.push(text);
    return true;
}

void
ha_mark_end(const char *call, const char *subject, const char *outcome)
{
    char text[TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s: %s (%s)", call, subject, outcome);
    roctx.mark(text);
    (void)roctx.pop();
}
