/* SPDX-License-Identifier: MIT */
#include "cpu/compile/depends.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/sha256.h"

/* More than this many paths to look at on each load would cost more than it saves. */
#define ABSENT_MAX 8192
/* File times come from a clock with this step, or a smaller one. */
#define FILE_CLOCK_NS (10 * 1000000L)

struct collector {
    const struct ha_depends_request *request;
    struct ha_cache_inputs *inputs;
    struct ha_list dirs; /* include folders and the folders of files that were read */
    bool cacheable;
};

static bool
is_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && path[size] == '/';
}

static bool
is_own(const struct collector *collector, const char *path)
{
    for (uint32_t i = 0; i < collector->request->own_count; i++) {
        if (is_below(path, collector->request->own[i])) {
            return true;
        }
    }
    return strcmp(path, "-") == 0 || strcmp(path, "<stdin>") == 0;
}

/* A file that changed after the front end started may not be what it read. */
static bool
is_settled(const struct collector *collector, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return false;
    }
    struct timespec limit = collector->request->since;
    limit.tv_nsec -= FILE_CLOCK_NS;
    if (limit.tv_nsec < 0) {
        limit.tv_nsec += 1000000000L;
        limit.tv_sec--;
    }
    const struct timespec *times[] = {&status.st_mtim, &status.st_ctim};
    for (int i = 0; i < 2; i++) {
        if (times[i]->tv_sec > limit.tv_sec ||
            (times[i]->tv_sec == limit.tv_sec && times[i]->tv_nsec >= limit.tv_nsec)) {
            return false;
        }
    }
    return true;
}

static void
add_absent(struct collector *collector, const char *folder, const char *name)
{
    char path[PATH_MAX];
    int size =
        snprintf(path, sizeof path, "%s%s%s", folder, folder[0] ? "/" : "", name);
    if (size < 0 || (size_t)size >= sizeof path ||
        collector->inputs->absent.count >= ABSENT_MAX) {
        collector->cacheable = false;
    } else if (access(path, F_OK) != 0) {
        ha_list_add(&collector->inputs->absent, path);
    }
}

static void add_file(struct collector *collector, const char *path);

/* The program asked whether `name` can be included. */
static void
add_question(struct collector *collector, const char *name)
{
    if (name[0] == '/') {
        add_absent(collector, "", name);
        return;
    }
    for (uint32_t i = 0; i < collector->dirs.count; i++) {
        char path[PATH_MAX];
        int size = snprintf(path, sizeof path, "%s/%s", collector->dirs.items[i], name);
        if (size < 0 || (size_t)size >= sizeof path) {
            collector->cacheable = false;
        } else if (access(path, F_OK) == 0) {
            add_file(collector, path);
        } else {
            add_absent(collector, collector->dirs.items[i], name);
        }
    }
}

/* Finds each `__has_include(<name>)` of a text, and what makes it impossible to cache.
 */
static void
examine_text(struct collector *collector, const char *text)
{
    static const char *const volatile_macros[] = {"__TIME__", "__DATE__",
                                                  "__TIMESTAMP__"};
    for (size_t i = 0; i < sizeof volatile_macros / sizeof volatile_macros[0]; i++) {
        if (strstr(text, volatile_macros[i]) != NULL) {
            collector->cacheable = false;
        }
    }
    static const char question[] = "__has_include";
    while (collector->cacheable && (text = strstr(text, question)) != NULL) {
        text += sizeof question - 1;
        if (strncmp(text, "_next", 5) == 0) {
            text += 5;
        }
        const char *open = text + strspn(text, " \t");
        if (*open != '(') { /* `#ifdef __has_include` and the like */
            continue;
        }
        open += 1 + strspn(open + 1, " \t");
        const char *close = strpbrk(open + (*open != '\0'), ">\"\n");
        char name[PATH_MAX];
        if ((*open != '<' && *open != '"') || close == NULL || *close == '\n' ||
            (size_t)(close - open) > sizeof name) {
            collector->cacheable = false;
            return;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)(close - open - 1), open + 1);
        add_question(collector, name);
    }
}

