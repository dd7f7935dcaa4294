/* SPDX-License-Identifier: MIT */
/* Bytes that grow, and lists of strings that grow: what requests, logs, keys and
 * argument vectors are put together in.
 *
 * A failed allocation is remembered in `failed` and later appends do nothing, so a
 * writer appends freely and asks once, at the end.  No lock: one owner at a time. */
#ifndef HA_CPU_COMPILE_BUFFER_H
#define HA_CPU_COMPILE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ha_bytes {
    char *bytes; /* owned; ends in a NUL that `size` does not count; NULL when empty */
    size_t size;
    size_t room;
    bool failed;
};

void ha_buffer_append(struct ha_bytes *buffer, const void *bytes, size_t size);
void ha_buffer_text(struct ha_bytes *buffer, const char *text);
__attribute__((format(printf, 2, 3))) void ha_buffer_format(struct ha_bytes *buffer,
                                                            const char *format, ...);
/* A 32-bit length, then the bytes: what keys and cache entries are made of. */
void ha_buffer_block(struct ha_bytes *buffer, const void *bytes, size_t size);
void ha_buffer_u32(struct ha_bytes *buffer, uint32_t value);
/* The bytes as a C string, owned by the caller; the buffer is empty after.  NULL if an
 * append failed. */
char *ha_buffer_take(struct ha_bytes *buffer);
/* Drops what was appended since it had `size` bytes. */
void ha_buffer_cut(struct ha_bytes *buffer, size_t size);
void ha_buffer_release(struct ha_bytes *buffer);

struct ha_list {
    char **items; /* owned, NULL terminated once there is an item */
    uint32_t count;
    uint32_t room;
    bool failed;
};

/* Appends a copy. */
void ha_list_add(struct ha_list *list, const char *text);
__attribute__((format(printf, 2, 3))) void ha_list_format(struct ha_list *list,
                                                          const char *format, ...);
/* Appends `text` itself: stolen, also on failure. */
void ha_list_own(struct ha_list *list, char *text);
/* Appends copies of all items. */
void ha_list_join(struct ha_list *list, const struct ha_list *other);
bool ha_list_has(const struct ha_list *list, const char *text);
void ha_list_release(struct ha_list *list);

#endif
