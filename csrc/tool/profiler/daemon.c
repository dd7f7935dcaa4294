/* SPDX-License-Identifier: MIT */
#include "tool/profiler/daemon.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"
#include "tool/profiler/ancestors.h"
#include "tool/profiler/base_config.h"
#include "tool/profiler/datagram.h"
#include "tool/profiler/session.h"
#include "tool/profiler/writer.h"

#define NS_A_MS UINT64_C(1000000)
/* Between looks at the base configuration, and between lines about bad datagrams. */
#define BASE_NS (UINT64_C(300000) * NS_A_MS)
#define TOLD_NS (UINT64_C(1000) * NS_A_MS)

enum {
    PIDS_MAX = 11,
    POLL_MIN_MS = 10,
    POLL_MAX_MS = 50000, /* a daemon forgets who is silent for 60 s */
    RETRIES_MAX = 10,
    RETRY_MS = 10,     /* doubles */
    TAKES_A_LOOK = 64, /* so that nobody keeps the thread busy */
    KIND_EVENTS = 1,   /* bits of a request: what could be handed out */
    KIND_ACTIVITIES = 2,
};

static struct {
    struct ha_post post;
    char folder[PATH_MAX]; /* of sockets; "": abstract names */
    char traces[PATH_MAX]; /* where traces may be; without a slash at its end */
    int64_t job;
    bool registered; /* as far as is known */
    bool silent;     /* its absence was told */
    unsigned retries;
    uint64_t poll_ns;
    uint64_t due_ns;
    uint64_t base_due_ns;
    uint64_t told_ns;
    struct ha_message message;
} daemon_ = {.post.fd = -1};

/* ---- a configuration text ---- */

/* Whether the path is below `traces`, by its text. */
static enum ha_status
check_path(const char *url)
{
    const char *path = ha_writer_path(url);
    size_t bytes = strcmp(daemon_.traces, "/") == 0 ? 0 : strlen(daemon_.traces);
    bool below =
        path != NULL && strncmp(path, daemon_.traces, bytes) == 0 && path[bytes] == '/';

    for (const char *at = below ? strstr(path, "..") : NULL; at != NULL;
         at = strstr(at + 1, "..")) {
        below = below &&
                !((at == path || at[-1] == '/') && (at[2] == '\0' || at[2] == '/'));
    }
    return below ? HA_OK
                 : ha_error_set(HA_ERROR_INVALID,
                                "ACTIVITIES_LOG_FILE: '%s' is not below '%s/', which "
                                "KINETO_ONDEMAND_TRACE_DIR names",
                                url, daemon_.traces);
}

/* Starts what the text asks for. */
static enum hipadapt_profile_result
obey(struct ha_config *config, const char *text)
{
    ha_base_config_read(config);
    enum ha_status status = ha_config_parse(config, text);
    if (status == HA_OK) {
        status = check_path(config->log_file);
    }
    return status == HA_OK ? ha_session_plan(config, NULL) : ha_session_result(status);
}

static void
on_config(const char *text)
{
    struct ha_config config;

    enum hipadapt_profile_result result = obey(&config, text);
    const char *trace = config.trace_id[0] != '\0' ? ", trace " : "";
    if (result == HIPADAPT_PROFILE_OK) {
        ha_log(2, "the daemon's request%s%s is accepted", trace, config.trace_id);
    } else {
        ha_log(1, "the daemon's request%s%s is refused: %s", trace, config.trace_id,
               ha_error_text());
    }
}

/* ---- what comes ---- */

static enum ha_status
on_message(const struct ha_message *message)
{
    int32_t instances = 0;

    if (strcmp(message->type, "req") == 0) {
        if (strlen(message->payload) + 1 < message->bytes) {
            return ha_error_set(HA_ERROR_INVALID, "its text has a NUL character");
        }
        if (message->payload[0] != '\0') {
            on_config(message->payload);
        }
        return HA_OK;
    }
    if (strcmp(message->type, "ctxt") != 0) {
        return ha_error_set(HA_ERROR_INVALID, "its type is '%.8s', not req or ctxt",
                            message->type);
    }
    if (message->bytes != sizeof instances) {
        return ha_error_set(HA_ERROR_INVALID, "an answer to ctxt of %zu bytes, not 4",
                            message->bytes);
    }
    memcpy(&instances, message->payload, sizeof instances);
    ha_log(instances < 0 ? 1 : 2, "the daemon answers a registration with %d",
           (int)instances);
    return HA_OK;
}

static void
take_all(uint64_t now_ns)
{
    enum ha_status status;

    for (int i = 0; i < TAKES_A_LOOK; i++) {
        if (!ha_post_take(&daemon_.post, &daemon_.message, &status)) {
            return;
        }
        if (status == HA_OK) {
            status = on_message(&daemon_.message);
        }
        if (status != HA_OK && now_ns - daemon_.told_ns >= TOLD_NS) {
            daemon_.told_ns = now_ns;
            ha_log(1, "a datagram to the profiler is thrown away: %s", ha_error_text());
        }
    }
}

