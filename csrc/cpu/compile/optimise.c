/* SPDX-License-Identifier: MIT */
#include "cpu/compile/optimise.h"

#include <string.h>

#include "cpu/compile/check_insert.h"
#include "cpu/compile/numbers_insert.h"
#include "cpu/compile/rewrite.h"
#include "cpu/compile/shadow_insert.h"
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

/* A step that reads text IR and gives text IR; `ir` is then its answer. */
static enum ha_status
run_step(struct ha_build *build, const char *what, const char *const *flags,
         bool ordered, struct ha_bytes *text, struct ha_memory_file *output)
{
    struct ha_memory_file input = HA_MEMORY_FILE_INIT;
    struct ha_list arguments = {0};
    enum ha_status status = ha_memory_file_open(&input, "ir");
    if (status == HA_OK) {
        status = ha_memory_file_write(&input, text->bytes, text->size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(&input);
    }
    ha_build_ir_arguments(build, &arguments, false);
    ha_build_flags(&arguments, flags);
    if (ordered) {
        ha_build_order_flags(build, &arguments);
    }
    if (status == HA_OK) {
        status =
            ha_build_step(build, what, &arguments,
                          &(struct ha_step_files){.input = &input, .output = output});
    }
    ha_list_release(&arguments);
    ha_memory_file_close(&input);
    return status;
}

static struct ha_rewrite_request
request_of(struct ha_build *build, const char *ir, size_t size)
{
    return (struct ha_rewrite_request){
        .ir = ir,
        .ir_size = size,
        .stop = ha_build_stop_rewriter,
        .stop_context = build,
    };
}

/* The text with shadow memory. */
static enum ha_status
add_shadow(struct ha_build *build, struct ha_bytes *text)
{
    static const char *const flags[] = {"-disable-llvm-verifier", HA_SHADOW_FLAGS,
                                        NULL};
    struct ha_memory_file output = HA_MEMORY_FILE_INIT;
    struct ha_bytes before = {0}, after = {0};
    struct ha_rewrite_request request = request_of(build, text->bytes, text->size);
    enum ha_status status = ha_shadow_before(&request, &before);
    if (status == HA_OK) {
        status = run_step(build, "the check of what nobody wrote", flags, false,
                          &before, &output);
    }
    if (status == HA_OK) {
        request = request_of(build, output.bytes, output.size);
        status = ha_shadow_after(&request, &after);
    }
    if (status == HA_OK) {
        ha_buffer_release(text);
        *text = after;
        after = (struct ha_bytes){0};
    }
    ha_memory_file_close(&output);
    ha_buffer_release(&before);
    ha_buffer_release(&after);
    return status;
}

/* The text with arithmetic as calls: behind the shadow, whose pass knows no such calls.
 */
static enum ha_status
add_numbers(struct ha_build *build, struct ha_bytes *text)
{
    const struct ha_rewrite_request request =
        request_of(build, text->bytes, text->size);
    struct ha_bytes numbers = {0};
    enum ha_status status = ha_numbers_insert(&request, &numbers);
    if (status == HA_OK) {
        ha_buffer_release(text);
        *text = numbers;
    } else {
        ha_buffer_release(&numbers);
    }
    return status;
}

/* The module with what must be in it before anything is optimised. */
static enum ha_status
prepare(struct ha_build *build, const struct ha_memory_file *ir, bool closed,
        struct ha_bytes *text)
{
    struct ha_bytes asked = {0};
    struct ha_rewrite_request request = request_of(build, ir->bytes, ir->size);
    enum ha_status status = HA_OK;
    /* What only a kernel that runs can tell is not proved. */
    request.twins = !build->shadow && !build->numbers;
    if (!build->asks) {
        ha_buffer_append(&asked, ir->bytes, ir->size);
    } else {
        status = ha_check_insert(&request, &asked);
    }
    if (status == HA_OK && build->shadow) {
        status = add_shadow(build, &asked);
    }
    if (status == HA_OK && build->numbers) {
        status = add_numbers(build, &asked);
    }
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
    struct ha_memory_file output = HA_MEMORY_FILE_INIT;
    struct ha_bytes text = {0};
    enum ha_status status = prepare(build, ir, closed, &text);
    if (status == HA_OK) {
        status = run_step(build, "the optimiser", flags, true, &text, &output);
    }
    if (status == HA_OK) {
        ha_memory_file_close(ir);
        *ir = output;
    } else {
        ha_memory_file_close(&output);
    }
    ha_buffer_release(&text);
    return status;
}
