/* SPDX-License-Identifier: MIT */
#include "cpu/compile/optimise.h"

#include <string.h>

#include "cpu/compile/check_insert.h"
#include "cpu/compile/numbers_insert.h"
#include "cpu/compile/rewrite.h"
#include "cpu/compile/toolchain_flags.h"

#define FUNCTIONS_LEAST 16u
#define DEFINITION "\ndefine dso_local "

bool
ha_optimise_apart(const char *source, size_t size)
{
    static const char word[] = "__device__";
    const char *at = source, *end = source + size;
    unsigned count = 0;

    while (count < FUNCTIONS_LEAST &&
           (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL) {
        at += sizeof word - 1;
        count++;
    }
    return count == FUNCTIONS_LEAST;
}

static void
make_internal(const struct ha_bytes *ir, struct ha_bytes *text)
{
    static const char kernel[] = "ptx_kernel ";
    const char *at = ir->bytes, *end = ir->bytes + ir->size, *found;
    const size_t size = sizeof DEFINITION - 1;

    while ((found = memmem(at, (size_t)(end - at), DEFINITION, size)) != NULL) {
        const char *rest = found + size;
        bool is_kernel = (size_t)(end - rest) > sizeof kernel &&
                         memcmp(rest, kernel, sizeof kernel - 1) == 0;
        ha_buffer_append(text, at, (size_t)(found - at));
        ha_buffer_text(text, is_kernel ? DEFINITION : "\ndefine internal ");
        at = rest;
    }
    ha_buffer_append(text, at, (size_t)(end - at));
}

/* The module with what must be in it before anything is optimised. */
static enum ha_status
prepare(struct ha_build *build, const struct ha_memory_file *ir, bool closed,
        struct ha_bytes *text)
{
    struct ha_bytes asked = {0};
    struct ha_bytes numbers = {0};
    struct ha_rewrite_request request = {
        .ir = ir->bytes,
        .ir_size = ir->size,
        .stop = ha_build_stop_rewriter,
        .stop_context = build,
    };
    enum ha_status status = HA_OK;
    if (build->numbers) {
        status = ha_numbers_insert(&request, &numbers);
        request.ir = numbers.bytes;
        request.ir_size = numbers.size;
    }
    if (status == HA_OK && !build->check) {
        ha_buffer_append(&asked, request.ir, request.ir_size);
    } else if (status == HA_OK) {
        status = ha_check_insert(&request, &asked);
    }
    ha_buffer_release(&numbers);
    if (status == HA_OK && closed) {
        make_internal(&asked, text);
    } else {
        *text = asked;
        asked = (struct ha_bytes){0};
    }
    ha_buffer_release(&asked);
    return status == HA_OK && text->failed
               ? ha_error_set(HA_ERROR_MEMORY, "the optimiser: no memory")
               : status;
}

enum ha_status
ha_optimise(struct ha_build *build, struct ha_memory_file *ir, bool closed)
{
    static const char *const flags[] = {"-disable-llvm-verifier", HA_OPTIMISE_FLAGS,
                                        NULL};
    struct ha_memory_file input = HA_MEMORY_FILE_INIT, output = HA_MEMORY_FILE_INIT;
    struct ha_list arguments = {0};
    struct ha_bytes text = {0};
    enum ha_status status = prepare(build, ir, closed, &text);
    if (status == HA_OK) {
        status = ha_memory_file_open(&input, "ir");
    }
    if (status == HA_OK) {
        status = ha_memory_file_write(&input, text.bytes, text.size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(&input);
    }
    ha_build_ir_arguments(build, &arguments, false);
    ha_build_flags(&arguments, flags);
    ha_build_order_flags(build, &arguments);
    if (status == HA_OK) {
        status =
            ha_build_step(build, "the optimiser", &arguments,
                          &(struct ha_step_files){.input = &input, .output = &output});
    }
    if (status == HA_OK) {
        ha_memory_file_close(ir);
        *ir = output;
    } else {
        ha_memory_file_close(&output);
    }
    ha_list_release(&arguments);
    ha_buffer_release(&text);
    ha_memory_file_close(&input);
    return status;
}
