/* SPDX-License-Identifier: MIT */
#include "cpu/check/report.h"

#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/kind.h"

/* Bytes of the finding's own texts that are shown. */
#define NAME_MAX_BYTES 300
#define STACK_LINES_MAX 16
#define SOURCE_MAX_BYTES 160
#define SOURCE_BEFORE_BYTES 100 /* of the column, in a line that is longer */
#define TAB_WIDTH 4

static const char *const space_names[] = {
    [HA_SPACE_UNKNOWN] = "unknown",   [HA_SPACE_GLOBAL] = "global",
    [HA_SPACE_SHARED] = "shared",     [HA_SPACE_LOCAL] = "local",
    [HA_SPACE_CONSTANT] = "constant", [HA_SPACE_VARIABLE] = "device",
    [HA_SPACE_MANAGED] = "managed",   [HA_SPACE_PINNED] = "pinned",
    [HA_SPACE_ARGUMENT] = "argument", [HA_SPACE_HEAP] = "heap",
};

const char *
ha_space_name(enum ha_check_space space)
{
    unsigned number = (unsigned)space;

    return space_names[number < sizeof space_names / sizeof *space_names ? number : 0];
}

static bool
is_known(const char *text)
{
    return text != NULL && text[0] != '\0';
}

bool
ha_check_report_has_side(const struct ha_check_side *side)
{
    return side->bits != 0 || is_known(side->kernel) || is_known(side->call) ||
           is_known(side->file);
}

static void
put_name(struct ha_writer *writer, const char *before, const char *name,
         const char *behind)
{
    ha_put(writer, before);
    ha_put_plain(writer, name, NAME_MAX_BYTES);
    ha_put(writer, behind);
}

static const char *
access_name(uint32_t bits)
{
    bool reads = (bits & HA_CHECK_READS) != 0, writes = (bits & HA_CHECK_WRITES) != 0;

    if ((bits & HA_CHECK_FREES) != 0) {
        return "free";
    }
    if ((bits & HA_CHECK_ATOMIC) != 0) {
        return reads == writes ? "atomic update"
               : reads         ? "atomic read"
                               : "atomic write";
    }
    return reads && writes ? "read and write" : writes ? "write" : reads ? "read" : "";
}

/* "write of 4 bytes in kernel scale(float*)" */
static void
put_access(struct ha_writer *writer, const struct ha_check_side *side)
{
    const char *access = access_name(side->bits);

    ha_put(writer, access);
    if (access[0] != '\0' && side->bytes > 0) {
        ha_put(writer, " of ");
        ha_put_count(writer, side->bytes, "byte");
    }
    const char *blank = access[0] != '\0' ? " " : "";
    if (is_known(side->kernel)) {
        ha_put(writer, blank);
        put_name(writer, "in kernel ", side->kernel, "");
    } else if (is_known(side->call)) {
        ha_put(writer, blank);
        put_name(writer, "by ", side->call, "");
    }
    ha_put(writer, "\n");
}

/* "saxpy.hip:7:12" */
static void
put_place(struct ha_writer *writer, const struct ha_check_side *side)
{
    ha_put_plain(writer, side->file, NAME_MAX_BYTES);
    if (side->line != 0) {
        ha_put(writer, ":");
        ha_put_number(writer, side->line);
    }
    if (side->line != 0 && side->column != 0) {
        ha_put(writer, ":");
        ha_put_number(writer, side->column);
    }
}

/* One character of a line; gives its bytes, and adds its width. */
static size_t
put_source_sign(struct ha_writer *writer, const char *text, size_t *width)
{
    size_t size = ha_utf8_size(text), before = writer->needed;
    char sign[5] = "";

    if (*text == '\t') {
        ha_put_times(writer, ' ', TAB_WIDTH);
        *width += TAB_WIDTH;
        return 1;
    }
    memcpy(sign, text, size > 0 ? size : 1);
    ha_put_plain(writer, sign, sizeof sign);
    size_t put = writer->needed - before;
    *width += put == size ? 1 : put;
    return size > 0 ? size : 1;
}

