/* SPDX-License-Identifier: MIT */
/* A module of text IR, line by line, into struct ir_module (drawn in
 * cpu/compile/ir_text.h).
 *
 *     %T = type { i32, double }           types
 *     @x = ... global i32 3, align 4      globals: name, type and address space apart
 *     define ... @f(ptr %a) ... {         functions: header and parameters
 *     entry:                              a block; the first one may have no label
 *       %v = load i32, ptr %a             an instruction
 *       switch i32 %v, label %d [         one instruction, up to the line with "]"
 *     }                                   ends the function: edges are linked now
 *     declare void @g(i32)                declares, attributes, metadata: whole lines
 *     target ..., $comdat ..., ; text     left out: the host has its own
 *
 * The text is as the pinned clang prints it, also where a program brings IR of its own
 * (cpu/compile/link_ir.c), so only what the rewriter relies on is checked.  Types and
 * operands of instructions stay text: the passes that need them take them apart. */
#include <stdlib.h>
#include <string.h>

#include "cpu/compile/ir_place.h"
#include "cpu/compile/ir_text.h"

/* A vector in the arena: capacity doubles, older copies are left behind. */
struct list {
    struct ir_arena *arena;
    void *items;
    size_t count;
    size_t capacity;
    size_t size;
};

static void *
append(struct list *list)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? list->capacity * 2 : 16;
        void *items = ir_alloc(list->arena, capacity, list->size);
        if (list->count > 0) {
            memcpy(items, list->items, list->count * list->size);
        }
        list->items = items;
        list->capacity = capacity;
    }
    return (char *)list->items + list->size * list->count++;
}

struct reader {
    struct ir_arena *arena;
    struct ir_slice text;
    size_t at;
};

/* The next line without its newline; false at the end. */
static bool
next_line(struct reader *reader, struct ir_slice *line)
{
    ir_poll(reader->arena);
    if (reader->at >= reader->text.size) {
        return false;
    }
    const char *begin = reader->text.at + reader->at;
    const char *end = memchr(begin, '\n', reader->text.size - reader->at);
    size_t size = end != NULL ? (size_t)(end - begin) : reader->text.size - reader->at;
    *line = (struct ir_slice){begin, size};
    reader->at += size + 1;
    return true;
}

/* ---- one instruction ---- */

static struct ir_slice
callee_of(struct ir_slice rest)
{
    bool quoted = false;

    for (size_t i = 0; i < rest.size; i++) {
        char c = rest.at[i];
        if (c == '"') {
            quoted = !quoted;
        }
        if (quoted || (c != '@' && c != '%')) {
            continue;
        }
        struct ir_slice name = ir_token(rest, i);
        if (i + name.size < rest.size && rest.at[i + name.size] == '(') {
            return name;
        }
        i += name.size - 1;
    }
    return (struct ir_slice){0};
}

struct ir_inst
ir_inst_of(struct ir_slice line)
{
    struct ir_inst inst = {.line = line};
    struct ir_slice body = line;

    if (line.size > 0 && line.at[0] == '%') {
        struct ir_slice name = ir_token(line, 0);
        if (ir_begins(ir_part(line, name.size, line.size), " = ")) {
            inst.def = name;
            body = ir_part(line, name.size + 3, line.size);
        }
    }
    inst.op = ir_token(body, 0);
    if (ir_is(inst.op, "tail") || ir_is(inst.op, "musttail") ||
        ir_is(inst.op, "notail")) {
        body = ir_trim(ir_part(body, inst.op.size, body.size));
        inst.op = ir_token(body, 0);
    }
    inst.rest = ir_trim(ir_part(body, inst.op.size, body.size));
    if (ir_is(inst.op, "call")) {
        inst.callee = callee_of(inst.rest);
    }
    return inst;
}

/* ---- functions ---- */

static uint32_t
number_behind(struct ir_slice text, const char *word)
{
    size_t at = ir_find(text, word, 0);

    return at == SIZE_MAX ? 0
                          : (uint32_t)strtoul(text.at + at + strlen(word), NULL, 10);
}

static void
parse_params(struct ir_arena *arena, struct ir_function *function, struct ir_slice list)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(arena, list, &count);

    function->params = ir_alloc(arena, count + 1u, sizeof *function->params);
    for (uint32_t i = 0; i < count; i++) {
        struct ir_param *param = &function->params[function->param_count++];
        struct ir_slice part = parts[i];
        size_t first = strchr("<[{", part.at[0]) != NULL ? ir_close(arena, part, 0)
                                                         : ir_token(part, 0).size;
        param->type = ir_part(part, 0, first);
        /* The name is the last word: attributes stand between it and the type. */
        size_t name = part.size;
        while (name > 0 && part.at[name - 1] != ' ') {
            name--;
        }
        param->name = ir_part(part, name, part.size);
        if (param->name.size == 0 || param->name.at[0] != '%') {
            ir_fail(arena, HA_ERROR_UNSUPPORTED,
                    "function %.*s: parameter without name", IR_ARGS(function->name));
        }
        size_t byval = ir_find(part, " byval(", 0);
        if (byval != SIZE_MAX) {
            size_t close = ir_close(arena, part, byval + 6);
            param->byval = ir_part(part, byval + 7, close - 1);
        }
        param->align = number_behind(part, " align ");
        param->constant = ir_find(part, " readonly", 0) != SIZE_MAX ||
                          ir_find(part, " readnone", 0) != SIZE_MAX;
        param->noalias = ir_find(part, " noalias", 0) != SIZE_MAX;
    }
}

