/* SPDX-License-Identifier: MIT */
#include "cpu/compile/compile.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/file.h"
#include "core/sha256.h"
#include "cpu/compile/buffer.h"
#include "cpu/compile/build.h"
#include "cpu/compile/cache.h"
#include "cpu/compile/cache_key.h"
#include "cpu/compile/depends.h"
#include "cpu/compile/file_asm.h"
#include "cpu/compile/ir_place.h"
#include "cpu/compile/optimise.h"
#include "cpu/compile/options.h"
#include "cpu/compile/prelude.h"
#include "cpu/compile/process.h"
#include "cpu/compile/rewrite.h"
#include "cpu/compile/toolchain_flags.h"
#include "cpu/compile/workdir.h"

#define CUID_DIGITS 16 /* of the key: distinguishes the modules of one program */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* One compilation.  Everything in it is owned by it but what the request lends. */
struct work {
    const struct ha_compile_request *request;
    struct ha_compile_result *result;
    struct ha_build build;
    struct ha_options options;
    struct ha_workdir workdir;
    struct ha_bytes source; /* what the front end reads */
    bool apart;          /* the front end leaves optimising to cpu/compile/optimise.h */
    bool spared;         /* a header that might be needed was left out ... */
    bool complete;       /* ... and must not be */
    size_t prelude_size; /* so much of it is our own headers: cpu/compile/prelude.h */
    struct ha_cache_inputs inputs;
    struct ha_memory_file source_file, ir_file, rules_file;
    struct ha_memory_file prelude; /* closed where the front end does without */
    struct ha_prelude_making making;
    struct timespec started;
    uint8_t key[HA_CACHE_KEY_BYTES];
};

/* ---- the text that the front end gets ---- */

/* A string literal; `#line` and _Pragma take the same escapes. */
static void
append_quoted(struct ha_bytes *buffer, const char *text)
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
 * lowered name.  Programs write variables as `&name` and kernels as `name`.  A comma
 * outside of its brackets declares nothing within ours. */
static void
append_expression(struct ha_bytes *source, uint32_t index, const char *expression)
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
        "%u = (&%s);\n",
        index, name);
}

static bool
has_word(const char *text, size_t size, const char *word)
{
    return memmem(text, size, word, strlen(word)) != NULL;
}

static bool
is_name_char(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* Whether the text declares a variable `half` of a plain type, and has no other name
 * with that word in it.  Loops over halves of an array have one, and are so no users of
 * the large header of float formats.  Where this is wrong, the program does not compile
 * without that header. */
static bool
half_is_a_variable(const char *text, size_t size)
{
    static const char *const types[] = {"int ", "unsigned ", "long ", "float ",
                                        "size_t "};
    const char *end = text + size, *at = text;
    bool declared = false;
    while ((at = memmem(at, (size_t)(end - at), "half", 4)) != NULL) {
        if ((at > text && is_name_char(at[-1])) ||
            (at + 4 < end && is_name_char(at[4]))) {
            return false;
        }
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
            size_t length = strlen(types[i]);
            declared |= (size_t)(at - text) >= length &&
                        memcmp(at - length, types[i], length) == 0;
        }
        at += 4;
    }
    return declared;
}

/* Headers that hiprtc gives without an include.  They are large, so they are put in
 * only where the program's texts have a word of theirs; a folder of the program's own
 * headers is not looked through, and counts as having those that are marked. */
