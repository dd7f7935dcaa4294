/* SPDX-License-Identifier: MIT */
/* Frameworks and other devices take part in the recordings of hipadapt's profiler.
 *
 * A *client* is a framework that knows its own operations.  The profiler prepares,
 * starts and stops it with each recording, and the client hands over what it saw:
 * operations with a name, a time and a thread.  They become rows of category cpu_op,
 * with arrows to the kernels and copies that were launched while the operation's id was
 * pushed (hipadapt_profile_push with HIPADAPT_PROFILE_DOMAIN_OPERATION).
 *
 * A *child* is a profiler of another device.  It is driven in the same way, and after
 * the stop it is asked for what it saw: rows of its device, slices, metadata.
 *
 * Threads: each client and each child has a thread of its own ("hipadapt-client"),
 * which calls its functions one after another, in the order prepare, start, step, stop,
 * collect.  No lock of the profiler is held meanwhile, and signals are blocked.  The
 * program's prepare and start wait for those of all, one second each; a trace waits for
 * stop and for collect, ten seconds each.
 *   blocks     who needs longer is left out of the recording, which goes on; so does
 *              the next recording if the function still has not returned
 *   fails      a function that answers anything but 0 has failed; after a failed
 * prepare or start the client is left out left out   it is asked nothing more in this
 * recording but `cancel` told       both are in the trace's metadata,
 * `client_failures`, and in the log late       who registers while something is
 * recorded takes part in the next one gone       who unregisters while something is
 * recorded is asked nothing more; what it has handed over stays in the trace forks a
 * child process has none of them: its functions answer HIPADAPT_PROFILE_FORKED, and
 * `release` is not called there A client's function may hand over, push and pop, and
 * ask for the status.  The functions that prepare, start, stop, save, cancel, step,
 * request and add metadata answer HIPADAPT_PROFILE_STATE there.
 *
 * Times are of the clock that was named at the registration.  They are turned into
 * those of the trace once, when they are handed over, by an offset that was measured as
 * the recording was prepared. */
#ifndef HIPADAPT_PROFILE_CLIENT_H
#define HIPADAPT_PROFILE_CLIENT_H

#include "profile.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hipadapt_profile_clock {
    HIPADAPT_PROFILE_CLOCK_BOOTTIME = 0, /* the profiler's: hipadapt_profile_now */
    HIPADAPT_PROFILE_CLOCK_MONOTONIC,
    HIPADAPT_PROFILE_CLOCK_REALTIME, /* Unix time */
};

/* What a recording would like to know of operations: bits. */
enum hipadapt_profile_detail {
    HIPADAPT_PROFILE_INPUT_SHAPES = 1 << 0,
    HIPADAPT_PROFILE_STACKS = 1 << 1,
    HIPADAPT_PROFILE_MEMORY_USE = 1 << 2,
    HIPADAPT_PROFILE_FLOPS = 1 << 3,
    HIPADAPT_PROFILE_MODULES = 1 << 4,
};

struct hipadapt_profile_setup {
    size_t size;         /* sizeof of this */
    uint64_t request;    /* its number; 0: the program's own recording */
    uint32_t detail;     /* of enum hipadapt_profile_detail */
    uint32_t activities; /* not 0: operations of clients are shown */
};

/* A client or child by number; 0 is none.  Numbers are not used again. */
typedef uint64_t hipadapt_profile_handle;

/* Functions may be NULL, and are given the `context` of the registration. */
struct hipadapt_profile_client {
    size_t size;      /* sizeof of this */
    const char *name; /* for messages, copied */
    int clock;        /* enum hipadapt_profile_clock */
    int (*prepare)(void *context, const struct hipadapt_profile_setup *setup);
    int (*start)(void *context);
    int (*step)(void *context, int64_t iteration); /* steps that come while it is busy
                                                    * are told as one, the last */
    int (*stop)(void *context);                    /* may hand over all that it has */
    void (*cancel)(void *context);                 /* there will be no trace of it */
    void (*release)(void *context); /* last, once, by any thread; no function runs */
};

