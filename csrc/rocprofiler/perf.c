/* SPDX-License-Identifier: MIT */
#include "rocprofiler/perf.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { THREADS_MAX = 512 };

/* How many of these there are is known to perf.h. */
static const struct {
    const char *name;
    const char *description;
    uint32_t type;
    uint64_t config;
} events[HA_PERF_EVENTS] = {
    {"TASK_CLOCK", "Processor time of the process in ns", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_TASK_CLOCK},
    {"PAGE_FAULTS", "Page faults of the process", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS},
    {"CONTEXT_SWITCHES", "Times that a thread of the process lost its processor",
     PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"CPU_MIGRATIONS", "Times that a thread came to another processor",
     PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"CPU_CYCLES", "Cycles of the process", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CPU_CYCLES},
    {"INSTRUCTIONS", "Instructions of the process", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_INSTRUCTIONS},
    {"CACHE_REFERENCES", "Accesses to the last-level cache", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_REFERENCES},
    {"CACHE_MISSES", "Misses in the last-level cache", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_MISSES},
    {"BRANCH_MISSES", "Branches that were predicted wrong", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_BRANCH_MISSES},
};
const char *
ha_perf_name(unsigned event)
{
    return events[event].name;
}

const char *
ha_perf_description(unsigned event)
{
    return events[event].description;
}

static int
open_event(unsigned event, pid_t thread)
{
    struct perf_event_attr attributes = {
        .type = events[event].type,
        .size = sizeof attributes,
        .config = events[event].config,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1,
    };

    return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

unsigned
ha_perf_usable(void)
{
    static _Atomic unsigned known; /* 0: not tried */
    unsigned found = atomic_load(&known);

    if (found == 0) {
        found = 1u << 31; /* tried */
        for (unsigned event = 0; event < HA_PERF_EVENTS; event++) {
            int file = open_event(event, 0);
            if (file >= 0) {
                found |= 1u << event;
                close(file);
            }
        }
        atomic_store(&known, found);
    }
    return found & ~(1u << 31);
}

/* ---- one file for each thread there is, which counts its children too ---- */

struct ha_perf {
    int count[HA_PERF_EVENTS];
    int files[HA_PERF_EVENTS][THREADS_MAX];
};

void
ha_perf_close(struct ha_perf *perf)
{
    for (unsigned event = 0; perf != NULL && event < HA_PERF_EVENTS; event++) {
        for (int i = 0; i < perf->count[event]; i++) {
            close(perf->files[event][i]);
        }
    }
    free(perf);
}

/* Threads of the process, at most THREADS_MAX. */
static int
list_threads(pid_t threads[THREADS_MAX])
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    for (const struct dirent *entry = folder != NULL ? readdir(folder) : NULL;
         entry != NULL && count < THREADS_MAX; entry = readdir(folder)) {
        long number = strtol(entry->d_name, NULL, 10);
        if (number > 0) {
            threads[count++] = (pid_t)number;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

struct ha_perf *
ha_perf_open(unsigned wanted)
{
    pid_t threads[THREADS_MAX];
    int count = list_threads(threads);
    struct ha_perf *perf = calloc(1, sizeof *perf);

    if (perf == NULL) {
        return NULL;
    }
    for (unsigned event = 0; event < HA_PERF_EVENTS; event++) {
        for (int i = 0; (wanted >> event & 1) != 0 && i < count; i++) {
            int file = open_event(event, threads[i]);
            if (file >= 0) {
                perf->files[event][perf->count[event]++] = file;
            }
        }
    }
    return perf;
}

bool
ha_perf_read(const struct ha_perf *perf, unsigned event, double *value)
{
    double sum = 0;

    for (int i = 0; i < perf->count[event]; i++) {
        uint64_t counted;
        if (read(perf->files[event][i], &counted, sizeof counted) == sizeof counted) {
            sum += (double)counted;
        }
    }
    *value = sum;
    return perf->count[event] > 0;
}
