/* SPDX-License-Identifier: MIT */
/* The functions of hipadapt/verbose.h: arguments are checked here. */
#include <stdbool.h>

#include "tool/forks.h"
#include "tool/include/hipadapt/verbose.h"
#include "tool/profiler/recorder.h"
#include "tool/verbose/tracker.h"
#include "tool/verbose/verbose.h"
#include "tool/verbose/watch.h"
#include "tool/verbose/words.h"
#include "tool/verbose/writer.h"

#define EXPORT __attribute__((visibility("default")))

enum { WORD_BYTES = 300, SETTLE_MS = 500 };

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
    if (ha_verbose_is_forked()) {
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
    enum ha_status status = ha_forks_watch();
    if (status == HA_OK && wanted != 0 && !ha_verbose_watch_is_there()) {
        status = ha_recorder_need(0); /* the library makes all contexts together */
    }
    if (status == HA_OK) {
        ha_verbose_watch_settle(SETTLE_MS); /* what has ended by now has its line */
        status = ha_verbose_switch(wanted);
    }
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
    ha_verbose_watch_settle(SETTLE_MS);
    return result_of(ha_line_writer_to(file, timestamp != 0));
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_flush(unsigned milliseconds)
{
    if (is_forked("hipadapt_verbose_flush")) {
        return HIPADAPT_VERBOSE_FORKED;
    }
    ha_verbose_watch_settle(milliseconds < SETTLE_MS ? milliseconds : SETTLE_MS);
    if (!ha_line_writer_flush(milliseconds)) {
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
    struct ha_line_counts counts = ha_line_writer_count();
    ha_verbose_list(ha_verbose_wanted(), status->words);
    status->lines = counts.written;
    status->lost = counts.lost;
    return HIPADAPT_VERBOSE_OK;
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_register_async_tracker(struct ihipStream_t *stream,
                                        struct ihipEvent_t *event, const char *info)
{
    if (is_forked("hipadapt_verbose_register_async_tracker")) {
        return HIPADAPT_VERBOSE_FORKED;
    }
    enum ha_status status = ha_forks_watch();
    if (status == HA_OK) {
        status = ha_verbose_use();
    }
    if (status == HA_OK) {
        status = ha_tracker_register(stream, event, info != NULL ? info : "",
                                     ha_verbose_watch_sees_work());
    }
    return result_of(status);
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_check_async_exec_times(struct ihipStream_t *stream, const char *info,
                                        double *start_ms)
{
    static const char function[] = "hipadapt_verbose_check_async_exec_times";

    if (is_forked(function)) {
        return HIPADAPT_VERBOSE_FORKED;
    }
    enum hipadapt_verbose_result result =
        ha_tracker_check(stream, info != NULL ? info : "", start_ms);
    if (result == HIPADAPT_VERBOSE_NONE) {
        (void)ha_error_set(HA_ERROR_NOT_FOUND,
                           "%s: nothing was registered on the stream", function);
    } else if (result == HIPADAPT_VERBOSE_TIMEOUT) {
        (void)ha_error_set(HA_ERROR_SYSTEM, "%s: the work has not ended", function);
    }
    return result;
}

EXPORT enum hipadapt_verbose_result
hipadapt_verbose_timing(struct ihipStream_t *stream,
                        struct hipadapt_verbose_timing *timing)
{
    static const char function[] = "hipadapt_verbose_timing";

    if (timing == NULL || timing->size != sizeof *timing) {
        return refuse(function, "timing",
                      timing == NULL ? "must not be NULL" : "has another size");
    }
    enum hipadapt_verbose_result result = ha_tracker_timing(stream, timing);
    if (result == HIPADAPT_VERBOSE_NONE) {
        (void)ha_error_set(HA_ERROR_NOT_FOUND, "%s: no tracker of the stream has ended",
                           function);
    }
    return result;
}
