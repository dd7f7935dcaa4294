/* SPDX-License-Identifier: MIT */
/* The ground under the readers of IR: arena, slices, output, map.
 *
 * An arena is a list of chunks, the newest first.  A chunk has room for at least
 * CHUNK_BYTES, or for the one allocation that is larger; nothing is freed but the
 * whole, so a text or a table that grows leaves its older copy behind.
 *
 *     arena -> | next | used | capacity | bytes ... | -> | an older chunk | -> NULL
 *
 * A map is a table of entries, a power of two of them and at most half of them taken; a
 * name is looked for from its hash on, up to the first free entry.  Nothing is removed,
 * so no entry need be marked as deleted. */
#include "cpu/compile/ir_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)256 << 10)
/* Polls from one question to the next; one that comes with much memory is always asked.
 */
#define POLLS 256u
#define LARGE_BYTES ((size_t)1 << 20)

struct ir_chunk {
    struct ir_chunk *next;
    size_t used;
    size_t capacity;
    _Alignas(16) char bytes[];
};

struct ir_map_entry {
    struct ir_slice name; /* name.at == NULL: free */
    uint32_t value;
};

void
ir_fail(struct ir_arena *arena, enum ha_status status, const char *format, ...)
{
    char text[512];
    va_list values;

    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    arena->status = ha_error_set(status, "%s", text);
    longjmp(arena->escape, 1);
}

void
ir_poll(struct ir_arena *arena)
{
    if (arena->stop != NULL && ++arena->polls % POLLS == 0) {
        enum ha_status status = arena->stop(arena->stop_context);
        if (status != HA_OK) {
            ir_fail(arena, status, "%s", ha_error_text());
        }
    }
}

void *
ir_alloc(struct ir_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    struct ir_chunk *chunk = arena->chunks;

    ir_poll(arena);
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
        ir_fail(arena, HA_ERROR_MEMORY, "no memory for the compiler's IR");
    }
    if (bytes > LARGE_BYTES) {
        arena->polls = UINT32_MAX;
        ir_poll(arena);
    }
    bytes = (bytes + 15) & ~(size_t)15;
    if (chunk == NULL || chunk->capacity - chunk->used < bytes) {
        size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + capacity);
        if (chunk == NULL) {
            ir_fail(arena, HA_ERROR_MEMORY, "no memory for the compiler's IR");
        }
        chunk->capacity = capacity;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *result = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return result;
}

void
ir_arena_release(struct ir_arena *arena)
{
    while (arena->chunks != NULL) {
        struct ir_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        free(chunk);
    }
}

struct ir_slice
ir_format(struct ir_arena *arena, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    int size = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (size < 0) {
        ir_fail(arena, HA_ERROR_INVALID, "IR text that cannot be formatted");
    }
    char *text = ir_alloc(arena, (size_t)size + 1, 1);
    va_start(values, format);
    (void)vsnprintf(text, (size_t)size + 1, format, values);
    va_end(values);
    return (struct ir_slice){text, (size_t)size};
}

/* ---- slices ---- */

struct ir_slice
ir_slice_of(const char *text)
{
    return (struct ir_slice){text, strlen(text)};
}

bool
ir_same(struct ir_slice a, struct ir_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

bool
ir_is(struct ir_slice slice, const char *text)
{
    return ir_same(slice, ir_slice_of(text));
}

bool
ir_begins(struct ir_slice slice, const char *prefix)
{
    size_t size = strlen(prefix);

    return slice.size >= size && memcmp(slice.at, prefix, size) == 0;
}

struct ir_slice
ir_part(struct ir_slice slice, size_t from, size_t to)
{
    if (to > slice.size) {
        to = slice.size;
    }
    if (from > to) {
        from = to;
    }
    return (struct ir_slice){slice.at + from, to - from};
}

struct ir_slice
ir_trim(struct ir_slice slice)
{
    while (slice.size > 0 && (slice.at[0] == ' ' || slice.at[0] == '\t')) {
        slice.at++;
        slice.size--;
    }
    while (slice.size > 0 && strchr(" \t\r\n", slice.at[slice.size - 1]) != NULL) {
        slice.size--;
    }
    return slice;
}

size_t
ir_find(struct ir_slice slice, const char *text, size_t from)
{
    size_t size = strlen(text);
    bool quoted = false;

    for (size_t i = from; i + size <= slice.size; i++) {
        char c = slice.at[i];
        /* Most characters are not the first one: a call for each would cost more. */
        if (c == text[0] && !quoted && memcmp(slice.at + i, text, size) == 0) {
            return i;
        }
        if (c == '"') {
            quoted = !quoted;
        }
    }
    return SIZE_MAX;
}

static bool
name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '$' || c == '-';
}

struct ir_slice
ir_token(struct ir_slice slice, size_t at)
{
    size_t i = at;

    if (i < slice.size && strchr("@%!#$", slice.at[i]) != NULL) {
        i++;
    }
    if (i < slice.size && slice.at[i] == '"') {
        i++;
        while (i < slice.size && slice.at[i] != '"') {
            i++;
        }
        return ir_part(slice, at, i + 1);
    }
    while (i < slice.size && name_char(slice.at[i])) {
        i++;
    }
    return ir_part(slice, at, i);
}

