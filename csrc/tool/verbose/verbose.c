/* SPDX-License-Identifier: MIT */
#include "tool/verbose/verbose.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/env.h"
#include "core/log.h"
#include "tool/forks.h"
#include "tool/profiler/recorder.h"
#include "tool/verbose/watch.h"
#include "tool/verbose/words.h"
#include "tool/verbose/writer.h"

#define EXPORT __attribute__((visibility("default")))

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

static enum hipadapt_verbose_result
result_of(enum ha_status status)
{
    switch (status) {
    case HA_OK:
        return HIPADAPT_VERBOSE_OK;
    case HA_ERROR_INVALID:
        return HIPADAPT_VERBOSE_INVALID;
    case HA_ERROR_UNSUPPORTED:
    case HA_ERROR_NOT_FOUND:
        return HIPADAPT_VERBOSE_UNSUPPORTED;
    default:
        return HIPADAPT_VERBOSE_SYSTEM;
    }
}

static void
at_exit(void)
{
    ha_verbose_end();
}

/* Needs the lock, and the contexts. */
static enum ha_status
switch_to(unsigned wanted)
{
    enum ha_status status = HA_OK;

    if (wanted != 0) {
        status = ha_lines_start(ha_watch_collector());
        if (status == HA_OK && !atomic_exchange(&verbose.used, true)) {
            (void)atexit(at_exit);
        }
    }
    if (status == HA_OK) {
        status = ha_watch_switch(wanted);
    }
    verbose.wanted = status == HA_OK ? wanted : 0;
    return status;
}

/* ---- the environment ---- */

void
ha_verbose_begin(void)
{
    const char *list = ha_env(HA_ENV_VERBOSE), *file = ha_env(HA_ENV_VERBOSE_FILE);
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
    enum ha_status status = ha_lines_to(file, ha_env_is_on(HA_ENV_VERBOSE_TIMESTAMP));
    if (status == HA_OK) {
        status = switch_to(wanted);
    }
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
    ha_watch_wait(WORK_WAIT_MS);
    (void)ha_watch_switch(0);
    ha_lines_end(END_MS);
}

void
ha_verbose_forked(void)
{
    (void)pthread_mutex_init(&verbose.lock, NULL);
    atomic_store(&verbose.forked, atomic_load(&verbose.used));
    verbose.wanted = 0;
    ha_watch_forked();
    ha_lines_forked();
}

/* ---- hipadapt/verbose.h ---- */

EXPORT const char *
hipadapt_verbose_error_text(void)
{
    return ha_error_text();
}

EXPORT const char *
hipadapt_verbose_result_name(enum hipadapt_verbose_result result)
{
#define NAME(name) [HIPADAPT_VERBOSE_##name] = "HIPADAPT_VERBOSE_" #name
    static const char *const names[] = {
        NAME(OK),      NAME(INVALID), NAME(UNSUPPORTED), NAME(SYSTEM),
        NAME(TIMEOUT), NAME(NONE),    NAME(FORKED),
    };
#undef NAME

    return (unsigned)result < sizeof names / sizeof *names ? names[result] : NULL;
}

static enum hipadapt_verbose_result
refuse(const char *function, const char *argument, const char *must)
{
    (void)ha_error_set(HA_ERROR_INVALID, "%s: argument '%s' %s", function, argument,
                       must);
    return HIPADAPT_VERBOSE_INVALID;
}

static bool
is_forked(const char *function)
{
    if (atomic_load(&verbose.forked)) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "%s: this is a child of a process with verbose lines, and "
                           "has none itself",
                           function);
        return true;
    }
    return false;
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_set(const char *words)
{
    static const char function[] = "hipadapt_verbose_set";
    char unknown[WORD_BYTES];
    unsigned wanted;

    if (words == NULL) {
        return refuse(function, "words", "must not be NULL");
    }
    if (!ha_verbose_words(words, &wanted, unknown, sizeof unknown)) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "%s: argument 'words' has %s, which is none of %s", function,
                           unknown, ha_verbose_all_words());
        return HIPADAPT_VERBOSE_INVALID;
    }
    if (is_forked(function)) {
        return HIPADAPT_VERBOSE_FORKED;
    }
    enum ha_status status = HA_OK;
    if (wanted != 0 && ha_watch_collector() == NULL) {
        status = ha_recorder_need(0);
    }
    pthread_mutex_lock(&verbose.lock);
    if (status == HA_OK && ha_watch_collector() != NULL) {
        status = switch_to(wanted);
    }
    pthread_mutex_unlock(&verbose.lock);
    return result_of(status);
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_output(const char *file, int timestamp)
{
    static const char function[] = "hipadapt_verbose_output";

    if (file != NULL && file[0] == '\0') {
        return refuse(function, "file", "must not be empty");
    }
    if (is_forked(function)) {
        return HIPADAPT_VERBOSE_FORKED;
    }
    return result_of(ha_lines_to(file, timestamp != 0));
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_flush(unsigned milliseconds)
{
    if (is_forked("hipadapt_verbose_flush")) {
        return HIPADAPT_VERBOSE_FORKED;
    }
    if (!ha_lines_flush(milliseconds)) {
        (void)ha_error_set(HA_ERROR_SYSTEM,
                           "hipadapt_verbose_flush: nobody reads the lines");
        return HIPADAPT_VERBOSE_TIMEOUT;
    }
    return HIPADAPT_VERBOSE_OK;
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_status(struct hipadapt_verbose_status *status)
{
    static const char function[] = "hipadapt_verbose_status";

    if (status == NULL || status->size != sizeof *status) {
        return refuse(function, "status",
                      status == NULL ? "must not be NULL" : "has another size");
    }
    struct ha_lines_counts counts = ha_lines_count();
    pthread_mutex_lock(&verbose.lock);
    ha_verbose_list(verbose.wanted, status->words);
    pthread_mutex_unlock(&verbose.lock);
    status->lines = counts.written;
    status->lost = counts.lost;
    return HIPADAPT_VERBOSE_OK;
}
