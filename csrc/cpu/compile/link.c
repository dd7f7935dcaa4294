/* SPDX-License-Identifier: MIT */
#include "cpu/compile/link.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sha256.h"
#include "cpu/base/device.h"
#include "cpu/base/gone.h"
#include "cpu/base/handle.h"
#include "cpu/base/interrupt.h"
#include "cpu/compile/build.h"
#include "cpu/compile/cache.h"
#include "cpu/compile/cache_key.h"
#include "cpu/compile/ir_strict.h"
#include "cpu/compile/link_ir.h"
#include "cpu/compile/options.h"
#include "cpu/compile/rtc.h"

#define LEVEL_DEFAULT 3
#define INPUTS_MAX 4096u
#define INPUT_BYTES_MAX ((size_t)1 << 30)
#define OPTIONS_MAX 64u

/* What the options of a state ask for. */
struct settings {
    unsigned level;
    char *logs[2];         /* info, error; borrowed from the program, or NULL */
    unsigned log_bytes[2]; /* room in them */
};

struct state {
    struct settings settings; /* constant */
    pthread_mutex_t lock;
    pthread_cond_t idle;
    bool busy;                    /* lock: a thread links it */
    bool complete;                /* lock: `result` has the image */
    struct ha_link_input *inputs; /* lock; constant while busy */
    uint32_t count, room;
    struct ha_compile_result result; /* lock */
};

static enum ha_link_answer
fail(enum ha_link_answer answer, const char *text)
{
    (void)ha_error_set(HA_ERROR_INVALID, "%s", text);
    return answer;
}

/* ---- life ---- */

static void
state_destroy(struct state *state)
{
    for (uint32_t i = 0; i < state->count; i++) {
        free(state->inputs[i].name);
        free(state->inputs[i].bytes);
    }
    free(state->inputs);
    ha_compile_result_release(&state->result);
    (void)pthread_cond_destroy(&state->idle);
    (void)pthread_mutex_destroy(&state->lock);
    free(state);
}

static void
state_release(uint64_t handle, struct state *state)
{
    if (ha_handle_release(handle)) {
        state_destroy(state);
    }
}

/* The state with a reference, locked and not busy; NULL with a text. */
static struct state *
enter(uint64_t handle)
{
    struct state *state = ha_handle_acquire(HA_HANDLE_LINK, handle);
    if (state == NULL) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "argument 'state' (%p) is not a link state, or it was "
                           "destroyed",
                           (void *)(uintptr_t)handle);
        return NULL;
    }
    (void)pthread_mutex_lock(&state->lock);
    while (state->busy) {
        (void)pthread_cond_wait(&state->idle, &state->lock);
    }
    return state;
}

static void
leave(uint64_t handle, struct state *state)
{
    (void)pthread_mutex_unlock(&state->lock);
    state_release(handle, state);
}

/* ---- options ---- */

/* IR-to-ISA options are a compiler's options, so they pass the same list; the level of
 * optimisation is all that can change the result. */
static enum ha_link_answer
take_compiler_options(const char *const *options, uint32_t count, uint32_t warp_size,
                      struct settings *settings)
{
    const struct ha_options_context context = {.arch = HA_ARCH_NAME,
                                               .warp_size = warp_size};
    struct ha_options parsed;
    if (count == 0) {
        return HA_LINK_OK;
    }
    if (options == NULL || count > OPTIONS_MAX) {
        return fail(HA_LINK_OPTION, options == NULL ? "the IR-to-ISA options are NULL"
                                                    : "too many IR-to-ISA options");
    }
    enum ha_status status = ha_options_parse(options, count, &context, &parsed);
    settings->level = parsed.level;
    ha_options_release(&parsed);
    return status == HA_OK             ? HA_LINK_OK
           : status == HA_ERROR_MEMORY ? HA_LINK_MEMORY
                                       : HA_LINK_OPTION;
}

/* Numbers are passed in the pointer itself. */
static unsigned
number_of(void *value)
{
    return (unsigned)(uintptr_t)value;
}

