/* SPDX-License-Identifier: MIT */
#include "cpu/compile/build.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "abi/check.h"
#include "core/clock.h"
#include "core/env.h"
#include "core/log.h"
#include "cpu/base/check_kinds.h"
#include "cpu/base/image.h"
#include "cpu/base/limits.h"
#include "cpu/compile/back_facts.h"
#include "cpu/compile/image_file.h"
#include "cpu/compile/objects.h"
#include "cpu/compile/rewrite.h"
#include "cpu/compile/toolchain_flags.h"

_Static_assert(HA_REWRITE_PARTS_MAX <= HA_STEPS_MAX, "all parts may have to be made");

#define FACTS_FILE "/proc/self/fd/4"
#define OUTPUT_BYTES_MAX ((uint64_t)1 << 30)
#define TIMEOUT_MAX_SECONDS 86400
#define MEMORY_MAX_MIB (1 << 24)
#define PROCESSES_MOST 16 /* at once */
#define ASK_NS (50u * 1000000u)

/* What is on the way from IR to an image. */
struct files {
    struct ha_rewrite_result rewritten; /* owned */
    struct ha_memory_file object[HA_REWRITE_PARTS_MAX];
    struct ha_memory_file record[HA_REWRITE_PARTS_MAX]; /* closed unless explained */
    struct ha_memory_file facts;
    struct ha_memory_file elf;
};

void
ha_build_start(struct ha_build *build)
{
    build->timeout_seconds =
        ha_env_long(HA_ENV_COMPILE_TIMEOUT, 1, TIMEOUT_MAX_SECONDS);
    build->deadline_ns = ha_clock_ns() + (uint64_t)build->timeout_seconds * 1000000000u;
    build->cacheable = true;
    build->guard = ha_env_long(HA_ENV_CPU_GUARD, 0, 1) == 1;
    build->asks =
        (ha_check_kinds() & (HA_CHECK_MEMORY | HA_CHECK_RACE | HA_CHECK_SYNC)) != 0;
    build->shadow = (ha_check_kinds() & HA_CHECK_INIT) != 0;
    build->check = build->asks || build->shadow;
    build->numbers = (ha_check_kinds() & HA_CHECK_NAN) != 0;
    build->lockstep = ha_env_long(HA_ENV_CPU_LOCKSTEP, 0, 1) == 1;
    build->in_order = build->lockstep;
    build->explain = ha_env_long(HA_ENV_CPU_EXPLAIN, 0, 1) == 1;
}

bool
ha_build_prepares(const struct ha_build *build)
{
    return build->check || build->numbers;
}

void
ha_build_order_flags(const struct ha_build *build, struct ha_list *arguments)
{
    static const char *const flags[] = {HA_IN_ORDER_FLAGS, NULL};

    if (build->in_order) {
        ha_build_flags(arguments, flags);
    }
}