static void
parse_header(struct ir_arena *arena, struct ir_function *function)
{
    struct ir_slice header = function->header;
    size_t at = ir_find(header, "@", 0);

    if (at == SIZE_MAX) {
        ir_fail(arena, HA_ERROR_INVALID, "IR with a function that has no name");
    }
    function->name = ir_token(header, at);
    function->kernel = ir_find(ir_part(header, 0, at), "ptx_kernel ", 0) != SIZE_MAX;
    size_t open = at + function->name.size;
    if (open >= header.size || header.at[open] != '(') {
        ir_fail(arena, HA_ERROR_INVALID, "IR with a function that has no parameters");
    }
    size_t close = ir_close(arena, header, open);
    parse_params(arena, function, ir_part(header, open + 1, close - 1));
}

static void
link_blocks(struct ir_arena *arena, struct ir_function *function)
{
    struct ir_map labels = {.arena = arena};

    for (uint32_t i = 0; i < function->block_count; i++) {
        ir_map_set(&labels, function->blocks[i].label, i);
    }
    for (uint32_t i = 0; i < function->block_count; i++) {
        struct ir_block *block = &function->blocks[i];
        if (block->count == 0) {
            ir_fail(arena, HA_ERROR_INVALID, "IR with an empty block in %.*s",
                    IR_ARGS(function->name));
        }
        struct ir_slice line = block->insts[block->count - 1].line;
        uint32_t edges = 0;
        for (size_t at = 0; (at = ir_find(line, "label %", at)) != SIZE_MAX; at += 7) {
            edges++;
        }
        block->next = ir_alloc(arena, edges + 1u, sizeof *block->next);
        for (size_t at = 0; (at = ir_find(line, "label %", at)) != SIZE_MAX; at += 7) {
            uint32_t target;
            if (!ir_map_get(&labels, ir_token(line, at + 6), &target)) {
                ir_fail(arena, HA_ERROR_INVALID, "IR with an unknown label in %.*s",
                        IR_ARGS(function->name));
            }
            block->next[block->next_count++] = target;
            function->blocks[target].prev_count++;
        }
    }
    for (uint32_t i = 0; i < function->block_count; i++) {
        struct ir_block *block = &function->blocks[i];
        block->prev = ir_alloc(arena, block->prev_count + 1u, sizeof *block->prev);
        block->prev_count = 0; /* counted again as they are filled in */
    }
    for (uint32_t i = 0; i < function->block_count; i++) {
        for (uint32_t k = 0; k < function->blocks[i].next_count; k++) {
            struct ir_block *target = &function->blocks[function->blocks[i].next[k]];
            target->prev[target->prev_count++] = i;
        }
    }
}

/* The label of a line such as `for.body:   ; preds = ...`, with the sigil of its uses.
 */
static bool
label_of(struct ir_arena *arena, struct ir_slice line, struct ir_slice *label)
{
    if (line.size == 0 || line.at[0] == ' ' || line.at[0] == ';') {
        return false;
    }
    struct ir_slice name = ir_token(line, 0);
    if (name.size == 0 || name.size >= line.size || line.at[name.size] != ':') {
        return false;
    }
    *label = ir_format(arena, "%%%.*s", IR_ARGS(name));
    return true;
}

/* A switch is printed over several lines; later code wants it as one. */
static struct ir_slice
join_switch(struct reader *reader, struct ir_slice first)
{
    struct ir_slice line;
    struct ir_slice whole = first;

    while (next_line(reader, &line)) {
        whole.size = (size_t)(line.at + line.size - first.at);
        if (ir_begins(ir_trim(line), "]")) {
            break;
        }
    }
    return whole;
}

static void
parse_function(struct reader *reader, struct ir_slice header,
               struct ir_function *function)
{
    struct ir_arena *arena = reader->arena;
    struct list blocks = {.arena = arena, .size = sizeof(struct ir_block)};
    struct list insts = {.arena = arena, .size = sizeof(struct ir_inst)};
    struct ir_block *block = NULL;
    struct ir_slice line;
    bool closed = false;

