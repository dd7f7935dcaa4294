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

/* Waits until the lines of all work that has ended are written. */
enum hipadapt_verbose_result hipadapt_verbose_flush(unsigned milliseconds);

struct hipadapt_verbose_status {
    size_t size;    /* sizeof of this, set by the caller */
    uint64_t lines; /* made so far */
    uint64_t lost;  /* that nobody will see */
    char words[64]; /* what there are lines about; "none" */
};

enum hipadapt_verbose_result
hipadapt_verbose_status(struct hipadapt_verbose_status *status);

#ifdef __cplusplus
}
#endif

#endif