/* The part of the line around the column, and a caret below it. */
static void
put_source(struct ha_writer *writer, const struct ha_check_side *side)
{
    size_t column = side->column, at = 0, width = 0, caret = SIZE_MAX;

    ha_put(writer, "    ");
    ha_put_number(writer, side->line);
    ha_put(writer, " | ");
    if (column > SOURCE_MAX_BYTES && column <= strlen(side->text)) {
        at = column - SOURCE_BEFORE_BYTES;
        while (ha_utf8_size(side->text + at) == 0 && at + 1 < column) {
            at++;
        }
        ha_put(writer, "...");
        width = 3;
    }
    for (size_t end = at + SOURCE_MAX_BYTES; side->text[at] != '\0';) {
        if (at >= end) {
            ha_put(writer, "...");
            break;
        }
        if (at + 1 == column) {
            caret = width;
        }
        at += put_source_sign(writer, side->text + at, &width);
    }
    ha_put(writer, "\n");
    if (caret == SIZE_MAX) {
        return;
    }
    ha_put(writer, "    ");
    for (uint32_t line = side->line; line > 0; line /= 10) {
        ha_put(writer, " ");
    }
    ha_put(writer, " | ");
    ha_put_times(writer, ' ', caret);
    ha_put(writer, "^\n");
}

static void
put_index(struct ha_writer *writer, const char *name, const uint32_t index[3])
{
    ha_put(writer, name);
    for (unsigned i = 0; i < 3; i++) {
        ha_put(writer, i == 0 ? " (" : ", ");
        ha_put_number(writer, index[i]);
    }
    ha_put(writer, ")");
}

static void
put_thread(struct ha_writer *writer, const struct ha_check_side *side)
{
    bool block = side->block[0] != HA_CHECK_NOWHERE && is_known(side->kernel);
    bool thread = side->thread[0] != HA_CHECK_NOWHERE && is_known(side->kernel);

    if (!block && !thread) {
        return;
    }
    ha_put(writer, "  by ");
    if (block) {
        put_index(writer, "block", side->block);
    }
    if (thread) {
        put_index(writer, block ? ", thread" : "thread", side->thread);
    }
    ha_put(writer, "\n");
}

/* A line of the stack a line. */
static void
put_stack(struct ha_writer *writer, const char *stack)
{
    char line[NAME_MAX_BYTES + 8];

    for (unsigned i = 0; is_known(stack); i++) {
        size_t size = strcspn(stack, "\n");
        if (i == STACK_LINES_MAX) {
            ha_put(writer, "      ...\n");
            return;
        }
        size_t kept = size < sizeof line - 1 ? size : sizeof line - 1;
        memcpy(line, stack, kept);
        line[kept] = '\0';
        put_name(writer, "      ", line, "\n");
        stack += size + (stack[size] == '\n');
    }
}

static void
put_side(struct ha_writer *writer, const char *label, const struct ha_check_side *side)
{
    if (side->bits != 0 || is_known(side->kernel) || is_known(side->call)) {
        ha_put(writer, "  ");
        ha_put(writer, label);
        put_access(writer, side);
    }
    if (is_known(side->file)) {
        ha_put(writer, "  at ");
        put_place(writer, side);
        if (is_known(side->function)) {
            put_name(writer, ", in ", side->function, "");
        }
        ha_put(writer, "\n");
        if (is_known(side->text) && side->line != 0) {
            put_source(writer, side);
        }
    }
    put_thread(writer, side);
    put_stack(writer, side->stack);
}

/* Where the address lies: "4 bytes behind the end of 400 bytes of global memory". */
static void
put_relation(struct ha_writer *writer, const struct ha_check_finding *found)
{
    const struct ha_check_memory *memory = &found->memory;
    uint64_t address = found->address, size = found->here.bytes;

    if (address < memory->base) {
        ha_put_count(writer, memory->base - address, "byte");
        ha_put(writer, " before ");
    } else if (address - memory->base > memory->bytes) {
        ha_put_count(writer, address - memory->base - memory->bytes, "byte");
        ha_put(writer, " behind the end of ");
    } else if (address - memory->base == memory->bytes && size + memory->bytes > 0) {
        ha_put(writer, "right behind the end of ");
    } else {
        uint64_t left = memory->bytes - (address - memory->base);
        ha_put(writer, "at byte ");
        ha_put_number(writer, address - memory->base);
        if (size > left) {
            ha_put(writer, ", ");
            ha_put_count(writer, size - left, "byte");
            ha_put(writer, " over the end,");
        }
        ha_put(writer, " of ");
    }
    ha_put_count(writer, memory->bytes, "byte");
    ha_put(writer, " of ");
    ha_put(writer, ha_space_name(memory->space));
    ha_put(writer, " memory");
    if (is_known(memory->name)) {
        put_name(writer, ", ", memory->name, "");
    }
}

static void
put_event(struct ha_writer *writer, const char *event, const char *call,
          const char *stack)
{
    if (!is_known(call)) {
        return;
    }
    ha_put(writer, "  ");
    ha_put(writer, event);
    put_name(writer, " by ", call, "\n");
    put_stack(writer, stack);
}