struct hipadapt_profile_child {
    size_t size;
    const char *name; /* for messages and metadata, copied */
    int clock;
    int (*configure)(void *context, const struct hipadapt_profile_setup *setup);
    int (*start)(void *context);
    int (*stop)(void *context);
    int (*collect)(void *context); /* hands rows, slices and metadata over */
    void (*cancel)(void *context);
    void (*release)(void *context);
};

/* From now on it takes part.  INVALID: a bad table; MEMORY: 16 are registered. */
enum hipadapt_profile_result
hipadapt_profile_register_client(const struct hipadapt_profile_client *client,
                                 void *context, hipadapt_profile_handle *handle);
enum hipadapt_profile_result
hipadapt_profile_register_child(const struct hipadapt_profile_child *child,
                                void *context, hipadapt_profile_handle *handle);

/* No more.  It waits for a function that runs, one second: BUSY then, and the
 * function's end releases.  In a function of its own it does not wait.  INVALID: no
 * such handle. */
enum hipadapt_profile_result
hipadapt_profile_unregister(hipadapt_profile_handle handle);

/* CLOCK_BOOTTIME in nanoseconds. */
uint64_t hipadapt_profile_now(void);

/* ---- clients ---- */

/* An operation; zero all that has no value.  Texts are copied. */
struct hipadapt_profile_event {
    size_t size; /* sizeof of this */
    const char *name;
    uint64_t start; /* ns */
    uint64_t end;
    uint32_t thread;   /* as gettid says; 0: the calling one */
    uint64_t external; /* the id that was pushed; 0: none, and no arrows */
    const char *args;  /* members of a JSON object, `"a":1,"b":[2]`, 64 KiB at most;
                        * NULL: none */
};

/* Any thread, from prepare until stop has returned.  STATE: nothing is recorded with
 * this client.  What finds no room (options.buffer_events, and 64 MiB of args) is
 * counted in lost_events, and the answer is OK. */
enum hipadapt_profile_result
hipadapt_profile_hand_over(hipadapt_profile_handle handle,
                           const struct hipadapt_profile_event *event);

/* ---- children, within collect ---- */

enum hipadapt_profile_slice_kind {
    HIPADAPT_PROFILE_SLICE_CALL, /* of `thread`: leads to work of its correlation */
    HIPADAPT_PROFILE_SLICE_OPERATION, /* of `thread` */
    HIPADAPT_PROFILE_SLICE_KERNEL,    /* of `device` and `stream`, as what follows */
    HIPADAPT_PROFILE_SLICE_COPY,
    HIPADAPT_PROFILE_SLICE_FILL,
    HIPADAPT_PROFILE_SLICE_ANNOTATION,
};

struct hipadapt_profile_slice {
    size_t size; /* sizeof of this */
    int kind;    /* enum hipadapt_profile_slice_kind */
    const char *name;
    uint64_t start;
    uint64_t end;
    uint32_t thread;
    int32_t device; /* the child's own number, 0 to 63 */
    uint64_t stream;
    uint64_t correlation; /* the child's own, below 2^40; 0: none */
    uint64_t external;
    const char *args; /* as above */
};

/* A device, its name as shown, and properties as a JSON object, which may be NULL.  Its
 * number in the trace is behind those of HIP's devices, as it stands in
 * `child_devices`. */
enum hipadapt_profile_result
hipadapt_profile_child_device(hipadapt_profile_handle handle, int32_t device,
                              const char *name, const char *properties);

/* The name of a stream's row, before its first slice. */
enum hipadapt_profile_result
hipadapt_profile_child_stream(hipadapt_profile_handle handle, int32_t device,
                              uint64_t stream, const char *name);

/* A child has room for 262,144 slices, rows and entries with 64 MiB of text; more are
 * counted in lost_events, and the answer is OK. */
enum hipadapt_profile_result
hipadapt_profile_child_slice(hipadapt_profile_handle handle,
                             const struct hipadapt_profile_slice *slice);

/* An entry of the trace's metadata; `json` is a JSON value. */
enum hipadapt_profile_result
hipadapt_profile_child_metadata(hipadapt_profile_handle handle, const char *key,
                                const char *json);

#ifdef __cplusplus
}
#endif

#endif
