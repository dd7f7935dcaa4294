/* SPDX-License-Identifier: MIT */
#include "cpu/compile/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/env.h"
#include "core/file.h"
#include "core/log.h"
#include "core/sha256.h"
#include "cpu/compile/image_file.h"

#define MAGIC "HACACHE1"
#define SUFFIX_BYTES_MAX sizeof ".prelude"
#define LOCK_FILE "lock"
#define MIB ((uint64_t)1 << 20)
/* A scan of the folder costs about a microsecond a file, so it is done at the first
 * store of a process and then each time this much was added. */
#define SCAN_BYTES (16 * MIB)
/* How far a trim goes below the limit, in percent, so that not each store trims. */
#define TRIM_PERCENT 80
/* A file is not made young more often than this; readers then do not write. */
#define TOUCH_SECONDS 60
/* Temporary files older than this were left behind by a process that died. */
#define STALE_SECONDS 3600
#define LOCK_PAUSE_NS (2 * 1000000L)

struct header {
    char magic[8];
    uint64_t payload_size;
    uint8_t key[HA_CACHE_KEY_BYTES];
    uint8_t sha256[HA_SHA256_BYTES];
    uint8_t zeros[16];
};
_Static_assert(sizeof(struct header) == 96, "the header is a file format");

void
ha_cache_inputs_release(struct ha_cache_inputs *inputs)
{
    ha_list_release(&inputs->files);
    ha_buffer_release(&inputs->hashes);
    ha_list_release(&inputs->absent);
}

/* ---- the folder ---- */

static bool
folder_name(char path[PATH_MAX])
{
    const char *base, *tail = "";
    if ((base = ha_env(HA_ENV_CACHE_DIR)) == NULL) {
        tail = "/hipadapt";
        /* The XDG specification: a relative path is to be ignored. */
        if ((base = ha_env(HA_ENV_XDG_CACHE_HOME)) == NULL || base[0] != '/') {
            tail = "/.cache/hipadapt";
            if ((base = ha_env(HA_ENV_HOME)) == NULL || base[0] != '/') {
                return false;
            }
        }
    }
    int size = snprintf(path, PATH_MAX, "%s%s", base, tail);
    return size > 0 && size < PATH_MAX;
}

/* False where no cache can be used.  If the user can mend the reason, it is logged,
 * once a process. */
static bool
folder_open(char path[PATH_MAX])
{
    static atomic_bool warned;
    if (getauxval(AT_SECURE) != 0 || ha_env_long(HA_ENV_CACHE, 0, 1) == 0 ||
        !folder_name(path)) {
        return false;
    }
    if (ha_dir_private(path) == HA_OK) {
        return true;
    }
    if (!atomic_exchange(&warned, true)) {
        ha_log(1, "compiled kernels are not cached: %s", ha_error_text());
    }
    return false;
}

static const char *const suffixes[] = {
    [HA_CACHE_KERNEL] = ".kernel",
    [HA_CACHE_PRELUDE] = ".prelude",
    [HA_CACHE_OBJECT] = ".object",
};

/* dir/<hex>.kernel; false if that is too long. */
static bool
entry_path(const char *folder, enum ha_cache_kind kind,
           const uint8_t key[HA_CACHE_KEY_BYTES], char path[PATH_MAX])
{
    char hex[HA_SHA256_HEX_BYTES];
    ha_sha256_hex(key, hex);
    int size = snprintf(path, PATH_MAX, "%s/%s%s", folder, hex, suffixes[kind]);
    return size > 0 && size < PATH_MAX;
}

/* ---- reading ---- */

struct reader {
    const char *next;
    size_t left;
    bool failed;
};

static const void *
read_bytes(struct reader *reader, size_t size)
{
    if (reader->failed || size > reader->left) {
        reader->failed = true;
        return NULL;
    }
    const void *bytes = reader->next;
    reader->next += size;
    reader->left -= size;
    return bytes;
}

static uint32_t
read_u32(struct reader *reader)
{
    uint32_t value = 0;
    const void *bytes = read_bytes(reader, sizeof value);
    if (bytes != NULL) {
        memcpy(&value, bytes, sizeof value);
    }
    return value;
}

/* An owned copy with a NUL behind it, or NULL. */
static char *
read_block(struct reader *reader, size_t *size)
{
    uint32_t count = read_u32(reader);
    const void *bytes = read_bytes(reader, count);
    char *copy = bytes != NULL ? malloc((size_t)count + 1) : NULL;
    if (copy == NULL) {
        reader->failed = true;
        return NULL;
    }
    memcpy(copy, bytes, count);
    copy[count] = '\0';
    if (size != NULL) {
        *size = count;
    }
    return copy;
}

static void
read_names(struct reader *reader, struct ha_compile_result *result)
{
    uint32_t count = read_u32(reader);
    if (reader->failed || count > reader->left) {
        reader->failed = true;
        return;
    }
    result->lowered = calloc((size_t)count + 1, sizeof *result->lowered);
    if (result->lowered == NULL) {
        reader->failed = true;
        return;
    }
    result->lowered_count = count;
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        if (read_u32(reader) != 0) {
            result->lowered[i] = read_block(reader, NULL);
        }
    }
}

