/* SPDX-License-Identifier: MIT */
#include "cpu/compile/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/log.h"
#include "core/unnamed_file.h"

#define NAME_BYTES_MAX 1024
#define DEPTH_MAX (NAME_BYTES_MAX / 2) /* of folders in it: names are that long */
#define MAKE_TRIES 16
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum ha_status
ha_workdir_check_name(const char *name)
{
    const char *why = NULL;
    size_t size = strlen(name);
    if (size == 0) {
        why = "it is empty";
    } else if (size > NAME_BYTES_MAX) {
        why = "it is too long";
    } else if (name[0] == '/') {
        why = "it is an absolute path";
    }
    for (const char *part = name; why == NULL; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 1 && part[0] == '.') ||
            (length == 2 && part[0] == '.' && part[1] == '.')) {
            why = "it has an empty, '.' or '..' part";
        }
        for (size_t i = 0; i < length && why == NULL; i++) {
            if ((unsigned char)part[i] < ' ' || part[i] == '"' || part[i] == '\\') {
                why = "it has a quote, a backslash or a control character";
            }
        }
        part += length;
        if (*part == '\0') {
            break;
        }
    }
    if (why == NULL) {
        return HA_OK;
    }
    return ha_error_set(HA_ERROR_INVALID, "header name '%.200s': %s", name, why);
}

static enum ha_status
write_file(const char *path, const char *text)
{
    enum ha_status status = HA_OK;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return ha_error_set(HA_ERROR_SYSTEM, "cannot create '%s': %s", path,
                            strerror(errno));
    }
    if (ha_file_write_all(fd, text, strlen(text)) != 0) {
        status = ha_error_set(HA_ERROR_SYSTEM, "cannot write '%s': %s", path,
                              strerror(errno));
    }
    if (close(fd) != 0 && status == HA_OK) {
        status = ha_error_set(HA_ERROR_SYSTEM, "cannot write '%s': %s", path,
                              strerror(errno));
    }
    return status;
}

/* Makes the folders of `path` that are below the root of `dir`. */
static enum ha_status
make_parents(struct ha_workdir *dir, char *path)
{
    for (char *slash = path + strlen(dir->path) + 1;
         (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        if (made == 0) {
            ha_list_add(&dir->made, path);
        } else if (errno != EEXIST) {
            return ha_error_set(HA_ERROR_SYSTEM, "cannot make folder '%s': %s", path,
                                strerror(errno));
        }
        *slash = '/';
    }
    return HA_OK;
}

static enum ha_status
add_header(struct ha_workdir *dir, const char *name, const char *text)
{
    char path[PATH_MAX];
    enum ha_status status = ha_workdir_check_name(name);
    if (status != HA_OK) {
        return status;
    }
    int size = snprintf(path, sizeof path, "%s/%s", dir->path, name);
    if (size < 0 || (size_t)size >= sizeof path) {
        return ha_error_set(HA_ERROR_INVALID, "header name '%.200s' is too long", name);
    }
    status = make_parents(dir, path);
    if (status != HA_OK) {
        return status;
    }
    ha_list_add(&dir->made, path);
    return write_file(path, text);
}

/* Makes the folder and locks it.  A sweep that comes in between may take the new folder
 * for a left one: then there is another. */
static bool
make_locked(struct ha_workdir *dir, const char *base)
{
    for (int turn = 0; turn < MAKE_TRIES; turn++) {
        struct stat info;
        int size = snprintf(dir->path, sizeof dir->path,
                            "%s/" HA_WORKDIR_PREFIX "XXXXXX", base);
        if (size < 0 || (size_t)size >= sizeof dir->path) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (mkdtemp(dir->path) == NULL) {
            return false;
        }
        dir->lock = open(dir->path, OPEN_FOLDER);
        if (dir->lock >= 0) {
            /* Where a file system has no locks, nobody sweeps either. */
            bool swept =
                flock(dir->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
            if (!swept && fstat(dir->lock, &info) == 0 && info.st_nlink > 0) {
                return true;
            }
            (void)close(dir->lock);
        } else if (errno != ENOENT) {
            int error = errno;
            (void)rmdir(dir->path);
            errno = error;
            return false;
        }
    }
    errno = EBUSY;
    return false;
}

enum ha_status
ha_workdir_make(struct ha_workdir *dir, const char *const *names,
                const char *const *texts, uint32_t count)
{
    *dir = (struct ha_workdir){.path = "", .lock = -1};
    const char *base = ha_temporary_folder();
    if (!make_locked(dir, base)) {
        dir->path[0] = '\0';
        return ha_error_set(HA_ERROR_SYSTEM,
                            "cannot make a temporary folder in '%s': %s", base,
                            strerror(errno));
    }
    for (uint32_t i = 0; i < count; i++) {
        enum ha_status status = add_header(dir, names[i], texts[i]);
        if (status != HA_OK) {
            return status;
        }
    }
    if (dir->made.failed) {
        return ha_error_set(HA_ERROR_MEMORY, "headers of the program: no memory");
    }
    return HA_OK;
}

void
ha_workdir_remove(struct ha_workdir *dir)
{
    for (uint32_t i = dir->made.count; i > 0; i--) {
        (void)remove(dir->made.items[i - 1]);
    }
    if (dir->path[0] != '\0') {
        (void)rmdir(dir->path);
        (void)close(dir->lock);
    }
    dir->path[0] = '\0';
    ha_list_release(&dir->made);
}

/* ---- what others left behind ---- */

/* Empties the open folder, which it takes over; links are removed, not followed. */
static void
empty(int folder, unsigned depth)
{
    DIR *directory = fdopendir(folder);
    if (directory == NULL) {
        (void)close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            unlinkat(folder, name, 0) == 0) {
            continue;
        }
        int inner = depth < DEPTH_MAX ? openat(folder, name, OPEN_FOLDER) : -1;
        if (inner >= 0) {
            empty(inner, depth + 1);
            (void)unlinkat(folder, name, AT_REMOVEDIR);
        }
    }
    (void)closedir(directory);
}

/* Removes the folder if it is one of ours that nobody has. */
static void
sweep_folder(int base, const char *name)
{
    struct stat info;
    int folder = openat(base, name, OPEN_FOLDER);
    if (folder < 0) {
        return;
    }
    if (fstat(folder, &info) != 0 || info.st_uid != geteuid() ||
        (info.st_mode & 07777) != 0700 || flock(folder, LOCK_EX | LOCK_NB) != 0) {
        (void)close(folder);
        return;
    }
    /* The lock stays until the name is gone, so that no maker takes it. */
    int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0) {
        empty(copy, 0);
        (void)unlinkat(base, name, AT_REMOVEDIR);
        ha_log(2, "removed '%s', which a process left behind that was killed", name);
    }
    (void)close(folder);
}

static void
sweep(void)
{
    int base = open(ha_temporary_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = base >= 0 ? fdopendir(base) : NULL;
    if (directory == NULL) {
        if (base >= 0) {
            (void)close(base);
        }
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strncmp(entry->d_name, HA_WORKDIR_PREFIX, strlen(HA_WORKDIR_PREFIX)) == 0) {
            sweep_folder(base, entry->d_name);
        }
    }
    (void)closedir(directory);
}

void
ha_workdir_sweep(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, sweep);
}
