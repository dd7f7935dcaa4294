/* SPDX-License-Identifier: MIT */
#include "cpu/compile/ir_place.h"

#include <stdlib.h>
#include <string.h>

#define MARK "!dbg !"
#define INLINED_MOST 64 /* calls in one another */

uint32_t
ir_place_take(struct ir_arena *arena, struct ir_slice *line)
{
    const char *mark = line->size > sizeof MARK
                           ? memmem(line->at, line->size, MARK, sizeof MARK - 1)
                           : NULL;

    if (mark == NULL) {
        return 0;
    }
    size_t begin = (size_t)(mark - line->at), end = begin + sizeof MARK - 1;
    uint32_t node = (uint32_t)strtoul(line->at + end, NULL, 10);
    while (end < line->size && line->at[end] >= '0' && line->at[end] <= '9') {
        end++;
    }
    /* ", !dbg !9" of an instruction, " !dbg !9" of a function. */
    begin -= begin > 0 && line->at[begin - 1] == ' ';
    begin -= begin > 0 && line->at[begin - 1] == ',';
    *line = end == line->size ? ir_part(*line, 0, begin)
                              : ir_format(arena, "%.*s%.*s", (int)begin, line->at,
                                          (int)(line->size - end), line->at + end);
    return node;
}

/* ---- nodes ---- */

/* What stands behind "!9 = " or "!9 = distinct "; empty for a named node. */
static struct ir_slice
content_of(struct ir_slice line, uint32_t *number)
{
    char *end;
    if (line.size < 2 || line.at[1] < '0' || line.at[1] > '9') {
        return (struct ir_slice){0};
    }
    *number = (uint32_t)strtoul(line.at + 1, &end, 10);
    struct ir_slice rest = ir_part(line, (size_t)(end - line.at), line.size);
    rest = ir_begins(rest, " = ") ? ir_part(rest, 3, rest.size) : rest;
    return ir_begins(rest, "distinct ") ? ir_part(rest, 9, rest.size) : rest;
}

static bool
is_place(const struct ir_module *module, uint32_t node)
{
    return node < module->place_count && module->places[node].size > 0;
}

/* "!5 = distinct !{!5, !6, !7}": where a loop begins and ends stands among what is to
 * be done with it. */
static struct ir_slice
without_places(const struct ir_module *module, struct ir_slice line)
{
    struct ir_out out = {.arena = module->arena};
    size_t from = ir_find(line, "!{", 0);

    if (from == SIZE_MAX) {
        return line;
    }
    ir_put(&out, ir_part(line, 0, from + 2));
    uint32_t count, kept = 0;
    struct ir_slice list = ir_part(line, from + 2, line.size - 1);
    struct ir_slice *parts = ir_split(module->arena, list, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool node = parts[i].size > 1 && parts[i].at[0] == '!' &&
                    parts[i].at[1] >= '0' && parts[i].at[1] <= '9';
        if (!node || !is_place(module, (uint32_t)strtoul(parts[i].at + 1, NULL, 10))) {
            ir_print(&out, "%s%.*s", kept++ > 0 ? ", " : "", IR_ARGS(parts[i]));
        }
    }
    ir_print(&out, "}");
    return (struct ir_slice){out.text, out.size};
}

void
ir_places_read(struct ir_module *module)
{
    size_t kept = 0;
    uint32_t number;

    for (size_t i = 0; i < module->metadata_count; i++) {
        if (content_of(module->metadata[i], &number).size > 0 &&
            number >= module->place_count) {
            module->place_count = number + 1;
        }
    }
    module->places =
        ir_alloc(module->arena, module->place_count + 1u, sizeof *module->places);
    for (size_t i = 0; i < module->metadata_count; i++) {
        struct ir_slice content = content_of(module->metadata[i], &number);
        if (ir_begins(content, "!DI")) {
            module->places[number] = content;
        } else {
            module->metadata[kept++] = module->metadata[i];
        }
    }
    module->metadata_count = kept;
    for (size_t i = 0; i < kept; i++) {
        if (ir_find(module->metadata[i], " = distinct !{", 0) != SIZE_MAX) {
            module->metadata[i] = without_places(module, module->metadata[i]);
        }
    }
}

/* ---- places ---- */

/* The number behind "line: " or "scope: !"; 0 where there is none. */
static uint32_t
field_of(struct ir_slice node, const char *name)
{
    size_t at = ir_find(node, name, 0);

    return at == SIZE_MAX ? 0
                          : (uint32_t)strtoul(node.at + at + strlen(name), NULL, 10);
}

static struct ir_slice
node_of(const struct ir_module *module, uint32_t number)
{
    return is_place(module, number) ? module->places[number] : (struct ir_slice){0};
}

/* What stands between quotes behind `field`, which ends in one. */
static struct ir_slice
text_of(struct ir_slice node, const char *field)
{
    size_t at = ir_find(node, field, 0);

    if (at == SIZE_MAX) {
        return (struct ir_slice){0};
    }
    at += strlen(field);
    const char *end = memchr(node.at + at, '"', node.size - at);
    return ir_part(node, at, end == NULL ? node.size : (size_t)(end - node.at));
}

static struct ir_slice
file_of(const struct ir_module *module, struct ir_slice scope)
{
    return text_of(node_of(module, field_of(scope, "file: !")), "filename: \"");
}

/* The function around a scope. */
static struct ir_slice
function_of(const struct ir_module *module, struct ir_slice scope)
{
    for (unsigned depth = 0; depth < INLINED_MOST; depth++) {
        if (ir_begins(scope, "!DISubprogram(")) {
            return text_of(scope, "(name: \"");
        }
        scope = node_of(module, field_of(scope, "scope: !"));
    }
    return (struct ir_slice){0};
}

struct ir_place
ir_place_of(const struct ir_module *module, uint32_t number)
{
    struct ir_place place = {0};

    for (unsigned depth = 0; number != 0 && depth < INLINED_MOST; depth++) {
        struct ir_slice node = node_of(module, number);
        bool function = ir_begins(node, "!DISubprogram(");
        struct ir_slice scope =
            function ? node : node_of(module, field_of(node, "scope: !"));
        place = (struct ir_place){
            .file = file_of(module, scope),
            .line = field_of(node, "line: "),
            .column = field_of(node, "column: "),
            .function = function_of(module, scope),
        };
        if (!ir_begins(place.file, HA_PLACE_DEVICE)) {
            return place;
        }
        number = function ? 0 : field_of(node, "inlinedAt: !");
    }
    return (struct ir_place){0};
}
