/* SPDX-License-Identifier: MIT */
#include "cpu/compile/link_ir.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/compile/toolchain_flags.h"

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define BUNDLE_COMPRESSED_MAGIC "CCOB"
#define BUNDLE_ENTRIES_MAX 4096
#define TRIPLE_LINE "target triple = \""
#define IDS_SHOWN_BYTES 200

/* ---- bundles ---- */

/*     0   magic, 24 bytes, no NUL      32  entries, each:
 *     24  u64 number of entries            u64 offset, u64 size,
 *                                          u64 size of the identifier, identifier
 *
 * Numbers are little endian.  An identifier is <kind>-<triple>-<arch>. */
static bool
read_u64(const unsigned char *bytes, size_t size, size_t *at, uint64_t *value)
{
    if (size - *at < 8) {
        return false;
    }
    *value = 0;
    for (int i = 7; i >= 0; i--) {
        *value = *value << 8 | bytes[*at + (size_t)i];
    }
    *at += 8;
    return true;
}

enum ha_status
ha_link_unbundle(const void *bundle, size_t size, const char **ir, size_t *ir_size)
{
    const unsigned char *bytes = bundle;
    const size_t magic = strlen(BUNDLE_MAGIC);
    char ids[IDS_SHOWN_BYTES] = "";
    size_t at = magic, shown = 0;
    uint64_t count = 0;
    if (size >= strlen(BUNDLE_COMPRESSED_MAGIC) &&
        memcmp(bytes, BUNDLE_COMPRESSED_MAGIC, strlen(BUNDLE_COMPRESSED_MAGIC)) == 0) {
        return ha_error_set(HA_ERROR_UNSUPPORTED, "the bundle is compressed");
    }
    if (size < magic || memcmp(bytes, BUNDLE_MAGIC, magic) != 0 ||
        !read_u64(bytes, size, &at, &count) || count > BUNDLE_ENTRIES_MAX) {
        return ha_error_set(HA_ERROR_CORRUPT, "not an offload bundle");
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t offset = 0, length = 0, id_size = 0;
        if (!read_u64(bytes, size, &at, &offset) ||
            !read_u64(bytes, size, &at, &length) ||
            !read_u64(bytes, size, &at, &id_size) || id_size > size - at ||
            offset > size || length > size - offset) {
            return ha_error_set(HA_ERROR_CORRUPT, "the bundle is cut short");
        }
        const char *id = (const char *)bytes + at;
        if (memmem(id, (size_t)id_size, HA_FRONT_TRIPLE, strlen(HA_FRONT_TRIPLE)) !=
            NULL) {
            *ir = (const char *)bytes + offset;
            *ir_size = (size_t)length;
            return HA_OK;
        }
        if (id_size < sizeof ids - shown - 2) {
            ids[shown] = ' ';
            memcpy(ids + shown + 1, id, (size_t)id_size);
            shown += 1 + (size_t)id_size;
        }
        at += (size_t)id_size;
    }
    return ha_error_set(HA_ERROR_UNSUPPORTED,
                        "the bundle has nothing for " HA_FRONT_TRIPLE
                        ", the CPU device's target, but:%.*s",
                        (int)shown, ids);
}

/* ---- checks ---- */

static bool
is_bitcode(const char *bytes, size_t size)
{
    static const unsigned char raw[] = {'B', 'C', 0xc0, 0xde};
    static const unsigned char wrapped[] = {0xde, 0xc0, 0x17, 0x0b};
    return size >= 4 && (memcmp(bytes, raw, 4) == 0 || memcmp(bytes, wrapped, 4) == 0);
}

static enum ha_status
foreign(const char *name, const char *triple, size_t size)
{
    return ha_error_set(HA_ERROR_UNSUPPORTED,
                        "input '%.100s' is LLVM IR for %.*s; the CPU device takes IR "
                        "for " HA_FRONT_TRIPLE,
                        name, size < 60 ? (int)size : 60, triple);
}

