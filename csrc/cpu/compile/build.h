/* SPDX-License-Identifier: MIT */
/* What compiling (cpu/compile/compile.h) and linking (cpu/compile/link.h) have in
 * common: compilers as child processes, and the way from device IR to an image
 * (cpu/compile/image_file.h).
 *
 *     device IR --rewrite--> host IR --clang--> object --lld--> ELF --seal--> image
 *                            host IR --clang--> object /
 *
 * A long program's host IR comes in parts (cpu/compile/rewrite_parts.h), one a
 * processor, which are compiled side by side.
 *
 * A *step* is one child process (cpu/compile/process.h); its messages go to the log.  A
 * build belongs to one thread; no lock, no global state. */
#ifndef HA_CPU_COMPILE_BUILD_H
#define HA_CPU_COMPILE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/compile_result.h"
#include "cpu/compile/messages.h"
#include "cpu/compile/process.h"
#include "cpu/compile/toolchain.h"

#define HA_BUILD_EXTRA_MAX (HA_PROCESS_FILES_MAX - 3)

struct ha_build {
    struct ha_toolchain toolchain;
    struct ha_messages_paths paths; /* borrowed: names in messages */
    struct ha_bytes log;            /* owned */
    bool (*interrupted)(void);      /* may be NULL */
    uint32_t warp_size;
    unsigned level;     /* of optimisation, 0 to 3 */
    bool guard;         /* HIPADAPT_CPU_GUARD: kernels ask before each access */
    bool check;         /* kernels are checked; these two say how */
    bool asks;          /* they tell of each access: cpu/compile/check_insert.h */
    bool shadow;        /* they keep shadow memory: cpu/compile/shadow_insert.h */
    bool numbers;       /* and for NaN: cpu/compile/numbers_insert.h */
    const char *source; /* borrowed, for what is checked: the text and its name */
    size_t source_size;
    const char *source_name;
    bool lockstep; /* HIPADAPT_CPU_LOCKSTEP: the lanes of a warp run in step */
    bool in_order; /* accesses stay as the program has them; `lockstep` implies it */
    bool explain;  /* the image tells what the back end did, too */
    uint64_t deadline_ns;
    long timeout_seconds;
    bool cacheable;    /* nothing was read that the key does not know of */
    uint64_t asked_ns; /* when `interrupted` was asked last by ha_build_go_on */
};

/* Starts the clock of HIPADAPT_COMPILE_TIMEOUT: to be called first, because the limit
 * covers our own work as well as the processes.  Reads from the environment whether
 * there is a guard, whether lanes run in step and whether kernels are explained. */
void ha_build_start(struct ha_build *build);

/* Whether what the front end wrote is changed before it is optimised. */
bool ha_build_prepares(const struct ha_build *build);

/* Adds the flags of an optimiser that keeps accesses in order, if the build is so. */
void ha_build_order_flags(const struct ha_build *build, struct ha_list *arguments);

/* HA_OK, or HA_ERROR_TIMEOUT where the time is over or the program interrupts the
 * build; the text names `what`, which cannot go on. */
#define HA_BUILD_WAITING "another process that compiles the same"
enum ha_status ha_build_go_on(struct ha_build *build, const char *what);
/* The same for cpu/compile/rewrite.h; the context is the build. */
enum ha_status ha_build_stop_rewriter(void *build);

/* What a step reads and writes; everything is borrowed. */
struct ha_step_files {
    struct ha_memory_file *input;        /* standard input */
    struct ha_memory_file *output;       /* standard output: the step opens it */
    struct ha_memory_file *const *extra; /* the descriptors 3 and up */
    uint32_t extra_count;                /* at most HA_BUILD_EXTRA_MAX */
};

/* One of several steps that run side by side; everything is borrowed. */
struct ha_build_task {
    const struct ha_list *arguments;
    struct ha_step_files files;
    bool aside; /* where it fails it has no output, and what it says is nobody's */
};
#define HA_STEPS_MAX HA_PROCESSES_MAX

/* Runs `zig <arguments>` for each step, as many at once as there are processors; `what`
 * names them in messages.  The outputs are mapped after success. */
enum ha_status ha_build_steps(struct ha_build *build, const char *what,
                              const struct ha_build_task *steps, uint32_t count);

/* Runs `zig <arguments>`; `what` names the step in messages.  The output is mapped
 * after success: a step that succeeds has written something. */
enum ha_status ha_build_step(struct ha_build *build, const char *what,
                             const struct ha_list *arguments,
                             const struct ha_step_files *given);

/* Appends flags up to a NULL. */
void ha_build_flags(struct ha_list *arguments, const char *const *flags);

/* Device IR as text, into the image and the lowered names of the result. */
enum ha_status ha_build_image(struct ha_build *build, const char *ir, size_t ir_size,
                              uint32_t name_count, struct ha_compile_result *result);

/* `zig clang` for device IR from standard input: into bitcode as it is, or into text;
 * text may be optimised by further flags. IR of another target is an error. */
void ha_build_ir_arguments(const struct ha_build *build, struct ha_list *arguments,
                           bool bitcode);

/* Moves the log into the result: HA_ERROR_MEMORY where there is none. */
enum ha_status ha_build_take_log(struct ha_build *build,
                                 struct ha_compile_result *result);

/* The failure that ha_error_text has now becomes the last line of the result's log,
 * unless the compiler's own messages say as much.  Gives `status` with the same text.
 */
enum ha_status ha_build_explain(struct ha_build *build, enum ha_status status,
                                struct ha_compile_result *result);

void ha_build_release(struct ha_build *build);

#endif
