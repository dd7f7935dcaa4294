/* SPDX-License-Identifier: MIT */
#include "cpu/compile/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256u
#define FIRST_ITEMS 16u

static bool
reserve(struct ha_bytes *buffer, size_t extra)
{
    if (buffer->failed) {
        return false;
    }
    if (extra >= SIZE_MAX / 2 - buffer->size) {
        buffer->failed = true;
        return false;
    }
    size_t wanted = buffer->size + extra + 1;
    if (wanted <= buffer->room) {
        return true;
    }
    size_t room = buffer->room != 0 ? buffer->room : FIRST_BYTES;
    while (room < wanted) {
        room *= 2;
    }
    char *bytes = realloc(buffer->bytes, room);
    if (bytes == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->room = room;
    return true;
}

void
ha_buffer_append(struct ha_bytes *buffer, const void *bytes, size_t size)
{
    if (!reserve(buffer, size)) {
        return;
    }
    if (size > 0) {
        memcpy(buffer->bytes + buffer->size, bytes, size);
    }
    buffer->size += size;
    buffer->bytes[buffer->size] = '\0';
}

void
ha_buffer_cut(struct ha_bytes *buffer, size_t size)
{
    if (size < buffer->size) {
        buffer->size = size;
        buffer->bytes[size] = '\0';
    }
}

void
ha_buffer_text(struct ha_bytes *buffer, const char *text)
{
    ha_buffer_append(buffer, text, strlen(text));
}

void
ha_buffer_format(struct ha_bytes *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0 || !reserve(buffer, (size_t)size)) {
        buffer->failed = true;
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(buffer->bytes + buffer->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    buffer->size += (size_t)size;
}

void
ha_buffer_u32(struct ha_bytes *buffer, uint32_t value)
{
    ha_buffer_append(buffer, &value, sizeof value);
}

void
ha_buffer_block(struct ha_bytes *buffer, const void *bytes, size_t size)
{
    if (size > UINT32_MAX) {
        buffer->failed = true;
        return;
    }
    ha_buffer_u32(buffer, (uint32_t)size);
    ha_buffer_append(buffer, bytes, size);
}

char *
ha_buffer_take(struct ha_bytes *buffer)
{
    ha_buffer_append(buffer, "", 0);
    char *bytes = NULL;
    if (!buffer->failed) {
        bytes = buffer->bytes;
        buffer->bytes = NULL;
    }
    ha_buffer_release(buffer);
    return bytes;
}

void
ha_buffer_release(struct ha_bytes *buffer)
{
    free(buffer->bytes);
    *buffer = (struct ha_bytes){0};
}

void
ha_list_own(struct ha_list *list, char *text)
{
    if (text == NULL || list->failed) {
        goto failed;
    }
    if (list->count + 1 >= list->room) {
        uint32_t room = list->room != 0 ? list->room * 2 : FIRST_ITEMS;
        char **items = realloc(list->items, room * sizeof *items);
        if (items == NULL) {
            goto failed;
        }
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
    return;
failed:
    list->failed = true;
    free(text);
}

void
ha_list_add(struct ha_list *list, const char *text)
{
    ha_list_own(list, strdup(text));
}

void
ha_list_format(struct ha_list *list, const char *format, ...)
{
    struct ha_bytes text = {0};
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size >= 0 && reserve(&text, (size_t)size)) {
        va_start(arguments, format);
        (void)vsnprintf(text.bytes, (size_t)size + 1, format, arguments);
        va_end(arguments);
    }
    ha_list_own(list, text.bytes);
}

void
ha_list_join(struct ha_list *list, const struct ha_list *other)
{
    if (other->failed) {
        list->failed = true;
    }
    for (uint32_t i = 0; i < other->count; i++) {
        ha_list_add(list, other->items[i]);
    }
}

bool
ha_list_has(const struct ha_list *list, const char *text)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

void
ha_list_release(struct ha_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct ha_list){0};
}
