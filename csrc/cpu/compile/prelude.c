/* SPDX-License-Identifier: MIT */
#include "cpu/compile/prelude.h"

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

/* Whether it was there. */
static bool
load(const uint8_t key[HA_CACHE_KEY_BYTES], struct ha_memory_file *prelude)
{
    struct ha_compile_result entry = {0};
    bool have = ha_cache_load(HA_CACHE_PRELUDE, key, &entry);
    if (have) {
        (void)open_with(prelude, entry.image, entry.image_size);
    }
    ha_compile_result_release(&entry);
    return have;
}

void
ha_prelude_open(const struct ha_build *build, const struct ha_prelude_request *request,
                struct ha_memory_file *prelude, struct ha_prelude_making *making)
{
    static const char *const outputs[] = {
        "-fno-pch-timestamp", "-emit-pch", "-o", "-", "-", NULL};
    if (!compute_key(build, request, making->key) || load(making->key, prelude)) {
        return;
    }
    making->lock = ha_cache_lock(making->key, 0, NULL);
    if (making->lock < 0) {
        return;
    }
    /* Somebody may have made it since. */
    if (load(making->key, prelude) ||
        open_with(&making->text, request->text, request->size) != HA_OK) {
        ha_prelude_finish(making);
        return;
    }
    ha_list_join(&making->arguments, request->arguments);
    ha_build_flags(&making->arguments, outputs);
}

struct ha_build_task
ha_prelude_task(struct ha_prelude_making *making)
{
    return (struct ha_build_task){
        .arguments = &making->arguments,
        .files = {.input = &making->text, .output = &making->made},
        .aside = true,
    };
}

void
ha_prelude_finish(struct ha_prelude_making *making)
{
    static char nothing_said[] = "";
    const struct ha_cache_inputs nothing = {0};
    if (making->made.bytes != NULL) {
        const struct ha_compile_result entry = {.log = nothing_said,
                                                .image = making->made.bytes,
                                                .image_size = making->made.size};
        ha_cache_store(HA_CACHE_PRELUDE, making->key, &entry, &nothing);
    }
    ha_cache_unlock(making->lock);
    making->lock = -1;
    ha_list_release(&making->arguments);
    ha_memory_file_close(&making->text);
    ha_memory_file_close(&making->made);
}
