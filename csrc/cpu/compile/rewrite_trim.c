/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_trim.h"

/* What functions call the shared variables that they use: "%ha.sh.3". */
#define SHARED "%ha.sh."

enum item_kind {
    ITEM_FIXED, /* "target ...", comments: stays where it is */
    ITEM_TYPE,
    ITEM_DATA,
    ITEM_FUNCTION,
    ITEM_DECLARE,
    ITEM_ATTRIBUTES,
    ITEM_NODE,
};

/* One definition or declaration; its text has whole lines. */
struct item {
    enum item_kind kind;
    struct ir_slice text;
    struct ir_slice name; /* "@f", "!4", "#0", "%T" */
    bool needed;
    bool numbered;         /* its name becomes a number, in order of appearance */
    struct ir_slice given; /* that name */
};

struct trim {
    struct ir_arena *arena;
    struct ir_slice text;
    struct item *items;
    uint32_t count;
    struct ir_map names; /* -> item */
    bool types;          /* there are any */
    uint32_t *queue;     /* needed items, in the order in which they were found */
    uint32_t queued;
    uint32_t numbers[ITEM_NODE + 1]; /* that were given, by kind */
};

/* ---- items ---- */

static size_t
line_end(struct ir_slice text, size_t at)
{
    while (at < text.size && text.at[at] != '\n') {
        at++;
    }
    return at < text.size ? at + 1 : at;
}

/* Behind the item that begins at `at`. */
static size_t
item_end(struct ir_slice text, size_t at)
{
    bool body = ir_begins(ir_part(text, at, text.size), "define ");
    size_t end = line_end(text, at);

    while (end < text.size) {
        size_t begin = end;
        char c = text.at[begin];
        if (!body && c != ' ') {
            break;
        }
        end = line_end(text, begin);
        if (body && c == '}') {
            break;
        }
    }
    return end;
}

/* Whether other modules cannot see it; `rest` begins with the linkage. */
static bool
is_hidden_away(struct ir_slice rest)
{
    return ir_begins(rest, "internal ") || ir_begins(rest, "private ");
}

static void
classify(struct item *item)
{
    struct ir_slice text = item->text;

    if (ir_begins(text, "define ") || ir_begins(text, "declare ")) {
        item->kind = ir_begins(text, "define ") ? ITEM_FUNCTION : ITEM_DECLARE;
        item->name = ir_token(text, ir_find(text, "@", 0));
        item->needed =
            item->kind == ITEM_FUNCTION && !is_hidden_away(ir_part(text, 7, text.size));
    } else if (ir_begins(text, "attributes #")) {
        item->kind = ITEM_ATTRIBUTES;
        item->name = ir_token(text, 11);
        item->numbered = true;
    } else if (ir_begins(text, "!")) {
        item->kind = ITEM_NODE;
        item->name = ir_token(text, 0);
        item->numbered = true;
    } else if (ir_begins(text, "%")) {
        item->kind = ITEM_TYPE;
        item->name = ir_token(text, 0);
    } else if (ir_begins(text, "@")) {
        item->kind = ITEM_DATA;
        item->name = ir_token(text, 0);
        struct ir_slice rest = ir_part(text, item->name.size + 3, text.size);
        bool away = is_hidden_away(rest);
        item->needed = !away && !ir_begins(rest, "external ");
        item->numbered = away;
    } else {
        item->needed = true;
    }
}

static void
read_items(struct trim *trim)
{
    uint32_t lines = 1;

    for (size_t i = 0; i < trim->text.size; i++) {
        lines += trim->text.at[i] == '\n';
    }
    trim->items = ir_alloc(trim->arena, lines, sizeof *trim->items);
    trim->queue = ir_alloc(trim->arena, lines, sizeof *trim->queue);
    for (size_t at = 0; at < trim->text.size;) {
        size_t end = item_end(trim->text, at);
        struct item *item = &trim->items[trim->count];
        item->text = ir_part(trim->text, at, end);
        classify(item);
        if (item->name.size > 0) {
            ir_map_set(&trim->names, item->name, trim->count);
        }
        trim->types |= item->kind == ITEM_TYPE;
        trim->count++;
        at = end;
        ir_poll(trim->arena);
    }
}

/* ---- names in texts ---- */

