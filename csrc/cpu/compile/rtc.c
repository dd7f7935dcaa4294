/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rtc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/readable.h"
#include "cpu/base/device.h"
#include "cpu/base/handle.h"
#include "cpu/base/interrupt.h"
#include "cpu/base/thread.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/compile.h"
#include "cpu/compile/name_expression.h"
#include "cpu/compile/workdir.h"

#define NAME_DEFAULT "program.hip"
#define HEADERS_MAX 65536

struct program {
    char *source; /* owned, constant like the next three */
    char *name;
    struct ha_list header_names;
    struct ha_list header_texts;
    pthread_mutex_t lock;
    pthread_cond_t idle;
    bool busy;                  /* lock: a thread compiles it */
    bool ready;                 /* lock: `result` has an image */
    struct ha_list expressions; /* lock; constant while busy */
    struct ha_compile_result
        result;           /* lock: of the last success, with the newest log */
    struct ha_list given; /* lock: lowered names that were handed out */
};

hiprtcResult
ha_rtc_fail(hiprtcResult result, const char *function, const char *format, ...)
{
    struct ha_thread *thread = ha_thread_self();
    va_list arguments;
    int size = snprintf(thread->text, sizeof thread->text, "%s: ", function);
    if (size < 0 || (size_t)size >= sizeof thread->text) {
        return result;
    }
    va_start(arguments, format);
    (void)vsnprintf(thread->text + size, sizeof thread->text - (size_t)size, format,
                    arguments);
    va_end(arguments);
    return result;
}

static hiprtcResult
fail_status(enum ha_status status, const char *function)
{
    hiprtcResult result = HIPRTC_ERROR_INTERNAL_ERROR;
    switch (status) {
    case HA_OK:
        return HIPRTC_SUCCESS;
    case HA_ERROR_MEMORY:
        result = HIPRTC_ERROR_OUT_OF_MEMORY;
        break;
    case HA_ERROR_INVALID:
        result = HIPRTC_ERROR_INVALID_OPTION;
        break;
    case HA_ERROR_COMPILE:
    case HA_ERROR_UNSUPPORTED:
    case HA_ERROR_TIMEOUT:
        result = HIPRTC_ERROR_COMPILATION;
        break;
    case HA_ERROR_SYSTEM:
    case HA_ERROR_NOT_FOUND:
    case HA_ERROR_CORRUPT:
        break;
    }
    return ha_rtc_fail(result, function, "%s", ha_error_text());
}

static void
destroy(struct program *program)
{
    ha_compile_result_release(&program->result);
    ha_list_release(&program->given);
    ha_list_release(&program->expressions);
    ha_list_release(&program->header_texts);
    ha_list_release(&program->header_names);
    (void)pthread_cond_destroy(&program->idle);
    (void)pthread_mutex_destroy(&program->lock);
    free(program->name);
    free(program->source);
    free(program);
}

static void
release(hiprtcProgram handle, struct program *program)
{
    if (ha_handle_release((uint64_t)(uintptr_t)handle)) {
        destroy(program);
    }
}

/* The program with a reference, locked and not busy; NULL with a text. */
static struct program *
enter(hiprtcProgram handle, const char *function)
{
    struct program *program =
        ha_handle_acquire(HA_HANDLE_PROGRAM, (uint64_t)(uintptr_t)handle);
    if (program == NULL) {
        (void)ha_rtc_fail(HIPRTC_ERROR_INVALID_PROGRAM, function,
                          "argument 'prog' (%p) is not a program, or it was destroyed",
                          (void *)handle);
        return NULL;
    }
    (void)pthread_mutex_lock(&program->lock);
    while (program->busy) {
        (void)pthread_cond_wait(&program->idle, &program->lock);
    }
    return program;
}

static void
leave(hiprtcProgram handle, struct program *program)
{
    (void)pthread_mutex_unlock(&program->lock);
    release(handle, program);
}

