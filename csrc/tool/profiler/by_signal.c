/* SPDX-License-Identifier: MIT */
#include "tool/profiler/by_signal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/env.h"
#include "core/file.h"
#include "core/log.h"
#include "tool/profiler/bell.h"
#include "tool/profiler/session.h"

#define BETWEEN_NS UINT64_C(1000000000)

/* The handler reads these; they are set before it is there. */
static atomic_int bell = -1;
static struct sigaction before;

static int number;
static char file[PATH_MAX]; /* "": the base configuration says all */
static bool waits;          /* a request, for its time */
static uint64_t next_ns;    /* no request before that */

/* ---- the handler ---- */

static void
on_signal(int which, siginfo_t *info, void *context)
{
    const uint64_t one = 1;
    int saved = errno;
    int fd = atomic_load(&bell);

    if (fd >= 0 && write(fd, &one, sizeof one) < 0) {
        /* It is full: there has been a signal before. */
    }
    errno = saved;
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(which, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(which);
    }
}

static enum ha_status
install(void)
{
    struct sigaction ours = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    if (sigaction(number, NULL, &before) == 0) {
        ours.sa_mask = before.sa_mask;
        if (sigaction(number, &ours, NULL) == 0) {
            return HA_OK;
        }
    }
    return ha_error_set(HA_ERROR_SYSTEM, "cannot handle signal %d: %s", number,
                        strerror(errno));
}

static void
put_back(void)
{
    struct sigaction now;

    if (sigaction(number, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
        now.sa_sigaction == on_signal) {
        (void)sigaction(number, &before, NULL);
    }
}

/* ---- names of signals ---- */

/* Signals that nothing else depends on. */
static bool
is_free(long which)
{
    return which == SIGUSR1 || which == SIGUSR2 || which == SIGHUP || which == SIGURG ||
           (which >= SIGRTMIN && which <= SIGRTMAX);
}

static enum ha_status
parse_number(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {
        {"USR1", SIGUSR1},
        {"USR2", SIGUSR2},
        {"HUP", SIGHUP},
        {"URG", SIGURG},
    };
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    char *end = NULL;
    long which = strtol(text, &end, 10);

    if (*end != '\0') {
        which = 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        which = strcasecmp(name, names[i].name) == 0 ? names[i].number : which;
    }
    if (!is_free(which)) {
        return ha_error_set(HA_ERROR_INVALID,
                            "HIPADAPT_PROFILE_SIGNAL: '%s' is none of USR1, USR2, HUP, "
                            "URG, nor a number of these or from %d to %d",
                            text, SIGRTMIN, SIGRTMAX);
    }
    number = (int)which;
    return HA_OK;
}

/* ---- the request ---- */

static enum ha_status
read_text(char **text)
{
    *text = NULL;
    if (file[0] == '\0') {
        *text = strdup("");
        return *text != NULL ? HA_OK : ha_error_set(HA_ERROR_MEMORY, "no memory");
    }
    return ha_file_read_text(file, true, text);
}

static void
request(void)
{
    char *text = NULL;
    uint64_t count = 0;
    enum ha_status status = read_text(&text);
    enum hipadapt_profile_result result =
        status == HA_OK ? ha_session_request(text, &count) : ha_session_result(status);

    free(text);
    if (result == HIPADAPT_PROFILE_OK) {
        ha_log(2, "signal %d: profile request %llu", number, (unsigned long long)count);
    } else {
        ha_log(1, "signal %d: the profile request is refused: %s", number,
               ha_error_text());
    }
}

/* ---- the way ---- */

static enum ha_status
open_signal(void)
{
    const char *path = ha_env(HA_ENV_PROFILE_CONFIG);
    const char *name = ha_env(HA_ENV_PROFILE_SIGNAL);
    enum ha_status status = parse_number(name != NULL ? name : "");
    int length = snprintf(file, sizeof file, "%s", path != NULL ? path : "");

    if (status == HA_OK && (length < 0 || (size_t)length >= sizeof file)) {
        status = ha_error_set(HA_ERROR_INVALID, "HIPADAPT_PROFILE_CONFIG: too long");
    }
    if (status != HA_OK) {
        return status;
    }
    int fd = ha_bell_open();
    if (fd < 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "no descriptor for a signal: %s",
                            strerror(errno));
    }
    atomic_store(&bell, fd);
    status = install();
    if (status != HA_OK) {
        atomic_store(&bell, -1);
        (void)close(fd);
    }
    return status;
}

static size_t
wait_signal(struct pollfd *fds, uint64_t *due_ns)
{
    if (waits && next_ns < *due_ns) {
        *due_ns = next_ns;
    }
    fds[0] = (struct pollfd){atomic_load(&bell), POLLIN, 0};
    return 1;
}

static void
look_signal(uint64_t now_ns)
{
    uint64_t count;

    if (read(atomic_load(&bell), &count, sizeof count) == (ssize_t)sizeof count) {
        waits = true;
    }
    if (waits && now_ns >= next_ns) {
        waits = false;
        next_ns = now_ns + BETWEEN_NS;
        request();
    }
}

static void
end_signal(void)
{
    put_back();
}

/* The handler stays, which then calls the one of before and nothing else. */
static void
forked_signal(void)
{
    (void)close(atomic_exchange(&bell, -1));
    waits = false;
}

const struct ha_way ha_signal_way = {
    .name = "a signal",
    .open = open_signal,
    .wait = wait_signal,
    .look = look_signal,
    .end = end_signal,
    .forked = forked_signal,
};
