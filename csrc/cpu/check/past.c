/* SPDX-License-Identifier: MIT */
#include "cpu/check/past.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct mark {
    uint32_t line;
    uint64_t number;
};

struct ha_past {
    _Atomic uint32_t references;
    uint32_t count;
    struct mark marks[]; /* by line */
};

struct ha_line {
    uint32_t id; /* its place in the table */
    int device;
    enum ha_line_kind kind;
    bool open;
    bool promised;        /* of a wait: `past` is what ends it */
    uint64_t count;       /* operations */
    uint64_t waited;      /* the host knows those up to this */
    struct ha_past *past; /* owned */
};

static struct {
    struct ha_line **all; /* owned */
    uint32_t count, room;
} lines;

static struct ha_past everything;

/* ---- pasts ---- */

struct ha_past *
ha_past_everything(void)
{
    return &everything;
}

struct ha_past *
ha_past_keep(struct ha_past *past)
{
    if (past != NULL && past != &everything) {
        atomic_fetch_add_explicit(&past->references, 1, memory_order_relaxed);
    }
    return past;
}

void
ha_past_release(struct ha_past *past)
{
    if (past != NULL && past != &everything &&
        atomic_fetch_sub_explicit(&past->references, 1, memory_order_acq_rel) == 1) {
        free(past);
    }
}

/* Without marks yet. */
static struct ha_past *
past_new(uint32_t room)
{
    struct ha_past *past = malloc(sizeof *past + room * sizeof past->marks[0]);

    if (past == NULL) {
        return &everything;
    }
    atomic_init(&past->references, 1);
    past->count = 0;
    return past;
}

static void
past_add(struct ha_past *past, struct mark mark)
{
    if (mark.number > lines.all[mark.line]->waited) {
        past->marks[past->count++] = mark;
    }
}

static bool
has_all_of(const struct ha_past *past, const struct ha_past *other)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < other->count; i++) {
        const struct mark *mark = &other->marks[i];
        if (mark->number <= lines.all[mark->line]->waited) {
            continue;
        }
        while (at < past->count && past->marks[at].line < mark->line) {
            at++;
        }
        if (at == past->count || past->marks[at].line != mark->line ||
            past->marks[at].number < mark->number) {
            return false;
        }
    }
    return true;
}

static struct ha_past *
merge(const struct ha_past *a, const struct ha_past *b)
{
    struct ha_past *past = past_new(a->count + b->count);
    uint32_t i = 0, k = 0;

    while (past != &everything && (i < a->count || k < b->count)) {
        if (k == b->count || (i < a->count && a->marks[i].line < b->marks[k].line)) {
            past_add(past, a->marks[i++]);
        } else if (i == a->count || b->marks[k].line < a->marks[i].line) {
            past_add(past, b->marks[k++]);
        } else {
            bool more = a->marks[i].number > b->marks[k].number;
            past_add(past, more ? a->marks[i] : b->marks[k]);
            i++;
            k++;
        }
    }
    return past;
}

struct ha_past *
ha_past_join(struct ha_past *a, struct ha_past *b)
{
    if (a == &everything || b == &everything) {
        return &everything;
    }
    if (a == NULL || b == NULL) {
        return ha_past_keep(a == NULL ? b : a);
    }
    if (a == b || has_all_of(a, b)) {
        return ha_past_keep(a);
    }
    return has_all_of(b, a) ? ha_past_keep(b) : merge(a, b);
}

bool
ha_past_has(const struct ha_past *past, uint32_t line, uint64_t number)
{
    uint32_t first = 0, end = past == NULL ? 0 : past->count;

    if (past == &everything) {
        return true;
    }
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (past->marks[middle].line < line) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return past != NULL && first < past->count && past->marks[first].line == line &&
           past->marks[first].number >= number;
}

void
ha_past_each(const struct ha_past *past,
             void (*each)(void *context, uint32_t line, uint64_t number), void *context)
{
    for (uint32_t i = 0; past != NULL && i < past->count; i++) {
        each(context, past->marks[i].line, past->marks[i].number);
    }
}

/* The past and one operation more; takes the reference. */
static struct ha_past *
with_mark(struct ha_past *past, uint32_t line, uint64_t number)
{
    struct ha_past *one = past_new(1);

    if (one != &everything) {
        past_add(one, (struct mark){line, number});
    }
    struct ha_past *both = ha_past_join(past, one);
    ha_past_release(past);
    ha_past_release(one);
    return both;
}

/* ---- lines ---- */

static bool
is_free(const struct ha_line *line)
{
    return !line->open && line->waited >= line->count;
}

static struct ha_line *
line_add(void)
{
    if (lines.count == lines.room) {
        uint32_t room = lines.room > 0 ? 2 * lines.room : 16;
        struct ha_line **all = realloc(lines.all, room * sizeof(struct ha_line *));
        if (all == NULL) {
            return NULL;
        }
        lines.all = all;
        lines.room = room;
    }
    struct ha_line *line = calloc(1, sizeof *line);
    if (line != NULL) {
        line->id = lines.count;
        lines.all[lines.count++] = line;
    }
    return line;
}