enum ha_status
ha_link_check(const char *name, const char *bytes, size_t size)
{
    if (is_bitcode(bytes, size)) {
        return HA_OK; /* its target is seen when it is read */
    }
    if (size >= 4 && memcmp(bytes, "\177ELF", 4) == 0) {
        return ha_error_set(HA_ERROR_CORRUPT,
                            "input '%.100s' is code, which hipModuleLoadData takes",
                            name);
    }
    if (memchr(bytes, '\0', size) != NULL) {
        return ha_error_set(HA_ERROR_CORRUPT,
                            "input '%.100s' is neither bitcode nor text IR", name);
    }
    const char *line = memmem(bytes, size, TRIPLE_LINE, strlen(TRIPLE_LINE));
    if (line == NULL) {
        return ha_error_set(HA_ERROR_CORRUPT,
                            "input '%.100s' is no LLVM IR that names a target triple",
                            name);
    }
    const char *triple = line + strlen(TRIPLE_LINE);
    const char *end = memchr(triple, '"', size - (size_t)(triple - bytes));
    size_t length = end != NULL ? (size_t)(end - triple) : 0;
    if (length != strlen(HA_FRONT_TRIPLE) ||
        memcmp(triple, HA_FRONT_TRIPLE, length) != 0) {
        return foreign(name, triple, length);
    }
    return HA_OK;
}

/* ---- one module ---- */

/* Bitcode of one input, and a check that it is for our target. */
static enum ha_status
read_input(struct ha_build *build, const struct ha_link_input *input,
           struct ha_memory_file *bitcode)
{
    struct ha_memory_file file = HA_MEMORY_FILE_INIT;
    struct ha_list arguments = {0};
    size_t logged = build->log.size;
    ha_build_ir_arguments(build, &arguments, true);
    enum ha_status status = ha_memory_file_open(&file, "input");
    if (status == HA_OK) {
        status = ha_memory_file_write(&file, input->bytes, input->size);
    }
    if (status == HA_OK) {
        status = ha_memory_file_rewind(&file);
    }
    if (status == HA_OK) {
        status =
            ha_build_step(build, "the IR reader", &arguments,
                          &(struct ha_step_files){.input = &file, .output = bitcode});
    }
    if (status == HA_ERROR_COMPILE) {
        /* The reader says "overriding the module target triple". */
        const char *said = build->log.bytes + (logged < build->log.size ? logged : 0);
        if (build->log.bytes != NULL && strstr(said, "target triple") != NULL) {
            status = foreign(input->name, "another target", strlen("another target"));
        } else {
            status =
                ha_error_set(HA_ERROR_COMPILE,
                             "input '%.100s' cannot be read as LLVM IR", input->name);
        }
    }
    ha_list_release(&arguments);
    ha_memory_file_close(&file);
    return status;
}

/* Links `count` modules into the first; optimises where it is `last`. */
static enum ha_status
link_some(struct ha_build *build, struct ha_memory_file *first,
          struct ha_memory_file *const *others, uint32_t count, bool last,
          struct ha_memory_file *output)
{
    static const char *const flags[] = {HA_OPTIMISE_FLAGS, NULL};
    struct ha_list arguments = {0};
    ha_build_ir_arguments(build, &arguments, !last);
    if (last) {
        ha_build_flags(&arguments, flags);
        ha_build_order_flags(build, &arguments);
    }
    for (uint32_t i = 0; i < count; i++) {
        ha_list_add(&arguments, "-mlink-bitcode-file");
        ha_list_format(&arguments, "/proc/self/fd/%u", 3 + i);
    }
    size_t logged = build->log.size;
    enum ha_status status = ha_memory_file_rewind(first);
    if (status == HA_OK) {
        status = ha_build_step(build, "the IR linker", &arguments,
                               &(struct ha_step_files){.input = first,
                                                       .output = output,
                                                       .extra = others,
                                                       .extra_count = count});
    }
    if (status == HA_ERROR_COMPILE && build->log.size > logged) {
        const char *said = build->log.bytes + logged;
        if (strncmp(said, "error: ", strlen("error: ")) == 0) {
            said += strlen("error: ");
        }
        status = ha_error_set(HA_ERROR_COMPILE, "%.*s", (int)strcspn(said, "\n"), said);
    }
    ha_list_release(&arguments);
    return status;
}