/* ---- what goes ---- */

static int
send_context(void)
{
    const struct {
        int32_t gpu, pid;
        int64_t job;
    } context = {0, (int32_t)getpid(), daemon_.job};

    return ha_post_send(&daemon_.post, "ctxt", &context, sizeof context);
}

static bool
is_free(void)
{
    struct hipadapt_profile_status now;

    (void)ha_session_status(&now);
    return now.state == HIPADAPT_PROFILE_IDLE && !now.request_waits;
}

static int
send_request(void)
{
    struct {
        int32_t kinds, count;
        int64_t job;
        int32_t pids[PIDS_MAX];
    } request = {.kinds = KIND_EVENTS, .job = daemon_.job};

    if (is_free()) {
        request.kinds |= KIND_ACTIVITIES;
    }
    request.count = (int32_t)ha_ancestors(request.pids, PIDS_MAX);
    return ha_post_send(&daemon_.post, "req", &request,
                        offsetof(__typeof__(request), pids) +
                            (size_t)request.count * sizeof *request.pids);
}

/* Our socket, anew where somebody has removed its file. */
static int
need_post(void)
{
    if (ha_post_is_there(&daemon_.post)) {
        return 0;
    }
    ha_post_close(&daemon_.post);
    daemon_.registered = false;
    return ha_post_open(&daemon_.post, daemon_.folder) == HA_OK ? 0 : ENOTCONN;
}

static void
ask(uint64_t now_ns)
{
    int code = need_post();
    uint64_t wait_ns = daemon_.poll_ns;

    if (code == 0 && !daemon_.registered) {
        code = send_context();
    }
    if (code == 0) {
        daemon_.registered = true;
        code = send_request();
    }
    if (code == EAGAIN && daemon_.retries < RETRIES_MAX) {
        uint64_t retry_ns = (RETRY_MS * NS_A_MS) << daemon_.retries++;
        wait_ns = retry_ns < wait_ns ? retry_ns : wait_ns;
    } else if (code != 0) {
        daemon_.retries = 0;
        daemon_.registered = false;
        if (!daemon_.silent) {
            ha_log(2, "no profiling daemon answers: %s; it is asked again",
                   code == ENOTCONN ? ha_error_text() : strerror(code));
        }
        daemon_.silent = true;
    } else {
        daemon_.retries = 0;
        daemon_.silent = false;
    }
    daemon_.due_ns = now_ns + wait_ns;
}

/* ---- the way ---- */

static void
read_base(uint64_t now_ns)
{
    struct ha_config config;

    ha_base_config_read(&config);
    int64_t ms = config.poll_ms;
    ms = ms < POLL_MIN_MS ? POLL_MIN_MS : ms > POLL_MAX_MS ? POLL_MAX_MS : ms;
    daemon_.poll_ns = (uint64_t)ms * NS_A_MS;
    daemon_.base_due_ns = now_ns + BASE_NS;
}

static enum ha_status
note_folder(char *folder, enum ha_env_name name)
{
    const char *value = ha_env(name);
    int length = snprintf(folder, PATH_MAX, "%s", value != NULL ? value : "");

    if (length < 0 || length >= PATH_MAX) {
        return ha_error_set(HA_ERROR_INVALID, "%s: too long",
                            ha_env_table[name].variable);
    }
    while (length > 1 && folder[length - 1] == '/') {
        folder[--length] = '\0';
    }
    return HA_OK;
}

static enum ha_status
open_daemon(void)
{
    enum ha_status status = note_folder(daemon_.folder, HA_ENV_IPC_SOCKET_DIR);

    if (status == HA_OK) {
        status = note_folder(daemon_.traces, HA_ENV_TRACE_DIR);
    }
    daemon_.job = ha_env_long(HA_ENV_JOB_ID, 0, LONG_MAX);
    return status;
}

static size_t
wait_daemon(struct pollfd *fds, uint64_t *due_ns)
{
    *due_ns = daemon_.due_ns < *due_ns ? daemon_.due_ns : *due_ns;
    fds[0] = (struct pollfd){daemon_.post.fd, POLLIN, 0};
    return daemon_.post.fd >= 0;
}

static void
look_daemon(uint64_t now_ns)
{
    if (daemon_.post.fd >= 0) {
        take_all(now_ns);
    }
    if (now_ns >= daemon_.base_due_ns) {
        read_base(now_ns);
    }
    if (now_ns >= daemon_.due_ns) {
        ask(now_ns);
    }
}

static void
end_daemon(void)
{
    ha_post_close(&daemon_.post);
}

static void
forked_daemon(void)
{
    if (daemon_.post.fd >= 0) {
        (void)close(daemon_.post.fd); /* the file is the parent's */
        daemon_.post.fd = -1;
    }
    daemon_.registered = false;
    daemon_.due_ns = daemon_.base_due_ns = 0;
}

const struct ha_way ha_daemon_way = {
    .name = "a daemon",
    .open = open_daemon,
    .wait = wait_daemon,
    .look = look_daemon,
    .end = end_daemon,
    .forked = forked_daemon,
};
