/* SPDX-License-Identifier: MIT */
#include "tool/profiler/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/log.h"
#include "tool/profiler/gzip.h"

#define SUFFIX ".hipadapt.tmp"
enum { TEMPORARIES_MAX = 64 };

_Static_assert(HA_OUTPUT_NAME_BYTES == NAME_MAX + 1, "a name of a folder's entry");

static enum ha_status
system_error(const char *what, const char *path)
{
    enum ha_status status =
        errno == ENOENT || errno == ENOTDIR ? HA_ERROR_NOT_FOUND : HA_ERROR_SYSTEM;

    return ha_error_set(status, "%s '%s': %s", what, path, strerror(errno));
}

/* ---- temporaries of dead processes ---- */

/* Whether the name is `<file>.<pid>[-<n>].hipadapt.tmp`. */
static bool
is_temporary(const char *name)
{
    const char *end = strstr(name, SUFFIX);
    const char *at = end;

    if (end == NULL || end[sizeof SUFFIX - 1] != '\0') {
        return false;
    }
    while (at > name && strchr("0123456789-", at[-1]) != NULL) {
        at--;
    }
    return at < end && at > name + 1 && at[-1] == '.';
}

static void
remove_if_left(int dir, const char *name)
{
    struct stat info, again;
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return;
    }
    /* The name must still be that of the file that is locked. */
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(dir, name, &again, AT_SYMLINK_NOFOLLOW) == 0 &&
        again.st_ino == info.st_ino && again.st_dev == info.st_dev) {
        (void)unlinkat(dir, name, 0);
        ha_log(1, "removed %s, of a process that ended while it wrote a trace", name);
    }
    (void)close(fd);
}

static void
sweep(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;

    if (list == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return; /* a folder that can't be read keeps what it has */
    }
    for (struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (is_temporary(entry->d_name)) {
            remove_if_left(dir, entry->d_name);
        }
    }
    (void)closedir(list);
}

/* ---- opening ---- */

/* Splits the path; opens the folder. */
static enum ha_status
open_folder(struct ha_output *output, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = (size_t)(name - path);

    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return ha_error_set(HA_ERROR_INVALID, "'%s' is not the name of a file", path);
    }
    if (length >= sizeof folder || strlen(name) >= sizeof output->name) {
        errno = ENAMETOOLONG;
        return system_error("cannot write", path);
    }
    memcpy(folder, path, length);
    folder[length] = '\0';
    (void)snprintf(output->name, sizeof output->name, "%s", name);
    output->dir = open(length > 0 ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return output->dir >= 0 ? HA_OK : system_error("cannot open the folder of", path);
}