enum ha_status
ha_build_go_on(struct ha_build *build, const char *what)
{
    uint64_t now = ha_clock_ns();
    if (now >= build->deadline_ns) {
        return ha_error_set(HA_ERROR_TIMEOUT,
                            "%s did not end within %ld s (HIPADAPT_COMPILE_TIMEOUT)",
                            what, build->timeout_seconds);
    }
    if (build->interrupted != NULL && now - build->asked_ns >= ASK_NS) {
        build->asked_ns = now;
        if (build->interrupted()) {
            return ha_error_set(HA_ERROR_TIMEOUT, "%s was interrupted", what);
        }
    }
    return HA_OK;
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
judge(struct ha_build *build, const char *what, const struct ha_process_result *ended,
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
                            what, build->timeout_seconds);
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

/* The files of one step while it runs. */
struct running {
    struct ha_memory_file *files[HA_PROCESS_FILES_MAX];
    struct ha_memory_file messages;
    struct ha_list named; /* the arguments, where there is no /proc */
};

/* Arguments name files by their descriptors of the child; those that have a path are
 * named by that. */
static void
name_files(const struct ha_build_task *step, struct ha_list *named)
{
    static const char descriptor[] = "/proc/self/fd/";
    for (uint32_t i = 0; i < step->arguments->count; i++) {
        const char *argument = step->arguments->items[i];
        bool names = strncmp(argument, descriptor, sizeof descriptor - 1) == 0;
        unsigned long number =
            names ? strtoul(argument + sizeof descriptor - 1, NULL, 10) : 0;
        bool known = number >= 3 && number - 3 < step->files.extra_count &&
                     step->files.extra[number - 3]->path != NULL;
        ha_list_add(named, known ? step->files.extra[number - 3]->path : argument);
    }
}

/* Opens the files that a step writes, and fills in its request. */
static enum ha_status
prepare(const struct ha_build *build, const char *what,
        const struct ha_build_task *step, struct running *running,
        struct ha_process_request *request)
{
    const struct ha_step_files *given = &step->files;
    if (step->arguments->failed) {
        return ha_error_set(HA_ERROR_MEMORY, "%s: no memory", what);
    }
    if (given->extra_count > HA_BUILD_EXTRA_MAX) {
        return ha_error_set(HA_ERROR_INVALID, "%s: %u files", what, given->extra_count);
    }
    running->files[0] = given->input;
    running->files[1] = given->output;
    running->files[2] = &running->messages;
    for (uint32_t i = 0; i < given->extra_count; i++) {
        running->files[3 + i] = given->extra[i];
    }
    if (given->extra_count > 0 && given->extra[0]->path != NULL) {
        name_files(step, &running->named);
        if (running->named.failed) {
            return ha_error_set(HA_ERROR_MEMORY, "%s: no memory", what);
        }
    }
    const struct ha_list *arguments =
        running->named.count > 0 ? &running->named : step->arguments;
    *request = (struct ha_process_request){
        .argv = (const char *const *)arguments->items,
        .files = running->files,
        .file_count = 3 + given->extra_count,
        .deadline_ns = build->deadline_ns,
        .address_space_bytes =
            (uint64_t)ha_env_long(HA_ENV_COMPILE_MEMORY, 0, MEMORY_MAX_MIB) << 20,
        .file_bytes = OUTPUT_BYTES_MAX,
        .interrupted = build->interrupted,
    };
    enum ha_status status = ha_memory_file_open(&running->messages, "messages");
    return status == HA_OK ? ha_memory_file_open(given->output, what) : status;
}

static enum ha_status
take_output(struct ha_build *build, const char *what, const struct ha_build_task *step,
            struct running *running, const struct ha_process_result *ended)
{
    enum ha_status status = ha_memory_file_map(step->files.output);
    if (status == HA_OK) {
        status = ha_memory_file_map(&running->messages);
    }
    if (status == HA_OK && !step->aside) {
        ha_messages_append(&build->log, running->messages.bytes, running->messages.size,
                           &build->paths);
    }
    if (status == HA_OK) {
        status = judge(build, what, ended, step->files.output, &running->messages);
    }
    if (status != HA_OK && step->aside) {
        ha_memory_file_close(step->files.output);
        return HA_OK;
    }
    return status;
}

/* How many compilers are worth to run at once. */
static uint32_t
count_processors(void)
{
    unsigned count = ha_limits_cores();
    return count > PROCESSES_MOST ? PROCESSES_MOST : count;
}

enum ha_status
ha_build_steps(struct ha_build *build, const char *what,
               const struct ha_build_task *steps, uint32_t count)
{
    struct running running[HA_STEPS_MAX];
    struct ha_process_request requests[HA_STEPS_MAX];
    struct ha_process_result ended[HA_STEPS_MAX];
    enum ha_status status = HA_OK;
    if (count > HA_STEPS_MAX) {
        return ha_error_set(HA_ERROR_INVALID, "%s: %u steps at once", what, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        running[i].messages = (struct ha_memory_file)HA_MEMORY_FILE_INIT;
        running[i].named = (struct ha_list){0};
    }
    for (uint32_t i = 0; i < count && status == HA_OK; i++) {
        status = prepare(build, what, &steps[i], &running[i], &requests[i]);
    }
    uint64_t before_ns = ha_clock_ns();
    if (status == HA_OK) {
        status = ha_process_run_all(requests, ended, count, count_processors());
    }
    if (status == HA_OK) {
        ha_log(3, "%s took %.1f ms", what, (double)(ha_clock_ns() - before_ns) / 1e6);
    }
    for (uint32_t i = 0; i < count && status == HA_OK; i++) {
        status = take_output(build, what, &steps[i], &running[i], &ended[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        ha_memory_file_close(&running[i].messages);
        ha_list_release(&running[i].named);
    }
    return status;
}

enum ha_status
ha_build_step(struct ha_build *build, const char *what, const struct ha_list *arguments,
              const struct ha_step_files *given)
{
    const struct ha_build_task step = {.arguments = arguments, .files = *given};
    return ha_build_steps(build, what, &step, 1);
}

void
ha_build_flags(struct ha_list *arguments, const char *const *flags)
{
    for (; *flags != NULL; flags++) {
        ha_list_add(arguments, *flags);
    }
}

void
ha_build_ir_arguments(const struct ha_build *build, struct ha_list *arguments,
                      bool bitcode)
{
    static const char *const flags[] = {"clang",
                                        "-cc1",
                                        "-triple",
                                        HA_FRONT_TRIPLE,
                                        "-x",
                                        "ir",
                                        "-Werror=override-module",
                                        "-o",
                                        "-",
                                        "-",
                                        NULL};
    ha_list_add(arguments, build->toolchain.zig);
    ha_build_flags(arguments, flags);
    if (bitcode) {
        ha_list_add(arguments, "-disable-llvm-passes");
    }
    ha_list_add(arguments, bitcode ? "-emit-llvm-bc" : "-emit-llvm");
}

/* ---- from IR to an image ---- */

enum ha_status
ha_build_stop_rewriter(void *build)
{
    return ha_build_go_on(build, "the rewriter");
}

/* Host IR; the names that expressions stand for go into the result. */
static enum ha_status
run_rewrite(struct ha_build *build, const char *ir, size_t ir_size, uint32_t name_count,
            struct files *files, struct ha_compile_result *result)
{
    const struct ha_rewrite_request request = {
        .ir = ir,
        .ir_size = ir_size,
        .warp_size = build->warp_size,
        .gang_width = build->toolchain.level->gang_width,
        .vector_math = build->toolchain.vector_math,
        .name_count = name_count,
        .stop = ha_build_stop_rewriter,
        .stop_context = build,
        .guard = build->guard,
        .check = build->check,
        .numbers = build->numbers,
        .shadow = build->shadow,
        .source = build->source,
        .source_size = build->source_size,
        .source_name = build->source_name,
        .lockstep = build->lockstep,
        .fuses = build->toolchain.level->fuses,
        .parts_most = build->numbers ? 1 : HA_REWRITE_PARTS_MAX,
    };
    struct ha_rewrite_result *rewritten = &files->rewritten;
    uint64_t before_ns = ha_clock_ns();
    enum ha_status status = ha_rewrite(&request, rewritten);
    if (status != HA_OK) {
        return status;
    }
    ha_log(3, "the rewriter took %.1f ms", (double)(ha_clock_ns() - before_ns) / 1e6);
    result->lowered = rewritten->lowered;
    result->lowered_count = rewritten->lowered_count;
    rewritten->lowered = NULL;
    rewritten->lowered_count = 0;
    return HA_OK;
}

static void
back_arguments(const struct ha_build *build, const struct ha_rewrite_result *rewritten,
               bool many_loops, struct ha_list *arguments)
{
    static const char *const flags[] = {HA_BACK_FLAGS, NULL};
    static const char *const vectors[] = {HA_VECTOR_FLAGS, NULL};
    static const char *const forwarding[] = {HA_NO_FORWARDING, NULL};
    static const char *const wrapping[] = {HA_NO_WRAP_CHECKS, NULL};
    static const char *const unrolling[] = {HA_NO_UNROLLING, NULL};
    const struct ha_toolchain *toolchain = &build->toolchain;
    ha_list_add(arguments, toolchain->zig);
    ha_list_add(arguments, "clang");
    ha_list_add(arguments, "-cc1");
    ha_list_add(arguments, "-triple");
    ha_list_add(arguments, toolchain->triple);
    ha_list_add(arguments, "-target-cpu");
    ha_list_add(arguments, toolchain->level->processor);
    if (toolchain->level->feature != NULL) {
        ha_list_add(arguments, "-target-feature");
        ha_list_add(arguments, toolchain->level->feature);
    }
    ha_build_flags(arguments, flags);
    ha_list_format(arguments, "-O%u", build->level);
    if (build->level >= 2 && !build->numbers) {
        ha_build_flags(arguments, vectors);
    }
    if (rewritten->loops_store) {
        ha_build_flags(arguments, forwarding);
    }
    if (rewritten->narrow_steps) {
        ha_build_flags(arguments, wrapping);
    }
    if (many_loops) {
        ha_build_flags(arguments, unrolling);
    }
    if (toolchain->vector_math != 0 && !build->numbers) {
        ha_list_add(arguments, "-fveclib=libmvec");
    }
    static const char *const records[] = {"-opt-record-file", "/proc/self/fd/3",
                                          "-opt-record-passes", HA_BACK_RECORD_PASSES,
                                          NULL};
    if (build->explain) {
        ha_build_flags(arguments, records);
    }
    static const char *const outputs[] = {"-x", "ir", "-emit-obj", "-o",
                                          "-",  "-",  NULL};
    ha_build_flags(arguments, outputs);
}

/* One part: an object of the cache, or a compiler that is to run.  What is one part as
 * a whole is in the cache as an image. */
struct part {
    const struct ha_rewrite_part *text;
    const struct ha_list *arguments;
    struct ha_memory_file *object;
    struct ha_memory_file *record; /* only where the build is explained */
    struct ha_memory_file ir;
    bool keyed;
    uint8_t key[HA_CACHE_KEY_BYTES];
};

static enum ha_status
prepare_part(struct ha_build *build, bool several, struct part *part)
{
    const char *ir = part->text->ir;
    size_t size = part->text->ir_size;
    /* An assembler directive could read a file behind our back. */
    if (memmem(ir, size, ".incbin", 7) != NULL) {
        build->cacheable = false;
    } else if (several && !build->explain) { /* objects have no record */
        part->keyed =
            ha_object_key(&build->toolchain, part->arguments, ir, size, part->key);
    }
    if (part->keyed && ha_object_load(part->key, part->object)) {
        return HA_OK;
    }
    enum ha_status status = ha_memory_file_open(&part->ir, "ir");
    if (status == HA_OK) {
        status = ha_memory_file_write(&part->ir, ir, size);
    }
    return status == HA_OK ? ha_memory_file_rewind(&part->ir) : status;
}

static int
compare_sizes(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    return a->text->ir_size < b->text->ir_size   ? 1
           : a->text->ir_size > b->text->ir_size ? -1
                                                 : 0;
}

/* Compilers for the parts that the cache does not have, the longest texts first. */
static enum ha_status
make_parts(struct ha_build *build, struct part *parts, uint32_t count)
{
    struct ha_build_task tasks[HA_REWRITE_PARTS_MAX];
    enum ha_status status = HA_OK;
    uint32_t missing = 0;
    size_t said = build->log.size;
    for (uint32_t i = 0; i < count && status == HA_OK; i++) {
        status = prepare_part(build, count > 1, &parts[i]);
    }
    qsort(parts, count, sizeof *parts, compare_sizes);
    for (uint32_t i = 0; i < count && status == HA_OK; i++) {
        if (parts[i].ir.fd >= 0) {
            tasks[missing++] = (struct ha_build_task){
                .arguments = parts[i].arguments,
                .files = {.input = &parts[i].ir,
                          .output = parts[i].object,
                          .extra = &parts[i].record,
                          .extra_count = build->explain ? 1 : 0}};
        }
    }
    if (status == HA_OK && missing > 0) {
        ha_log(3, "%u of %u parts are compiled", missing, count);
        status = ha_build_steps(build, "the back end", tasks, missing);
    }
    /* What compilers say is not kept. */
    for (uint32_t i = 0; status == HA_OK && build->log.size == said && i < count; i++) {
        if (parts[i].ir.fd >= 0 && parts[i].keyed) {
            ha_object_store(parts[i].key, parts[i].object);
        }
    }
    return status;
}

/* ---- what the back end did ---- */

static enum ha_status
open_records(struct files *files)
{
    enum ha_status status = HA_OK;
    for (uint32_t i = 0; i < files->rewritten.part_count && status == HA_OK; i++) {
        status = ha_memory_file_open(&files->record[i], "record");
    }
    return status;
}

/* The facts end with a NUL. */
static enum ha_status
read_records(struct files *files)
{
    struct ha_bytes all = {0}, lines = {0};
    enum ha_status status = HA_OK;
    for (uint32_t i = 0; i < files->rewritten.part_count && status == HA_OK; i++) {
        status = ha_memory_file_map(&files->record[i]);
        ha_buffer_append(&all, files->record[i].bytes, files->record[i].size);
    }
    if (all.size > 0) {
        ha_back_facts(all.bytes, all.size, &lines);
    }
    ha_buffer_append(&lines, "", 1);
    if (status == HA_OK && (all.failed || lines.failed)) {
        status = ha_error_set(HA_ERROR_MEMORY, "facts: no memory");
    }
    if (status == HA_OK) {
        status = ha_memory_file_open(&files->facts, "facts");
    }
    if (status == HA_OK) {
        status = ha_memory_file_write(&files->facts, lines.bytes, lines.size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(&files->facts);
    }
    ha_buffer_release(&lines);
    ha_buffer_release(&all);
    return status;
}

static enum ha_status
run_back(struct ha_build *build, struct files *files)
{
    const struct ha_rewrite_result *rewritten = &files->rewritten;
    struct part parts[HA_REWRITE_PARTS_MAX];
    struct ha_list arguments[2] = {{0}, {0}}; /* by whether there are many loops */
    uint32_t count = rewritten->part_count;
    back_arguments(build, rewritten, false, &arguments[0]);
    back_arguments(build, rewritten, true, &arguments[1]);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] =
            (struct part){.text = &rewritten->parts[i],
                          .arguments = &arguments[rewritten->parts[i].many_loops],
                          .object = &files->object[i],
                          .record = &files->record[i],
                          .ir = HA_MEMORY_FILE_INIT};
    }
    enum ha_status status = build->explain ? open_records(files) : HA_OK;
    if (status == HA_OK) {
        status = make_parts(build, parts, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        ha_memory_file_close(&parts[i].ir);
    }
    if (status == HA_OK && build->explain) {
        status = read_records(files);
    }
    ha_list_release(&arguments[0]);
    ha_list_release(&arguments[1]);
    return status;
}

/* The linker names the bytes of a file by its path. */
static void
add_facts(struct ha_list *arguments, const struct ha_memory_file *facts)
{
    const char *path = facts->path != NULL ? facts->path : FACTS_FILE;
    struct ha_bytes name = {0};
    for (; *path != '\0'; path++) {
        bool plain = isascii((unsigned char)*path) && isalnum((unsigned char)*path);
        ha_buffer_append(&name, plain ? path : "_", 1);
    }
    arguments->failed |= name.failed;
    ha_list_add(arguments, "--format=binary");
    ha_list_add(arguments, FACTS_FILE);
    ha_list_format(arguments, "--defsym=" HA_IMAGE_FACTS "=_binary_%.*s_start",
                   (int)name.size, name.bytes);
    ha_buffer_release(&name);
}

static enum ha_status
run_link(struct ha_build *build, struct files *files)
{
    /* -Bsymbolic: an image calls its own functions, whatever the process has under the
     * same names. */
    static const char *const flags[] = {
        "ld.lld",          "-shared",         "-Bsymbolic", "-z",
        "noexecstack",     "--build-id=none", "-o",         "-",
        "--whole-archive", "/proc/self/fd/3", NULL,
    };
    struct ha_memory_file nothing = HA_MEMORY_FILE_INIT;
    struct ha_memory_file archive = HA_MEMORY_FILE_INIT;
    struct ha_memory_file *const extra[] = {&archive, &files->facts};
    struct ha_list arguments = {0};
    ha_list_add(&arguments, build->toolchain.zig);
    ha_build_flags(&arguments, flags);
    if (build->explain) {
        add_facts(&arguments, &files->facts);
    }
    enum ha_status status =
        ha_object_archive(files->object, files->rewritten.part_count, &archive);
    if (status == HA_OK) {
        status = ha_memory_file_open(&nothing, "nothing");
    }
    if (status == HA_OK) {
        status = ha_build_step(
            build, "the linker", &arguments,
            &(struct ha_step_files){.input = &nothing,
                                    .output = &files->elf,
                                    .extra = extra,
                                    .extra_count = build->explain ? 2 : 1});
    }
    ha_list_release(&arguments);
    ha_memory_file_close(&archive);
    ha_memory_file_close(&nothing);
    return status;
}

/* ELF and trailer into the result. */
static enum ha_status
seal(const struct ha_memory_file *elf, struct ha_compile_result *result)
{
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
    result->image = image;
    result->image_size = elf->size + sizeof trailer;
    return ha_image_file_check(image, result->image_size, &inner, &inner_size);
}

enum ha_status
ha_build_image(struct ha_build *build, const char *ir, size_t ir_size,
               uint32_t name_count, struct ha_compile_result *result)
{
    struct files files = {.elf = HA_MEMORY_FILE_INIT, .facts = HA_MEMORY_FILE_INIT};
    for (uint32_t i = 0; i < HA_REWRITE_PARTS_MAX; i++) {
        files.object[i] = files.record[i] = (struct ha_memory_file)HA_MEMORY_FILE_INIT;
    }
    enum ha_status status = run_rewrite(build, ir, ir_size, name_count, &files, result);
    if (status == HA_OK) {
        status = run_back(build, &files);
    }
    if (status == HA_OK) {
        status = run_link(build, &files);
    }
    if (status == HA_OK) {
        status = seal(&files.elf, result);
    }
    ha_memory_file_close(&files.elf);
    ha_memory_file_close(&files.facts);
    for (uint32_t i = 0; i < HA_REWRITE_PARTS_MAX; i++) {
        ha_memory_file_close(&files.record[i]);
        ha_memory_file_close(&files.object[i]);
    }
    ha_rewrite_release(&files.rewritten);
    return status;
}

/* ---- the log ---- */

enum ha_status
ha_build_take_log(struct ha_build *build, struct ha_compile_result *result)
{
    free(result->log);
    result->log = ha_buffer_take(&build->log);
    return result->log != NULL ? HA_OK
                               : ha_error_set(HA_ERROR_MEMORY, "log: no memory");
}

enum ha_status
ha_build_explain(struct ha_build *build, enum ha_status status,
                 struct ha_compile_result *result)
{
    struct ha_bytes log = {0};
    /* Whatever runs next may overwrite the text of the failure. */
    char *reason = strdup(ha_error_text());
    if (reason == NULL) {
        return status;
    }
    if (result->log != NULL) {
        ha_buffer_text(&log, result->log);
    } else {
        ha_buffer_append(&log, build->log.bytes, build->log.size);
    }
    /* A failed front end has said why itself. */
    if (status != HA_ERROR_COMPILE || log.size == 0 ||
        strcmp(reason, "the front end failed") != 0) {
        ha_buffer_format(&log, "error: %s\n", reason);
    }
    free(result->log);
    result->log = ha_buffer_take(&log);
    (void)ha_error_set(status, "%s", reason);
    free(reason);
    return status;
}

void
ha_build_release(struct ha_build *build)
{
    ha_buffer_release(&build->log);
}