static bool
file_is(const char *path, const uint8_t expected[HA_SHA256_BYTES])
{
    void *bytes = NULL;
    size_t size = 0;
    uint8_t found[HA_SHA256_BYTES];
    if (ha_file_read(path, false, &bytes, &size) != HA_OK) {
        return false;
    }
    ha_sha256(bytes, size, found);
    free(bytes);
    return memcmp(found, expected, sizeof found) == 0;
}

static void
check_inputs(struct reader *reader)
{
    uint32_t files = read_u32(reader);
    for (uint32_t i = 0; i < files && !reader->failed; i++) {
        char *path = read_block(reader, NULL);
        const uint8_t *hash = read_bytes(reader, HA_SHA256_BYTES);
        if (path != NULL && hash != NULL && !file_is(path, hash)) {
            reader->failed = true;
        }
        free(path);
    }
    uint32_t absent = read_u32(reader);
    for (uint32_t i = 0; i < absent && !reader->failed; i++) {
        char *path = read_block(reader, NULL);
        if (path != NULL && access(path, F_OK) == 0) {
            reader->failed = true;
        }
        free(path);
    }
}

/* Whether the file is whole and of this key. */
static bool
check_header(const void *bytes, size_t size, const uint8_t key[HA_CACHE_KEY_BYTES])
{
    struct header header;
    uint8_t found[HA_SHA256_BYTES];
    static const uint8_t zeros[sizeof header.zeros];
    if (size < sizeof header) {
        return false;
    }
    memcpy(&header, bytes, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0 ||
        header.payload_size != size - sizeof header ||
        memcmp(header.key, key, sizeof header.key) != 0 ||
        memcmp(header.zeros, zeros, sizeof zeros) != 0) {
        return false;
    }
    ha_sha256((const char *)bytes + sizeof header, size - sizeof header, found);
    return memcmp(found, header.sha256, sizeof found) == 0;
}

static void
make_young(const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0 && status.st_mtime < time(NULL) - TOUCH_SECONDS) {
        (void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    }
}

bool
ha_cache_load(enum ha_cache_kind kind, const uint8_t key[HA_CACHE_KEY_BYTES],
              struct ha_compile_result *result)
{
    char folder[PATH_MAX], path[PATH_MAX];
    void *bytes = NULL;
    size_t size = 0;
    if (!folder_open(folder) || !entry_path(folder, kind, key, path) ||
        ha_file_read(path, true, &bytes, &size) != HA_OK) {
        return false;
    }
    struct ha_compile_result loaded = {.cached = true};
    bool found = false;
    if (!check_header(bytes, size, key)) {
        ha_log(2, "a damaged entry of the kernel cache is written anew: %s", path);
        goto done;
    }
    struct reader reader = {(const char *)bytes + sizeof(struct header),
                            size - sizeof(struct header), false};
    loaded.log = read_block(&reader, NULL);
    read_names(&reader, &loaded);
    check_inputs(&reader);
    loaded.image = read_block(&reader, &loaded.image_size);
    if (reader.failed || reader.left != 0) {
        goto done;
    }
    *result = loaded;
    loaded = (struct ha_compile_result){0};
    found = true;
    make_young(path);
done:
    ha_compile_result_release(&loaded);
    free(bytes);
    return found;
}

/* ---- making room ---- */

struct found_file {
    char name[HA_SHA256_HEX_BYTES + SUFFIX_BYTES_MAX];
    struct timespec time;
    uint64_t size;
};

struct found_files {
    struct found_file *items;
    size_t count;
    size_t room;
    uint64_t bytes;
};

static int
compare_age(const void *left, const void *right)
{
    const struct timespec *a = &((const struct found_file *)left)->time;
    const struct timespec *b = &((const struct found_file *)right)->time;
    if (a->tv_sec != b->tv_sec) {
        return a->tv_sec < b->tv_sec ? -1 : 1;
    }
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static bool
ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static bool
is_entry(const char *name)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (ends_with(name, suffixes[i])) {
            return true;
        }
    }
    return false;
}

static void
scan_file(int folder, const char *name, struct found_files *found)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
        return;
    }
    if (ends_with(name, ".tmp")) {
        if (status.st_mtime < time(NULL) - STALE_SECONDS) {
            (void)unlinkat(folder, name, 0);
        }
        return;
    }
    if (!is_entry(name) || strlen(name) >= sizeof found->items->name) {
        return;
    }
    if (found->count == found->room) {
        size_t room = found->room != 0 ? found->room * 2 : 256;
        void *items = realloc(found->items, room * sizeof *found->items);
        if (items == NULL) {
            return;
        }
        found->items = items;
        found->room = room;
    }
    struct found_file *file = &found->items[found->count++];
    (void)strcpy(file->name, name);
    file->time = status.st_mtim;
    file->size = (uint64_t)status.st_size;
    found->bytes += file->size;
}

