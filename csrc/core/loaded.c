/* SPDX-License-Identifier: MIT */
#include "core/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct paths {
    char **paths;
    size_t count;
    size_t room;
};

/* Under a lock of the dynamic linker, where dlopen must not be called. */
static int
note_path(struct dl_phdr_info *info, size_t size, void *data)
{
    struct paths *paths = data;

    (void)size;
    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0') {
        return 0;
    }
    if (paths->count == paths->room) {
        size_t room = paths->room == 0 ? 64 : 2 * paths->room;
        char **more = realloc(paths->paths, room * sizeof *more);
        if (more == NULL) {
            return 1;
        }
        paths->paths = more;
        paths->room = room;
    }
    char *path = strdup(info->dlpi_name);
    if (path == NULL) {
        return 1;
    }
    paths->paths[paths->count++] = path;
    return 0;
}

void
ha_loaded_each(int (*look)(void *library, const char *path, void *data), void *data)
{
    struct paths paths = {NULL, 0, 0};
    int on = 1;

    (void)dl_iterate_phdr(note_path, &paths);
    for (size_t i = 0; i < paths.count; i++) {
        void *library =
            on ? dlopen(paths.paths[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
        if (library != NULL) {
            on = look(library, paths.paths[i], data);
            dlclose(library);
        }
        free(paths.paths[i]);
    }
    free(paths.paths);
}
