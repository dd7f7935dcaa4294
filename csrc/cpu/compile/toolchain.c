/* SPDX-License-Identifier: MIT */
#include "cpu/compile/toolchain.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/env.h"
#include "core/file.h"
#include "core/sha256.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/target_cpu.h"

#define DEVICE_DEPTH_MAX 8 /* directories below those of DEVICE_PARTS */
/* Of the package's headers, those that kernels include; and beside its libraries. */
static const char *const DEVICE_PARTS[] = {"hip", "hipadapt"};
#define INCLUDE_DIR "/../include"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char set_path[PATH_MAX]; /* lock; "" = not set */

void
hipadaptSetCompiler(const char *zig_path)
{
    (void)pthread_mutex_lock(&lock);
    if (zig_path == NULL || strlen(zig_path) >= sizeof set_path) {
        set_path[0] = '\0';
    } else {
        (void)strcpy(set_path, zig_path);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* What never changes while the process lives. */
static struct {
    bool vector_math;           /* libmvec can be loaded */
    char library_dir[PATH_MAX]; /* "" if it could not be found out */
    char device_dir[PATH_MAX];  /* the same */
    struct stat library;
    uint8_t device_id[HA_HASH_BYTES];
    enum ha_status device_status;
    char device_text[512]; /* why device_status is not HA_OK */
} constant;
static pthread_once_t constant_once = PTHREAD_ONCE_INIT;

static int
compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static enum ha_status
list_directory(const char *path, struct ha_list *names)
{
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return ha_error_set(HA_ERROR_NOT_FOUND, "device headers in '%s': %s", path,
                            strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] != '.') {
            ha_list_add(names, entry->d_name);
        }
    }
    (void)closedir(directory);
    if (names->failed) {
        return ha_error_set(HA_ERROR_MEMORY, "device headers in '%s': no memory", path);
    }
    if (names->count > 0) { /* readdir's order differs between equal copies */
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    }
    return HA_OK;
}

static enum ha_status
hash_file(const char *path, const char *name, struct ha_sha256 *hash)
{
    void *bytes = NULL;
    size_t size = 0;
    enum ha_status status = ha_file_read(path, false, &bytes, &size);
    if (status != HA_OK) {
        return status;
    }
    uint64_t length = size;
    ha_sha256_update(hash, name, strlen(name) + 1);
    ha_sha256_update(hash, &length, sizeof length);
    ha_sha256_update(hash, bytes, size);
    free(bytes);
    return HA_OK;
}

static enum ha_status
hash_directory(const char *path, struct ha_sha256 *hash, unsigned depth)
{
    struct ha_list names = {0};
    enum ha_status status = list_directory(path, &names);
    for (uint32_t i = 0; i < names.count && status == HA_OK; i++) {
        char inner[PATH_MAX];
        struct stat entry;
        int size = snprintf(inner, sizeof inner, "%s/%s", path, names.items[i]);
        if (size < 0 || (size_t)size >= sizeof inner || stat(inner, &entry) != 0) {
            status = ha_error_set(HA_ERROR_SYSTEM, "device header '%s' in '%s'",
                                  names.items[i], path);
        } else if (S_ISREG(entry.st_mode)) {
            status = hash_file(inner, names.items[i], hash);
        } else if (S_ISDIR(entry.st_mode) && depth < DEVICE_DEPTH_MAX) {
            status = hash_directory(inner, hash, depth + 1);
        }
    }
    ha_list_release(&names);
    return status;
}

/* The headers are hashed once: a process keeps those that it began with. */
static void
find_device_headers(void)
{
    char path[PATH_MAX];
    struct ha_sha256 hash;
    ha_sha256_init(&hash);
    int size = snprintf(path, sizeof path, "%s" INCLUDE_DIR, constant.library_dir);
    if (size < 0 || (size_t)size >= sizeof path ||
        realpath(path, constant.device_dir) == NULL) {
        constant.device_status = ha_error_set(
            HA_ERROR_NOT_FOUND, "device headers in '%s': %s", path, strerror(errno));
    }
    for (size_t i = 0; i < sizeof DEVICE_PARTS / sizeof *DEVICE_PARTS &&
                       constant.device_status == HA_OK;
         i++) {
        size =
            snprintf(path, sizeof path, "%s/%s", constant.device_dir, DEVICE_PARTS[i]);
        constant.device_status =
            size < 0 || (size_t)size >= sizeof path
                ? ha_error_set(HA_ERROR_NOT_FOUND,
                               "path of the device headers is too long")
                : hash_directory(path, &hash, 0);
    }
    ha_sha256_final(&hash, constant.device_id);
    (void)snprintf(constant.device_text, sizeof constant.device_text, "%s",
                   ha_error_text());
}

static void
find_constants(void)
{
    Dl_info info;
    char path[PATH_MAX];
    void *vector_math = dlopen("libmvec.so.1", RTLD_LAZY | RTLD_LOCAL);
    constant.vector_math = vector_math != NULL;
    if (vector_math != NULL) {
        (void)dlclose(vector_math);
    }
    if (dladdr((void *)&constant, &info) != 0 && info.dli_fname != NULL &&
        realpath(info.dli_fname, path) != NULL && stat(path, &constant.library) == 0) {
        char *slash = strrchr(path, '/');
        *slash = '\0';
        (void)strcpy(constant.library_dir, path);
    }
    find_device_headers();
}

