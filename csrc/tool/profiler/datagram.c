/* SPDX-License-Identifier: MIT */
#include "tool/profiler/datagram.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define DAEMON "dynolog"
#define CLIENT "dynoconfigclient"

enum {
    UUID_BYTES = 37,
    FILE_MODE = 0666,
    SWEEP_MAX = 4096, /* entries of a folder that are looked at */
};

/* ---- names ---- */

/* A random one, of version 4. */
static enum ha_status
make_uuid(char text[UUID_BYTES])
{
    unsigned char byte[16];

    if (getrandom(byte, sizeof byte, 0) != (ssize_t)sizeof byte) {
        return ha_error_set(HA_ERROR_SYSTEM, "no random number: %s", strerror(errno));
    }
    byte[6] = (unsigned char)((byte[6] & 0x0f) | 0x40);
    byte[8] = (unsigned char)((byte[8] & 0x3f) | 0x80);
    char *at = text;
    for (size_t i = 0; i < sizeof byte; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        at += snprintf(at, 4, "%s%02x", dash ? "-" : "", byte[i]);
    }
    return HA_OK;
}

/* The address of a name, with the NUL behind it. */
static enum ha_status
set_address(struct sockaddr_un *address, socklen_t *bytes, const char *folder,
            const char *name)
{
    bool abstract = folder[0] == '\0';
    char *path = address->sun_path;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(path + abstract, sizeof address->sun_path - abstract,
                          "%s%s%s", folder, abstract ? "" : "/", name);
    if (length < 0 || (size_t)length + abstract >= sizeof address->sun_path) {
        return ha_error_set(HA_ERROR_INVALID,
                            "KINETO_IPC_SOCKET_DIR: '%s' is too long for a socket",
                            folder);
    }
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract +
                         (size_t)length + 1);
    return HA_OK;
}

static bool
is_file(const struct ha_post *post)
{
    return post->own.sun_path[0] != '\0';
}

/* ---- files of dead processes ---- */

/* A process that was killed, or has replaced itself, leaves its file. */
static void
remove_if_dead(int probe, int folder, const struct sockaddr_un *address,
               socklen_t bytes, const char *name)
{
    struct stat info;

    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISSOCK(info.st_mode) && info.st_uid == geteuid() &&
        connect(probe, (const struct sockaddr *)address, bytes) != 0 &&
        errno == ECONNREFUSED) {
        (void)unlinkat(folder, name, 0);
    }
}