size_t
ir_close(struct ir_arena *arena, struct ir_slice slice, size_t open)
{
    size_t depth = 0;
    bool quoted = false;

    for (size_t i = open; i < slice.size; i++) {
        char c = slice.at[i];
        if (c == '"') {
            quoted = !quoted;
        }
        if (quoted) {
            continue;
        }
        if (strchr("([{<", c) != NULL) {
            depth++;
        } else if (strchr(")]}>", c) != NULL && --depth == 0) {
            return i + 1;
        }
    }
    ir_fail(arena, HA_ERROR_INVALID, "IR with an open bracket: %.*s",
            slice.size < 200 ? (int)slice.size : 200, slice.at);
}

struct ir_slice *
ir_split(struct ir_arena *arena, struct ir_slice slice, uint32_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < slice.size; i++) {
        most += slice.at[i] == ',';
    }
    struct ir_slice *parts = ir_alloc(arena, most, sizeof *parts);
    size_t depth = 0;
    size_t begin = 0;
    bool quoted = false;
    *count = 0;
    for (size_t i = 0; i <= slice.size; i++) {
        char c = i < slice.size ? slice.at[i] : ',';
        if (c == '"') {
            quoted = !quoted;
        }
        if (quoted && i < slice.size) {
            continue;
        }
        if (strchr("([{<", c) != NULL) {
            depth++;
        } else if (strchr(")]}>", c) != NULL && depth > 0) {
            depth--;
        } else if (c == ',' && (depth == 0 || i == slice.size)) {
            struct ir_slice part = ir_trim(ir_part(slice, begin, i));
            if (part.size > 0) {
                parts[(*count)++] = part;
            }
            begin = i + 1;
        }
    }
    return parts;
}

/* ---- output ---- */

static void
reserve(struct ir_out *out, size_t more)
{
    if (out->capacity - out->size > more) {
        return;
    }
    size_t capacity = out->capacity * 2 + more + 4096;
    char *text = ir_alloc(out->arena, capacity, 1);
    if (out->size > 0) {
        memcpy(text, out->text, out->size);
    }
    out->text = text;
    out->capacity = capacity;
}

bool
ir_next_line(struct ir_slice text, size_t *at, struct ir_slice *line)
{
    if (*at >= text.size) {
        return false;
    }
    const char *end = memchr(text.at + *at, '\n', text.size - *at);
    size_t behind = end != NULL ? (size_t)(end - text.at) + 1 : text.size;
    *line = ir_part(text, *at, behind);
    *at = behind;
    return true;
}

void
ir_put(struct ir_out *out, struct ir_slice text)
{
    reserve(out, text.size + 1);
    if (text.size > 0) {
        memcpy(out->text + out->size, text.at, text.size);
    }
    out->size += text.size;
    out->text[out->size] = '\0';
}

void
ir_print(struct ir_out *out, const char *format, ...)
{
    va_list values;

    reserve(out, 512); /* enough for most lines: then one pass does */
    va_start(values, format);
    int size =
        vsnprintf(out->text + out->size, out->capacity - out->size, format, values);
    va_end(values);
    if (size < 0) {
        ir_fail(out->arena, HA_ERROR_INVALID, "IR text that cannot be formatted");
    }
    if ((size_t)size >= out->capacity - out->size) {
        reserve(out, (size_t)size + 1);
        va_start(values, format);
        (void)vsnprintf(out->text + out->size, out->capacity - out->size, format,
                        values);
        va_end(values);
    }
    out->size += (size_t)size;
}

/* ---- map ---- */

static size_t
hash_of(struct ir_slice name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ (unsigned char)name.at[i]) * UINT64_C(1099511628211);
    }
    return (size_t)(hash ^ (hash >> 29));
}

static struct ir_map_entry *
slot_of(struct ir_map_entry *entries, size_t capacity, struct ir_slice name)
{
    size_t i = hash_of(name) & (capacity - 1);
    while (entries[i].name.at != NULL && !ir_same(entries[i].name, name)) {
        i = (i + 1) & (capacity - 1);
    }
    return &entries[i];
}

void
ir_map_set(struct ir_map *map, struct ir_slice name, uint32_t value)
{
    if (map->count * 2 >= map->capacity) {
        size_t capacity = map->capacity > 0 ? map->capacity * 2 : 64;
        struct ir_map_entry *entries = ir_alloc(map->arena, capacity, sizeof *entries);
        for (size_t i = 0; i < map->capacity; i++) {
            if (map->entries[i].name.at != NULL) {
                *slot_of(entries, capacity, map->entries[i].name) = map->entries[i];
            }
        }
        map->entries = entries;
        map->capacity = capacity;
    }
    struct ir_map_entry *entry = slot_of(map->entries, map->capacity, name);
    map->count += entry->name.at == NULL;
    entry->name = name;
    entry->value = value;
}

bool
ir_map_get(const struct ir_map *map, struct ir_slice name, uint32_t *value)
{
    if (map->capacity == 0) {
        return false;
    }
    const struct ir_map_entry *entry = slot_of(map->entries, map->capacity, name);
    if (entry->name.at != NULL) {
        *value = entry->value;
    }
    return entry->name.at != NULL;
}
