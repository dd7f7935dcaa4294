/* SPDX-License-Identifier: MIT */
#include "cpu/workdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"

#define NAME_BYTES_MAX 1024

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

enum ha_status
ha_workdir_make(struct ha_workdir *dir, const char *const *names,
                const char *const *texts, uint32_t count)
{
    *dir = (struct ha_workdir){.path = ""};
    const char *base = secure_getenv("TMPDIR");
    if (base == NULL || base[0] != '/') {
        base = "/tmp";
    }
    int size = snprintf(dir->path, sizeof dir->path, "%s/hipadapt-XXXXXX", base);
    if (size < 0 || (size_t)size >= sizeof dir->path || mkdtemp(dir->path) == NULL) {
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
    }
    dir->path[0] = '\0';
    ha_list_release(&dir->made);
}