/* Offset of the next token that may be a name of an item, or the size of the text. */
static size_t
next_name(const struct trim *trim, struct ir_slice text, size_t at)
{
    for (; at < text.size; at++) {
        char c = text.at[at];
        if (c == '@' || c == '!' || c == '#' ||
            (c == '%' &&
             (trim->types || ir_begins(ir_part(text, at, text.size), SHARED)))) {
            return at;
        }
        if (c == '%' && at + 1 < text.size && text.at[at + 1] == '"') {
            at++; /* a name in quotes */
            c = '"';
        }
        if (c == '"') {
            for (at++; at < text.size && text.at[at] != '"'; at++) {
            }
        }
    }
    return text.size;
}

static struct item *
item_of(const struct trim *trim, struct ir_slice name)
{
    uint32_t number;

    return ir_map_get(&trim->names, name, &number) ? &trim->items[number] : NULL;
}

/* Everything that a needed item names is needed. */
static void
find_needed(struct trim *trim)
{
    for (uint32_t i = 0; i < trim->count; i++) {
        if (trim->items[i].needed) {
            trim->queue[trim->queued++] = i;
        }
    }
    for (uint32_t i = 0; i < trim->queued; i++) {
        struct ir_slice text = trim->items[trim->queue[i]].text;
        for (size_t at = 0; (at = next_name(trim, text, at)) < text.size;) {
            struct ir_slice name = ir_token(text, at);
            struct item *item = item_of(trim, name);
            if (item != NULL && !item->needed) {
                item->needed = true;
                trim->queue[trim->queued++] = (uint32_t)(item - trim->items);
            }
            at += name.size > 0 ? name.size : 1;
        }
        ir_poll(trim->arena);
    }
}

/* ---- the new text ---- */

static struct ir_slice
new_name(struct trim *trim, struct item *item)
{
    static const char *const prefix[] = {
        [ITEM_DATA] = "@.private.", [ITEM_ATTRIBUTES] = "#", [ITEM_NODE] = "!"};

    if (!item->numbered) {
        return item->name;
    }
    if (item->given.size == 0) {
        item->given = ir_format(trim->arena, "%s%u", prefix[item->kind],
                                trim->numbers[item->kind]++);
    }
    return item->given;
}

/* The same for a shared variable in one function. */
static struct ir_slice
new_local(struct trim *trim, struct ir_map *shared, struct ir_slice name)
{
    uint32_t number;

    if (!ir_map_get(shared, name, &number)) {
        number = (uint32_t)shared->count;
        ir_map_set(shared, name, number);
    }
    return ir_format(trim->arena, "%%ha.sh.%u", number);
}

static void
put_item(struct trim *trim, const struct item *item, struct ir_out *out)
{
    struct ir_slice text = item->text;
    struct ir_map shared = {.arena = trim->arena};
    size_t done = 0;

    for (size_t at = 0; (at = next_name(trim, text, at)) < text.size;) {
        struct ir_slice name = ir_token(text, at);
        struct item *named = item_of(trim, name);
        bool local = ir_begins(name, SHARED);
        if (local || (named != NULL && named->numbered)) {
            ir_put(out, ir_part(text, done, at));
            ir_put(out, local ? new_local(trim, &shared, name) : new_name(trim, named));
            done = at + name.size;
        }
        at += name.size > 0 ? name.size : 1;
    }
    ir_put(out, ir_part(text, done, text.size));
}

/* Items of a kind, in the order of the text. */
static void
put_kind(struct trim *trim, enum item_kind kind, struct ir_out *out)
{
    for (uint32_t i = 0; i < trim->count; i++) {
        if (trim->items[i].needed && trim->items[i].kind == kind) {
            put_item(trim, &trim->items[i], out);
        }
    }
}

/* Items of a kind, in the order in which they were found. */
static void
put_found(struct trim *trim, enum item_kind kind, struct ir_out *out)
{
    for (uint32_t i = 0; i < trim->queued; i++) {
        if (trim->items[trim->queue[i]].kind == kind) {
            put_item(trim, &trim->items[trim->queue[i]], out);
        }
    }
}

void
ha_part_trim(struct ir_arena *arena, struct ir_slice text, struct ir_out *out)
{
    struct trim trim = {.arena = arena, .text = text, .names = {.arena = arena}};

    *out = (struct ir_out){.arena = arena};
    read_items(&trim);
    find_needed(&trim);
    put_kind(&trim, ITEM_FIXED, out);
    put_kind(&trim, ITEM_TYPE, out);
    put_kind(&trim, ITEM_FUNCTION, out);
    put_kind(&trim, ITEM_DATA, out);
    put_found(&trim, ITEM_DECLARE, out);
    put_found(&trim, ITEM_ATTRIBUTES, out);
    put_found(&trim, ITEM_NODE, out);
}