static enum ha_link_answer
take_options(const struct ha_link_options *options, struct settings *settings)
{
    const char *const *compiler_options = NULL;
    uint32_t compiler_option_count = 0;
    *settings = (struct settings){.level = LEVEL_DEFAULT};
    if (options->count > OPTIONS_MAX) {
        return fail(HA_LINK_ARGUMENT, "too many options");
    }
    if (options->count > 0 && (options->names == NULL || options->values == NULL)) {
        return fail(HA_LINK_ARGUMENT,
                    options->names == NULL
                        ? "the options are NULL, but their number is not 0"
                        : "the values of options are NULL, but their number is not 0");
    }
    for (unsigned i = 0; i < options->count; i++) {
        void *value = options->values[i];
        int name = (int)options->names[i];
        switch (name) {
        case hipJitOptionInfoLogBuffer:
        case hipJitOptionErrorLogBuffer:
            settings->logs[name == hipJitOptionErrorLogBuffer] = value;
            break;
        case hipJitOptionInfoLogBufferSizeBytes:
        case hipJitOptionErrorLogBufferSizeBytes:
            settings->log_bytes[name == hipJitOptionErrorLogBufferSizeBytes] =
                number_of(value);
            break;
        case hipJitOptionOptimizationLevel:
            if (number_of(value) > 4) {
                return fail(HA_LINK_OPTION, "the level of optimisation must be 0 to 4");
            }
            settings->level = number_of(value) < 3 ? number_of(value) : 3;
            break;
        case hipJitOptionIRtoISAOptExt:
            compiler_options = value;
            break;
        case hipJitOptionIRtoISAOptCountExt:
            compiler_option_count = number_of(value);
            break;
        default:
            if (name < 0 || name >= hipJitOptionNumOptions) {
                (void)ha_error_set(HA_ERROR_INVALID, "there is no option %d", name);
                return HA_LINK_OPTION;
            }
            break; /* of a GPU's linker */
        }
    }
    return take_compiler_options(compiler_options, compiler_option_count,
                                 options->warp_size, settings);
}

enum ha_link_answer
ha_link_create(const struct ha_link_options *options, uint64_t *handle)
{
    struct state *state = calloc(1, sizeof *state);
    if (state == NULL) {
        return fail(HA_LINK_MEMORY, "link state: no memory");
    }
    (void)pthread_mutex_init(&state->lock, NULL);
    (void)pthread_cond_init(&state->idle, NULL);
    enum ha_link_answer answer = take_options(options, &state->settings);
    if (answer == HA_LINK_OK) {
        *handle = ha_handle_create(HA_HANDLE_LINK, state);
        if (*handle != 0) {
            return HA_LINK_OK;
        }
        answer = fail(HA_LINK_MEMORY, "link state: no memory");
    }
    state_destroy(state);
    return answer;
}

enum ha_link_answer
ha_link_destroy(uint64_t handle)
{
    struct state *state = ha_handle_retire(HA_HANDLE_LINK, handle);
    if (state == NULL) {
        (void)ha_error_set(HA_ERROR_INVALID,
                           "argument 'state' (%p) is not a link state, or it was "
                           "destroyed already",
                           (void *)(uintptr_t)handle);
        return HA_LINK_HANDLE;
    }
    /* A thread that links it now has a reference of its own. */
    state_release(handle, state);
    return HA_LINK_OK;
}

/* ---- inputs ---- */

static enum ha_link_answer
check_kind(hipJitInputType type)
{
    switch (type) {
    case hipJitInputLLVMBitcode:
    case hipJitInputLLVMBundledBitcode:
        return HA_LINK_OK;
    case hipJitInputLLVMArchivesOfBundledBitcode:
        return fail(HA_LINK_KIND, "archives of bundled bitcode are not taken; add "
                                  "their members one by one");
    case hipJitInputSpirv:
        return fail(HA_LINK_KIND, "the CPU device takes no SPIR-V");
    default:
        (void)ha_error_set(HA_ERROR_INVALID,
                           "the CPU device takes LLVM bitcode and bundled bitcode, no "
                           "input of type %d",
                           (int)type);
        return HA_LINK_KIND;
    }
}

/* The input with a copy of what it is made of, in order of arrival. Lock held. */
static enum ha_link_answer
append(struct state *state, const char *name, const char *bytes, size_t size)
{
    if (state->count == INPUTS_MAX) {
        return fail(HA_LINK_ARGUMENT, "too many inputs");
    }
    if (state->count == state->room) {
        uint32_t room = state->room > 0 ? state->room * 2 : 4;
        struct ha_link_input *grown =
            realloc(state->inputs, room * sizeof *state->inputs);
        if (grown == NULL) {
            return fail(HA_LINK_MEMORY, "input: no memory");
        }
        state->inputs = grown;
        state->room = room;
    }
    struct ha_link_input input = {
        .name = strdup(name), .bytes = malloc(size + 1), .size = size};
    if (input.name == NULL || input.bytes == NULL) {
        free(input.name);
        free(input.bytes);
        return fail(HA_LINK_MEMORY, "input: no memory");
    }
    memcpy(input.bytes, bytes, size);
    input.bytes[size] = '\0';
    state->inputs[state->count++] = input;
    return HA_LINK_OK;
}

