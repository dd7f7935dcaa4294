/* SPDX-License-Identifier: MIT */
#include "cpu/compile/prelude.h"

#include <stdlib.h>
#include <string.h>

#include "core/sha256.h"
#include "cpu/compile/cache.h"
#include "cpu/compile/cache_key.h"

static bool
compute_key(const struct ha_build *build, const struct ha_prelude_request *request,
            uint8_t key[HA_CACHE_KEY_BYTES])
{
    struct ha_bytes text = {0};
    ha_cache_key_begin(&text, "prelude", &build->toolchain, build->warp_size, 0);
    const struct ha_list *arguments = request->arguments;
    ha_buffer_block(&text, request->text, request->size);
    for (uint32_t i = 0; i < arguments->count; i++) {
        ha_buffer_block(&text, arguments->items[i], strlen(arguments->items[i]));
    }
    ha_sha256(text.bytes, text.size, key);
    bool made = !text.failed && !arguments->failed;
    ha_buffer_release(&text);
    return made;
}

static enum ha_status
open_with(struct ha_memory_file *file, const void *bytes, size_t size)
{
    enum ha_status status = ha_memory_file_open(file, "prelude");
    if (status == HA_OK) {
        status = ha_memory_file_write(file, bytes, size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(file);
    }
    if (status != HA_OK) {
        ha_memory_file_close(file);
    }
    return status;
}

/* The PCH becomes the image of `entry`. */
static enum ha_status
make(struct ha_build *build, const struct ha_prelude_request *request,
     struct ha_compile_result *entry)
{
    static const char *const outputs[] = {
        "-fno-pch-timestamp", "-emit-pch", "-o", "-", "-", NULL};
    struct ha_memory_file text = HA_MEMORY_FILE_INIT, made = HA_MEMORY_FILE_INIT;
    struct ha_list all = {0};
    ha_list_join(&all, request->arguments);
    ha_build_flags(&all, outputs);
    enum ha_status status = open_with(&text, request->text, request->size);
    if (status == HA_OK) {
        status =
            ha_build_step(build, "the front end", &all,
                          &(struct ha_step_files){.input = &text, .output = &made});
    }
    if (status == HA_OK) {
        entry->log = strdup("");
        entry->image = malloc(made.size);
        if (entry->log == NULL || entry->image == NULL) {
            status = HA_ERROR_MEMORY;
        }
    }
    if (status == HA_OK) {
        memcpy(entry->image, made.bytes, made.size);
        entry->image_size = made.size;
    }
    ha_list_release(&all);
    ha_memory_file_close(&text);
    ha_memory_file_close(&made);
    return status;
}

/* Makes it once, however many processes ask; without a cache nobody does. */
static bool
make_once(struct ha_build *build, const struct ha_prelude_request *request,
          const uint8_t key[HA_CACHE_KEY_BYTES], struct ha_compile_result *entry)
{
    const struct ha_cache_inputs nothing = {0};
    int lock = ha_cache_lock(key, build->deadline_ns, build->interrupted);
    if (lock < 0) {
        return false;
    }
    size_t said = build->log.size;
    bool have = ha_cache_load(HA_CACHE_PRELUDE, key, entry);
    if (!have && make(build, request, entry) == HA_OK) {
        have = true;
        ha_cache_store(HA_CACHE_PRELUDE, key, entry, &nothing);
    }
    ha_buffer_cut(&build->log, said);
    ha_cache_unlock(lock);
    return have;
}

void
ha_prelude_open(struct ha_build *build, const struct ha_prelude_request *request,
                struct ha_memory_file *prelude)
{
    struct ha_compile_result entry = {0};
    uint8_t key[HA_CACHE_KEY_BYTES];
    if (!compute_key(build, request, key)) {
        return;
    }
    if (ha_cache_load(HA_CACHE_PRELUDE, key, &entry) ||
        make_once(build, request, key, &entry)) {
        (void)open_with(prelude, entry.image, entry.image_size);
    }
    ha_compile_result_release(&entry);
}
