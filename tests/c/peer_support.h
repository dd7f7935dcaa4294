/* SPDX-License-Identifier: MIT */
/* A second process for tests: the same program, started as `test peer WHAT`, with a
 * line to the first one that it has on standard input. */
#ifndef HA_TESTS_PEER_SUPPORT_H
#define HA_TESTS_PEER_SUPPORT_H

#include <sys/socket.h>

#include "cpu_support.h"

UNUSED static int line = -1;

UNUSED static void
say(const void *bytes, size_t size)
{
    CHECK(write(line, bytes, size) == (ssize_t)size);
}

UNUSED static void
hear(void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t count = read(line, (char *)bytes + done, size - done);
        CHECK(count > 0);
        done += (size_t)count;
    }
}

UNUSED static void
step(char which)
{
    char heard;
    say(&which, 1);
    hear(&heard, 1);
    CHECK(heard == which);
}

UNUSED static pid_t
start_peer(const char *what)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], 0);
        execl("/proc/self/exe", "test", "peer", what, NULL);
        _exit(99);
    }
    close(ends[1]);
    if (line >= 0) {
        close(line);
    }
    line = ends[0];
    return child;
}

UNUSED static void
end_peer(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