enum ha_link_answer
ha_link_add_data(uint64_t handle, hipJitInputType type, const void *bytes, size_t size,
                 const char *name, const struct ha_link_options *options)
{
    struct settings unused;
    struct state *state = enter(handle);
    if (state == NULL) {
        return HA_LINK_HANDLE;
    }
    enum ha_link_answer answer = check_kind(type);
    if (answer == HA_LINK_OK) {
        answer = take_options(options, &unused);
    }
    if (answer != HA_LINK_OK) {
        goto done;
    }
    if (bytes != NULL && size <= INPUT_BYTES_MAX && ha_gone(bytes, size)) {
        answer = fail(HA_LINK_ARGUMENT, "there is no memory at the input's address");
        goto done;
    }
    if (bytes == NULL || size == 0 || size > INPUT_BYTES_MAX) {
        answer = fail(HA_LINK_ARGUMENT, bytes == NULL ? "the input is NULL"
                                        : size == 0   ? "the input is empty"
                                                    : "the input is larger than 1 GiB");
        goto done;
    }
    if (state->complete) {
        answer = fail(HA_LINK_ARGUMENT, "the link is complete already");
        goto done;
    }
    char number[32];
    const char *ir = bytes;
    size_t ir_size = size;
    enum ha_status status = HA_OK;
    (void)snprintf(number, sizeof number, "input %u", state->count + 1);
    name = name != NULL && name[0] != '\0' ? name : number;
    if (type == hipJitInputLLVMBundledBitcode) {
        status = ha_link_unbundle(bytes, size, &ir, &ir_size);
    }
    if (status == HA_OK) {
        /* Text may come with its NUL. */
        while (ir_size > 1 && ir[ir_size - 1] == '\0' && ir[0] != 'B') {
            ir_size--;
        }
        status = ha_link_check(name, ir, ir_size);
    }
    answer = status == HA_OK ? append(state, name, ir, ir_size) : HA_LINK_CONTENT;
done:
    leave(handle, state);
    return answer;
}

/* The file's bytes, owned by the caller; NULL with a text. */
static char *
read_whole(const char *path, size_t *size)
{
    char *bytes = NULL;
    struct stat status;
    size_t done = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0) {
        (void)ha_error_set(HA_ERROR_NOT_FOUND, "'%.300s': %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(status.st_mode) || (uint64_t)status.st_size > INPUT_BYTES_MAX) {
        (void)ha_error_set(HA_ERROR_NOT_FOUND,
                           "'%.300s' is not a file of at most 1 GiB", path);
        goto done;
    }
    bytes = malloc((size_t)status.st_size + 1);
    while (bytes != NULL && done < (size_t)status.st_size) {
        ssize_t some = read(fd, bytes + done, (size_t)status.st_size - done);
        if (some == 0) {
            break; /* it got shorter */
        }
        if (some < 0 && errno != EINTR) {
            (void)ha_error_set(HA_ERROR_SYSTEM, "'%.300s': %s", path, strerror(errno));
            free(bytes);
            bytes = NULL;
            goto done;
        }
        done += some > 0 ? (size_t)some : 0;
    }
    if (bytes == NULL) {
        (void)ha_error_set(HA_ERROR_MEMORY, "'%.300s': no memory", path);
    }
    *size = done;
done:
    if (fd >= 0) {
        (void)close(fd);
    }
    return bytes;
}

enum ha_link_answer
ha_link_add_file(uint64_t handle, hipJitInputType type, const char *path,
                 const struct ha_link_options *options)
{
    size_t size = 0;
    struct state *state = enter(handle);
    if (state == NULL) {
        return HA_LINK_HANDLE;
    }
    leave(handle, state);
    enum ha_link_answer answer = check_kind(type);
    if (answer != HA_LINK_OK) {
        return answer;
    }
    if (path == NULL) {
        return fail(HA_LINK_ARGUMENT, "the path is NULL");
    }
    char *bytes = read_whole(path, &size);
    if (bytes == NULL) {
        return HA_LINK_FILE;
    }
    answer = ha_link_add_data(handle, type, bytes, size, path, options);
    free(bytes);
    return answer;
}

/* ---- linking ---- */

static enum ha_status
compute_key(const struct state *state, const struct ha_build *build,
            uint8_t key[HA_CACHE_KEY_BYTES])
{
    struct ha_bytes text = {0};
    enum ha_status status = HA_OK;
    ha_cache_key_begin(&text, "link", &build->toolchain, build->warp_size,
                       build->level);
    ha_buffer_u32(&text, build->asks);
    ha_buffer_u32(&text, build->shadow);
    ha_buffer_u32(&text, build->numbers);
    ha_buffer_u32(&text, state->count);
    for (uint32_t i = 0; i < state->count; i++) {
        const struct ha_link_input *input = &state->inputs[i];
        uint8_t digest[HA_SHA256_BYTES];
        ha_sha256(input->bytes, input->size, digest);
        ha_buffer_append(&text, digest, sizeof digest);
        ha_buffer_block(&text, input->name, strlen(input->name));
    }
    if (text.failed) {
        status = ha_error_set(HA_ERROR_MEMORY, "link: no memory");
    } else {
        ha_sha256(text.bytes, text.size, key);
    }
    ha_buffer_release(&text);
    return status;
}

