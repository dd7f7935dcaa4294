/* SPDX-License-Identifier: MIT */
#include "tool/profiler/listen.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/thread.h"
#include "tool/profiler/attach.h"
#include "tool/profiler/base_config.h"
#include "tool/profiler/bell.h"
#include "tool/profiler/by_signal.h"
#include "tool/profiler/daemon.h"
#include "tool/profiler/session.h"

#define ON_DEMAND "on-demand" /* of HIPADAPT_PROFILE */
#define NS_A_S UINT64_C(1000000000)

enum { END_WAIT_S = 1 };

enum number { DAEMON, ATTACH, SIGNAL, WAYS };

static const struct ha_way *const ways[WAYS] = {
    [DAEMON] = &ha_daemon_way,
    [ATTACH] = &ha_attach_way,
    [SIGNAL] = &ha_signal_way,
};

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t working = PTHREAD_MUTEX_INITIALIZER;
static int bell = -1;    /* -1: no thread */
static bool open_[WAYS]; /* under `working` */
static bool ended;       /* so is this */

/* ---- the thread ---- */

/* What there is to wait for; the bell is the first. */
static nfds_t
gather(struct pollfd *fds, uint64_t *due_ns)
{
    nfds_t count = 1;

    fds[0] = (struct pollfd){bell, POLLIN, 0};
    for (int i = 0; i < WAYS; i++) {
        if (open_[i]) {
            count += ways[i]->wait(fds + count, due_ns);
        }
    }
    return count;
}

static void
wait_for(struct pollfd *fds, nfds_t count, uint64_t due_ns)
{
    uint64_t now = ha_clock_ns(), left = due_ns > now ? due_ns - now : 0;
    struct timespec limit = {(time_t)(left / NS_A_S), (long)(left % NS_A_S)};

    (void)ppoll(fds, count, due_ns != UINT64_MAX ? &limit : NULL, NULL);
    if (fds[0].revents != 0) {
        ha_bell_hear(bell);
    }
}

static void
look(void)
{
    for (int i = 0; i < WAYS && !ended; i++) {
        if (open_[i]) {
            ways[i]->look(ha_clock_ns());
        }
    }
}

static void *
run(void *unused)
{
    struct pollfd fds[1 + WAYS * HA_WAY_FDS_MAX];

    ha_log_own_thread();
    for (;;) {
        uint64_t due_ns = UINT64_MAX;
        pthread_mutex_lock(&working);
        look();
        nfds_t count = gather(fds, &due_ns);
        bool over = ended;
        pthread_mutex_unlock(&working);
        if (over) {
            return unused;
        }
        wait_for(fds, count, due_ns);
    }
}

/* ---- opening ---- */

static enum ha_status
need_thread(void)
{
    pthread_t thread;

    if (bell >= 0) {
        return HA_OK;
    }
    bell = ha_bell_open();
    if (bell < 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "no descriptor for a listener: %s",
                            strerror(errno));
    }
    enum ha_status status = ha_thread_start(&thread, "hipadapt-listen", run, NULL);
    if (status == HA_OK) {
        (void)pthread_detach(thread);
    } else {
        (void)close(bell);
        bell = -1;
    }
    return status;
}

static enum ha_status
open_way(enum number number)
{
    enum ha_status status = HA_OK;

    ha_base_config_note();
    (void)ha_log_enabled(1); /* the thread goes by what one of the program's has seen */
    pthread_mutex_lock(&opening);
    pthread_mutex_lock(&working);
    if (!open_[number]) {
        status = ways[number]->open();
        open_[number] = status == HA_OK;
    }
    pthread_mutex_unlock(&working);
    if (status == HA_OK) {
        status = need_thread();
    }
    if (status == HA_OK) {
        ha_bell_ring(bell);
    }
    pthread_mutex_unlock(&opening);
    return status;
}

static void
open_or_tell(enum number number)
{
    if (open_way(number) != HA_OK) {
        ha_log(0, "requests by %s are not listened to: %s", ways[number]->name,
               ha_error_text());
    }
}

enum ha_status
ha_listen_attach(void)
{
    return open_way(ATTACH);
}

void
ha_listen_from_environment(void)
{
    const char *profile = ha_env(HA_ENV_PROFILE);

    if (profile != NULL && strcmp(profile, ON_DEMAND) == 0) {
        open_or_tell(ATTACH);
    }
    if (ha_env(HA_ENV_USE_DAEMON) != NULL) {
        open_or_tell(DAEMON);
    }
    if (ha_env(HA_ENV_PROFILE_SIGNAL) != NULL) {
        open_or_tell(SIGNAL);
    }
}

/* ---- end and fork ---- */

/* The thread may be in a look, which is short; but a process that ends waits for nobody
 * for long. */
__attribute__((destructor)) void
ha_listen_end(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_WAIT_S;
    if (bell < 0 || pthread_mutex_timedlock(&working, &until) != 0) {
        return;
    }
    for (int i = 0; i < WAYS; i++) {
        if (open_[i] && !ended) {
            ways[i]->end();
        }
    }
    ended = true;
    pthread_mutex_unlock(&working);
    ha_bell_ring(bell);
}

void
ha_listen_forked(void)
{
    (void)pthread_mutex_init(&opening, NULL);
    (void)pthread_mutex_init(&working, NULL);
    for (int i = 0; i < WAYS; i++) {
        if (open_[i]) {
            ways[i]->forked();
            open_[i] = false;
        }
    }
    if (bell >= 0) {
        (void)close(bell);
        bell = -1;
    }
}
