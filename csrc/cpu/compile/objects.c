/* SPDX-License-Identifier: MIT */
#include "cpu/compile/objects.h"

#include <stdio.h>
#include <string.h>

#include "core/sha256.h"
#include "cpu/compile/cache_key.h"

bool
ha_object_key(const struct ha_toolchain *toolchain, const struct ha_list *arguments,
              const char *text, size_t size, uint8_t key[HA_CACHE_KEY_BYTES])
{
    struct ha_bytes bytes = {0};
    /* The text says what warps are; the arguments, which level is meant. */
    ha_cache_key_begin(&bytes, "object", toolchain, 0, 0);
    ha_buffer_u32(&bytes, arguments->count);
    for (uint32_t i = 0; i < arguments->count; i++) {
        ha_buffer_block(&bytes, arguments->items[i], strlen(arguments->items[i]));
    }
    ha_buffer_block(&bytes, text, size);
    bool made = !bytes.failed && !arguments->failed;
    if (made) {
        ha_sha256(bytes.bytes, bytes.size, key);
    }
    ha_buffer_release(&bytes);
    return made;
}

bool
ha_object_load(const uint8_t key[HA_CACHE_KEY_BYTES], struct ha_memory_file *object)
{
    struct ha_compile_result entry = {0};
    if (!ha_cache_load(HA_CACHE_OBJECT, key, &entry)) {
        return false;
    }
    bool loaded =
        ha_memory_file_open(object, "object") == HA_OK &&
        ha_memory_file_write(object, entry.image, entry.image_size) == HA_OK &&
        ha_memory_file_map(object) == HA_OK;
    if (!loaded) {
        ha_memory_file_close(object);
    }
    ha_compile_result_release(&entry);
    return loaded;
}

void
ha_object_store(const uint8_t key[HA_CACHE_KEY_BYTES],
                const struct ha_memory_file *object)
{
    static char nothing_said[] = "";
    const struct ha_cache_inputs nothing_read = {0};
    const struct ha_compile_result entry = {
        .log = nothing_said, .image = object->bytes, .image_size = object->size};
    ha_cache_store(HA_CACHE_OBJECT, key, &entry, &nothing_read);
}

/* Members of ar archives begin at even offsets, behind 60 bytes of text. */
static void
append_member(struct ha_bytes *bytes, const struct ha_memory_file *object,
              uint32_t number)
{
    char name[sizeof "4294967295.o/"];
    (void)snprintf(name, sizeof name, "%u.o/", number);
    ha_buffer_format(bytes, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644",
                     object->size);
    ha_buffer_append(bytes, object->bytes, object->size);
    if (object->size % 2 != 0) {
        ha_buffer_append(bytes, "\n", 1);
    }
}

enum ha_status
ha_object_archive(const struct ha_memory_file *objects, uint32_t count,
                  struct ha_memory_file *archive)
{
    struct ha_bytes bytes = {0};
    ha_buffer_text(&bytes, "!<arch>\n");
    for (uint32_t i = 0; i < count; i++) {
        append_member(&bytes, &objects[i], i);
    }
    enum ha_status status = bytes.failed
                                ? ha_error_set(HA_ERROR_MEMORY, "objects: no memory")
                                : ha_memory_file_open(archive, "archive");
    if (status == HA_OK) {
        status = ha_memory_file_write(archive, bytes.bytes, bytes.size);
    }
    ha_buffer_release(&bytes);
    return status;
}
