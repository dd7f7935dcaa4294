/* SPDX-License-Identifier: MIT */
/* hipadapt's activity profiler, for C and C++: link with libhipadapt_tool.so.
 *
 * A process has one profiler and one recording at a time:
 *
 *     hipadapt_profile_prepare   starts to watch, which costs the time that a start
 *                                must not cost; what is seen is thrown away
 *     hipadapt_profile_start     the trace begins here
 *     hipadapt_profile_stop      and ends here; work that has not ended is left out,
 *                                so wait for the device before this
 *     hipadapt_profile_save      the trace is complete
 *
 * With a URL given to prepare, the trace is written while it is recorded, and `save`
 * only waits for its end.  Without one, events are kept in memory, and `save` can be
 * called several times.  A URL is a path, or file://PATH, whose suffix says the format:
 * .json, .json.gz, .pftrace.
 *
 * A *request* is a recording that begins and ends by itself, as its configuration text
 * says.  One can wait while none is recorded; `prepare` cancels it.
 *
 * Threads: every function may be called by any thread; push and pop are about the
 * calling one.  No function is called from a signal handler.  After fork the child has
 * no recording, and its functions answer HIPADAPT_PROFILE_FORKED.  A recording that the
 * program does not stop is stopped by exit, which waits for its file.
 * Ownership: what is given is borrowed for the call.
 * Errors: functions return a result; hipadapt_profile_error_text says more. */
#ifndef HIPADAPT_PROFILE_H
#define HIPADAPT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hipadapt_profile_result {
    HIPADAPT_PROFILE_OK = 0,
    HIPADAPT_PROFILE_INVALID,     /* an argument, as a URL that nobody can write */
    HIPADAPT_PROFILE_STATE,       /* not now: as start without prepare */
    HIPADAPT_PROFILE_BUSY,        /* another recording or request is there */
    HIPADAPT_PROFILE_UNSUPPORTED, /* of the profiler's library */
    HIPADAPT_PROFILE_NOT_FOUND,   /* a folder, or the profiler's library */
    HIPADAPT_PROFILE_SYSTEM,      /* as a full disk */
    HIPADAPT_PROFILE_MEMORY,
    HIPADAPT_PROFILE_FORKED,
};

enum hipadapt_profile_state {
    HIPADAPT_PROFILE_IDLE,       /* WaitForRequest */
    HIPADAPT_PROFILE_WARMUP,     /* Warmup */
    HIPADAPT_PROFILE_COLLECTING, /* CollectTrace */
    HIPADAPT_PROFILE_PROCESSING, /* ProcessTrace */
};

/* Domains of correlation ids. */
enum hipadapt_profile_domain {
    HIPADAPT_PROFILE_DOMAIN_OPERATION = 0, /* "External id" of calls and work */
    HIPADAPT_PROFILE_DOMAIN_USER = 1,      /* work gets a row of annotations */
};

/* Zero all that has no value. */
struct hipadapt_profile_options {
    size_t size;             /* sizeof of this */
    const char *url;         /* NULL: events are kept in memory */
    const char *activities;  /* names between commas; NULL: the default ones */
    uint64_t buffer_events;  /* that wait for being taken; 0: 262,144 of 128 bytes */
    uint64_t keep_events;    /* without a URL; more are lost; 0: 8,388,608 */
    const char *distributed; /* JSON object of "distributedInfo"; NULL: by RANK and
                              * WORLD_SIZE, or the variables of MPI and Slurm */
    int cuda_names;       /* not 0: CUDA's names of calls, for readers that need them */
    uint32_t detail;      /* what clients are asked for: hipadapt/profile_client.h */
    const char *counters; /* of the devices, by rocprofiler's names, between commas, as
                           * rows over time; NULL: none */
};

struct hipadapt_profile_status {
    size_t size;       /* sizeof of this, set by the caller */
    int state;         /* enum hipadapt_profile_state */
    int on_demand;     /* it is, or was last, that of a request */
    uint64_t request;  /* the last one's number; 0: none so far */
    int request_waits; /* it has not begun */
    int64_t step;      /* the iteration, from 0; -1: no step was taken */
    uint64_t events;   /* of this recording, or the last one; so are the rest */
    uint64_t kernels;  /* in its trace; of kept events once it is saved */
    uint64_t lost_events;
    uint64_t out_of_window_events;
    uint64_t bytes;       /* of the file, so far */
    char message[512];    /* how the last one ended, or why; "" : well */
    char url[1024];       /* of the last file that is complete */
    char trace_id[128];   /* of the request's REQUEST_TRACE_ID */
    char activities[512]; /* that this recording, or the last one, has; "" : none yet */
};

/* Why this thread's last call failed; borrowed until its next one; never NULL. */
const char *hipadapt_profile_error_text(void);

/* "HIPADAPT_PROFILE_BUSY" and so on; NULL for a number that is none of these. */
const char *hipadapt_profile_result_name(enum hipadapt_profile_result result);

/* From idle to warm-up.  A kept recording of before is dropped.  INVALID names unknown
 * activities and tells the right ones; UNSUPPORTED where the profiler's library takes
 * nobody any more. */
enum hipadapt_profile_result
hipadapt_profile_prepare(const struct hipadapt_profile_options *options);

/* From warm-up to collecting.  No waiting. */
enum hipadapt_profile_result hipadapt_profile_start(void);

/* From collecting to processing, which a thread does.  No waiting. */
enum hipadapt_profile_result hipadapt_profile_stop(void);

/* Waits until processing is over, and writes what was kept.  `url` may be NULL where
 * prepare had one.  The result of streaming is told as often as it is asked for. */
enum hipadapt_profile_result hipadapt_profile_save(const char *url);

/* Drops the recording and the request that there are, in any state, and waits until
 * that is done.  A file that is not complete goes. */
enum hipadapt_profile_result hipadapt_profile_cancel(void);

/* An iteration of the program's loop begins. */
enum hipadapt_profile_result hipadapt_profile_step(void);

/* An entry of the metadata of the recording that there is.  `json` is JSON text: a
 * string has its quotes. */
enum hipadapt_profile_result hipadapt_profile_add_metadata(const char *key,
                                                           const char *json);

/* What this thread does until the pop belongs to `id`.  INVALID: no such domain, or
 * nothing to pop.  Before the first recording nothing is noted. */
enum hipadapt_profile_result hipadapt_profile_push(enum hipadapt_profile_domain domain,
                                                   uint64_t id);
enum hipadapt_profile_result hipadapt_profile_pop(enum hipadapt_profile_domain domain);

/* A recording by libkineto's configuration text; its number in `request`, which may be
 * NULL.  BUSY: another one waits, or a recording is there. */
enum hipadapt_profile_result hipadapt_profile_request(const char *text,
                                                      uint64_t *request);

/* From now on `python -m hipadapt trace attach` can ask for recordings of this process.
 * OK if it can already.  UNSUPPORTED as for prepare. */
enum hipadapt_profile_result hipadapt_profile_listen(void);

enum hipadapt_profile_result
hipadapt_profile_status(struct hipadapt_profile_status *status);

#ifdef __cplusplus
}
#endif

#endif
