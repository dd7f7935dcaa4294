/* SPDX-License-Identifier: MIT */
/* Messages of dynolog as datagrams between sockets; daemon.h draws them.
 *
 * A *post* is our socket, with its own name and the daemon's.  One thread uses it. */
#ifndef HA_TOOL_PROFILER_DATAGRAM_H
#define HA_TOOL_PROFILER_DATAGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/status.h"

enum {
    HA_MESSAGE_TYPE_BYTES = 32,
    HA_MESSAGE_HEAD_BYTES = 40,
    HA_MESSAGE_TEXT_BYTES = 1 << 16, /* of a payload that is taken */
};

struct ha_post {
    int fd; /* -1: closed */
    struct sockaddr_un own;
    socklen_t own_bytes;
    struct sockaddr_un daemon;
    socklen_t daemon_bytes;
};

struct ha_message {
    char type[HA_MESSAGE_TYPE_BYTES]; /* with NUL */
    size_t bytes;
    char payload[HA_MESSAGE_TEXT_BYTES + 1]; /* a NUL stands behind it */
};

/* Opens it under a new name; `folder` "": abstract names.  Files of dead processes of
 * this user go from the folder. */
enum ha_status ha_post_open(struct ha_post *post, const char *folder);

/* Whether others can still find it. */
bool ha_post_is_there(const struct ha_post *post);

/* Closes it, and removes its file. */
void ha_post_close(struct ha_post *post);

/* 0, or errno: EAGAIN where the daemon's queue is full. */
int ha_post_send(const struct ha_post *post, const char *type, const void *payload,
                 size_t bytes);

/* Takes the next datagram.  False: there is none.  *status says whether it is a message
 * of somebody that may send one; then it is in `message`. */
bool ha_post_take(const struct ha_post *post, struct ha_message *message,
                  enum ha_status *status);

#endif