/* Where what has no value comes from: "400 bytes of global memory". */
static void
put_unwritten(struct ha_writer *writer, const struct ha_check_memory *memory)
{
    ha_put(writer, "  nobody wrote: ");
    if (memory->bytes > 0) {
        ha_put_count(writer, memory->bytes, "byte");
        ha_put(writer, " of ");
    }
    ha_put(writer, ha_space_name(memory->space));
    ha_put(writer, " memory");
    if (is_known(memory->name)) {
        put_name(writer, ", ", memory->name, "");
    }
    ha_put(writer, "\n");
}

static void
put_memory(struct ha_writer *writer, const struct ha_check_finding *found)
{
    const struct ha_check_memory *memory = &found->memory;

    if (found->what == HA_FOUND_UNINITIALISED) {
        put_unwritten(writer, memory);
    } else if (found->address != 0 || memory->space != HA_SPACE_UNKNOWN) {
        ha_put(writer, "  address ");
        ha_put_hex(writer, found->address);
        if (memory->space != HA_SPACE_UNKNOWN) {
            ha_put(writer, ": ");
            put_relation(writer, found);
        }
        ha_put(writer, "\n");
    }
    put_event(writer, "allocated", memory->allocated, memory->allocated_by);
    put_event(writer, "freed", memory->freed, memory->freed_by);
}

void
ha_check_report_text(struct ha_writer *writer, const struct ha_check_finding *found)
{
    const struct ha_check_kind *kind = ha_check_kind(found->what);
    bool race = found->what == HA_FOUND_RACE || found->what == HA_FOUND_EQUAL_RACE;

    const char *message = is_known(found->message) ? found->message : kind->text;
    ha_put(writer, "hipadapt check: ");
    if (strncmp(message, kind->name, strlen(kind->name)) != 0) {
        ha_put(writer, kind->name);
        ha_put(writer, ": ");
    }
    put_name(writer, "", message, "");
    if (found->device > 0) {
        ha_put(writer, ", on device ");
        ha_put_number(writer, (uint64_t)found->device);
    }
    ha_put(writer, "\n");
    put_side(writer, "", &found->here);
    if (ha_check_report_has_side(&found->other)) {
        put_side(writer, race ? "earlier: " : "other side: ", &found->other);
    }
    put_memory(writer, found);
    const char *advice = is_known(found->advice) ? found->advice : kind->advice;
    if (is_known(advice)) {
        put_name(writer, "  advice: ", advice, "\n");
    }
}

void
ha_check_report_again_text(struct ha_writer *writer,
                           const struct ha_check_finding *found)
{
    ha_put(writer, "  ");
    ha_put_number(writer, found->count);
    ha_put(writer, " times: ");
    ha_put(writer, ha_check_kind(found->what)->name);
    if (is_known(found->here.file)) {
        ha_put(writer, ", ");
        put_place(writer, &found->here);
    }
    if (is_known(found->here.kernel)) {
        put_name(writer, " in ", found->here.kernel, "");
    }
    ha_put(writer, "\n");
}

/* Accesses and launches; nothing of what was not looked at. */
static void
put_looked_at(struct ha_writer *writer, const struct ha_check_summary *summary)
{
    ha_put_number(writer, summary->launches);
    ha_put(writer, summary->launches == 1 ? " launch" : " launches");
    ha_put(writer, " checked, ");
    ha_put_number(writer, summary->unchecked);
    ha_put(writer, " not checked; ");
    ha_put_number(writer, summary->observed);
    ha_put(writer, " accesses observed, ");
    ha_put_number(writer, summary->proved);
    ha_put(writer, " proved");
}

void
ha_check_report_summary_text(struct ha_writer *writer,
                             const struct ha_check_summary *summary)
{
    char words[HA_CHECK_WORDS_BYTES];

    ha_check_kinds_write(summary->kinds, words);
    ha_put(writer, "hipadapt check: ");
    ha_put_count(writer, summary->findings, "finding");
    if (summary->counted > summary->findings) {
        ha_put(writer, ", made ");
        ha_put_count(writer, summary->counted, "time");
    }
    if (summary->dropped > 0) {
        ha_put(writer, ", ");
        ha_put_number(writer, summary->dropped);
        ha_put(writer, " not kept");
    }
    ha_put(writer, "; ");
    put_looked_at(writer, summary);
    ha_put(writer, "; checked for ");
    ha_put(writer, words[0] != '\0' ? words : "nothing");
    ha_put(writer, "\n");
}