struct ha_line *
ha_line_new(int device, enum ha_line_kind kind)
{
    struct ha_line *line = NULL;

    for (uint32_t i = 0; i < lines.count && line == NULL; i++) {
        line = is_free(lines.all[i]) ? lines.all[i] : NULL;
    }
    if (line == NULL) {
        line = line_add();
    }
    if (line != NULL) {
        ha_past_release(line->past);
        line->past = NULL;
        line->device = device;
        line->kind = kind;
        line->open = true;
        line->promised = false;
    }
    return line;
}

void
ha_line_close(struct ha_line *line)
{
    line->open = false;
}

uint32_t
ha_line_id(const struct ha_line *line)
{
    return line->id;
}

struct ha_past *
ha_line_past(const struct ha_line *line)
{
    return line->past;
}

void
ha_line_learn(struct ha_line *line, struct ha_past *past)
{
    struct ha_past *both = ha_past_join(line->past, past);

    ha_past_release(line->past);
    line->past = both;
}

uint64_t
ha_line_step(struct ha_line *line)
{
    line->count++;
    line->past = with_mark(line->past, line->id, line->count);
    return line->count;
}

/* The line of nodes that goes on behind the past; NULL: there is none. */
static struct ha_line *
line_behind(const struct ha_past *past)
{
    for (uint32_t i = 0; past != NULL && i < past->count; i++) {
        struct ha_line *line = lines.all[past->marks[i].line];
        if (line->kind == HA_LINE_NODES && line->count == past->marks[i].number) {
            return line;
        }
    }
    return NULL;
}

uint64_t
ha_line_of_node(int device, struct ha_past **past, uint32_t *id)
{
    struct ha_line *line = line_behind(*past);

    if (line == NULL) {
        line = ha_line_new(device, HA_LINE_NODES);
    }
    if (line == NULL) {
        ha_past_release(*past);
        *past = &everything;
        return 0;
    }
    line->open = false; /* free again when the host has waited for its nodes */
    *id = line->id;
    *past = with_mark(*past, line->id, ++line->count);
    ha_line_learn(line, *past);
    return line->count;
}

/* ---- waits that are open ---- */

struct ha_past *
ha_past_open(uint32_t *id, uint64_t *number)
{
    struct ha_line *line = ha_line_new(-1, HA_LINE_OPEN);

    if (line == NULL) {
        return &everything;
    }
    line->open = false;
    *id = line->id;
    *number = ++line->count;
    return with_mark(NULL, line->id, line->count);
}

bool
ha_past_waits(uint32_t id, uint64_t number)
{
    const struct ha_line *line = lines.all[id];

    return line->kind == HA_LINE_OPEN && line->count == number && line->waited < number;
}

void
ha_past_promise(uint32_t id, uint64_t number, struct ha_past *past)
{
    struct ha_line *line = lines.all[id];

    if (ha_past_waits(id, number)) {
        ha_past_release(line->past);
        line->past = ha_past_keep(past);
        line->promised = true;
    }
}

/* The past with what was promised to waits that it names; *open if there is one that
 * nothing was promised to. */
static struct ha_past *
with_promises(struct ha_past *past, bool *open)
{
    struct ha_past *whole = ha_past_keep(past);

    for (uint32_t i = 0; past != NULL && i < past->count; i++) {
        const struct ha_line *line = lines.all[past->marks[i].line];
        if (line->kind != HA_LINE_OPEN || line->waited >= past->marks[i].number) {
            continue;
        }
        struct ha_past *both = ha_past_join(whole, line->promised ? line->past : NULL);
        ha_past_release(whole);
        whole = both;
        *open = *open || !line->promised;
    }
    return whole;
}

bool
ha_past_is_open(struct ha_past **past)
{
    bool open = false, more = true;

    while (more) { /* what was promised may have waits, too */
        struct ha_past *whole = with_promises(*past, &open);
        more = whole != *past;
        ha_past_release(*past);
        *past = whole;
    }
    return open;
}

/* ---- all lines ---- */

struct ha_past *
ha_lines_past(int device, bool blocking)
{
    struct ha_past *past = NULL;

    for (uint32_t i = 0; i < lines.count; i++) {
        const struct ha_line *line = lines.all[i];
        if (line->device == device && (!blocking || line->kind == HA_LINE_BLOCKING)) {
            struct ha_past *both = ha_past_join(past, line->past);
            ha_past_release(past);
            past = both;
        }
    }
    return past;
}

void
ha_lines_waited(const struct ha_past *past)
{
    for (uint32_t i = 0; past != NULL && i < past->count; i++) {
        struct ha_line *line = lines.all[past->marks[i].line];
        if (past->marks[i].number > line->waited) {
            line->waited = past->marks[i].number;
        }
    }
    if (past == &everything) {
        ha_lines_waited_all();
    }
}

void
ha_lines_waited_all(void)
{
    for (uint32_t i = 0; i < lines.count; i++) {
        lines.all[i]->waited = lines.all[i]->count;
    }
}

void
ha_lines_after_fork_child(void)
{
    lines.all = NULL; /* its memory stays: the parent may have been changing it */
    lines.count = lines.room = 0;
}