static hiprtcResult
check_input(const char *source, int count, const char *const *texts,
            const char *const *names)
{
    static const char function[] = "hiprtcCreateProgram";
    if (count < 0 || count > HEADERS_MAX) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument 'numHeaders' is %d, 0 to %d are possible", count,
                           HEADERS_MAX);
    }
    if (count > 0 && (texts == NULL || names == NULL)) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument '%s' is NULL but 'numHeaders' is %d",
                           texts == NULL ? "headers" : "includeNames", count);
    }
    size_t size = strlen(source);
    for (int i = 0; i < count; i++) {
        if (texts[i] == NULL || names[i] == NULL) {
            return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                               "argument '%s': entry %d is NULL",
                               texts[i] == NULL ? "headers" : "includeNames", i);
        }
        if (ha_workdir_check_name(names[i]) != HA_OK) {
            return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                               "argument 'includeNames': %s", ha_error_text());
        }
        size += strlen(texts[i]);
    }
    if (size > HA_COMPILE_SOURCE_MAX) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument 'src' has %zu bytes with its headers, %zu MiB are "
                           "possible",
                           size, HA_COMPILE_SOURCE_MAX >> 20);
    }
    return HIPRTC_SUCCESS;
}

hiprtcResult
ha_program_create(const char *source, const char *name, int header_count,
                  const char *const *header_texts, const char *const *header_names,
                  hiprtcProgram *handle)
{
    static const char function[] = "hiprtcCreateProgram";
    if (handle == NULL || source == NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument '%s' is NULL", handle == NULL ? "prog" : "src");
    }
    hiprtcResult checked =
        check_input(source, header_count, header_texts, header_names);
    if (checked != HIPRTC_SUCCESS) {
        return checked;
    }
    struct program *program = calloc(1, sizeof *program);
    if (program == NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_OUT_OF_MEMORY, function, "no memory");
    }
    (void)pthread_mutex_init(&program->lock, NULL);
    (void)pthread_cond_init(&program->idle, NULL);
    program->source = strdup(source);
    program->name = strdup(name != NULL && name[0] != '\0' ? name : NAME_DEFAULT);
    for (int i = 0; i < header_count; i++) {
        ha_list_add(&program->header_names, header_names[i]);
        ha_list_add(&program->header_texts, header_texts[i]);
    }
    uint64_t number = 0;
    if (program->source != NULL && program->name != NULL &&
        !program->header_names.failed && !program->header_texts.failed) {
        number = ha_handle_create(HA_HANDLE_PROGRAM, program);
    }
    if (number == 0) {
        destroy(program);
        return ha_rtc_fail(HIPRTC_ERROR_OUT_OF_MEMORY, function, "no memory");
    }
    *handle = (hiprtcProgram)(uintptr_t)number;
    return HIPRTC_SUCCESS;
}

hiprtcResult
ha_program_destroy(hiprtcProgram *handle)
{
    static const char function[] = "hiprtcDestroyProgram";
    if (handle == NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument 'prog' is NULL");
    }
    /* Some programs pass the handle instead of its address: that cannot be read. */
    if (!ha_memory_readable((const void *)handle, sizeof *handle)) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_PROGRAM, function,
                           "argument 'prog' (%p) is not the address of a program's "
                           "handle",
                           (void *)handle);
    }
    struct program *program =
        ha_handle_retire(HA_HANDLE_PROGRAM, (uint64_t)(uintptr_t)*handle);
    if (program == NULL) {
        return ha_rtc_fail(
            HIPRTC_ERROR_INVALID_PROGRAM, function,
            "argument 'prog' points to %p, which is not a program, or it "
            "was destroyed already",
            (void *)*handle);
    }
    /* A thread that compiles it now has a reference of its own. */
    release(*handle, program);
    *handle = NULL;
    return HIPRTC_SUCCESS;
}

