/* SPDX-License-Identifier: MIT */
/* A compiler as a child process: no shell, no inherited environment, no pipes.
 *
 * A child ends with the thread that runs it, also where that is killed: the kernel
 * kills it then (PR_SET_PDEATHSIG).  The thread waits for its child and cannot be
 * cancelled meanwhile, so other threads may come and go.
 *
 * Everything that goes in or comes out is a *memory file* (core/unnamed_file.h), so
 * that nothing has to be pumped while the child runs, a child that dies early raises no
 * SIGPIPE here, and the output of one step is the input of the next without a copy. The
 * child gets file i of the request as descriptor i and no other descriptor, its own
 * process group, an empty signal mask, default signal actions, and limits on wall
 * clock, CPU time, address space and file size.
 *
 * Works where the process ignores SIGCHLD or somebody else reaps children: the end of
 * the child is seen through a pidfd (or polling on old kernels), and a lost exit status
 * is reported as such.  No lock, no global state: safe to call from any thread. */
#ifndef HA_CPU_COMPILE_PROCESS_H
#define HA_CPU_COMPILE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

#define HA_PROCESS_FILES_MAX 16

/* A memory file and, after ha_memory_file_map, a view of its bytes. */
struct ha_memory_file {
    int fd;      /* owned, -1 when closed */
    char *bytes; /* owned mapping, NULL before ha_memory_file_map or when empty */
    size_t size;
    char *path; /* owned; NULL where /proc leads to it: see core/unnamed_file.h */
};
#define HA_MEMORY_FILE_INIT {-1, NULL, 0, NULL}

/* Creates an empty file; `name` shows up in /proc only. */
enum ha_status ha_memory_file_open(struct ha_memory_file *file, const char *name);
/* Appends bytes at the file position of the descriptor. */
enum ha_status ha_memory_file_write(struct ha_memory_file *file, const void *bytes,
                                    size_t size);
/* Moves the file position to the start, for a child that reads it as standard input. */
enum ha_status ha_memory_file_rewind(struct ha_memory_file *file);
/* Maps what the file holds now, read-only for the caller; replaces an older view. */
enum ha_status ha_memory_file_map(struct ha_memory_file *file);
/* Closes and unmaps; harmless on a file that was never opened. */
void ha_memory_file_close(struct ha_memory_file *file);

struct ha_process_request {
    const char *const *argv; /* borrowed, NULL terminated, argv[0] is the path */
    const char *const *envp; /* borrowed, NULL terminated; NULL = LANG=C only */
    struct ha_memory_file *const *files; /* borrowed; entry i becomes descriptor i */
    uint32_t file_count;                 /* >= 3: standard input, output, error */
    uint64_t deadline_ns;         /* on the clock of core/clock.h; UINT64_MAX = never */
    uint64_t address_space_bytes; /* 0 = no limit */
    uint64_t file_bytes;          /* largest file the child may write, 0 = no limit */
    bool (*interrupted)(void); /* may be NULL; asked every 50 ms, true ends the child */
};

enum ha_process_end {
    HA_PROCESS_EXITED = 0, /* `code` is the exit status */
    HA_PROCESS_SIGNALED,   /* `code` is the signal */
    HA_PROCESS_TIMED_OUT,  /* killed by us; or the CPU limit */
    HA_PROCESS_INTERRUPTED,
    HA_PROCESS_UNKNOWN, /* ended, but somebody else took the exit status */
};

struct ha_process_result {
    enum ha_process_end end;
    int code;
};

#define HA_PROCESSES_MAX 64

/* Runs children in order, `at_once` side by side, until all have ended; result i is
 * that of request i.  All are ended where one of them cannot be started, and at the
 * first request's deadline or interrupt; those that had not ended by then have its
 * result.  `count` is 1 to HA_PROCESSES_MAX, `at_once` at least 1. */
enum ha_status ha_process_run_all(const struct ha_process_request *requests,
                                  struct ha_process_result *results, uint32_t count,
                                  uint32_t at_once);

/* Runs one child to its end.  HA_OK: the child ran, `result` says how it ended.  Else
 * it was never started (HA_ERROR_SYSTEM, HA_ERROR_INVALID).  No child is left behind.
 */
enum ha_status ha_process_run(const struct ha_process_request *request,
                              struct ha_process_result *result);

#endif