static void
trim(const char *path)
{
    uint64_t limit = (uint64_t)ha_env_long(HA_ENV_CACHE_SIZE, 0, 1 << 24) * MIB;
    struct found_files found = {0};
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) {
        return;
    }
    DIR *directory = fdopendir(folder);
    if (directory == NULL) {
        (void)close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        scan_file(folder, entry->d_name, &found);
    }
    if (found.bytes > limit) {
        qsort(found.items, found.count, sizeof *found.items, compare_age);
        uint64_t goal = limit / 100 * TRIM_PERCENT;
        for (size_t i = 0; i < found.count && found.bytes > goal; i++) {
            (void)unlinkat(folder, found.items[i].name, 0);
            found.bytes -= found.items[i].size;
        }
    }
    free(found.items);
    (void)closedir(directory);
}

/* ---- writing ---- */

void
ha_cache_store(enum ha_cache_kind kind, const uint8_t key[HA_CACHE_KEY_BYTES],
               const struct ha_compile_result *result,
               const struct ha_cache_inputs *inputs)
{
    static _Atomic uint64_t added = SCAN_BYTES;
    char folder[PATH_MAX], hex[HA_SHA256_HEX_BYTES],
        name[sizeof hex + SUFFIX_BYTES_MAX];
    if (!folder_open(folder)) {
        return;
    }
    struct header header = {0};
    struct ha_bytes entry = {0};
    ha_buffer_append(&entry, &header, sizeof header);
    ha_buffer_block(&entry, result->log, strlen(result->log));
    ha_buffer_u32(&entry, result->lowered_count);
    for (uint32_t i = 0; i < result->lowered_count; i++) {
        const char *lowered = result->lowered[i];
        ha_buffer_u32(&entry, lowered != NULL);
        if (lowered != NULL) {
            ha_buffer_block(&entry, lowered, strlen(lowered));
        }
    }
    ha_buffer_u32(&entry, inputs->files.count);
    for (uint32_t i = 0; i < inputs->files.count; i++) {
        ha_buffer_block(&entry, inputs->files.items[i], strlen(inputs->files.items[i]));
        ha_buffer_append(&entry, inputs->hashes.bytes + (size_t)i * HA_SHA256_BYTES,
                         HA_SHA256_BYTES);
    }
    ha_buffer_u32(&entry, inputs->absent.count);
    for (uint32_t i = 0; i < inputs->absent.count; i++) {
        ha_buffer_block(&entry, inputs->absent.items[i],
                        strlen(inputs->absent.items[i]));
    }
    ha_buffer_block(&entry, result->image, result->image_size);
    if (entry.failed) {
        goto done;
    }
    memcpy(header.magic, MAGIC, sizeof header.magic);
    header.payload_size = entry.size - sizeof header;
    memcpy(header.key, key, sizeof header.key);
    ha_sha256(entry.bytes + sizeof header, entry.size - sizeof header, header.sha256);
    memcpy(entry.bytes, &header, sizeof header);
    ha_sha256_hex(key, hex);
    (void)snprintf(name, sizeof name, "%s%s", hex, suffixes[kind]);
    if (ha_file_write_atomic(folder, name, entry.bytes, entry.size) != HA_OK) {
        ha_log(2, "a compiled kernel was not cached: %s", ha_error_text());
        goto done;
    }
    if (atomic_fetch_add(&added, entry.size) + entry.size > SCAN_BYTES) {
        atomic_store(&added, 0);
        trim(folder);
    }
done:
    ha_buffer_release(&entry);
}

/* ---- one compilation a key ---- */

int
ha_cache_lock(const uint8_t key[HA_CACHE_KEY_BYTES], uint64_t deadline_ns,
              bool (*interrupted)(void))
{
    char folder[PATH_MAX], path[PATH_MAX + sizeof LOCK_FILE + 1];
    if (!folder_open(folder)) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/" LOCK_FILE, folder);
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    /* One byte of one empty file a key: nothing to clean up, the kernel gives it back
     * when the holder ends, and threads exclude each other like processes do. */
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    memcpy(&range.l_start, key, sizeof range.l_start);
    range.l_start &= INT64_MAX >> 1;
    while (fcntl(fd, F_OFD_SETLK, &range) != 0) {
        bool held = errno == EAGAIN || errno == EACCES || errno == EINTR;
        if (!held || ha_clock_ns() >= deadline_ns ||
            (interrupted != NULL && interrupted())) {
            (void)close(fd);
            return -1;
        }
        struct timespec pause = {0, LOCK_PAUSE_NS};
        (void)nanosleep(&pause, NULL);
    }
    return fd;
}

void
ha_cache_unlock(int lock)
{
    if (lock < 0) {
        return;
    }
    /* Closing is not enough where another thread has forked meanwhile: the child has
     * the same open file. */
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(lock, F_OFD_SETLK, &all);
    (void)close(lock);
}
