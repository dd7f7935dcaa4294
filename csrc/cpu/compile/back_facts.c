/* SPDX-License-Identifier: MIT */
#include "cpu/compile/back_facts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 4096

struct facts {
    const char *name; /* of the kernel, in the record */
    size_t size;
    bool reference; /* of the reference form */
    uint32_t width; /* most numbers of a vector; 0: no loop became vectors */
    uint32_t spills, reloads;
    uint32_t frame; /* bytes */
    bool tried;     /* some loop was looked at */
};

struct reading {
    struct facts *facts; /* owned */
    uint32_t count, room;
};

/* A line of a remark, without its end. */
struct line {
    const char *at;
    size_t size;
};

static bool
begins(struct line line, const char *text)
{
    size_t size = strlen(text);

    return line.size >= size && memcmp(line.at, text, size) == 0;
}

/* What stands behind "Function:", without blanks and quotes. */
static struct line
value_of(struct line line)
{
    const char *colon = memchr(line.at, ':', line.size);
    const char *end = line.at + line.size;

    if (colon == NULL) {
        return (struct line){line.at, 0};
    }
    const char *at = colon + 1;
    while (at < end && (*at == ' ' || *at == '\'' || *at == '"')) {
        at++;
    }
    while (end > at && (end[-1] == ' ' || end[-1] == '\'' || end[-1] == '"')) {
        end--;
    }
    return (struct line){at, (size_t)(end - at)};
}

static uint32_t
number_of(struct line line)
{
    struct line value = value_of(line);

    return value.size > 0 ? (uint32_t)strtoul(value.at, NULL, 10) : 0;
}

/* Takes the suffix off a name, if it has that. */
static bool
strip(struct line *name, const char *suffix)
{
    size_t size = strlen(suffix);
    bool has = name->size > size && name->size < NAME_MOST &&
               memcmp(name->at + name->size - size, suffix, size) == 0;

    name->size -= has ? size : 0;
    return has;
}

static struct facts *
find(struct reading *reading, struct line name, bool reference)
{
    for (uint32_t i = 0; i < reading->count; i++) {
        struct facts *facts = &reading->facts[i];
        if (facts->reference == reference && facts->size == name.size &&
            memcmp(facts->name, name.at, name.size) == 0) {
            return facts;
        }
    }
    return NULL;
}

/* Of the form that a function is, or is a part of; NULL for other functions, or
 * without memory. */
static struct facts *
facts_of(struct reading *reading, struct line name)
{
    bool fast = strip(&name, ".fast") || strip(&name, ".block");

    if (!fast && !strip(&name, ".ref")) {
        return NULL;
    }
    struct facts *found = find(reading, name, !fast);
    if (found != NULL) {
        return found;
    }
    if (reading->count == reading->room) {
        uint32_t room = reading->room * 2 + 16;
        struct facts *more = realloc(reading->facts, room * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        reading->facts = more;
        reading->room = room;
    }
    struct facts *facts = &reading->facts[reading->count++];
    *facts = (struct facts){.name = name.at, .size = name.size, .reference = !fast};
    return facts;
}

/* One line of a remark of the pass about the function. */
static void
take_line(struct facts *facts, struct line line, struct line remark)
{
    uint32_t number = number_of(line);

    if (begins(line, "  - VectorizationFactor:")) {
        facts->width = number > facts->width ? number : facts->width;
    } else if (begins(line, "  - NumStackBytes:")) {
        facts->frame = number > facts->frame ? number : facts->frame;
    } else if (begins(remark, "SpillReloadCopies")) { /* of the whole function */
        facts->spills += begins(line, "  - NumSpills:") ? number : 0;
        facts->reloads += begins(line, "  - NumReloads:") ? number : 0;
    }
}

static void
read_record(struct reading *reading, const char *record, size_t size)
{
    const char *end = record + size;
    struct line remark = {record, 0}, pass = {record, 0};
    struct facts *facts = NULL;

    for (const char *at = record; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct line line = {at, (size_t)((stop != NULL ? stop : end) - at)};
        at += line.size + 1;
        if (begins(line, "---")) {
            facts = NULL;
        } else if (begins(line, "Pass:")) {
            pass = value_of(line);
        } else if (begins(line, "Name:")) {
            remark = value_of(line);
        } else if (begins(line, "Function:")) {
            facts = facts_of(reading, value_of(line));
            if (facts != NULL) {
                facts->tried |= begins(pass, "loop-vectorize");
            }
        } else if (facts != NULL) {
            take_line(facts, line, remark);
        }
    }
}

/* ---- lines ---- */

static void
put_lines(struct ha_bytes *lines, const struct facts *facts)
{
    int size = (int)facts->size;

    if (facts->width > 0) {
        ha_buffer_format(lines,
                         "%.*s\tvector\tthe compiler turned loops into vectors of %u "
                         "numbers\n",
                         size, facts->name, facts->width);
    } else if (facts->tried) {
        ha_buffer_format(lines,
                         "%.*s\tvector\tthe compiler turned no loop into vectors\n",
                         size, facts->name);
    }
    if (facts->spills > 0) {
        ha_buffer_format(lines,
                         "%.*s\tspill\tfor lack of registers, values are put away to "
                         "the stack at %u places of the code and read back at %u\n",
                         size, facts->name, facts->spills, facts->reloads);
    }
    if (facts->frame > 0) {
        ha_buffer_format(lines, "%.*s\tframe\tthe stack frame has %u bytes\n", size,
                         facts->name, facts->frame);
    }
}

void
ha_back_facts(const char *record, size_t size, struct ha_bytes *lines)
{
    struct reading reading = {0};

    read_record(&reading, record, size);
    for (uint32_t i = 0; i < reading.count; i++) {
        const struct facts *facts = &reading.facts[i];
        struct line name = {facts->name, facts->size};
        if (!facts->reference || find(&reading, name, false) == NULL) {
            put_lines(lines, facts);
        }
    }
    free(reading.facts);
}
