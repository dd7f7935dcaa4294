/* SPDX-License-Identifier: MIT */
#include "cpu/compile/messages.h"

#include <stdbool.h>
#include <string.h>

#define LOG_BYTES_MAX ((size_t)1 << 20)

static bool
at_word(const char *text, size_t left, const char *word)
{
    size_t size = strlen(word);
    return size <= left && memcmp(text, word, size) == 0;
}

/* Bytes of `folder` and the slash behind it, if the text begins with them. */
static size_t
folder_prefix(const char *text, size_t left, const char *folder)
{
    size_t size = strlen(folder);
    bool found =
        size > 0 && left > size && at_word(text, left, folder) && text[size] == '/';
    return found ? size + 1 : 0;
}

/* How many bytes of a path in a message are ours: one of the two folders, or the "./"
 * of a header of the program that was found from where the compiler runs. */
static size_t
own_prefix(const char *text, size_t left, char before,
           const struct ha_messages_paths *paths)
{
    size_t size = folder_prefix(text, left, paths->folder);
    if (size == 0) {
        size = folder_prefix(text, left, paths->device_dir);
    }
    if (size != 0 || !at_word(text, left, "./") || strchr("\n '", before) == NULL) {
        return size;
    }
    for (uint32_t i = 0; i < paths->header_count; i++) {
        if (at_word(text + 2, left - 2, paths->header_names[i])) {
            return 2;
        }
    }
    return 0;
}

void
ha_messages_append(struct ha_bytes *log, const char *text, size_t size,
                   const struct ha_messages_paths *paths)
{
    static const char target[] = " when compiling for ";
    static const char plea[] = "PLEASE submit a bug report";
    size_t left = size < LOG_BYTES_MAX ? size : LOG_BYTES_MAX;
    char before = '\n';
    while (left > 0 && !at_word(text, left, plea)) {
        size_t skip = own_prefix(text, left, before, paths);
        if (at_word(text, left, target)) {
            const char *line_end = memchr(text, '\n', left);
            skip = line_end != NULL ? (size_t)(line_end - text) : left;
            ha_buffer_text(log, ".");
        }
        if (skip == 0) {
            if (text[0] != '\0') { /* the log is a C string */
                ha_buffer_append(log, text, 1);
            }
            skip = 1;
        }
        before = text[skip - 1];
        text += skip;
        left -= skip;
    }
    if (log->size > 0 && log->bytes[log->size - 1] != '\n') {
        ha_buffer_text(log, "\n");
    }
    if (size > LOG_BYTES_MAX) {
        ha_buffer_format(log, "note: %zu more bytes of messages\n",
                         size - LOG_BYTES_MAX);
    }
}
