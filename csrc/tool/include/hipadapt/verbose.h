/* SPDX-License-Identifier: MIT */
/* hipadapt's verbose lines, for C and C++: link with libhipadapt_tool.so.
 *
 * A line tells of each kernel, copy, fill, compilation and failed call, as the
 * environment variable HIPADAPT_VERBOSE or hipadapt_verbose_set asks for it.  Times are
 * the device's own, of the record that the work has ended.  A thread writes the lines,
 * in the order of the ends, within 50 ms; the program never waits for it.
 *
 * Threads: every function may be called by any thread.  No function is called from a
 * signal handler.  After fork the child has no lines.
 * Ownership: what is given is borrowed for the call.
 * Errors: functions return a result; hipadapt_verbose_error_text says more. */
#ifndef HIPADAPT_VERBOSE_H
#define HIPADAPT_VERBOSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hipadapt_verbose_result {
    HIPADAPT_VERBOSE_OK = 0,
    HIPADAPT_VERBOSE_INVALID,     /* an argument, as a word that is none */
    HIPADAPT_VERBOSE_UNSUPPORTED, /* of the profiler's library */
    HIPADAPT_VERBOSE_SYSTEM,      /* as a file that can't be opened */
    HIPADAPT_VERBOSE_TIMEOUT,
    HIPADAPT_VERBOSE_NONE, /* there is nothing to tell */
    HIPADAPT_VERBOSE_FORKED,
};

/* Why this thread's last call failed; borrowed until its next one; never NULL. */
const char *hipadapt_verbose_error_text(void);

/* "HIPADAPT_VERBOSE_INVALID" and so on; NULL for a number that is none of these. */
const char *hipadapt_verbose_result_name(enum hipadapt_verbose_result result);

/* What there are lines about from now on: words of oneDNN between commas, from left to
 * right.
 *
 *   none, 0         nothing
 *   error           failed calls, and kernels that did not end as they should
 *   check           calls that refused an argument
 *   profile_create  compilations and loads of modules
 *   profile_exec    kernels, copies, fills and host functions
 *   profile         profile_create and profile_exec
 *   1               error and profile_exec
 *   2               error and profile
 *   all             everything
 *
 * INVALID, and nothing changes, for another word. */
enum hipadapt_verbose_result hipadapt_verbose_set(const char *words);

/* Where lines go from now on: a file that is appended to, with the process's number for
 * `%p`; NULL: standard output.  `timestamp`, if not 0: the first column is the Unix
 * time of the start, in ms.  Waits for the lines of before, a second at most. */
enum hipadapt_verbose_result hipadapt_verbose_output(const char *file, int timestamp);

/* Waits until the lines of all work that has ended are written.  Where work is on its
 * way, 20 ms are waited for it first. */
enum hipadapt_verbose_result hipadapt_verbose_flush(unsigned milliseconds);

struct hipadapt_verbose_status {
    size_t size;    /* sizeof of this, set by the caller */
    uint64_t lines; /* made so far */
    uint64_t lost;  /* that nobody will see */
    char words[64]; /* what there are lines about; "none" */
};

enum hipadapt_verbose_result
hipadapt_verbose_status(struct hipadapt_verbose_status *status);

/* Trackers: a line for work that the program registers by itself, with a text of its
 * own.
 *
 * With profile_exec the times are the device's: those of the records of all that the
 * newest call has given to the stream (`profiler_enabled`).  Without it, or where the
 * profiler's library is not there, an event of HIP behind the work tells when it is
 * over: the end is when a thread of ours has seen that, and the duration is that since
 * the event of the stream's tracker before (`timing_stat`), or since it was registered.
 *
 * HIPADAPT_VERBOSE_TRACKERS=events does without records always. */

struct ihipStream_t;
struct ihipEvent_t;

struct hipadapt_verbose_timing {
    size_t size;          /* sizeof of this, set by the caller */
    double start_ms;      /* Unix time */
    double end_ms;        /* the same */
    double duration_ms;   /* with more digits than end - start has */
    int profiler_enabled; /* the times are those of records of the device */
    int timing_stat;      /* the duration is the device's */
    char info[256];       /* as it was registered; longer ones are cut */
};

/* Registers the newest work of the stream, whose line comes when it has ended.  Each
 * registration gives one line, of the columns of kernels: `tracker` as primitive, and
 * `info` (NULL: none) as implementation.  `event` is behind the work, or NULL; it is
 * not kept.  No waiting. */
enum hipadapt_verbose_result
hipadapt_verbose_register_async_tracker(struct ihipStream_t *stream,
                                        struct ihipEvent_t *event, const char *info);

/* The blocking way: waits for what was registered on the stream last, and writes a line
 * for it with `exec:sync` and this `info`; where its own line is not made yet, this is
 * it.  `start_ms`, unless NULL, gets the start.  NONE: nothing was registered. */
enum hipadapt_verbose_result
hipadapt_verbose_check_async_exec_times(struct ihipStream_t *stream, const char *info,
                                        double *start_ms);

/* The newest tracker of the stream that has ended.  NONE: there is none.  No waiting.
 */
enum hipadapt_verbose_result
hipadapt_verbose_timing(struct ihipStream_t *stream,
                        struct hipadapt_verbose_timing *timing);

#ifdef __cplusplus
}
#endif

#endif
