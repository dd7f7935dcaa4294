/* SPDX-License-Identifier: MIT */
#include "tool/profiler/origin.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/env.h"
#include "tool/events.h"
#include "tool/text.h"

/* ---- the job ---- */

enum { JOB_BYTES = 256 };

static struct {
    const char *key;
    enum ha_env_name variable;
    char value[HA_JSON_GROWTH * JOB_BYTES + 16]; /* "": not set */
} job[] = {
    {"PT_PROFILER_JOB_NAME", HA_ENV_JOB_NAME, ""},
    {"PT_PROFILER_JOB_VERSION", HA_ENV_JOB_VERSION, ""},
    {"PT_PROFILER_JOB_ATTEMPT_INDEX", HA_ENV_JOB_ATTEMPT, ""},
};

enum { JOB_COUNT = sizeof job / sizeof *job };

static pthread_once_t job_once = PTHREAD_ONCE_INIT;

static void
read_job(void)
{
    for (size_t i = 0; i < JOB_COUNT; i++) {
        const char *text = ha_env(job[i].variable);
        if (text != NULL) {
            *ha_text_quoted(job[i].value, text, strnlen(text, JOB_BYTES)) = '\0';
        }
    }
}

void
ha_origin_learn_job(void)
{
    (void)pthread_once(&job_once, read_job);
}

bool
ha_origin_job(size_t at, const char **key, const char **value)
{
    if (at >= JOB_COUNT) {
        return false;
    }
    *key = job[at].key;
    *value = job[at].value;
    return true;
}

/* ---- HIP ---- */

/* The path of the library of HIP that is loaded, AMD's or ours. */
static int
is_hip(struct dl_phdr_info *info, size_t bytes, void *path)
{
    static const char *const names[] = {"libamdhip64.so", "libhipadapt_cpu.so"};
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *file = slash != NULL ? slash + 1 : info->dlpi_name;

    (void)bytes;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(file, names[i], strlen(names[i])) == 0) {
            (void)snprintf(path, 1024, "%s", info->dlpi_name);
            return 1;
        }
    }
    return 0;
}

static int32_t
ask(void *library, const char *function)
{
    int (*version)(int *number) = NULL;
    int number = 0;

    *(void **)&version = dlsym(library, function);
    return version != NULL && version(&number) == 0 ? number : 0;
}

void
ha_origin_hip(int32_t *runtime, int32_t *driver)
{
    char path[1024] = "";

    *runtime = *driver = 0;
    void *library = dl_iterate_phdr(is_hip, path) != 0
                        ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    if (library == NULL) {
        return;
    }
    ha_events_mute(true);
    *runtime = ask(library, "hipRuntimeGetVersion");
    *driver = ask(library, "hipDriverGetVersion");
    ha_events_mute(false);
    (void)dlclose(library);
}

/* ---- the number ---- */

void
ha_origin_id(char text[HA_ORIGIN_ID_BYTES])
{
    uint64_t number[2] = {ha_events_now(), (uint64_t)getpid()};

    /* Without random numbers, time and process do. */
    (void)!getrandom(number, sizeof number, GRND_NONBLOCK);
    (void)snprintf(text, HA_ORIGIN_ID_BYTES, "\"%016" PRIX64 "%016" PRIX64 "\"",
                   number[0], number[1]);
}
