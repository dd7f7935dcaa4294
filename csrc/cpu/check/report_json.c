/* SPDX-License-Identifier: MIT */
/* The lines of JSON of report.h. */
#include <unistd.h>

#include "core/clock.h"
#include "cpu/base/check_kinds.h"
#include "cpu/check/kind.h"
#include "cpu/check/report.h"

/* Bytes of a text: 13 of them, 4 stacks and the rest have room in HA_REPORT_BYTES,
 * with the report. */
#define TEXT_MAX_BYTES 2500
#define STACK_MAX_BYTES 5000

static uint64_t since_ns; /* when this process began; before it has threads */

void
ha_check_report_begin(void)
{
    since_ns = ha_clock_ns();
}

static __attribute__((constructor)) void
begin(void)
{
    ha_check_report_begin();
}

static void
put_head(struct ha_writer *writer, const char *type)
{
    ha_put(writer, "{\"type\": ");
    ha_put_json(writer, type, TEXT_MAX_BYTES);
    ha_put(writer, ", \"process\": ");
    ha_put_number(writer, (uint64_t)getpid());
    ha_put(writer, ", \"since\": ");
    ha_put_number(writer, since_ns);
}

static void
put_key(struct ha_writer *writer, const char *key)
{
    ha_put(writer, ", \"");
    ha_put(writer, key);
    ha_put(writer, "\": ");
}

static void
put_text(struct ha_writer *writer, const char *key, const char *text)
{
    put_key(writer, key);
    ha_put_json(writer, text != NULL ? text : "", TEXT_MAX_BYTES);
}

static void
put_stack(struct ha_writer *writer, const char *key, const char *text)
{
    put_key(writer, key);
    ha_put_json(writer, text != NULL ? text : "", STACK_MAX_BYTES);
}

static void
put_number(struct ha_writer *writer, const char *key, uint64_t value)
{
    put_key(writer, key);
    ha_put_number(writer, value);
}

/* As text: numbers of JSON have 53 bits. */
static void
put_address(struct ha_writer *writer, const char *key, uint64_t address)
{
    put_key(writer, key);
    ha_put(writer, "\"");
    ha_put_hex(writer, address);
    ha_put(writer, "\"");
}

static void
put_index(struct ha_writer *writer, const char *key, const uint32_t index[3])
{
    put_key(writer, key);
    if (index[0] == HA_CHECK_NOWHERE) {
        ha_put(writer, "null");
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        ha_put(writer, i == 0 ? "[" : ", ");
        ha_put_number(writer, index[i]);
    }
    ha_put(writer, "]");
}

static void
put_access(struct ha_writer *writer, uint32_t bits)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } rows[] = {{HA_CHECK_READS, "read"},
                {HA_CHECK_WRITES, "write"},
                {HA_CHECK_ATOMIC, "atomic"},
                {HA_CHECK_FREES, "free"}};
    const char *comma = "";

    ha_put(writer, "{\"access\": [");
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if ((bits & rows[i].bit) != 0) {
            ha_put(writer, comma);
            ha_put_json(writer, rows[i].name, TEXT_MAX_BYTES);
            comma = ", ";
        }
    }
    ha_put(writer, "]");
}

static void
put_side(struct ha_writer *writer, const char *key, const struct ha_check_side *side)
{
    put_key(writer, key);
    put_access(writer, side->bits);
    put_number(writer, "bytes", side->bytes);
    put_text(writer, "kernel", side->kernel);
    put_text(writer, "call", side->call);
    put_text(writer, "function", side->function);
    put_text(writer, "file", side->file);
    put_number(writer, "line", side->line);
    put_number(writer, "column", side->column);
    put_text(writer, "text", side->text);
    put_index(writer, "block", side->block);
    put_index(writer, "thread", side->thread);
    put_stack(writer, "stack", side->stack);
    ha_put(writer, "}");
}

static void
put_memory(struct ha_writer *writer, const struct ha_check_memory *memory)
{
    put_key(writer, "memory");
    if (memory->space == HA_SPACE_UNKNOWN) {
        ha_put(writer, "null");
        return;
    }
    ha_put(writer, "{\"space\": ");
    ha_put_json(writer, ha_space_name(memory->space), TEXT_MAX_BYTES);
    put_text(writer, "name", memory->name);
    put_address(writer, "base", memory->base);
    put_number(writer, "bytes", memory->bytes);
    put_text(writer, "allocated", memory->allocated);
    put_stack(writer, "allocated_by", memory->allocated_by);
    put_text(writer, "freed", memory->freed);
    put_stack(writer, "freed_by", memory->freed_by);
    ha_put(writer, "}");
}

void
ha_check_report_json(struct ha_writer *writer, const struct ha_check_finding *found)
{
    const struct ha_check_kind *kind = ha_check_kind(found->what);

    put_head(writer, "finding");
    put_number(writer, "number", found->number);
    put_text(writer, "kind", kind->name);
    put_text(writer, "word", kind->word);
    put_number(writer, "count", found->count);
    put_number(writer, "device", found->device > 0 ? (uint64_t)found->device : 0);
    put_text(writer, "message", found->message);
    put_text(writer, "advice", found->advice);
    put_address(writer, "address", found->address);
    put_side(writer, "here", &found->here);
    if (ha_check_report_has_side(&found->other)) {
        put_side(writer, "other", &found->other);
    } else {
        put_key(writer, "other");
        ha_put(writer, "null");
    }
    put_memory(writer, &found->memory);
    put_key(writer, "report");
    ha_put(writer, "\"");
    writer->quoted = true;
    ha_check_report_text(writer, found);
    writer->quoted = false;
    ha_put(writer, "\"}");
}

void
ha_check_report_start_json(struct ha_writer *writer, const char *kinds)
{
    put_head(writer, "start");
    put_text(writer, "kinds", kinds);
    ha_put(writer, "}");
}

void
ha_check_report_count_json(struct ha_writer *writer, uint64_t number, uint64_t count)
{
    put_head(writer, "count");
    put_number(writer, "number", number);
    put_number(writer, "count", count);
    ha_put(writer, "}");
}

void
ha_check_report_summary_json(struct ha_writer *writer,
                             const struct ha_check_summary *summary)
{
    char kinds[HA_CHECK_WORDS_BYTES];

    ha_check_kinds_write(summary->kinds, kinds);
    put_head(writer, "summary");
    put_text(writer, "kinds", kinds);
    put_number(writer, "findings", summary->findings);
    put_number(writer, "counted", summary->counted);
    put_number(writer, "dropped", summary->dropped);
    put_number(writer, "launches", summary->launches);
    put_number(writer, "unchecked", summary->unchecked);
    put_number(writer, "observed", summary->observed);
    put_number(writer, "proved", summary->proved);
    ha_put(writer, "}");
}
