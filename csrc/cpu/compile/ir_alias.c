/* SPDX-License-Identifier: MIT */
/* Second names of functions and variables, replaced by the first, so that all uses of
 * one thing have one name.
 *
 *     @b = dso_local alias void (), ptr @a             (gone)
 *     @v = global ptr @b                        ->     @v = global ptr @a
 *
 * An alias of a part of a variable, or of an expression, has no first name: refused. */
#include "cpu/compile/ir_text.h"

struct names {
    struct ir_map numbers; /* second name -> index in `firsts` */
    struct ir_slice *firsts;
    uint32_t count;
};

/* "@b = ... alias T, ptr @a" */
static bool
is_alias(struct ir_slice line)
{
    size_t alias = ir_begins(line, "@") ? ir_find(line, " alias ", 0) : SIZE_MAX;

    return alias != SIZE_MAX && alias < ir_find(line, " global ", 0) &&
           alias < ir_find(line, " constant ", 0);
}

static void
take_alias(struct ir_arena *arena, struct ir_slice line, struct names *names)
{
    struct ir_slice name = ir_token(line, 0);
    size_t first = ir_find(line, "@", name.size);

    if (first == SIZE_MAX || ir_find(line, "getelementptr", 0) != SIZE_MAX ||
        ir_find(line, "@", first + ir_token(line, first).size) != SIZE_MAX) {
        ir_fail(arena, HA_ERROR_UNSUPPORTED, "%.*s is an alias of no single name",
                IR_ARGS(name));
    }
    names->firsts[names->count] = ir_token(line, first);
    ir_map_set(&names->numbers, name, names->count++);
}

/* The name itself where it is a first one.  The count of steps ends a circle, which the
 * compiler would have refused. */
static struct ir_slice
first_of(const struct names *names, struct ir_slice name)
{
    uint32_t number;

    for (uint32_t steps = 0; steps < names->count; steps++) {
        if (!ir_map_get(&names->numbers, name, &number)) {
            break;
        }
        name = names->firsts[number];
    }
    return name;
}

static void
put_line(struct ir_out *out, const struct names *names, struct ir_slice line)
{
    size_t done = 0;

    for (size_t at = 0; (at = ir_find(line, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(line, at);
        ir_put(out, ir_part(line, done, at));
        ir_put(out, first_of(names, name));
        at += name.size;
        done = at;
    }
    ir_put(out, ir_part(line, done, line.size));
}

struct ir_slice
ir_without_aliases(struct ir_arena *arena, struct ir_slice text)
{
    struct names names = {.numbers = {.arena = arena}};
    struct ir_out out = {.arena = arena};
    struct ir_slice line;
    size_t count = 0;

    for (size_t at = 0; ir_next_line(text, &at, &line);) {
        count += is_alias(line);
    }
    if (count == 0) {
        return text;
    }
    names.firsts = ir_alloc(arena, count, sizeof *names.firsts);
    for (size_t at = 0; ir_next_line(text, &at, &line);) {
        if (is_alias(line)) {
            take_alias(arena, line, &names);
        }
    }
    for (size_t at = 0; ir_next_line(text, &at, &line);) {
        if (!is_alias(line)) {
            put_line(&out, &names, line);
        }
    }
    return (struct ir_slice){out.text, out.size};
}