hiprtcResult
ha_program_add_name(hiprtcProgram handle, const char *expression)
{
    static const char function[] = "hiprtcAddNameExpression";
    if (expression == NULL || expression[0] == '\0') {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument 'name_expression' is %s",
                           expression == NULL ? "NULL" : "empty");
    }
    const char *why = ha_name_expression_check(expression);
    if (why != NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID, function,
                           "argument 'name_expression' is '%.200s', which is no "
                           "expression that names something: %s",
                           expression, why);
    }
    struct program *program = enter(handle, function);
    if (program == NULL) {
        return HIPRTC_ERROR_INVALID_PROGRAM;
    }
    hiprtcResult result = HIPRTC_SUCCESS;
    if (program->ready) {
        result =
            ha_rtc_fail(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, function,
                        "'%.200s' comes after hiprtcCompileProgram", expression);
    } else if (!ha_list_has(&program->expressions, expression)) {
        ha_list_add(&program->expressions, expression);
        if (program->expressions.failed) {
            program->expressions.failed = false; /* those before are whole */
            result = ha_rtc_fail(HIPRTC_ERROR_OUT_OF_MEMORY, function, "no memory");
        }
    }
    leave(handle, program);
    return result;
}

/* The program may still use names of an older result. */
static void
keep_names(struct program *program, struct ha_compile_result *newer)
{
    struct ha_compile_result *older = &program->result;
    for (uint32_t i = 0; i < older->lowered_count; i++) {
        char *name = older->lowered[i];
        if (name == NULL) {
            continue;
        }
        if (i < newer->lowered_count && newer->lowered[i] != NULL &&
            strcmp(name, newer->lowered[i]) == 0) {
            older->lowered[i] = newer->lowered[i];
            newer->lowered[i] = name;
        } else {
            ha_list_own(&program->given, name);
            older->lowered[i] = NULL;
        }
    }
}

hiprtcResult
ha_program_compile(hiprtcProgram handle, uint32_t warp_size, int option_count,
                   const char *const *options, bool *cached)
{
    static const char function[] = "hiprtcCompileProgram";
    if (option_count < 0 || (option_count > 0 && options == NULL)) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           option_count < 0
                               ? "argument 'numOptions' is %d"
                               : "argument 'options' is NULL but 'numOptions' is %d",
                           option_count);
    }
    for (int i = 0; i < option_count; i++) {
        if (options[i] == NULL) {
            return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                               "argument 'options': entry %d is NULL", i);
        }
    }
    struct program *program = enter(handle, function);
    if (program == NULL) {
        return HIPRTC_ERROR_INVALID_PROGRAM;
    }
    program->busy = true;
    (void)pthread_mutex_unlock(&program->lock);
    const struct ha_compile_request request = {
        .source = program->source,
        .source_size = strlen(program->source),
        .name = program->name,
        .header_names = (const char *const *)program->header_names.items,
        .header_texts = (const char *const *)program->header_texts.items,
        .header_count = program->header_names.count,
        .expressions = (const char *const *)program->expressions.items,
        .expression_count = program->expressions.count,
        .options = options,
        .option_count = (uint32_t)option_count,
        .arch = HA_ARCH_NAME,
        .warp_size = warp_size,
        .interrupted = ha_interrupted,
    };
    struct ha_compile_result compiled;
    enum ha_status status = ha_compile(&request, &compiled);
    hiprtcResult result = fail_status(status, function);
    (void)pthread_mutex_lock(&program->lock);
    if (status == HA_OK) {
        keep_names(program, &compiled);
        *cached = compiled.cached;
        ha_compile_result_release(&program->result);
        program->result = compiled;
        program->ready = true;
    } else {
        free(program->result.log);
        program->result.log = compiled.log;
        compiled.log = NULL;
        ha_compile_result_release(&compiled);
    }
    program->busy = false;
    (void)pthread_cond_broadcast(&program->idle);
    leave(handle, program);
    return result;
}