static enum ha_status
build_image(struct state *state, struct ha_build *build,
            struct ha_compile_result *result)
{
    struct ha_bytes ir = {0};
    enum ha_status status = ha_link_merge(build, state->inputs, state->count, &ir);
    if (status == HA_OK) {
        /* What was compiled without it may raise exceptions that no program asks for.
         */
        build->numbers = build->numbers && ir_strict_is_in(ir.bytes, ir.size);
        status = ha_build_image(build, ir.bytes, ir.size, 0, result);
    }
    ha_buffer_release(&ir);
    return status;
}

/* The image from the cache, or from the inputs. Busy, without the lock. */
static enum ha_status
link_inputs(struct state *state, uint32_t warp_size, struct ha_compile_result *result)
{
    uint8_t key[HA_CACHE_KEY_BYTES];
    struct ha_cache_inputs nothing = {0};
    struct ha_build build = {.interrupted = ha_interrupted,
                             .warp_size = warp_size,
                             .level = state->settings.level};
    *result = (struct ha_compile_result){0};
    ha_build_start(&build);
    enum ha_status status = ha_toolchain_find(&build.toolchain);
    build.paths = (struct ha_messages_paths){.folder = "",
                                             .device_dir = build.toolchain.device_dir};
    if (status == HA_OK) {
        status = compute_key(state, &build, key);
    }
    if (status == HA_OK && !ha_cache_load(HA_CACHE_KERNEL, key, result)) {
        int lock = ha_cache_lock(key, build.deadline_ns, build.interrupted);
        if (lock < 0) {
            status = ha_build_go_on(&build, HA_BUILD_WAITING);
        }
        if (status == HA_OK &&
            (lock < 0 || !ha_cache_load(HA_CACHE_KERNEL, key, result))) {
            status = build_image(state, &build, result);
            if (status == HA_OK) {
                status = ha_build_take_log(&build, result);
            }
            if (status == HA_OK && build.cacheable) {
                ha_cache_store(HA_CACHE_KERNEL, key, result, &nothing);
            }
        }
        ha_cache_unlock(lock);
    }
    if (status != HA_OK) {
        status = ha_build_explain(&build, status, result);
    }
    ha_build_release(&build);
    return status;
}

/* The log into the program's own buffers: errors where it failed, else information. */
static void
give_log(const struct settings *settings, const char *log, bool failed)
{
    for (int which = 0; which < 2; which++) {
        char *to = settings->logs[which];
        size_t room = settings->log_bytes[which];
        if (to != NULL && room > 0) {
            const char *text = (which == 1) == failed && log != NULL ? log : "";
            size_t size = strlen(text);
            size = size < room ? size : room - 1;
            memcpy(to, text, size);
            to[size] = '\0';
        }
    }
}

static enum ha_link_answer
answer_of(enum ha_status status)
{
    switch (status) {
    case HA_OK:
        return HA_LINK_OK;
    case HA_ERROR_MEMORY:
        return HA_LINK_MEMORY;
    case HA_ERROR_COMPILE:
    case HA_ERROR_UNSUPPORTED:
    case HA_ERROR_TIMEOUT:
    case HA_ERROR_INVALID:
        return HA_LINK_FAILED;
    case HA_ERROR_SYSTEM:
    case HA_ERROR_NOT_FOUND:
    case HA_ERROR_CORRUPT:
        break;
    }
    return HA_LINK_SYSTEM;
}

enum ha_link_answer
ha_link_complete(uint64_t handle, uint32_t warp_size, void **image, size_t *size)
{
    struct ha_compile_result result;
    struct state *state = enter(handle);
    enum ha_link_answer answer = HA_LINK_OK;
    if (state == NULL) {
        return HA_LINK_HANDLE;
    }
    if (state->count == 0) {
        answer = fail(HA_LINK_ARGUMENT, "nothing was added to the link");
        goto done;
    }
    if (!state->complete) {
        state->busy = true;
        (void)pthread_mutex_unlock(&state->lock);
        answer = answer_of(link_inputs(state, warp_size, &result));
        (void)pthread_mutex_lock(&state->lock);
        give_log(&state->settings, result.log, answer != HA_LINK_OK);
        if (answer == HA_LINK_OK) {
            state->result = result;
            state->complete = true;
        } else {
            ha_compile_result_release(&result);
        }
        state->busy = false;
        (void)pthread_cond_broadcast(&state->idle);
    }
    if (answer == HA_LINK_OK) {
        *image = state->result.image;
        *size = state->result.image_size;
    }
done:
    leave(handle, state);
    return answer;
}
