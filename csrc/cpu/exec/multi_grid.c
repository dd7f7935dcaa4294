/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/multi_grid.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/hip.h"

struct ha_multi *
ha_multi_new(uint32_t count)
{
    struct ha_multi *multi = calloc(1, sizeof *multi + count * sizeof multi->grids[0]);
    if (!multi) {
        return NULL;
    }
    if (pthread_mutex_init(&multi->lock, NULL) != 0) {
        free(multi);
        return NULL;
    }
    static _Atomic uint64_t numbered;
    multi->number = atomic_fetch_add_explicit(&numbered, 1, memory_order_relaxed) + 1;
    multi->count = count;
    multi->references = 1;
    return multi;
}

void
ha_multi_retain(struct ha_multi *multi)
{
    (void)pthread_mutex_lock(&multi->lock);
    multi->references++;
    (void)pthread_mutex_unlock(&multi->lock);
}

void
ha_multi_release(struct ha_multi *multi)
{
    (void)pthread_mutex_lock(&multi->lock);
    bool last = --multi->references == 0;
    (void)pthread_mutex_unlock(&multi->lock);
    if (last) {
        (void)pthread_mutex_destroy(&multi->lock);
        free(multi);
    }
}

/* Lock held. Threads that wait look for it by themselves, in short intervals. */
__attribute__((format(printf, 3, 4))) static void
fail(struct ha_multi *multi, int code, const char *format, ...)
{
    va_list args;
    if (atomic_load(&multi->failed)) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(multi->text, sizeof multi->text, format, args);
    va_end(args);
    multi->code = code;
    atomic_store(&multi->failed, true);
}

/* Some grids wait for others that are over. Lock held. */
static void
fail_barrier(struct ha_multi *multi)
{
    fail(multi, hipErrorLaunchFailure,
         "grid %u (device %d) waits at a multi-grid barrier (line %u), and grid %u "
         "(device %d) has ended without it",
         multi->first_waiting, multi->grids[multi->first_waiting].device, multi->line,
         multi->first_ended, multi->grids[multi->first_ended].device);
}

void
ha_multi_arrive(struct ha_multi *multi, uint32_t rank, uint32_t line)
{
    (void)pthread_mutex_lock(&multi->lock);
    if (multi->waiting++ == 0) {
        multi->first_waiting = rank;
        multi->line = line;
    }
    bool opens = multi->waiting == multi->count;
    if (multi->ended > 0) {
        fail_barrier(multi);
    } else if (opens) {
        multi->waiting = 0;
        atomic_fetch_add(&multi->round, 1);
    }
    (void)pthread_mutex_unlock(&multi->lock);
    if (opens) {
        (void)syscall(SYS_futex, &multi->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL,
                      0);
    }
}

void
ha_multi_leave(struct ha_multi *multi, uint32_t rank, int code, const char *text)
{
    (void)pthread_mutex_lock(&multi->lock);
    if (multi->ended++ == 0) {
        multi->first_ended = rank;
    }
    if (code != hipSuccess) {
        fail(multi, code, "grid %u (device %d) of the launch failed: %s", rank,
             multi->grids[rank].device, text ? text : "it did not begin");
    } else if (multi->waiting > 0) {
        fail_barrier(multi);
    }
    (void)pthread_mutex_unlock(&multi->lock);
    ha_multi_release(multi);
}