bool
ha_program_name(hiprtcProgram handle, char *name, size_t bytes)
{
    struct program *program =
        ha_handle_acquire(HA_HANDLE_PROGRAM, (uint64_t)(uintptr_t)handle);

    if (program == NULL) {
        return false;
    }
    (void)snprintf(name, bytes, "%s", program->name);
    release(handle, program);
    return true;
}

hiprtcResult
ha_program_get_log(hiprtcProgram handle, char *log, size_t *size)
{
    struct program *program =
        enter(handle, log != NULL ? "hiprtcGetProgramLog" : "hiprtcGetProgramLogSize");
    if (program == NULL) {
        return HIPRTC_ERROR_INVALID_PROGRAM;
    }
    const char *text = program->result.log != NULL ? program->result.log : "";
    if (size != NULL) {
        *size = strlen(text) + 1;
    }
    if (log != NULL) {
        memcpy(log, text, strlen(text) + 1);
    }
    leave(handle, program);
    return HIPRTC_SUCCESS;
}

static hiprtcResult
get_image(hiprtcProgram handle, const char *function, bool relocatable, char *bytes,
          size_t *size)
{
    struct program *program = enter(handle, function);
    if (program == NULL) {
        return HIPRTC_ERROR_INVALID_PROGRAM;
    }
    const struct ha_compile_result *compiled = &program->result;
    hiprtcResult result = HIPRTC_SUCCESS;
    if (!program->ready) {
        result = ha_rtc_fail(HIPRTC_ERROR_INVALID_PROGRAM, function,
                             "the program was not compiled with success");
    } else if (compiled->relocatable != relocatable) {
        result = ha_rtc_fail(
            HIPRTC_ERROR_INVALID_PROGRAM, function,
            relocatable ? "the program was compiled without -fgpu-rdc; hiprtcGetCode "
                          "gives its code"
                        : "the program was compiled with -fgpu-rdc; hiprtcGetBitcode "
                          "gives what hiprtcLinkAddData takes");
    } else {
        if (size != NULL) {
            *size = compiled->image_size;
        }
        if (bytes != NULL) {
            memcpy(bytes, compiled->image, compiled->image_size);
        }
    }
    leave(handle, program);
    return result;
}

hiprtcResult
ha_program_get_code(hiprtcProgram handle, char *code, size_t *size)
{
    const char *function = code != NULL ? "hiprtcGetCode" : "hiprtcGetCodeSize";
    return get_image(handle, function, false, code, size);
}

hiprtcResult
ha_program_get_bitcode(hiprtcProgram handle, char *bitcode, size_t *size)
{
    const char *function =
        bitcode != NULL ? "hiprtcGetBitcode" : "hiprtcGetBitcodeSize";
    return get_image(handle, function, true, bitcode, size);
}

hiprtcResult
ha_program_get_lowered(hiprtcProgram handle, const char *expression,
                       const char **lowered)
{
    static const char function[] = "hiprtcGetLoweredName";
    if (expression == NULL || lowered == NULL) {
        return ha_rtc_fail(HIPRTC_ERROR_INVALID_INPUT, function,
                           "argument '%s' is NULL",
                           expression == NULL ? "name_expression" : "lowered_name");
    }
    struct program *program = enter(handle, function);
    if (program == NULL) {
        return HIPRTC_ERROR_INVALID_PROGRAM;
    }
    hiprtcResult result = HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    if (!program->ready) {
        result = ha_rtc_fail(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, function,
                             "the program was not compiled with success");
        goto done;
    }
    for (uint32_t i = 0; i < program->expressions.count; i++) {
        if (strcmp(program->expressions.items[i], expression) != 0) {
            continue;
        }
        if (i < program->result.lowered_count && program->result.lowered[i] != NULL) {
            *lowered = program->result.lowered[i];
            result = HIPRTC_SUCCESS;
        }
        break;
    }
    if (result != HIPRTC_SUCCESS) {
        (void)ha_rtc_fail(result, function,
                          "'%.200s' was not added, or it is no kernel or variable",
                          expression);
    }
done:
    leave(handle, program);
    return result;
}
