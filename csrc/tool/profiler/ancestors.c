/* SPDX-License-Identifier: MIT */
#include "tool/profiler/ancestors.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* 0 where it isn't known. */
static int32_t
parent_of(int32_t pid)
{
    char path[32], text[512];
    int parent = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    ssize_t bytes = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    /* The program's name, which may hold anything, ends with the last bracket. */
    const char *behind = strrchr(text, ')');
    return behind != NULL && sscanf(behind, ") %*c %d", &parent) == 1 ? parent : 0;
}

size_t
ha_ancestors(int32_t *pids, size_t room)
{
    size_t count = 1;

    pids[0] = (int32_t)getpid();
    while (count < room) {
        int32_t parent = parent_of(pids[count - 1]);
        if (parent <= 1) {
            break;
        }
        pids[count++] = parent;
    }
    return count;
}
