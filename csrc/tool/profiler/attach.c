/* SPDX-License-Identifier: MIT */
#include "tool/profiler/attach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "tool/profiler/base_config.h"
#include "tool/profiler/session.h"

#define NS_A_MS UINT64_C(1000000)
#define LOOK_NS (5 * NS_A_MS)        /* between looks at a recording */
#define PATIENCE_NS (5000 * NS_A_MS) /* with a caller that asks for nothing */

enum {
    CALLERS_MAX = 4,
    TEXT_BYTES = 16384,
    ANSWER_BYTES = 4096,
};

struct caller {
    int fd;           /* -1: none */
    uint64_t request; /* 0: not asked yet */
    uint64_t came_ns;
};

static int door = -1;
static struct caller callers[CALLERS_MAX] = {
    {.fd = -1}, {.fd = -1}, {.fd = -1}, {.fd = -1}};
_Static_assert(CALLERS_MAX == 4, "as initialised");

/* ---- answers ---- */

static void
hang_up(struct caller *caller)
{
    (void)close(caller->fd);
    *caller = (struct caller){.fd = -1};
}

/* A field that ends in NUL, cut where there is no room. */
static size_t
add_field(char *answer, size_t used, const char *text)
{
    int length = snprintf(answer + used, ANSWER_BYTES - used, "%s", text);

    used += (size_t)length + 1;
    return used < ANSWER_BYTES ? used : ANSWER_BYTES - 1;
}

static size_t
add_number(char *answer, size_t used, uint64_t number)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return add_field(answer, used, text);
}

/* A caller that takes no answer is gone, which the next look finds. */
static void
send_answer(const struct caller *caller, const char *answer, size_t bytes)
{
    (void)send(caller->fd, answer, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
refuse(struct caller *caller, const char *reason)
{
    char answer[ANSWER_BYTES];
    size_t used = add_field(answer, 0, "refused");

    send_answer(caller, answer, add_field(answer, used, reason));
    hang_up(caller);
}

static void
accept_request(struct caller *caller, uint64_t request)
{
    char answer[ANSWER_BYTES];
    size_t used = add_field(answer, 0, "accepted");

    caller->request = request;
    send_answer(caller, answer, add_number(answer, used, request));
}

/* What became of the recording, once it is over. */
static void
tell_end(struct caller *caller)
{
    struct hipadapt_profile_status now;
    char answer[ANSWER_BYTES];

    (void)ha_session_status(&now);
    bool other = now.request != caller->request;
    if (!other && (now.request_waits || now.state != HIPADAPT_PROFILE_IDLE)) {
        return;
    }
    size_t used = add_field(answer, 0, "over");
    used = add_field(answer, used,
                     other ? "another recording came at once; this one's end was missed"
                           : now.message);
    used = add_field(answer, used, now.message[0] == '\0' ? now.url : "");
    const char *empty = ha_session_why_empty();
    used = add_field(answer, used, empty != NULL ? empty : "");
    const uint64_t counts[] = {now.events, now.kernels, now.lost_events,
                               now.out_of_window_events, now.bytes};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        used = add_number(answer, used, counts[i]);
    }
    send_answer(caller, answer, used);
    hang_up(caller);
}

/* ---- callers ---- */

static void
take_request(struct caller *caller, const char *text)
{
    struct ha_config config;
    uint64_t number = 0;

    ha_base_config_read(&config);
    enum ha_status status = ha_config_parse(&config, text);
    config.exact_file = true;
    enum hipadapt_profile_result result =
        status == HA_OK ? ha_session_plan(&config, &number) : ha_session_result(status);
    if (result == HIPADAPT_PROFILE_OK) {
        accept_request(caller, number);
    } else {
        refuse(caller, ha_error_text());
    }
}

static void
hear(struct caller *caller, uint64_t now_ns)
{
    char text[TEXT_BYTES];
    ssize_t bytes = recv(caller->fd, text, sizeof text - 1, MSG_DONTWAIT | MSG_TRUNC);

    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (caller->request == 0 && now_ns - caller->came_ns > PATIENCE_NS) {
            refuse(caller, "no request came");
        }
        return;
    }
    if (bytes <= 0) {
        ha_session_give_up(caller->request);
        hang_up(caller);
        return;
    }
    if (caller->request != 0) {
        return; /* one connection, one recording: it waits for its end */
    }
    if ((size_t)bytes >= sizeof text) {
        refuse(caller, "the request is too long");
        return;
    }
    text[bytes] = '\0';
    if (strlen(text) != (size_t)bytes) {
        refuse(caller, "the request has a NUL character");
        return;
    }
    take_request(caller, text);
}

static struct caller *
free_caller(void)
{
    for (int i = 0; i < CALLERS_MAX; i++) {
        if (callers[i].fd < 0) {
            return &callers[i];
        }
    }
    return NULL;
}

static void
let_in(struct caller *caller, int fd, uint64_t now_ns)
{
    struct ucred user = {.uid = (uid_t)-1};
    socklen_t bytes = sizeof user;

    *caller = (struct caller){.fd = fd, .came_ns = now_ns};
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &bytes) != 0 ||
        (user.uid != 0 && user.uid != geteuid())) {
        ha_log(1, "process %d of user %u asked for a profile, and is refused",
               (int)user.pid, (unsigned)user.uid);
        refuse(caller, "the process belongs to another user");
    }
}

/* ---- the way ---- */

static enum ha_status
open_attach(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                          "hipadapt-profile-%ld", (long)getpid());
    socklen_t bytes =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

    door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (door >= 0 && bind(door, (const struct sockaddr *)&address, bytes) == 0 &&
        listen(door, CALLERS_MAX) == 0) {
        return HA_OK;
    }
    enum ha_status status =
        ha_error_set(HA_ERROR_SYSTEM, "cannot open the socket '@%s': %s",
                     address.sun_path + 1, strerror(errno));
    if (door >= 0) {
        (void)close(door);
        door = -1;
    }
    return status;
}

static size_t
wait_attach(struct pollfd *fds, uint64_t *due_ns)
{
    uint64_t now_ns = ha_clock_ns();
    size_t count = 0;

    if (free_caller() != NULL) {
        fds[count++] = (struct pollfd){door, POLLIN, 0};
    }
    for (int i = 0; i < CALLERS_MAX; i++) {
        if (callers[i].fd >= 0) {
            uint64_t due = now_ns + (callers[i].request != 0 ? LOOK_NS : PATIENCE_NS);
            *due_ns = due < *due_ns ? due : *due_ns;
            fds[count++] = (struct pollfd){callers[i].fd, POLLIN, 0};
        }
    }
    return count;
}

static void
look_attach(uint64_t now_ns)
{
    for (struct caller *caller = free_caller(); caller != NULL;
         caller = free_caller()) {
        int fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            break;
        }
        let_in(caller, fd, now_ns);
    }
    for (int i = 0; i < CALLERS_MAX; i++) {
        if (callers[i].fd >= 0) {
            hear(&callers[i], now_ns);
        }
        if (callers[i].fd >= 0 && callers[i].request != 0) {
            tell_end(&callers[i]);
        }
    }
}

/* Callers find out by themselves that the process is gone. */
static void
end_attach(void)
{
}

static void
forked_attach(void)
{
    (void)close(door);
    door = -1;
    for (int i = 0; i < CALLERS_MAX; i++) {
        if (callers[i].fd >= 0) {
            hang_up(&callers[i]);
        }
    }
}

const struct ha_way ha_attach_way = {
    .name = "trace attach",
    .open = open_attach,
    .wait = wait_attach,
    .look = look_attach,
    .end = end_attach,
    .forked = forked_attach,
};
