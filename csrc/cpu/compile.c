/* SPDX-License-Identifier: MIT */
#include "cpu/compile.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "core/sha256.h"
#include "cpu/buffer.h"
#include "cpu/cache.h"
#include "cpu/depends.h"
#include "cpu/image.h"
#include "cpu/image_file.h"
#include "cpu/messages.h"
#include "cpu/options.h"
#include "cpu/process.h"
#include "cpu/rewrite.h"
#include "cpu/toolchain.h"
#include "cpu/toolchain_flags.h"
#include "cpu/workdir.h"

#define KEY_VERSION "hipadapt kernel 1"
#define OUTPUT_BYTES_MAX ((uint64_t)1 << 30)
#define TIMEOUT_MAX_SECONDS 86400
#define MEMORY_MAX_MIB (1 << 24)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* One compilation.  Everything in it is owned by it but what the request lends. */
struct work {
    const struct ha_compile_request *request;
    struct ha_compile_result *result;
    struct ha_toolchain toolchain;
    struct ha_options options;
    struct ha_workdir workdir;
    struct ha_buffer source; /* what the front end reads */
    struct ha_buffer log;
    struct ha_cache_inputs inputs;
    struct ha_memory_file source_file, ir_file, rules_file, object_file, elf_file;
    struct timespec started;
    uint64_t deadline_ns;
    long timeout_seconds;
    uint8_t key[HA_CACHE_KEY_BYTES];
    bool cacheable;
};

/* ---- the text that the front end gets ---- */

/* A string literal; `#line` and _Pragma take the same escapes. */
static void
append_quoted(struct ha_buffer *buffer, const char *text)
{
    ha_buffer_text(buffer, "\"");
    for (; *text != '\0'; text++) {
        char c = *text;
        if (c == '"' || c == '\\') {
            ha_buffer_append(buffer, "\\", 1);
        }
        if ((unsigned char)c < ' ') {
            c = ' ';
        }
        ha_buffer_append(buffer, &c, 1);
    }
    ha_buffer_text(buffer, "\"");
}

/* The address of a name expression as a constant: its initialiser in the IR is the
 * lowered name.  Programs write variables as `&name` and kernels as `name`. */
static void
append_expression(struct ha_buffer *source, uint32_t index, const char *expression)
{
    const char *name = expression + strspn(expression, " \t");
    if (name[0] == '&') {
        name++;
    }
    ha_buffer_text(source, "\n#line 1 ");
    ha_buffer_text(source, "\"name expression\"\n");
    ha_buffer_format(
        source,
        "__attribute__((device, used)) constexpr auto " HA_REWRITE_NAME_PREFIX
        "%u = &%s;\n",
        index, name);
}

static enum ha_status
compose_source(struct work *work)
{
    const struct ha_compile_request *request = work->request;
    struct ha_buffer *source = &work->source;
    ha_buffer_text(source, HA_SOURCE_BEFORE);
    ha_buffer_text(source, "#line 1 \"<command line>\"\n");
    ha_buffer_append(source, work->options.macros.bytes, work->options.macros.size);
    for (uint32_t i = 0; i < work->options.includes.count; i++) {
        ha_buffer_text(source, "#include ");
        ha_buffer_format(source, "\"%s\"\n", work->options.includes.items[i]);
    }
    ha_buffer_text(source, "#line 1 ");
    append_quoted(source, request->name);
    ha_buffer_text(source, "\n");
    const char *text = request->source;
    size_t size = request->source_size;
    size_t mark = strlen(BYTE_ORDER_MARK);
    if (size >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0) {
        text += mark; /* it may stand at the very start only */
        size -= mark;
    }
    ha_buffer_append(source, text, size);
    for (uint32_t i = 0; i < request->expression_count; i++) {
        append_expression(source, i, request->expressions[i]);
    }
    ha_buffer_text(source, HA_SOURCE_AFTER);
    return source->failed ? ha_error_set(HA_ERROR_MEMORY, "source: no memory") : HA_OK;
}

/* ---- the key ---- */