static void
sweep(const char *path)
{
    struct sockaddr_un address;
    socklen_t bytes;
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    DIR *list = probe >= 0 ? opendir(path) : NULL;
    struct dirent *entry = list != NULL ? readdir(list) : NULL;

    for (int i = 0; entry != NULL && i < SWEEP_MAX; i++, entry = readdir(list)) {
        if (strncmp(entry->d_name, CLIENT, sizeof CLIENT - 1) == 0 &&
            set_address(&address, &bytes, path, entry->d_name) == HA_OK) {
            remove_if_dead(probe, dirfd(list), &address, bytes, entry->d_name);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    if (probe >= 0) {
        (void)close(probe);
    }
}

/* ---- open and close ---- */

static enum ha_status
bind_own(struct ha_post *post)
{
    const int on = 1;

    post->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (post->fd < 0 ||
        setsockopt(post->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        bind(post->fd, (const struct sockaddr *)&post->own, post->own_bytes) != 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "cannot open the socket '%s': %s",
                            is_file(post) ? post->own.sun_path : CLIENT,
                            strerror(errno));
    }
    /* A daemon of another user may be unable to write to it otherwise; who it is, is
     * asked of each datagram. */
    if (is_file(post)) {
        (void)chmod(post->own.sun_path, FILE_MODE);
    }
    return HA_OK;
}

enum ha_status
ha_post_open(struct ha_post *post, const char *folder)
{
    char uuid[UUID_BYTES], name[sizeof CLIENT + UUID_BYTES];
    enum ha_status status = make_uuid(uuid);

    post->fd = -1;
    if (status != HA_OK) {
        return status;
    }
    (void)snprintf(name, sizeof name, "%s%s", CLIENT, uuid);
    status = set_address(&post->own, &post->own_bytes, folder, name);
    if (status == HA_OK) {
        status = set_address(&post->daemon, &post->daemon_bytes, folder, DAEMON);
    }
    if (status == HA_OK && is_file(post)) {
        sweep(folder);
    }
    if (status == HA_OK) {
        status = bind_own(post);
    }
    if (status != HA_OK && post->fd >= 0) {
        (void)close(post->fd);
        post->fd = -1;
    }
    return status;
}

bool
ha_post_is_there(const struct ha_post *post)
{
    struct stat info;

    return post->fd >= 0 && (!is_file(post) || lstat(post->own.sun_path, &info) == 0);
}

void
ha_post_close(struct ha_post *post)
{
    if (post->fd < 0) {
        return;
    }
    (void)close(post->fd);
    post->fd = -1;
    if (is_file(post)) {
        (void)unlink(post->own.sun_path);
    }
}

/* ---- messages ---- */

int
ha_post_send(const struct ha_post *post, const char *type, const void *payload,
             size_t bytes)
{
    char head[HA_MESSAGE_HEAD_BYTES] = {0};
    uint64_t size = bytes;
    struct iovec parts[] = {
        {head, sizeof head},
        {(void *)(uintptr_t)payload, bytes},
    };
    struct msghdr message = {
        .msg_name = (void *)(uintptr_t)&post->daemon,
        .msg_namelen = post->daemon_bytes,
        .msg_iov = parts,
        .msg_iovlen = 2,
    };

    memcpy(head, &size, sizeof size);
    (void)snprintf(head + sizeof size, HA_MESSAGE_TYPE_BYTES, "%s", type);
    while (sendmsg(post->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/* The kernel says who sent it. */
static enum ha_status
check_sender(struct msghdr *message)
{
    struct ucred sender;
    struct cmsghdr *control = CMSG_FIRSTHDR(message);

    if (control == NULL || control->cmsg_level != SOL_SOCKET ||
        control->cmsg_type != SCM_CREDENTIALS ||
        control->cmsg_len < CMSG_LEN(sizeof sender)) {
        return ha_error_set(HA_ERROR_INVALID, "its sender is not known");
    }
    memcpy(&sender, CMSG_DATA(control), sizeof sender);
    if (sender.uid != 0 && sender.uid != geteuid()) {
        return ha_error_set(HA_ERROR_INVALID, "user %u sent it, in process %d",
                            (unsigned)sender.uid, (int)sender.pid);
    }
    return HA_OK;
}

/* `length` is the datagram's own, which may be more than was read. */
static enum ha_status
check_head(const char head[HA_MESSAGE_HEAD_BYTES], size_t length,
           struct ha_message *message)
{
    uint64_t size = 0;

    if (length < HA_MESSAGE_HEAD_BYTES) {
        return ha_error_set(HA_ERROR_INVALID, "it has %zu bytes, of %d at least",
                            length, HA_MESSAGE_HEAD_BYTES);
    }
    memcpy(&size, head, sizeof size);
    memcpy(message->type, head + sizeof size, sizeof message->type);
    message->bytes = length - HA_MESSAGE_HEAD_BYTES;
    if (size != message->bytes) {
        return ha_error_set(HA_ERROR_INVALID,
                            "it says that %" PRIu64 " bytes follow, but %zu do", size,
                            message->bytes);
    }
    if (size > HA_MESSAGE_TEXT_BYTES) {
        return ha_error_set(HA_ERROR_INVALID, "it has %" PRIu64 " bytes, of %d at most",
                            size, HA_MESSAGE_TEXT_BYTES);
    }
    if (memchr(message->type, '\0', sizeof message->type) == NULL) {
        return ha_error_set(HA_ERROR_INVALID, "its type does not end");
    }
    message->payload[size] = '\0';
    return HA_OK;
}

bool
ha_post_take(const struct ha_post *post, struct ha_message *message,
             enum ha_status *status)
{
    char head[HA_MESSAGE_HEAD_BYTES];
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec parts[] = {
        {head, sizeof head},
        {message->payload, HA_MESSAGE_TEXT_BYTES},
    };
    /* No more room than for that: descriptors that somebody sends are dropped. */
    struct msghdr datagram = {
        .msg_iov = parts,
        .msg_iovlen = 2,
        .msg_control = control,
        .msg_controllen = sizeof control,
    };
    ssize_t length = -1;

    do {
        length =
            recvmsg(post->fd, &datagram, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    if (length < 0) {
        return false;
    }
    *status = check_sender(&datagram);
    if (*status == HA_OK) {
        *status = check_head(head, (size_t)length, message);
    }
    return true;
}