/* What stands at the name now is nothing, or a file that may be replaced. */
static enum ha_status
check_target(const struct ha_output *output, const char *path)
{
    struct stat info;

    if (fstatat(output->dir, output->name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? HA_OK : system_error("cannot examine", path);
    }
    if (S_ISLNK(info.st_mode)) {
        return ha_error_set(HA_ERROR_INVALID,
                            "'%s' is a link, and a trace is not written through links",
                            path);
    }
    if (!S_ISREG(info.st_mode)) {
        return ha_error_set(HA_ERROR_INVALID, "'%s' is not a regular file", path);
    }
    return HA_OK;
}

/* Locks the new file.  Another process may have taken it for one that was left, between
 * its making and its lock: false then, and the name is free again. */
static bool
lock_temporary(const struct ha_output *output)
{
    struct stat info, named;

    /* Whoever has the lock now looks and goes.  A file system without locks gives none
     * to anybody, so that nothing is removed there. */
    while (flock(output->fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    return fstat(output->fd, &info) == 0 &&
           fstatat(output->dir, output->temporary, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           named.st_ino == info.st_ino && named.st_dev == info.st_dev;
}

/* The name of try `number`; false where it is too long. */
static bool
name_temporary(struct ha_output *output, int number)
{
    char more[16] = "";

    if (number > 0) {
        (void)snprintf(more, sizeof more, "-%d", number);
    }
    int length = snprintf(output->temporary, sizeof output->temporary,
                          "%s.%ld%s" SUFFIX, output->name, (long)getpid(), more);
    return length > 0 && (size_t)length < sizeof output->temporary;
}

static enum ha_status
open_temporary(struct ha_output *output, const char *path)
{
    errno = ENAMETOOLONG;
    for (int i = 0; i < TEMPORARIES_MAX && name_temporary(output, i); i++) {
        output->fd = openat(output->dir, output->temporary,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (output->fd >= 0 && lock_temporary(output)) {
            return HA_OK;
        }
        if (output->fd >= 0) {
            (void)close(output->fd);
            output->fd = -1;
        } else if (errno != EEXIST) {
            break;
        }
    }
    return system_error("cannot create a temporary file for", path);
}

enum ha_status
ha_output_open(struct ha_output *output, const char *path, bool gzip)
{
    enum ha_status status;

    memset(output, 0, sizeof *output);
    output->dir = output->fd = -1;
    output->owner = getpid();
    status = open_folder(output, path);
    if (status == HA_OK) {
        status = check_target(output, path);
    }
    if (status == HA_OK && gzip) {
        status = ha_gzip_new(&output->gzip);
    }
    if (status == HA_OK) {
        output->buffer = malloc(HA_OUTPUT_BYTES);
        status = output->buffer != NULL
                     ? HA_OK
                     : ha_error_set(HA_ERROR_MEMORY, "no memory to write '%s'", path);
    }
    if (status == HA_OK) {
        sweep(output->dir);
        status = open_temporary(output, path);
    }
    if (status != HA_OK) {
        ha_output_abandon(output);
        return status;
    }
    output->at = output->buffer;
    output->end = output->buffer + HA_OUTPUT_BYTES;
    return HA_OK;
}

/* ---- writing ---- */

static void
remove_temporary(struct ha_output *output)
{
    if (output->fd >= 0) {
        if (output->owner == getpid()) {
            (void)unlinkat(output->dir, output->temporary, 0);
        }
        (void)close(output->fd);
        output->fd = -1;
    }
}

static void
fail(struct ha_output *output, enum ha_status status, const char *text)
{
    output->status = status;
    (void)snprintf(output->text, sizeof output->text, "cannot write '%.256s': %s",
                   output->name, text);
    remove_temporary(output);
}

static bool
write_out(void *context, const void *bytes, size_t size)
{
    struct ha_output *output = context;

    if (ha_file_write_all(output->fd, bytes, size) != 0) {
        fail(output, HA_ERROR_SYSTEM, strerror(errno));
        return false;
    }
    output->bytes += size;
    return true;
}

static void
flush(struct ha_output *output, bool last)
{
    size_t size = (size_t)(output->at - output->buffer);

    output->at = output->buffer;
    if (output->status != HA_OK) {
        return;
    }
    if (output->gzip == NULL) {
        (void)write_out(output, output->buffer, size);
    } else if (!ha_gzip_write(output->gzip, output->buffer, size, last, write_out,
                              output) &&
               output->status == HA_OK) {
        fail(output, HA_ERROR_MEMORY, "zlib has no memory");
    }
}

bool
ha_output_make_room(struct ha_output *output, size_t bytes)
{
    flush(output, false);
    if (output->status == HA_OK && (size_t)(output->end - output->buffer) < bytes) {
        char *more = malloc(bytes);
        if (more == NULL) {
            fail(output, HA_ERROR_MEMORY, "no memory for a long text");
        } else {
            free(output->buffer);
            output->buffer = output->at = more;
            output->end = more + bytes;
        }
    }
    return output->status == HA_OK;
}

enum ha_status
ha_output_status(const struct ha_output *output)
{
    return output->status == HA_OK ? HA_OK
                                   : ha_error_set(output->status, "%s", output->text);
}

/* ---- the end ---- */

enum ha_status
ha_output_finish(struct ha_output *output)
{
    enum ha_status status;

    flush(output, true);
    if (output->status == HA_OK &&
        renameat(output->dir, output->temporary, output->dir, output->name) != 0) {
        fail(output, HA_ERROR_SYSTEM, strerror(errno));
    }
    if (output->status == HA_OK) {
        (void)close(output->fd);
        output->fd = -1;
    }
    status = ha_output_status(output);
    ha_output_abandon(output);
    return status;
}

void
ha_output_abandon(struct ha_output *output)
{
    remove_temporary(output);
    ha_gzip_free(output->gzip);
    output->gzip = NULL;
    free(output->buffer);
    output->buffer = output->at = output->end = NULL;
    if (output->dir >= 0) {
        (void)close(output->dir);
        output->dir = -1;
    }
}
