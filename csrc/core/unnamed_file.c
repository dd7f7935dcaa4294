/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "core/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDER_OF_DESCRIPTORS "/proc/self/fd"

const char *
ha_temporary_folder(void)
{
    const char *folder = secure_getenv("TMPDIR");

    return folder != NULL && folder[0] == '/' ? folder : "/tmp";
}

/* A new file with a name, which the caller forgets; NULL with errno. */
static char *
make_named(int *fd)
{
    char *path;

    if (asprintf(&path, "%s/hipadapt-XXXXXX", ha_temporary_folder()) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0) {
        int error = errno;
        free(path);
        errno = error;
        return NULL;
    }
    return path;
}

int
ha_unnamed_file(const char *name, char **path)
{
    bool by_name = path != NULL && access(FOLDER_OF_DESCRIPTORS, F_OK) != 0;
    int fd = by_name ? -1 : memfd_create(name, MFD_CLOEXEC);

    if (path != NULL) {
        *path = NULL;
    }
    /* Not where all is well but for the number of files or the memory. */
    if (fd < 0 && (by_name || errno == ENOSYS || errno == EPERM || errno == EACCES)) {
        char *made = make_named(&fd);
        if (made != NULL && by_name) {
            *path = made;
        } else {
            ha_unnamed_file_forget(made);
        }
    }
    return fd;
}

void
ha_unnamed_file_forget(char *path)
{
    if (path != NULL) {
        int error = errno;
        (void)unlink(path);
        free(path);
        errno = error;
    }
}