static void
append_builtins(struct work *work)
{
    static const struct {
        const char *word, *header;
        bool assumed; /* where there are headers of unknown content */
    } builtins[] = {
        {"half", "hip/hip_fp16.h", true},
        {"bfloat16", "hip/hip_bf16.h", false},
        {"hip_bfloat16", "hip/hip_bfloat16.h", false},
        {"Complex", "hip/hip_complex.h", true},
        {"HIP_", "hip/hip_math_constants.h", true},
        {"tex1D", "hipadapt/texture.h", true},
        {"tex2D", "hipadapt/texture.h", true},
        {"tex3D", "hipadapt/texture.h", true},
        {"texCube", "hipadapt/texture.h", true},
        {"texture", "hipadapt/texture.h", true},
        {"Texture", "hipadapt/texture.h", true},
        {"Channel", "hipadapt/texture.h", true},
        {"surf", "hipadapt/surface.h", true},
        {"Surface", "hipadapt/surface.h", true},
        {"cooperative_groups", "hip/hip_cooperative_groups.h", false},
        {"std::", "type_traits", false},
        {"__hip_internal", "type_traits", false},
    };
    const struct ha_compile_request *request = work->request;
    /* Nothing is included for a program that defines parts of `std` itself. */
    bool own_std = has_word(request->source, request->source_size, "namespace std");
    bool unknown = work->options.dirs.count > 0 &&
                   has_word(request->source, request->source_size, "#include");
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        const char *word = builtins[i].word;
        bool wanted = (unknown && builtins[i].assumed) ||
                      has_word(request->source, request->source_size, word);
        if (!unknown && strcmp(word, "half") == 0 && !work->complete &&
            half_is_a_variable(request->source, request->source_size)) {
            wanted = false;
            work->spared = true;
        }
        for (uint32_t h = 0; h < request->header_count && !wanted; h++) {
            const char *text = request->header_texts[h];
            wanted = has_word(text, strlen(text), word);
        }
        for (uint32_t e = 0; e < request->expression_count && !wanted; e++) {
            const char *text = request->expressions[e];
            wanted = has_word(text, strlen(text), word);
        }
        if (wanted && !(own_std && strcmp(builtins[i].header, "type_traits") == 0)) {
            ha_buffer_format(&work->source, "#include <%s>\n", builtins[i].header);
        }
    }
}