static void
append_list(struct ha_buffer *buffer, const struct ha_list *list)
{
    ha_buffer_u32(buffer, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        ha_buffer_block(buffer, list->items[i], strlen(list->items[i]));
    }
}

/* Everything that can change the result.  The compiler's identity covers this library,
 * so neither the flags nor the rewriter need a number of their own. */
static enum ha_status
compute_key(struct work *work)
{
    const struct ha_compile_request *request = work->request;
    const struct ha_toolchain *toolchain = &work->toolchain;
    struct ha_buffer key = {0};
    enum ha_status status = HA_OK;
    ha_buffer_text(&key, KEY_VERSION);
    ha_buffer_u32(&key, HA_IMAGE_ABI);
    ha_buffer_append(&key, toolchain->compiler_id, HA_HASH_BYTES);
    ha_buffer_append(&key, toolchain->device_id, HA_HASH_BYTES);
    ha_buffer_block(&key, toolchain->triple, strlen(toolchain->triple));
    ha_buffer_block(&key, toolchain->target_cpu, strlen(toolchain->target_cpu));
    ha_buffer_u32(&key, toolchain->vector_math);
    ha_buffer_u32(&key, request->warp_size);
    ha_buffer_u32(&key, work->options.level);
    append_list(&key, &work->options.front);
    ha_buffer_block(&key, work->options.notes.bytes, work->options.notes.size);
    ha_buffer_u32(&key, request->header_count);
    for (uint32_t i = 0; i < request->header_count; i++) {
        ha_buffer_block(&key, request->header_names[i],
                        strlen(request->header_names[i]));
        ha_buffer_block(&key, request->header_texts[i],
                        strlen(request->header_texts[i]));
    }
    ha_buffer_u32(&key, request->expression_count);
    ha_buffer_block(&key, work->source.bytes, work->source.size);
    if (key.failed) {
        status = ha_error_set(HA_ERROR_MEMORY, "source: no memory");
    } else {
        ha_sha256(key.bytes, key.size, work->key);
    }
    ha_buffer_release(&key);
    return status;
}

/* ---- child processes ---- */

static bool
has_text(const struct ha_memory_file *file, const char *text)
{
    return file->size > 0 &&
           memmem(file->bytes, file->size, text, strlen(text)) != NULL;
}

/* What the end of a compiler means; `what` names the step. */
static enum ha_status
judge(struct work *work, const char *what, const struct ha_process_result *ended,
      const struct ha_memory_file *output, const struct ha_memory_file *messages)
{
    long memory = ha_env_long(HA_ENV_COMPILE_MEMORY, 0, MEMORY_MAX_MIB);
    switch (ended->end) {
    case HA_PROCESS_EXITED:
        if (ended->code == 0 && output->size > 0) {
            return HA_OK;
        }
        break;
    case HA_PROCESS_UNKNOWN:
        /* Somebody else took the status; output is written last and only on success. */
        if (output->size > 0 && !has_text(messages, "error: ")) {
            return HA_OK;
        }
        break;
    case HA_PROCESS_TIMED_OUT:
        return ha_error_set(HA_ERROR_TIMEOUT,
                            "%s did not end within %ld s (HIPADAPT_COMPILE_TIMEOUT)",
                            what, work->timeout_seconds);
    case HA_PROCESS_INTERRUPTED:
        return ha_error_set(HA_ERROR_TIMEOUT, "%s was interrupted", what);
    case HA_PROCESS_SIGNALED:
        if (ended->code == SIGXFSZ) {
            return ha_error_set(HA_ERROR_COMPILE, "%s wrote more than %" PRIu64 " MiB",
                                what, OUTPUT_BYTES_MAX >> 20);
        }
        if (!has_text(messages, "ut of memory") && !has_text(messages, "bad_alloc")) {
            return ha_error_set(HA_ERROR_COMPILE, "%s crashed (signal %d)%s", what,
                                ended->code,
                                memory != 0 && ended->code == SIGSEGV
                                    ? "; the source may be nested too deeply"
                                    : "");
        }
        break;
    }
    if (has_text(messages, "ut of memory") || has_text(messages, "bad_alloc")) {
        return ha_error_set(HA_ERROR_COMPILE,
                            "%s needs more than %ld MiB (HIPADAPT_COMPILE_MEMORY)",
                            what, memory);
    }
    return ha_error_set(HA_ERROR_COMPILE, "%s failed", what);
}