/* NULL, or why `path` cannot be run. */
static const char *
check_executable(const char *path, struct stat *status)
{
    if (stat(path, status) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(status->st_mode)) {
        return "not a file";
    }
    if (access(path, X_OK) != 0) {
        return strerror(errno);
    }
    return NULL;
}

static enum ha_status
not_found(const struct ha_bytes *tried)
{
    return ha_error_set(
        HA_ERROR_NOT_FOUND,
        "no compiler for kernels; tried %s. Install it with `pip install ziglang==" HA_ZIG_VERSION
        "`, or set HIPADAPT_COMPILER to the "
        "zig executable of that version",
        tried->failed || tried->bytes == NULL ? "nothing" : tried->bytes);
}

/* A path that the user named. */
static enum ha_status
take_named(const char *path, const char *by, struct ha_toolchain *toolchain,
           struct stat *status)
{
    struct ha_bytes tried = {0};
    const char *why = strlen(path) < sizeof toolchain->zig
                          ? check_executable(path, status)
                          : "path too long";
    enum ha_status result = HA_OK;
    if (why == NULL) {
        (void)strcpy(toolchain->zig, path);
    } else {
        ha_buffer_format(&tried, "%s '%s' (%s)", by, path, why);
        result = not_found(&tried);
    }
    ha_buffer_release(&tried);
    return result;
}

/* `ziglang/zig` beside the library's directory, then one level up, and so on. */
static enum ha_status
search_upwards(struct ha_toolchain *toolchain, struct stat *status)
{
    struct ha_bytes tried = {0};
    enum ha_status result = HA_ERROR_NOT_FOUND;
    char directory[PATH_MAX];
    (void)strcpy(directory, constant.library_dir);
    ha_buffer_text(&tried, "HIPADAPT_COMPILER (not set)");
    for (char *slash; (slash = strrchr(directory, '/')) != NULL;) {
        *slash = '\0';
        int size = snprintf(toolchain->zig, sizeof toolchain->zig, "%s/ziglang/zig",
                            directory);
        if (size < 0 || (size_t)size >= sizeof toolchain->zig) {
            continue;
        }
        const char *why = check_executable(toolchain->zig, status);
        if (why == NULL) {
            result = HA_OK;
            break;
        }
        ha_buffer_format(&tried, ", '%s' (%s)", toolchain->zig, why);
    }
    if (result != HA_OK) {
        result = not_found(&tried);
    }
    ha_buffer_release(&tried);
    return result;
}

static enum ha_status
find_compiler(struct ha_toolchain *toolchain, struct stat *status)
{
    char path[PATH_MAX];
    const char *named = ha_env(HA_ENV_COMPILER);
    if (named != NULL && named[0] != '\0') {
        return take_named(named, "HIPADAPT_COMPILER", toolchain, status);
    }
    (void)pthread_mutex_lock(&lock);
    (void)strcpy(path, set_path);
    (void)pthread_mutex_unlock(&lock);
    if (path[0] != '\0') {
        return take_named(path, "the ziglang package's", toolchain, status);
    }
    return search_upwards(toolchain, status);
}

static void
hash_identity(struct ha_sha256 *hash, const struct stat *status)
{
    const int64_t identity[] = {
        (int64_t)status->st_size, (int64_t)status->st_mtim.tv_sec,
        (int64_t)status->st_mtim.tv_nsec, (int64_t)status->st_ino};
    ha_sha256_update(hash, identity, sizeof identity);
}

enum ha_status
ha_toolchain_find(struct ha_toolchain *toolchain)
{
    (void)pthread_once(&constant_once, find_constants);
    if (constant.device_status != HA_OK) {
        return ha_error_set(constant.device_status, "%s", constant.device_text);
    }
    struct stat status;
    enum ha_status result = find_compiler(toolchain, &status);
    if (result == HA_OK) {
        result = ha_target_cpu_find(&toolchain->level);
    }
    if (result != HA_OK) {
        return result;
    }
    /* A wheel that is replaced gets new sizes, times or inodes: enough to know a
     * compiler by, where hashing its 170 MB would cost more than a compilation.  This
     * library counts too: flags and rewriter are in it. */
    struct ha_sha256 hash;
    ha_sha256_init(&hash);
    ha_sha256_update(&hash, toolchain->zig, strlen(toolchain->zig) + 1);
    hash_identity(&hash, &status);
    hash_identity(&hash, &constant.library);
    ha_sha256_final(&hash, toolchain->compiler_id);
    (void)strcpy(toolchain->device_dir, constant.device_dir);
    memcpy(toolchain->device_id, constant.device_id, HA_HASH_BYTES);
    toolchain->triple = ha_machine.triple;
    toolchain->vector_math =
        constant.vector_math ? toolchain->level->vector_math : (char)0;
    return HA_OK;
}
