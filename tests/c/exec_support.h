/* SPDX-License-Identifier: MIT */
/* What the tests of the kernel executor share: checks, and launches of kernels that are
 * written in C against the table of cpu/base/image.h.  Everything is static: one test,
 * one program. */
#ifndef HA_TESTS_EXEC_SUPPORT_H
#define HA_TESTS_EXEC_SUPPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "cpu/exec/exec.h"
#include "cpu/exec/fiber.h"
#include "cpu/exec/image_runtime.h"

#define UNUSED __attribute__((unused))

/* Kernels are meant to fail; the sanitizers must not catch it first. */
#define KERNEL                                                                         \
    static __attribute__((no_sanitize("address", "undefined", "thread"))) void

/* stdout as it was at the start: tests redirect the streams. */
static FILE *report;

static __attribute__((constructor)) void
open_report(void)
{
    report = fdopen(dup(STDOUT_FILENO), "w");
    if (!report) {
        abort();
    }
    setvbuf(report, NULL, _IOLBF, 256);
}

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(report, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define CHECK_EQUAL(got, want)                                                         \
    do {                                                                               \
        long long got_ = (long long)(got), want_ = (long long)(want);                  \
        if (got_ != want_) {                                                           \
            fprintf(report, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, \
                    got_, want_);                                                      \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

#define RUN(test)                                                                      \
    do {                                                                               \
        test();                                                                        \
        fprintf(report, "ok %s\n", #test);                                             \
    } while (0)

/* The device's table, as an image sees it. */
#define RT (&ha_exec_runtime)

struct shape {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t shared; /* dynamic bytes */
    uint32_t warp_size;
    uint32_t stack_bytes;
    unsigned threads;
    bool fast;
};

static inline UNUSED struct shape
shape_1d(uint32_t grid, uint32_t block)
{
    return (struct shape){.grid = {grid, 1, 1},
                          .block = {block, 1, 1},
                          .warp_size = 32,
                          .stack_bytes = 64 << 10,
                          .threads = 1};
}

static inline UNUSED void
launch_init(struct ha_launch *launch, const struct ha_image_kernel *kernel,
            void *const *args, const struct shape *shape)
{
    memset(launch, 0, sizeof *launch);
    launch->kernel = kernel;
    launch->args = args;
    memcpy(launch->grid.grid_dim, shape->grid, sizeof shape->grid);
    memcpy(launch->grid.block_dim, shape->block, sizeof shape->block);
    launch->shared_dynamic_bytes = shape->shared;
    launch->warp_size = shape->warp_size;
    launch->stack_bytes = shape->stack_bytes;
    launch->fast = shape->fast;
    launch->block_count = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
    ha_exec_prepare(launch, shape->threads);
}

struct helper {
    struct ha_launch *launch;
    int last;
};

static inline UNUSED void *
helper_main(void *argument)
{
    struct helper *helper = argument;
    helper->last = ha_exec_run(helper->launch);
    ha_exec_thread_exit();
    return NULL;
}

/* Runs what was initialised with so many threads, the caller among them, and checks
 * that exactly one of them was the last.  Returns the fault. */
static inline UNUSED int
launch_by(struct ha_launch *launch, unsigned all)
{
    enum { THREADS_MAX = 16 };
    pthread_t threads[THREADS_MAX];
    struct helper helpers[THREADS_MAX];
    unsigned count = all > 0 ? all - 1 : 0;
    CHECK(count <= THREADS_MAX);
    for (unsigned i = 0; i < count; i++) {
        helpers[i] = (struct helper){launch, 0};
        CHECK(pthread_create(&threads[i], NULL, helper_main, &helpers[i]) == 0);
    }
    int last = ha_exec_run(launch);
    for (unsigned i = 0; i < count; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        last += helpers[i].last;
    }
    CHECK_EQUAL(last, 1);
    CHECK_EQUAL(atomic_load(&launch->blocks_done), launch->block_count);
    if (atomic_load(&launch->fault) != HA_FAULT_NONE) {
        CHECK(atomic_load(&launch->fault_ready));
    }
    return atomic_load(&launch->fault);
}

static inline UNUSED int
launch_run(struct ha_launch *launch, const struct ha_image_kernel *kernel,
           void *const *args, const struct shape *shape)
{
    launch_init(launch, kernel, args, shape);
    return launch_by(launch, shape->threads);
}

/* For kernels that must succeed. */
static inline UNUSED void
run_good(const struct ha_image_kernel *kernel, void *const *args,
         const struct shape *shape)
{
    struct ha_launch launch;
    int fault = launch_run(&launch, kernel, args, shape);
    if (fault != HA_FAULT_NONE) {
        fprintf(report, "fault %d: %s\n", fault, launch.fault_text);
    }
    CHECK_EQUAL(fault, HA_FAULT_NONE);
}

/* For kernels that must fail, with this text in the message. */
static inline UNUSED void
run_bad(const struct ha_image_kernel *kernel, void *const *args,
        const struct shape *shape, int fault, const char *text)
{
    struct ha_launch launch;
    CHECK_EQUAL(launch_run(&launch, kernel, args, shape), fault);
    if (!strstr(launch.fault_text, text)) {
        fprintf(report, "'%s' is not in '%s'\n", text, launch.fault_text);
        exit(1);
    }
}

#endif