static enum ha_status
compose_source(struct work *work)
{
    const struct ha_compile_request *request = work->request;
    struct ha_bytes *source = &work->source;
    ha_buffer_cut(source, 0);
    if (work->options.program) {
        ha_buffer_append(source, request->source, request->source_size);
        return source->failed ? ha_error_set(HA_ERROR_MEMORY, "source: no memory")
                              : HA_OK;
    }
    ha_buffer_text(source, HA_SOURCE_PRELUDE);
    /* Where the headers have been read, the pragma has nothing to work on. */
    ha_buffer_text(source, "#pragma clang diagnostic push\n"
                           "#pragma clang diagnostic ignored "
                           "\"-Wpragma-clang-attribute\"\n" HA_SOURCE_BEFORE);
    append_builtins(work);
    ha_buffer_text(source, HA_SOURCE_AFTER "#pragma clang diagnostic pop\n");
    work->prelude_size = source->size;
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

/* The size counts what options and name expressions added. */
static enum ha_status
check_size(const struct work *work)
{
    size_t size = work->source.size;
    for (uint32_t i = 0; i < work->request->header_count; i++) {
        size += strlen(work->request->header_texts[i]);
    }
    if (size <= HA_COMPILE_SOURCE_MAX) {
        return HA_OK;
    }
    return ha_error_set(HA_ERROR_COMPILE,
                        "the source has %zu bytes with its headers and name "
                        "expressions; %zu MiB are possible",
                        size, HA_COMPILE_SOURCE_MAX >> 20);
}

/* ---- the key ---- */

static void
append_list(struct ha_bytes *buffer, const struct ha_list *list)
{
    ha_buffer_u32(buffer, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        ha_buffer_block(buffer, list->items[i], strlen(list->items[i]));
    }
}

/* Everything that can change the result. */
static enum ha_status
compute_key(struct work *work)
{
    const struct ha_compile_request *request = work->request;
    struct ha_bytes key = {0};
    enum ha_status status = HA_OK;
    ha_cache_key_begin(&key, "kernel", &work->build.toolchain, request->warp_size,
                       work->options.level);
    ha_buffer_u32(&key, work->options.explain);
    ha_buffer_u32(&key, work->build.asks);
    ha_buffer_u32(&key, work->build.shadow);
    ha_buffer_u32(&key, work->build.numbers);
    append_list(&key, &work->options.front);
    append_list(&key, &work->options.search);
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

/* ---- the steps ---- */

/* All arguments but those that say what is written, and where; for a `prelude` those
 * alone that mean something to our own headers. */
static void
front_arguments(struct work *work, bool prelude, struct ha_list *arguments)
{
    static const char *const flags[] = {HA_FRONT_FLAGS, NULL};
    static const char *const kernel_flags[] = {HA_FRONT_KERNEL_FLAGS, NULL};
    static const char *const program_flags[] = {HA_FRONT_PROGRAM_FLAGS, NULL};
    const struct ha_toolchain *toolchain = &work->build.toolchain;
    bool folder = work->workdir.path[0] != '\0';
    ha_list_add(arguments, toolchain->zig);
    ha_list_add(arguments, "clang");
    ha_list_add(arguments, "-cc1");
    ha_build_flags(arguments, flags);
    ha_build_flags(arguments, work->options.program ? program_flags : kernel_flags);
    if (work->build.asks) {
        ha_list_add(arguments, HA_CHECK_DEFINE);
    }
    if (!ha_build_prepares(&work->build)) {
        ha_list_add(arguments, HA_NO_COLUMNS);
    }
    ha_build_order_flags(&work->build, arguments);
    ha_list_add(arguments, "-aux-triple");
    ha_list_add(arguments, toolchain->triple);
    ha_list_format(arguments, "-D__HIP_CPU_WARP_SIZE__=%u", work->request->warp_size);
    /* Headers of the program come first, ours second: a folder of the program that
     * holds AMD's or the C library's headers must not hide the device's own. */
    if (folder) {
        ha_list_format(arguments, "-I%s", work->workdir.path);
    }
    ha_list_format(arguments, "-I%s/" HA_FREESTANDING, toolchain->device_dir);
    ha_list_format(arguments, "-I%s", toolchain->device_dir);
    ha_list_format(arguments, "-fdebug-prefix-map=%s/=%s/", toolchain->device_dir,
                   HA_PLACE_DEVICE);
    if (work->options.relocatable) {
        char hex[HA_SHA256_HEX_BYTES];
        ha_sha256_hex(work->key, hex);
        ha_list_format(arguments, "-cuid=%.*s", CUID_DIGITS, hex);
    }
    ha_list_join(arguments, &work->options.front); /* its own -cuid= is the last */
    if (!prelude) {
        ha_list_join(arguments, &work->options.search);
    }
    /* Quoted includes are looked for here first: never in the folder where the program
     * happens to be. */
    ha_list_add(arguments, "-working-directory");
    ha_list_add(arguments, folder ? work->workdir.path : toolchain->device_dir);
    if (folder) {
        ha_list_format(arguments, "-fmacro-prefix-map=%s/=", work->workdir.path);
        ha_list_format(arguments, "-fdebug-prefix-map=%s/=", work->workdir.path);
    }
}

/* Headers of the program come before ours and could hide them; identifiers of modules
 * differ. */
static void
open_prelude(struct work *work)
{
    struct ha_list arguments = {0};
    if (work->options.program || work->options.relocatable ||
        work->request->header_count > 0) {
        return;
    }
    front_arguments(work, true, &arguments);
    const struct ha_prelude_request request = {
        .arguments = &arguments,
        .text = work->source.bytes,
        .size = work->prelude_size,
    };
    ha_prelude_open(&work->build, &request, &work->prelude, &work->making);
    ha_list_release(&arguments);
}

/* The front end's own process; with the prelude, if that is open. */
static enum ha_status
step_front(struct work *work)
{
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
    static const char *const with_prelude[] = {"-include-pch", "/proc/self/fd/4", NULL};
    struct ha_list arguments = {0};
    bool prelude = work->prelude.fd >= 0;
    enum ha_status status = ha_memory_file_rewind(&work->source_file);
    if (status == HA_OK) {
        status = ha_memory_file_open(&work->rules_file, "rules");
    }
    if (status != HA_OK) {
        return status;
    }
    front_arguments(work, false, &arguments);
    if (prelude) {
        ha_build_flags(&arguments, with_prelude);
    }
    if (work->apart || ha_build_prepares(&work->build)) {
        ha_list_add(&arguments, "-disable-llvm-passes");
    }
    ha_build_flags(&arguments, outputs);
    struct ha_memory_file *const extra[] = {&work->rules_file, &work->prelude};
    /* The prelude first: its end does not depend on what the program is. */
    struct ha_build_task tasks[2];
    uint32_t count = 0;
    if (work->making.lock >= 0) {
        tasks[count++] = ha_prelude_task(&work->making);
    }
    tasks[count++] = (struct ha_build_task){.arguments = &arguments,
                                            .files = {.input = &work->source_file,
                                                      .output = &work->ir_file,
                                                      .extra = extra,
                                                      .extra_count = prelude ? 2 : 1}};
    status = ha_build_steps(&work->build, "the front end", tasks, count);
    ha_prelude_finish(&work->making);
    if (status == HA_OK && (work->apart || ha_build_prepares(&work->build))) {
        status = ha_optimise(&work->build, &work->ir_file, work->apart);
    }
    ha_list_release(&arguments);
    return status;
}

static enum ha_status
open_source(struct work *work)
{
    enum ha_status status = ha_memory_file_open(&work->source_file, "source");
    return status == HA_OK ? ha_memory_file_write(&work->source_file,
                                                  work->source.bytes, work->source.size)
                           : status;
}

static enum ha_status
front_again(struct work *work)
{
    ha_memory_file_close(&work->ir_file);
    ha_memory_file_close(&work->rules_file);
    return step_front(work);
}

/* The front end once more, which does everything itself and has all headers: messages
 * are those of that one. */
static enum ha_status
step_front_again(struct work *work, size_t said)
{
    enum ha_status status = HA_OK;
    work->apart = false;
    ha_buffer_cut(&work->build.log, said);
    ha_memory_file_close(&work->prelude);
    if (work->spared) {
        work->complete = true;
        ha_memory_file_close(&work->source_file);
        status = compose_source(work);
        if (status == HA_OK) {
            status = open_source(work);
        }
    }
    return status == HA_OK ? front_again(work) : status;
}

/* Whether a kernel is there whose lanes are to run in step, by HIPADAPT_LOCKSTEP, and
 * the front end did not know. */
static bool
asks_for_order(const struct work *work)
{
    return !work->build.in_order &&
           has_word(work->ir_file.bytes, work->ir_file.size, "hipadapt_lockstep");
}

static enum ha_status
run_front(struct work *work)
{
    size_t said = work->build.log.size;
    enum ha_status status = HA_OK;
    if (work->request->header_count > 0) {
        status =
            ha_workdir_make(&work->workdir, work->request->header_names,
                            work->request->header_texts, work->request->header_count);
    }
    if (status == HA_OK) {
        status = open_source(work);
    }
    if (status != HA_OK) {
        return status;
    }
    work->build.paths = (struct ha_messages_paths){
        .folder = work->workdir.path,
        .device_dir = work->build.toolchain.device_dir,
        .header_names = work->request->header_names,
        .header_count = work->request->header_count,
    };
    (void)clock_gettime(CLOCK_REALTIME, &work->started);
    work->apart = !work->options.program && !work->options.relocatable &&
                  ha_optimise_apart(work->request->source, work->request->source_size);
    status = step_front(work);
    if (status == HA_ERROR_COMPILE &&
        (work->prelude.fd >= 0 || work->apart || work->spared)) {
        status = step_front_again(work, said);
    }
    if (status == HA_OK && asks_for_order(work)) {
        work->build.in_order = true;
        ha_buffer_cut(&work->build.log, said);
        status = front_again(work);
    }
    if (status == HA_OK && memmem(work->ir_file.bytes, work->ir_file.size,
                                  HA_CLANG_IDENT, strlen(HA_CLANG_IDENT)) == NULL) {
        status = ha_error_set(HA_ERROR_NOT_FOUND,
                              "'%s' is not the compiler of ziglang " HA_ZIG_VERSION,
                              work->build.toolchain.zig);
    }
    return status;
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
    const char *own[] = {work->build.toolchain.device_dir, work->workdir.path};
    if (ha_memory_file_map(&work->rules_file) != HA_OK || texts.failed) {
        work->build.cacheable = false;
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
            work->build.cacheable = false;
        }
    }
    ha_list_release(&texts);
}

/* Whether a text that the front end read may have assembly outside of functions. */
static bool
may_have_file_asm(const struct work *work)
{
    const struct ha_compile_request *request = work->request;
    const struct ha_bytes *macros = &work->options.macros;
    const struct ha_list *files = &work->inputs.files;
    bool may = ha_file_asm_possible(request->source, request->source_size) ||
               (macros->size > 0 && ha_file_asm_possible(macros->bytes, macros->size));
    for (uint32_t i = 0; i < request->header_count && !may; i++) {
        const char *text = request->header_texts[i];
        may = ha_file_asm_possible(text, strlen(text));
    }
    /* The list of files is complete only where the result may be cached. */
    may |= work->options.dirs.count > 0 && !work->build.cacheable;
    for (uint32_t i = 0; i < files->count && !may; i++) {
        void *bytes;
        size_t size;
        may = true;
        if (ha_file_read(files->items[i], false, &bytes, &size) == HA_OK) {
            may = ha_file_asm_possible(bytes, size);
            free(bytes);
        }
    }
    return may;
}

/* Assembly outside of functions is refused like that inside of kernels.  In a program
 * of host and device it is the host's. */
static enum ha_status
refuse_file_asm(struct work *work)
{
    static const char *const outputs[] = {"-w", "-ast-print", "-o", "-", "-", NULL};
    struct ha_memory_file printed = HA_MEMORY_FILE_INIT;
    struct ha_list arguments = {0};
    size_t length;
    if (work->options.program || !may_have_file_asm(work)) {
        return HA_OK;
    }
    front_arguments(work, false, &arguments);
    ha_build_flags(&arguments, outputs);
    enum ha_status status = ha_memory_file_rewind(&work->source_file);
    if (status == HA_OK) {
        status = ha_build_step(
            &work->build, "the front end", &arguments,
            &(struct ha_step_files){.input = &work->source_file, .output = &printed});
    }
    if (status == HA_OK) {
        const char *found = ha_file_asm_find(printed.bytes, printed.size, &length);
        if (found != NULL) {
            status = ha_error_set(HA_ERROR_UNSUPPORTED,
                                  "the program contains assembly outside of functions, "
                                  "which the CPU device does not have: %.*s",
                                  length < 200 ? (int)length : 200, found);
        }
    }
    ha_list_release(&arguments);
    ha_memory_file_close(&printed);
    return status;
}

/* Relocatable code: the front end's output as bitcode, with the lowered names. */
static enum ha_status
build_bitcode(struct work *work)
{
    struct ha_compile_result *result = work->result;
    struct ha_memory_file bitcode = HA_MEMORY_FILE_INIT;
    struct ha_list arguments = {0};
    ha_build_ir_arguments(&work->build, &arguments, true);
    enum ha_status status = ha_memory_file_rewind(&work->ir_file);
    if (status == HA_OK) {
        status = ha_build_step(
            &work->build, "the bitcode writer", &arguments,
            &(struct ha_step_files){.input = &work->ir_file, .output = &bitcode});
    }
    if (status == HA_OK) {
        const struct ha_rewrite_request request = {
            .ir = work->ir_file.bytes,
            .ir_size = work->ir_file.size,
            .name_count = work->request->expression_count,
            .stop = ha_build_stop_rewriter,
            .stop_context = &work->build,
        };
        status = ha_rewrite_names(&request, &result->lowered);
    }
    if (status == HA_OK) {
        result->lowered_count = work->request->expression_count;
        result->image = malloc(bitcode.size);
        if (result->image == NULL) {
            status = ha_error_set(HA_ERROR_MEMORY, "bitcode of %zu bytes: no memory",
                                  bitcode.size);
        }
    }
    if (status == HA_OK) {
        memcpy(result->image, bitcode.bytes, bitcode.size);
        result->image_size = bitcode.size;
    }
    ha_list_release(&arguments);
    ha_memory_file_close(&bitcode);
    return status;
}

static enum ha_status
build(struct work *work)
{
    ha_workdir_sweep();
    enum ha_status status = run_front(work);
    if (status == HA_OK) {
        collect_inputs(work);
        status = refuse_file_asm(work);
    }
    if (status == HA_OK && work->options.relocatable) {
        status = build_bitcode(work);
    } else if (status == HA_OK) {
        status = ha_build_image(&work->build, work->ir_file.bytes, work->ir_file.size,
                                work->request->expression_count, work->result);
    }
    return status;
}

/* Builds under the key's lock, unless somebody else did meanwhile. */
static enum ha_status
build_once(struct work *work)
{
    int lock =
        ha_cache_lock(work->key, work->build.deadline_ns, work->request->interrupted);
    enum ha_status status = HA_OK;
    if (lock < 0) {
        status = ha_build_go_on(&work->build, HA_BUILD_WAITING);
    }
    if (status == HA_OK &&
        (lock < 0 || !ha_cache_load(HA_CACHE_KERNEL, work->key, work->result))) {
        status = build(work);
        if (status == HA_OK) {
            status = ha_build_take_log(&work->build, work->result);
        }
        if (status == HA_OK && work->build.cacheable) {
            ha_cache_store(HA_CACHE_KERNEL, work->key, work->result, &work->inputs);
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
    work->build.level = work->options.level;
    work->build.explain |= work->options.explain;
    if (status == HA_OK) {
        ha_buffer_append(&work->build.log, work->options.notes.bytes,
                         work->options.notes.size);
    }
    if (status == HA_OK) {
        status = ha_toolchain_find(&work->build.toolchain);
    }
    if (status == HA_OK) {
        status = compose_source(work);
    }
    if (status == HA_OK) {
        status = check_size(work);
    }
    if (status == HA_OK) {
        status = compute_key(work);
    }
    return status;
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
    work->build = (struct ha_build){.interrupted = request->interrupted,
                                    .source = request->source,
                                    .source_size = request->source_size,
                                    .source_name = request->name,
                                    .warp_size = request->warp_size};
    struct ha_memory_file *const files[] = {&work->source_file, &work->ir_file,
                                            &work->rules_file,  &work->prelude,
                                            &work->making.text, &work->making.made};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        files[i]->fd = -1;
    }
    work->making.lock = -1;
    ha_build_start(&work->build);
    enum ha_status status = prepare(work);
    if (status == HA_OK && !ha_cache_load(HA_CACHE_KERNEL, work->key, result)) {
        open_prelude(work);
        status = build_once(work);
    }
    if (status != HA_OK) {
        status = ha_build_explain(&work->build, status, result);
    }
    result->relocatable = work->options.relocatable;
    ha_prelude_finish(&work->making);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        ha_memory_file_close(files[i]);
    }
    ha_cache_inputs_release(&work->inputs);
    ha_workdir_remove(&work->workdir);
    ha_options_release(&work->options);
    ha_buffer_release(&work->source);
    ha_build_release(&work->build);
    free(work);
    return status;
}