    function->place = ir_place_take(arena, &header);
    function->header = header;
    parse_header(arena, function);
    while (!closed && next_line(reader, &line)) {
        /* For a first block that has no label. */
        struct ir_slice label = ir_slice_of("%ha.first");
        struct ir_slice text = ir_trim(line);
        bool labelled = label_of(arena, line, &label);
        closed = ir_is(line, "}");
        if ((labelled || closed) && block != NULL) {
            block->insts = insts.items;
            block->count = (uint32_t)insts.count;
            insts = (struct list){.arena = arena, .size = sizeof(struct ir_inst)};
        }
        /* Lines that begin with # are records for debuggers. */
        if (closed ||
            (!labelled && (text.size == 0 || text.at[0] == ';' || text.at[0] == '#'))) {
            continue;
        }
        if (labelled || block == NULL) {
            block = append(&blocks);
            *block = (struct ir_block){.label = label};
        }
        if (labelled) {
            continue;
        }
        if (ir_begins(text, "switch ") && text.at[text.size - 1] == '[') {
            text = join_switch(reader, text);
        }
        uint32_t place = ir_place_take(arena, &text);
        struct ir_inst *inst = append(&insts);
        *inst = ir_inst_of(text);
        inst->place = place;
    }
    if (!closed || blocks.count == 0) {
        ir_fail(arena, HA_ERROR_INVALID, "IR ends inside of function %.*s",
                IR_ARGS(function->name));
    }
    function->blocks = blocks.items;
    function->block_count = (uint32_t)blocks.count;
    link_blocks(arena, function);
}

/* ---- module ---- */

static struct ir_global
parse_global(struct ir_arena *arena, struct ir_slice line)
{
    struct ir_global global = {.line = line, .name = ir_token(line, 0)};
    size_t space = ir_find(line, "addrspace(", 0);
    size_t kind = ir_find(line, " global ", 0);
    size_t constant = ir_find(line, " constant ", 0);
    size_t skip = 8;

    if (constant < kind) {
        kind = constant;
        skip = 10;
    }
    if (kind == SIZE_MAX) {
        ir_fail(arena, HA_ERROR_UNSUPPORTED, "IR with an ifunc: %.*s",
                IR_ARGS(global.name));
    }
    if (space < kind) {
        global.space = (uint32_t)strtoul(line.at + space + 10, NULL, 10);
    }
    struct ir_slice head = ir_part(line, 0, kind + 1);
    global.external = ir_find(head, " external ", 0) != SIZE_MAX ||
                      ir_find(head, " extern_weak ", 0) != SIZE_MAX;
    struct ir_slice rest = ir_trim(ir_part(line, kind + skip, line.size));
    if (rest.size == 0) {
        ir_fail(arena, HA_ERROR_INVALID, "IR with a variable that has no type");
    }
    size_t type = strchr("[{<", rest.at[0]) != NULL ? ir_close(arena, rest, 0)
                                                    : ir_token(rest, 0).size;
    global.type = ir_part(rest, 0, type);
    return global;
}

void
ir_parse(struct ir_arena *arena, struct ir_slice text, struct ir_module *module)
{
    struct ir_slice plain =
        ir_without_variadics(arena, ir_without_aliases(arena, text));
    struct reader reader = {.arena = arena, .text = plain};
    struct list types = {.arena = arena, .size = sizeof(struct ir_slice)};
    struct list globals = {.arena = arena, .size = sizeof(struct ir_global)};
    struct list functions = {.arena = arena, .size = sizeof(struct ir_function)};
    struct list declares = {.arena = arena, .size = sizeof(struct ir_slice)};
    struct list attributes = {.arena = arena, .size = sizeof(struct ir_slice)};
    struct list metadata = {.arena = arena, .size = sizeof(struct ir_slice)};
    struct ir_slice line;

    while (next_line(&reader, &line)) {
        if (ir_begins(line, "%")) {
            *(struct ir_slice *)append(&types) = line;
        } else if (ir_begins(line, "@")) {
            *(struct ir_global *)append(&globals) = parse_global(arena, line);
        } else if (ir_begins(line, "define ")) {
            struct ir_function *function = append(&functions);
            *function = (struct ir_function){0};
            parse_function(&reader, line, function);
        } else if (ir_begins(line, "declare ")) {
            (void)ir_place_take(arena, &line);
            *(struct ir_slice *)append(&declares) = line;
        } else if (ir_begins(line, "attributes ")) {
            *(struct ir_slice *)append(&attributes) = line;
        } else if (ir_begins(line, "!")) {
            *(struct ir_slice *)append(&metadata) = line;
        } else if (ir_begins(line, "module asm")) {
            ir_fail(arena, HA_ERROR_UNSUPPORTED,
                    "the program contains inline assembly");
        }
        /* Target lines, comdats, comments: the host has its own. */
    }
    *module = (struct ir_module){
        .arena = arena,
        .types = types.items,
        .type_count = types.count,
        .globals = globals.items,
        .global_count = globals.count,
        .functions = functions.items,
        .function_count = functions.count,
        .declares = declares.items,
        .declare_count = declares.count,
        .attributes = attributes.items,
        .attribute_count = attributes.count,
        .metadata = metadata.items,
        .metadata_count = metadata.count,
    };
    ir_places_read(module);
}