/* Runs `zig <arguments>`; standard error goes to the log.  `extra` may be NULL. */
static enum ha_status
run_step(struct work *work, const char *what, const struct ha_list *arguments,
         struct ha_memory_file *input, struct ha_memory_file *output,
         struct ha_memory_file *extra)
{
    struct ha_memory_file messages = HA_MEMORY_FILE_INIT;
    struct ha_process_result ended;
    if (arguments->failed) {
        return ha_error_set(HA_ERROR_MEMORY, "%s: no memory", what);
    }
    enum ha_status status = ha_memory_file_open(&messages, "messages");
    if (status == HA_OK) {
        status = ha_memory_file_open(output, what);
    }
    if (status != HA_OK) {
        goto done;
    }
    struct ha_memory_file *const files[] = {input, output, &messages, extra};
    const struct ha_process_request request = {
        .argv = (const char *const *)arguments->items,
        .files = files,
        .file_count = extra != NULL ? 4 : 3,
        .deadline_ns = work->deadline_ns,
        .address_space_bytes =
            (uint64_t)ha_env_long(HA_ENV_COMPILE_MEMORY, 0, MEMORY_MAX_MIB) << 20,
        .file_bytes = OUTPUT_BYTES_MAX,
        .interrupted = work->request->interrupted,
    };
    uint64_t before_ns = ha_clock_ns();
    status = ha_process_run(&request, &ended);
    if (status != HA_OK) {
        goto done;
    }
    ha_log(3, "%s took %.1f ms", what, (double)(ha_clock_ns() - before_ns) / 1e6);
    status = ha_memory_file_map(output);
    if (status == HA_OK) {
        status = ha_memory_file_map(&messages);
    }
    if (status != HA_OK) {
        goto done;
    }
    const struct ha_messages_places places = {
        .folder = work->workdir.path,
        .device_dir = work->toolchain.device_dir,
        .header_names = work->request->header_names,
        .header_count = work->request->header_count,
    };
    ha_messages_append(&work->log, messages.bytes, messages.size, &places);
    status = judge(work, what, &ended, output, &messages);
done:
    ha_memory_file_close(&messages);
    return status;
}

static void
add_all(struct ha_list *arguments, const char *const *flags)
{
    for (; *flags != NULL; flags++) {
        ha_list_add(arguments, *flags);
    }
}

/* ---- the steps ---- */

static void
front_arguments(struct work *work, struct ha_list *arguments)
{
    static const char *const flags[] = {HA_FRONT_FLAGS, NULL};
    const struct ha_toolchain *toolchain = &work->toolchain;
    bool folder = work->workdir.path[0] != '\0';
    ha_list_add(arguments, toolchain->zig);
    ha_list_add(arguments, "clang");
    ha_list_add(arguments, "-cc1");
    add_all(arguments, flags);
    ha_list_add(arguments, "-aux-triple");
    ha_list_add(arguments, toolchain->triple);
    ha_list_format(arguments, "-D__HIP_CPU_WARP_SIZE__=%u", work->request->warp_size);
    /* Headers of the program come first, ours second: a folder of the program that
     * holds AMD's or the C library's headers must not hide the device's own. */
    if (folder) {
        ha_list_format(arguments, "-I%s", work->workdir.path);
    }
    ha_list_format(arguments, "-I%s", toolchain->device_dir);
    ha_list_join(arguments, &work->options.front);
    /* Quoted includes are looked for here first: never in the folder where the program
     * happens to be. */
    ha_list_add(arguments, "-working-directory");
    ha_list_add(arguments, folder ? work->workdir.path : toolchain->device_dir);
    if (folder) {
        ha_list_format(arguments, "-fmacro-prefix-map=%s/=", work->workdir.path);
        ha_list_format(arguments, "-fdebug-prefix-map=%s/=", work->workdir.path);
    }
    static const char *const outputs[] = {
        "-dependency-file",
        "/proc/self/fd/3",
        "-sys-header-deps",
        "-MT",
        "kernel",
        "-emit-llvm",
        "-o",
        "-",
        "-",
        NULL,
    };
    add_all(arguments, outputs);
}

