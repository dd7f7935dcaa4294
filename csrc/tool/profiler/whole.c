/* SPDX-License-Identifier: MIT */
#include "tool/profiler/whole.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "core/thread.h"
#include "tool/profiler/recorder.h"
#include "tool/text.h"

enum { URL_BYTES = 1024, WORK_WAIT_MS = 500 };

static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

static struct {
    atomic_bool recording;
    pid_t owner;
    int bell; /* eventfd: a signal came */
    atomic_int signal;
    char url[URL_BYTES];
} whole = {.bell = -1};

/* Other values are words, such as "on-demand". */
static bool
is_url(const char *value)
{
    return strchr(value, '/') != NULL || strchr(value, '.') != NULL;
}

/* What a trace shows is what has ended; other threads may go on launching. */
static void
wait_for_work(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    struct ha_collector *collector = ha_recorder_collector();

    for (int i = 0; i < WORK_WAIT_MS; i++) {
        if (collector == NULL || atomic_load(&collector->open) <= 0) {
            return;
        }
        (void)nanosleep(&pause, NULL);
    }
}

enum hipadapt_profile_result
ha_whole_end(void)
{
    struct hipadapt_profile_status status = {.size = sizeof status};

    if (whole.owner != getpid() || !atomic_exchange(&whole.recording, false)) {
        return HIPADAPT_PROFILE_OK;
    }
    wait_for_work();
    /* A program that cancelled or stopped it knows. */
    if (hipadapt_profile_stop() != HIPADAPT_PROFILE_OK) {
        return HIPADAPT_PROFILE_OK;
    }
    enum hipadapt_profile_result result = hipadapt_profile_save(NULL);
    if (result != HIPADAPT_PROFILE_OK) {
        ha_log(0, "HIPADAPT_PROFILE: %s: %s", whole.url, hipadapt_profile_error_text());
    } else if (hipadapt_profile_status(&status) == HIPADAPT_PROFILE_OK) {
        ha_log(2, "HIPADAPT_PROFILE: %s: %llu events, %llu kernels", whole.url,
               (unsigned long long)status.events, (unsigned long long)status.kernels);
    }
    return result;
}

bool
ha_whole_records(void)
{
    return whole.owner == getpid() && atomic_load(&whole.recording);
}

/* ---- signals ---- */

static void
end_by(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    (void)sigemptyset(&usual.sa_mask);
    (void)sigaction(number, &usual, NULL);
    (void)kill(getpid(), number);
}

/* Async-signal-safe. */
static void
on_signal(int number)
{
    const uint64_t one = 1;
    int before = errno, none = 0;

    if (getpid() != whole.owner || !atomic_load(&whole.recording) ||
        !atomic_compare_exchange_strong(&whole.signal, &none, number)) {
        end_by(number); /* a child, the second signal, or after the end */
    } else if (write(whole.bell, &one, sizeof one) < 0) {
        end_by(number);
    }
    errno = before;
}

static void *
wait_for_signal(void *unused)
{
    uint64_t count;

    ha_log_own_thread();
    while (read(whole.bell, &count, sizeof count) < 0 && errno == EINTR) {
    }
    (void)ha_whole_end();
    end_by(atomic_load(&whole.signal));
    return unused;
}

void
ha_whole_watch_signals(void)
{
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, theirs;
    pthread_t thread;

    if (!ha_whole_records() || whole.bell >= 0) {
        return;
    }
    whole.bell = eventfd(0, EFD_CLOEXEC);
    if (whole.bell < 0 ||
        ha_thread_start(&thread, "hipadapt-end", wait_for_signal, NULL) != HA_OK) {
        ha_log(1, "HIPADAPT_PROFILE: a signal will end the process without its trace");
        return;
    }
    (void)pthread_detach(thread);
    (void)sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], NULL, &theirs) == 0 &&
            (theirs.sa_flags & SA_SIGINFO) == 0 && theirs.sa_handler == SIG_DFL) {
            (void)sigaction(signals[i], &ours, NULL);
        }
    }
}

/* Whether calls get CUDA's names, which some readers need. */
static bool
wants_cuda_names(void)
{
    const char *names = ha_env(HA_ENV_PROFILE_API_NAMES);

    if (names == NULL || strcmp(names, "hip") == 0) {
        return false;
    }
    if (strcmp(names, "cuda") != 0) {
        ha_log(0, "HIPADAPT_PROFILE_API_NAMES: '%s' is neither hip nor cuda", names);
        return false;
    }
    return true;
}

static void
at_exit(void)
{
    (void)ha_whole_end();
}

void
ha_whole_begin(void)
{
    const char *pattern = ha_env(HA_ENV_PROFILE);
    struct hipadapt_profile_options options = {.size = sizeof options,
                                               .url = whole.url};

    if (pattern == NULL || !is_url(pattern) || atomic_load(&whole.recording)) {
        return;
    }
    if (ha_recorder_forced()) {
        ha_log(1, "HIPADAPT_PROFILE: nothing is recorded: the program records itself");
        return;
    }
    if (!ha_text_path(pattern, whole.url, sizeof whole.url)) {
        ha_log(0, "HIPADAPT_PROFILE: nothing is recorded: the URL is too long");
        return;
    }
    options.cuda_names = wants_cuda_names();
    if (hipadapt_profile_prepare(&options) != HIPADAPT_PROFILE_OK ||
        hipadapt_profile_start() != HIPADAPT_PROFILE_OK) {
        ha_log(0, "HIPADAPT_PROFILE: nothing is recorded: %s",
               hipadapt_profile_error_text());
        return;
    }
    whole.owner = getpid();
    atomic_store(&whole.recording, true);
    /* Before the session ends at exit, which waits for no work: HIP may have started
     * before this, and then ends only afterwards. */
    (void)atexit(at_exit);
}