/* Names that IR for this target has, and ours. */
static const struct {
    const char *theirs, *ours;
} registers[] = {
    {"@llvm.nvvm.read.ptx.sreg.tid.", "@__ha_thread_"},
    {"@llvm.nvvm.read.ptx.sreg.ctaid.", "@__ha_block_"},
    {"@llvm.nvvm.read.ptx.sreg.ntid.", "@__ha_block_dim_"},
    {"@llvm.nvvm.read.ptx.sreg.nctaid.", "@__ha_grid_dim_"},
};
#define BARRIER_CALL "call void @llvm.nvvm.barrier0()"

static void
translate_line(struct ha_bytes *out, const char *line, size_t size, unsigned *barriers)
{
    if (memmem(line, size, BARRIER_CALL, strlen(BARRIER_CALL)) != NULL) {
        /* A named result, so that values with numbers keep theirs. */
        ha_buffer_format(out,
                         "  %%__ha_barrier_%u = call i32 @__ha_block(i32 0, i32 0, "
                         "i32 0)\n",
                         (*barriers)++);
        return;
    }
    const char *end = line + size;
    while (line < end) {
        const char *at = memchr(line, '@', (size_t)(end - line));
        size_t which = 0, length = 0;
        for (; at != NULL && which < sizeof registers / sizeof registers[0]; which++) {
            length = strlen(registers[which].theirs);
            if ((size_t)(end - at) > length &&
                memcmp(at, registers[which].theirs, length) == 0) {
                break;
            }
        }
        if (at == NULL) {
            ha_buffer_append(out, line, (size_t)(end - line));
            return;
        }
        ha_buffer_append(out, line, (size_t)(at - line));
        if (which < sizeof registers / sizeof registers[0]) {
            ha_buffer_text(out, registers[which].ours);
            line = at + length;
        } else {
            ha_buffer_append(out, "@", 1);
            line = at + 1;
        }
    }
}

static enum ha_status
translate(const struct ha_memory_file *text, struct ha_bytes *out)
{
    const char *line = text->bytes, *end = text->bytes + text->size;
    unsigned barriers = 0;
    while (line < end) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next + 1 : end;
        translate_line(out, line, (size_t)(next - line), &barriers);
        line = next;
    }
    return out->failed ? ha_error_set(HA_ERROR_MEMORY, "IR: no memory") : HA_OK;
}

/* All modules into files[0], as many at once as a process can be given. */
static enum ha_status
merge_files(struct ha_build *build, struct ha_memory_file *files, uint32_t count,
            struct ha_memory_file *text)
{
    enum ha_status status = HA_OK;
    uint32_t done = 1;
    bool last = false;
    while (status == HA_OK && !last) {
        struct ha_memory_file *others[HA_BUILD_EXTRA_MAX];
        struct ha_memory_file merged = HA_MEMORY_FILE_INIT;
        uint32_t some = count - done;
        if (some > HA_BUILD_EXTRA_MAX) {
            some = HA_BUILD_EXTRA_MAX;
        }
        for (uint32_t i = 0; i < some; i++) {
            others[i] = &files[done + i];
        }
        done += some;
        last = done == count;
        status = link_some(build, &files[0], others, some, last, &merged);
        if (status == HA_OK && last) {
            *text = merged;
        } else {
            ha_memory_file_close(&files[0]);
            files[0] = merged;
        }
    }
    return status;
}

enum ha_status
ha_link_merge(struct ha_build *build, const struct ha_link_input *inputs,
              uint32_t count, struct ha_bytes *ir)
{
    struct ha_memory_file text = HA_MEMORY_FILE_INIT;
    struct ha_memory_file *files = calloc(count, sizeof *files);
    enum ha_status status = HA_OK;
    if (files == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "link: no memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        files[i].fd = -1;
    }
    for (uint32_t i = 0; i < count && status == HA_OK; i++) {
        status = read_input(build, &inputs[i], &files[i]);
    }
    if (status == HA_OK) {
        status = merge_files(build, files, count, &text);
    }
    if (status == HA_OK) {
        status = translate(&text, ir);
    }
    ha_memory_file_close(&text);
    for (uint32_t i = 0; i < count; i++) {
        ha_memory_file_close(&files[i]);
    }
    free(files);
    return status;
}