static enum ha_status
run_front(struct work *work)
{
    struct ha_list arguments = {0};
    enum ha_status status = HA_OK;
    if (work->request->header_count > 0) {
        status =
            ha_workdir_make(&work->workdir, work->request->header_names,
                            work->request->header_texts, work->request->header_count);
    }
    if (status == HA_OK) {
        status = ha_memory_file_open(&work->source_file, "source");
    }
    if (status == HA_OK) {
        status = ha_memory_file_write(&work->source_file, work->source.bytes,
                                      work->source.size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(&work->source_file);
    }
    if (status == HA_OK) {
        status = ha_memory_file_open(&work->rules_file, "rules");
    }
    if (status != HA_OK) {
        return status;
    }
    (void)clock_gettime(CLOCK_REALTIME, &work->started);
    front_arguments(work, &arguments);
    status = run_step(work, "the front end", &arguments, &work->source_file,
                      &work->ir_file, &work->rules_file);
    ha_list_release(&arguments);
    if (status == HA_OK && !has_text(&work->ir_file, HA_CLANG_IDENT)) {
        status = ha_error_set(HA_ERROR_NOT_FOUND,
                              "'%s' is not the compiler of ziglang " HA_ZIG_VERSION,
                              work->toolchain.zig);
    }
    return status;
}

/* From device IR to host IR; the names that expressions stand for go into the result.
 */
static enum ha_status
run_rewrite(struct work *work, struct ha_memory_file *host_ir)
{
    const struct ha_rewrite_request request = {
        .ir = work->ir_file.bytes,
        .ir_size = work->ir_file.size,
        .target_cpu = work->toolchain.target_cpu,
        .warp_size = work->request->warp_size,
        .name_count = work->request->expression_count,
    };
    struct ha_rewrite_result rewritten = {0};
    uint64_t before_ns = ha_clock_ns();
    enum ha_status status = ha_rewrite(&request, &rewritten);
    if (status != HA_OK) {
        return status;
    }
    ha_log(3, "the rewriter took %.1f ms", (double)(ha_clock_ns() - before_ns) / 1e6);
    /* An assembler directive could read a file behind our back. */
    if (memmem(rewritten.ir, rewritten.ir_size, ".incbin", 7) != NULL) {
        work->cacheable = false;
    }
    status = ha_memory_file_open(host_ir, "ir");
    if (status == HA_OK) {
        status = ha_memory_file_write(host_ir, rewritten.ir, rewritten.ir_size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(host_ir);
    }
    if (status == HA_OK) {
        work->result->lowered = rewritten.lowered;
        work->result->lowered_count = rewritten.lowered_count;
        rewritten.lowered = NULL;
        rewritten.lowered_count = 0;
    }
    ha_rewrite_release(&rewritten);
    return status;
}

static enum ha_status
run_back(struct work *work, struct ha_memory_file *host_ir)
{
    static const char *const flags[] = {HA_BACK_FLAGS, NULL};
    const struct ha_toolchain *toolchain = &work->toolchain;
    struct ha_list arguments = {0};
    ha_list_add(&arguments, toolchain->zig);
    ha_list_add(&arguments, "clang");
    ha_list_add(&arguments, "-cc1");
    ha_list_add(&arguments, "-triple");
    ha_list_add(&arguments, toolchain->triple);
    ha_list_add(&arguments, "-target-cpu");
    ha_list_add(&arguments, toolchain->target_cpu);
    add_all(&arguments, flags);
    ha_list_format(&arguments, "-O%u", work->options.level);
    if (work->options.level >= 2) {
        ha_list_add(&arguments, "-vectorize-loops");
        ha_list_add(&arguments, "-vectorize-slp");
    }
#if defined(__x86_64__)
    if (toolchain->vector_math) {
        ha_list_add(&arguments, "-fveclib=libmvec");
    }
#endif
    static const char *const outputs[] = {"-x", "ir", "-emit-obj", "-o",
                                          "-",  "-",  NULL};
    add_all(&arguments, outputs);
    enum ha_status status =
        run_step(work, "the back end", &arguments, host_ir, &work->object_file, NULL);
    ha_list_release(&arguments);
    return status;
}

static enum ha_status
run_link(struct work *work)
{
    /* -Bsymbolic: an image calls its own functions, whatever the process has under the
     * same names. */
    static const char *const flags[] = {
        "ld.lld", "-shared", "-Bsymbolic",      "-z", "noexecstack", "--build-id=none",
        "-o",     "-",       "/proc/self/fd/3", NULL,
    };
    struct ha_memory_file nothing = HA_MEMORY_FILE_INIT;
    struct ha_list arguments = {0};
    ha_list_add(&arguments, work->toolchain.zig);
    add_all(&arguments, flags);
    enum ha_status status = ha_memory_file_open(&nothing, "nothing");
    if (status == HA_OK) {
        status = run_step(work, "the linker", &arguments, &nothing, &work->elf_file,
                          &work->object_file);
    }
    ha_list_release(&arguments);
    ha_memory_file_close(&nothing);
    return status;
}

/* ELF and trailer into the result. */
static enum ha_status
seal(struct work *work)
{
    const struct ha_memory_file *elf = &work->elf_file;
    struct ha_image_trailer trailer;
    const void *inner;
    size_t inner_size;
    if (ha_image_file_elf_size(elf->bytes, elf->size) != elf->size) {
        return ha_error_set(HA_ERROR_COMPILE, "the linker's output is cut short");
    }
    ha_image_file_seal(elf->bytes, elf->size, &trailer);
    char *image = malloc(elf->size + sizeof trailer);
    if (image == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "image of %zu bytes: no memory",
                            elf->size);
    }
    memcpy(image, elf->bytes, elf->size);
    memcpy(image + elf->size, &trailer, sizeof trailer);
    work->result->image = image;
    work->result->image_size = elf->size + sizeof trailer;
    return ha_image_file_check(image, work->result->image_size, &inner, &inner_size);
}

static void
collect_inputs(struct work *work)
{
    struct ha_list texts = {0};
    ha_list_add(&texts, work->source.bytes);
    for (uint32_t i = 0; i < work->request->header_count; i++) {
        ha_list_add(&texts, work->request->header_texts[i]);
    }
    ha_list_join(&texts, &work->options.front);
    const char *own[] = {work->toolchain.device_dir, work->workdir.path};
    if (ha_memory_file_map(&work->rules_file) != HA_OK || texts.failed) {
        work->cacheable = false;
    } else {
        const struct ha_depends_request request = {
            .rules = work->rules_file.bytes,
            .rules_size = work->rules_file.size,
            .own = own,
            .own_count = work->workdir.path[0] != '\0' ? 2 : 1,
            .dirs = &work->options.dirs,
            .texts = &texts,
            .since = work->started,
        };
        if (!ha_depends_collect(&request, &work->inputs)) {
            work->cacheable = false;
        }
    }
    ha_list_release(&texts);
}

static enum ha_status
build(struct work *work)
{
    struct ha_memory_file host_ir = HA_MEMORY_FILE_INIT;
    work->timeout_seconds = ha_env_long(HA_ENV_COMPILE_TIMEOUT, 1, TIMEOUT_MAX_SECONDS);
    work->deadline_ns = ha_clock_ns() + (uint64_t)work->timeout_seconds * 1000000000u;
    work->cacheable = true;
    enum ha_status status = run_front(work);
    if (status == HA_OK) {
        status = run_rewrite(work, &host_ir);
    }
    if (status == HA_OK) {
        status = run_back(work, &host_ir);
    }
    if (status == HA_OK) {
        status = run_link(work);
    }
    if (status == HA_OK) {
        status = seal(work);
    }
    if (status == HA_OK) {
        collect_inputs(work);
    }
    ha_memory_file_close(&host_ir);
    return status;
}

/* Builds under the key's lock, unless somebody else did meanwhile. */
static enum ha_status
build_once(struct work *work)
{
    long seconds = ha_env_long(HA_ENV_COMPILE_TIMEOUT, 1, TIMEOUT_MAX_SECONDS);
    uint64_t deadline_ns = ha_clock_ns() + (uint64_t)seconds * 1000000000u;
    int lock = ha_cache_lock(work->key, deadline_ns, work->request->interrupted);
    enum ha_status status = HA_OK;
    if (lock < 0 || !ha_cache_load(work->key, work->result)) {
        status = build(work);
        work->result->log = ha_buffer_take(&work->log);
        if (status == HA_OK && work->result->log == NULL) {
            status = ha_error_set(HA_ERROR_MEMORY, "compilation log: no memory");
        }
        if (status == HA_OK && work->cacheable) {
            ha_cache_store(work->key, work->result, &work->inputs);
        }
    }
    ha_cache_unlock(lock);
    return status;
}

static enum ha_status
prepare(struct work *work)
{
    const struct ha_compile_request *request = work->request;
    const struct ha_options_context context = {
        .arch = request->arch,
        .warp_size = request->warp_size,
        .header_names = request->header_names,
        .header_count = request->header_count,
    };
    enum ha_status status = ha_options_parse(request->options, request->option_count,
                                             &context, &work->options);
    if (status == HA_OK) {
        ha_buffer_append(&work->log, work->options.notes.bytes,
                         work->options.notes.size);
    }
    if (status == HA_OK) {
        status = ha_toolchain_find(&work->toolchain);
    }
    if (status == HA_OK) {
        status = compose_source(work);
    }
    if (status == HA_OK) {
        status = compute_key(work);
    }
    return status;
}

/* The reason behind what the compiler said, as the last line of the log. */
static void
append_reason(struct work *work, enum ha_status status, char *reason)
{
    struct ha_buffer log = {0};
    if (work->result->log != NULL) {
        ha_buffer_text(&log, work->result->log);
    } else {
        ha_buffer_append(&log, work->log.bytes, work->log.size);
    }
    /* A failed front end has said why itself. */
    if (status != HA_ERROR_COMPILE || log.size == 0 ||
        strcmp(reason, "the front end failed") != 0) {
        ha_buffer_format(&log, "error: %s\n", reason);
    }
    free(work->result->log);
    work->result->log = ha_buffer_take(&log);
}

enum ha_status
ha_compile(const struct ha_compile_request *request, struct ha_compile_result *result)
{
    *result = (struct ha_compile_result){0};
    struct work *work = calloc(1, sizeof *work);
    if (work == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "compilation: no memory");
    }
    work->request = request;
    work->result = result;
    struct ha_memory_file *const files[] = {&work->source_file, &work->ir_file,
                                            &work->rules_file, &work->object_file,
                                            &work->elf_file};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        files[i]->fd = -1;
    }
    enum ha_status status = prepare(work);
    if (status == HA_OK && !ha_cache_load(work->key, result)) {
        status = build_once(work);
    }
    if (status != HA_OK) {
        /* Clean-up below may overwrite the text of the failure. */
        char *reason = strdup(ha_error_text());
        if (reason != NULL) {
            append_reason(work, status, reason);
            (void)ha_error_set(status, "%s", reason);
        }
        free(reason);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        ha_memory_file_close(files[i]);
    }
    ha_cache_inputs_release(&work->inputs);
    ha_workdir_remove(&work->workdir);
    ha_options_release(&work->options);
    ha_buffer_release(&work->source);
    ha_buffer_release(&work->log);
    free(work);
    return status;
}

void
ha_compile_release(struct ha_compile_result *result)
{
    for (uint32_t i = 0; i < result->lowered_count; i++) {
        free(result->lowered[i]);
    }
    free(result->lowered);
    free(result->log);
    free(result->image);
    *result = (struct ha_compile_result){0};
}
