/* SPDX-License-Identifier: MIT */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file_limit.h"

#define TEMPORARY_TRIES 16
#ifdef HA_STRESS
#define PART_BYTES_MAX 7u /* every read and write is a short one */
#else
#define PART_BYTES_MAX ((size_t)1 << 30)
#endif

static enum ha_status
system_error(const char *what, const char *path)
{
    int saved = errno;
    enum ha_status status =
        saved == ENOENT || saved == ENOTDIR ? HA_ERROR_NOT_FOUND : HA_ERROR_SYSTEM;

    return ha_error_set(status, "%s '%s': %s", what, path, strerror(saved));
}

static size_t
part_of(size_t size)
{
    return size < PART_BYTES_MAX ? size : PART_BYTES_MAX;
}

/* Reads up to `size` bytes; a file that shrinks meanwhile gives fewer. */
static ssize_t
read_fully(int fd, char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t part = read(fd, bytes + done, part_of(size - done));
        if (part < 0 && errno == EINTR) {
            continue;
        }
        if (part < 0) {
            return -1;
        }
        if (part == 0) {
            break;
        }
        done += (size_t)part;
    }
    return (ssize_t)done;
}

int
ha_file_write_all(int fd, const void *bytes, size_t size)
{
    struct ha_file_limit limit;
    const char *next = bytes;
    int result = 0;

    ha_file_limit_hold(&limit);
    while (size > 0 && result == 0) {
        ssize_t part = write(fd, next, part_of(size));
        if (part > 0) {
            next += part;
            size -= (size_t)part;
        } else if (part == 0) {
            errno = ENOSPC;
            result = -1;
        } else if (errno != EINTR) {
            result = -1;
        }
    }
    ha_file_limit_release(&limit);
    return result;
}

enum ha_status
ha_file_read(const char *path, bool own, void **bytes, size_t *size)
{
    enum ha_status status = HA_OK;
    struct stat info;
    char *data = NULL;
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (own ? O_NOFOLLOW : 0));

    if (fd < 0) {
        return system_error("cannot open", path);
    }
    if (fstat(fd, &info) != 0) {
        status = system_error("cannot examine", path);
        goto done;
    }
    if (!S_ISREG(info.st_mode)) {
        status = ha_error_set(HA_ERROR_INVALID, "'%s' is not a regular file", path);
        goto done;
    }
    if (own &&
        (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        status =
            ha_error_set(HA_ERROR_INVALID,
                         "'%s' belongs to, or may be written by, another user", path);
        goto done;
    }
    data = malloc((size_t)info.st_size + 1);
    if (data == NULL) {
        status = ha_error_set(HA_ERROR_MEMORY, "no memory for the %lld bytes of '%s'",
                              (long long)info.st_size, path);
        goto done;
    }
    got = read_fully(fd, data, (size_t)info.st_size);
    if (got < 0) {
        status = system_error("cannot read", path);
        goto done;
    }
    data[got] = '\0';
    *bytes = data;
    *size = (size_t)got;
    data = NULL;
done:
    free(data);
    (void)close(fd);
    return status;
}

enum ha_status
ha_file_read_text(const char *path, bool own, char **text)
{
    void *bytes = NULL;
    size_t size = 0;
    enum ha_status status = ha_file_read(path, own, &bytes, &size);

    if (status == HA_OK && strlen(bytes) != size) {
        status = ha_error_set(HA_ERROR_INVALID, "'%s' has a NUL character", path);
        free(bytes);
    } else if (status == HA_OK) {
        *text = bytes;
    }
    return status;
}

/* A new file in `dirfd` under a name nobody else has; a name that a dead process with
 * the same id left behind is passed over. */
static int
temporary_open(int dirfd, char *name, size_t name_bytes)
{
    static atomic_uint serial;
    int fd = -1;

    for (int tries = 0; tries < TEMPORARY_TRIES; tries++) {
        (void)snprintf(name, name_bytes, ".%ld-%u-%llx.tmp", (long)getpid(),
                       atomic_fetch_add(&serial, 1), (unsigned long long)ha_clock_ns());
        fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
        if (fd >= 0 || errno != EEXIST) {
            break;
        }
    }
    return fd;
}

enum ha_status
ha_file_write_atomic(const char *dir, const char *name, const void *bytes, size_t size)
{
    enum ha_status status = HA_OK;
    char temporary[NAME_MAX + 1];
    bool made = false;
    int fd = -1;
    int dirfd = -1;

    if (name[0] == '\0' || strchr(name, '/') != NULL) {
        return ha_error_set(HA_ERROR_INVALID, "'%s' is not the name of a file", name);
    }
    dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (dirfd < 0) {
        return system_error("cannot open folder", dir);
    }
    fd = temporary_open(dirfd, temporary, sizeof temporary);
    if (fd < 0) {
        status = system_error("cannot create a file in", dir);
        goto done;
    }
    made = true;
    if (ha_file_write_all(fd, bytes, size) != 0) {
        status = system_error("cannot write a file in", dir);
        goto done;
    }
    if (renameat(dirfd, temporary, dirfd, name) != 0) {
        status = system_error("cannot rename a file in", dir);
        goto done;
    }
    made = false;
done:
    if (made) {
        (void)unlinkat(dirfd, temporary, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    (void)close(dirfd);
    return status;
}

enum ha_status
ha_file_write(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);

    if (fd < 0) {
        return system_error("cannot open", path);
    }
    enum ha_status status = ha_file_write_all(fd, bytes, size) != 0
                                ? system_error("cannot write", path)
                                : HA_OK;
    if (close(fd) != 0 && status == HA_OK) {
        status = system_error("cannot write", path);
    }
    return status;
}

enum ha_status
ha_dir_private(const char *path)
{
    char partial[PATH_MAX];
    size_t length = strlen(path);
    struct stat info;

    /* "link/" would be followed where "link" is not. */
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    if (length == 0 || length >= sizeof partial) {
        return ha_error_set(HA_ERROR_INVALID, "folder name of %zu bytes", length);
    }
    memcpy(partial, path, length);
    partial[length] = '\0';
    for (size_t i = 1; i <= length; i++) {
        if (partial[i] != '/' && partial[i] != '\0') {
            continue;
        }
        char kept = partial[i];
        partial[i] = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST) {
            return system_error("cannot make folder", partial);
        }
        partial[i] = kept;
    }
    if (lstat(partial, &info) != 0) {
        return system_error("cannot examine folder", path);
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & 0077) != 0) {
        return ha_error_set(HA_ERROR_INVALID,
                            "'%s' is not a folder of this user alone (mode %03o)", path,
                            (unsigned)(info.st_mode & 0777));
    }
    return HA_OK;
}
