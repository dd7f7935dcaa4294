/* SPDX-License-Identifier: MIT */
#include "tool/verbose/verbose.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/log.h"
#include "tool/verbose/tracker.h"
#include "tool/verbose/watch.h"
#include "tool/verbose/words.h"
#include "tool/verbose/writer.h"

enum {
    WORD_BYTES = 300,
    WORK_WAIT_MS = 500,
    END_MS = 1000,
};

static struct {
    pthread_mutex_t lock; /* of switching */
    unsigned wanted;
    atomic_bool used; /* there is something to end */
    atomic_bool forked;
    atomic_bool ended;
} verbose = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void
at_exit(void)
{
    ha_verbose_end();
}

/* Where lines go unless the program has said it. */
static enum ha_status
use_environment(void)
{
    return ha_line_writer_first(ha_env(HA_ENV_VERBOSE_FILE),
                                ha_env_is_on(HA_ENV_VERBOSE_TIMESTAMP));
}

enum ha_status
ha_verbose_use(void)
{
    struct ha_collector *collector = ha_verbose_watch_collector();
    enum ha_status status = collector != NULL
                                ? ha_line_writer_start(collector)
                                : ha_error_set(HA_ERROR_MEMORY, "no memory for lines");

    if (status == HA_OK) {
        status = use_environment();
    }
    if (status == HA_OK && !atomic_exchange(&verbose.used, true)) {
        (void)atexit(at_exit);
    }
    return status;
}

/* Needs the lock, and the contexts. */
static enum ha_status
switch_to(unsigned wanted)
{
    enum ha_status status = wanted != 0 ? ha_verbose_use() : HA_OK;

    if (status == HA_OK) {
        status = ha_verbose_watch_switch(wanted);
    }
    verbose.wanted = status == HA_OK ? wanted : 0;
    return status;
}

enum ha_status
ha_verbose_switch(unsigned wanted)
{
    enum ha_status status = HA_OK;

    pthread_mutex_lock(&verbose.lock);
    if (ha_verbose_watch_is_there()) {
        status = switch_to(wanted);
    }
    pthread_mutex_unlock(&verbose.lock);
    return status;
}

unsigned
ha_verbose_wanted(void)
{
    pthread_mutex_lock(&verbose.lock);
    unsigned wanted = verbose.wanted;
    pthread_mutex_unlock(&verbose.lock);
    return wanted;
}

bool
ha_verbose_is_forked(void)
{
    return atomic_load(&verbose.forked);
}

/* ---- the environment ---- */

void
ha_verbose_begin(void)
{
    const char *list = ha_env(HA_ENV_VERBOSE);
    char unknown[WORD_BYTES];
    unsigned wanted;

    if (list == NULL || atomic_load(&verbose.used)) {
        return;
    }
    if (!ha_verbose_words(list, &wanted, unknown, sizeof unknown)) {
        ha_log(0, "HIPADAPT_VERBOSE: %s is left out; the words are %s", unknown,
               ha_verbose_all_words());
    }
    if (wanted == 0) {
        return;
    }
    pthread_mutex_lock(&verbose.lock);
    enum ha_status status = switch_to(wanted);
    pthread_mutex_unlock(&verbose.lock);
    if (status != HA_OK) {
        ha_log(0, "HIPADAPT_VERBOSE: there are no lines: %s", ha_error_text());
    }
}

void
ha_verbose_end(void)
{
    if (!atomic_load(&verbose.used) || atomic_load(&verbose.forked) ||
        atomic_exchange(&verbose.ended, true)) {
        return;
    }
    ha_verbose_watch_wait(WORK_WAIT_MS);
    (void)ha_verbose_watch_switch(0);
    ha_trackers_stop();
    ha_line_writer_end(END_MS);
}

void
ha_verbose_forked(void)
{
    (void)pthread_mutex_init(&verbose.lock, NULL);
    atomic_store(&verbose.forked, atomic_load(&verbose.used));
    verbose.wanted = 0;
    ha_verbose_watch_forked();
    ha_line_writer_forked();
    ha_trackers_forked();
}