static void
add_file(struct collector *collector, const char *path)
{
    struct ha_cache_inputs *inputs = collector->inputs;
    void *bytes = NULL;
    size_t size = 0;
    uint8_t hash[HA_SHA256_BYTES];
    if (ha_list_has(&inputs->files, path)) {
        return;
    }
    if (!is_settled(collector, path) ||
        ha_file_read(path, false, &bytes, &size) != HA_OK) {
        collector->cacheable = false;
        return;
    }
    ha_sha256(bytes, size, hash);
    ha_list_add(&inputs->files, path);
    ha_buffer_append(&inputs->hashes, hash, sizeof hash);
    examine_text(collector, bytes);
    free(bytes);
}

/* Calls `visit` for each prerequisite of a make rule, as clang writes it: blanks and
 * `#` behind a backslash, `$` doubled, lines continued by a backslash. */
static void
each_prerequisite(struct collector *collector,
                  void (*visit)(struct collector *collector, const char *path))
{
    const char *next = collector->request->rules;
    const char *end = next + collector->request->rules_size;
    const char *colon = next != NULL ? memchr(next, ':', (size_t)(end - next)) : NULL;
    if (colon == NULL) {
        collector->cacheable = false; /* the compiler wrote no rule */
        return;
    }
    char path[PATH_MAX];
    size_t size = 0;
    for (next = colon + 1; next <= end && collector->cacheable; next++) {
        char c = next < end ? *next : '\n';
        char after = next + 1 < end ? next[1] : '\n';
        if (c == '\\' && after == '\n') {
            next++;
            c = ' ';
        } else if ((c == '\\' && (after == ' ' || after == '#')) ||
                   (c == '$' && after == '$')) {
            next++;
            c = after;
            goto keep;
        }
        if (c == ' ' || c == '\n' || c == '\t') {
            path[size] = '\0';
            if (size > 0 && !is_own(collector, path)) {
                visit(collector, path);
            }
            size = 0;
            continue;
        }
    keep:
        if (size + 1 >= sizeof path) {
            collector->cacheable = false;
        } else {
            path[size++] = c;
        }
    }
}

static void
note_folder(struct collector *collector, const char *path)
{
    char folder[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder) {
        collector->cacheable = false;
        return;
    }
    *slash = '\0';
    if (!ha_list_has(&collector->dirs, folder)) {
        ha_list_add(&collector->dirs, folder);
    }
}

/* Where else the name under which `path` was included could be found one day. */
static void
add_shadows(struct collector *collector, const char *path)
{
    const struct ha_list *dirs = &collector->dirs;
    for (uint32_t i = 0; i < dirs->count; i++) {
        if (!is_below(path, dirs->items[i])) {
            continue;
        }
        const char *name = path + strlen(dirs->items[i]) + 1;
        for (uint32_t j = 0; j < dirs->count && collector->cacheable; j++) {
            if (j != i) {
                add_absent(collector, dirs->items[j], name);
            }
        }
    }
}

static int
compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void
remove_doubles(struct ha_list *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof *list->items, compare_paths);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < list->count; i++) {
        if (strcmp(list->items[i], list->items[kept - 1]) == 0) {
            free(list->items[i]);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    list->items[kept] = NULL;
}

bool
ha_depends_collect(const struct ha_depends_request *request,
                   struct ha_cache_inputs *inputs)
{
    struct collector collector = {
        .request = request, .inputs = inputs, .cacheable = true};
    ha_list_join(&collector.dirs, request->dirs);
    each_prerequisite(&collector, note_folder);
    each_prerequisite(&collector, add_file);
    each_prerequisite(&collector, add_shadows);
    for (uint32_t i = 0; i < request->texts->count; i++) {
        examine_text(&collector, request->texts->items[i]);
    }
    remove_doubles(&inputs->absent);
    bool good = collector.cacheable && !collector.dirs.failed &&
                !inputs->files.failed && !inputs->hashes.failed &&
                !inputs->absent.failed;
    ha_list_release(&collector.dirs);
    return good;
}
