/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_parts.h"

#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"
#include "cpu/compile/rewrite_trim.h"

/* A compiler that is started takes as long as a part of the smaller size does; below
 * the larger one there is nothing to save. */
#define PART_BYTES ((size_t)16 << 10)
#define WHOLE_BYTES ((size_t)24 << 10)
#define GROUPS_MOST 32u /* of small pieces */
/* The back end repeats bodies of loops that it cannot count.  In a piece of so many
 * loops that is most of the time that it takes, and makes code of which little stays in
 * the processor's caches. */
#define LOOPS_MANY 32u

static struct ir_slice
text_of(const struct ir_out *out)
{
    return (struct ir_slice){out->text, out->size};
}

/* ---- pieces ---- */

static void
count_functions(struct ha_rewriter *rewriter)
{
    uint32_t first = 0u - HA_FUNCTION_NUMBERS;

    rewriter->first = (struct ha_first_numbers){first, first, first};
}

void
ha_pieces_start(struct ha_rewriter *rewriter, uint32_t most)
{
    const struct ir_module *module = &rewriter->module;
    struct ha_pieces *pieces = &rewriter->pieces;
    struct ir_arena *arena = rewriter->arena;

    *pieces = (struct ha_pieces){.names = {.arena = arena},
                                 .globals = {.arena = arena},
                                 .all_lines = {.arena = arena},
                                 .several = most > 1};
    /* Two forms of each function, and room for more. */
    pieces->items = ir_alloc(arena, HA_FORMS_MAX * module->function_count + 1,
                             sizeof *pieces->items);
    count_functions(rewriter);
    pieces->texts = ir_alloc(arena, module->global_count + 1, sizeof *pieces->texts);
    for (uint32_t g = 0; g < module->global_count; g++) {
        ir_map_set(&pieces->globals, module->globals[g].name, g);
    }
}

void
ha_piece_begin(struct ha_rewriter *rewriter)
{
    rewriter->pieces.out = rewriter->out;
    rewriter->pieces.tail = rewriter->tail;
    rewriter->out = (struct ir_out){.arena = rewriter->arena};
    rewriter->tail = (struct ir_out){.arena = rewriter->arena};
    rewriter->pieces.lines = (struct ir_out){.arena = rewriter->arena};
    rewriter->pieces.line_count = 0;
    rewriter->first = (struct ha_first_numbers){rewriter->block_sites,
                                                rewriter->warp_sites, rewriter->loops};
}

/* What stands for the address of a kernel (ha_with_kernel_addresses): one for all. */
static bool
is_held(struct ir_slice name)
{
    return ir_is(ir_part(name, name.size < 5 ? 0 : name.size - 5, name.size),
                 ".held") ||
           ir_is(ir_part(name, name.size < 6 ? 0 : name.size - 6, name.size),
                 ".held\"");
}

/* Adds what a text names to the globals of a piece; false if a function is among it, or
 * a variable that code writes and the host does not know. */
static bool
add_names(struct ha_rewriter *rewriter, struct ir_slice text, uint8_t *seen,
          struct ha_piece *piece)
{
    struct ha_pieces *pieces = &rewriter->pieces;
    uint32_t number;

    for (size_t at = 0; (at = ir_find(text, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(text, at);
        at += name.size;
        if (ir_map_get(&rewriter->functions, name, &number) || is_held(name)) {
            return false;
        }
        if (ir_map_get(&pieces->globals, name, &number) && !seen[number]) {
            const struct ir_global *global = &rewriter->module.globals[number];
            seen[number] = 1;
            piece->globals[piece->global_count++] = number;
            if (!ha_is_variable(global) &&
                ir_find(global->line, " constant ", 0) == SIZE_MAX) {
                return false;
            }
        }
    }
    return true;
}

static bool
is_apart(struct ha_rewriter *rewriter, struct ha_piece *piece)
{
    size_t count = rewriter->module.global_count;
    uint8_t *seen = ir_alloc(rewriter->arena, count + 1, 1);

    piece->globals = ir_alloc(rewriter->arena, count + 1, sizeof *piece->globals);
    if (!add_names(rewriter, piece->text, seen, piece) ||
        !add_names(rewriter, piece->tail, seen, piece)) {
        return false;
    }
    for (uint32_t i = 0; i < piece->global_count; i++) {
        uint32_t number = piece->globals[i];
        const struct ir_global *global = &rewriter->module.globals[number];
        /* Initialisers of variables stay with the variables. */
        if (!ha_is_variable(global) &&
            !add_names(rewriter, ir_part(global->line, global->name.size, SIZE_MAX),
                       seen, piece)) {
            return false;
        }
    }
    return true;
}

void
ha_piece_end(struct ha_rewriter *rewriter, struct ir_slice name, const char *parameters)
{
    struct ha_pieces *pieces = &rewriter->pieces;
    struct ha_piece piece = {.name = name,
                             .parameters = parameters,
                             .text = text_of(&rewriter->out),
                             .tail = text_of(&rewriter->tail),
                             .lines = text_of(&pieces->lines)};

    rewriter->out = pieces->out;
    rewriter->tail = pieces->tail;
    count_functions(rewriter);
    if (is_apart(rewriter, &piece)) {
        ir_map_set(&pieces->names, name, pieces->count);
        pieces->items[pieces->count++] = piece;
    } else {
        ir_put(&rewriter->out, piece.text);
        ir_put(&rewriter->tail, piece.tail);
    }
}

struct ir_slice
ha_piece_line(struct ha_rewriter *rewriter, struct ir_slice kernel,
              struct ir_slice number)
{
    struct ha_pieces *pieces = &rewriter->pieces;
    struct ir_arena *arena = rewriter->arena;

    if (!pieces->several) {
        return (struct ir_slice){0};
    }
    struct ir_slice suffix = ir_format(arena, "line.%u", pieces->line_count++);
    struct ir_slice name = ha_suffixed(arena, kernel, suffix.at);
    ir_print(&pieces->lines, "%.*s = external hidden constant i32\n", IR_ARGS(name));
    ir_print(&pieces->all_lines, "%.*s = hidden constant i32 %.*s\n", IR_ARGS(name),
             IR_ARGS(number));
    return name;
}

/* ---- parts ---- */

/* A kernel's name without its form. */
static struct ir_slice
kernel_of(struct ir_slice form)
{
    size_t size = form.size;

    while (size > 0 && form.at[size - 1] != '.') {
        size--;
    }
    return ir_part(form, 0, size);
}

/* FNV-1a. */
static uint32_t
hash_name(struct ir_slice name)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ (uint8_t)name.at[i]) * 16777619u;
    }
    return hash;
}

/* So many small pieces go together that a power of two of groups remains: it seldom
 * changes when a kernel does. */
static uint32_t
count_groups(const struct ha_pieces *pieces)
{
    size_t small = 0;
    uint32_t groups = 1;

    for (uint32_t i = 0; i < pieces->count; i++) {
        size_t size = pieces->items[i].text.size;
        small += size < PART_BYTES ? size : 0;
    }
    while (groups < GROUPS_MOST && small / groups > PART_BYTES) {
        groups *= 2;
    }
    return groups;
}

static bool
has_many_loops(struct ir_slice text)
{
    uint32_t count = 0;

    for (size_t at = 0; (at = ir_find(text, "!llvm.loop !", at)) != SIZE_MAX; at++) {
        count++;
    }
    return count >= LOOPS_MANY;
}

/* The numbers of parts that have no pieces are not given. */
static uint32_t
share_out(struct ha_rewriter *rewriter, uint32_t most, bool *many_loops)
{
    struct ha_pieces *pieces = &rewriter->pieces;
    uint32_t part_of_group[GROUPS_MOST] = {0};
    size_t total = rewriter->out.size;
    uint32_t count = 1;

    for (uint32_t i = 0; i < pieces->count; i++) {
        total += pieces->items[i].text.size;
    }
    if (total < WHOLE_BYTES || most < 2) {
        return 1;
    }
    uint32_t groups = count_groups(pieces);
    while (groups >= most) {
        groups /= 2;
    }
    for (uint32_t i = 0; i < pieces->count; i++) {
        struct ha_piece *piece = &pieces->items[i];
        uint32_t group = hash_name(kernel_of(piece->name)) % groups;
        if (piece->text.size >= PART_BYTES && count + groups < most) {
            many_loops[count] = has_many_loops(piece->text);
            piece->part = count++;
        } else {
            if (part_of_group[group] == 0) {
                part_of_group[group] = count++;
            }
            piece->part = part_of_group[group];
        }
    }
    return count;
}

/* Forms that a text calls and that are in other parts. */
static void
declare_forms(struct ha_rewriter *rewriter, struct ir_slice text, uint32_t part,
              uint8_t *declared, struct ir_out *out)
{
    struct ha_pieces *pieces = &rewriter->pieces;
    uint32_t number;

    for (size_t at = 0; (at = ir_find(text, "@", at)) != SIZE_MAX;) {
        struct ir_slice name = ir_token(text, at);
        at += name.size;
        if (ir_map_get(&pieces->names, name, &number) && !declared[number] &&
            pieces->items[number].part != part) {
            declared[number] = 1;
            ir_print(out, "declare hidden void %.*s(%s)\n", IR_ARGS(name),
                     pieces->items[number].parameters);
        }
    }
}

/* What the pieces of a part other than the first name. */
static void
declare_globals(struct ha_rewriter *rewriter, const struct ha_piece *piece,
                uint8_t *declared, struct ir_out *out)
{
    for (uint32_t i = 0; i < piece->global_count; i++) {
        uint32_t number = piece->globals[i];
        const struct ir_global *global = &rewriter->module.globals[number];
        if (declared[number]) {
            continue;
        }
        declared[number] = 1;
        if (ha_is_variable(global)) {
            struct ir_slice type = ha_host_text(rewriter, global->type, false);
            ir_print(out, "%.*s = external hidden global %.*s\n", IR_ARGS(global->name),
                     IR_ARGS(type));
        } else {
            ir_put(out, rewriter->pieces.texts[number]);
        }
    }
}

static void
make_part(struct ha_rewriter *rewriter, struct ir_slice common, uint32_t part,
          struct ir_out *out)
{
    const struct ha_pieces *pieces = &rewriter->pieces;
    struct ir_arena *arena = rewriter->arena;
    uint8_t *forms = ir_alloc(arena, pieces->count + 1u, 1);
    uint8_t *globals = ir_alloc(arena, rewriter->module.global_count + 1, 1);

    *out = (struct ir_out){.arena = arena};
    ir_put(out, common);
    if (part == 0) {
        ir_put(out, text_of(&rewriter->out));
        ir_put(out, text_of(&rewriter->tail));
        ir_put(out, text_of(&pieces->all_lines));
        declare_forms(rewriter, text_of(&rewriter->out), part, forms, out);
    } else {
        ir_print(out, "@__ha_image = external global i8\n");
    }
    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct ha_piece *piece = &pieces->items[i];
        if (piece->part != part) {
            continue;
        }
        ir_put(out, piece->text);
        ir_put(out, piece->tail);
        declare_forms(rewriter, piece->text, part, forms, out);
        if (part != 0) {
            ir_put(out, piece->lines);
            declare_globals(rewriter, piece, globals, out);
        }
    }
}

uint32_t
ha_parts_make(struct ha_rewriter *rewriter, struct ir_slice common,
              struct ir_slice metadata, uint32_t most, struct ir_out *parts,
              bool *many_loops)
{
    uint32_t count = share_out(rewriter, most, many_loops);

    for (uint32_t i = 0; i < count; i++) {
        struct ir_out whole;
        make_part(rewriter, common, i, &whole);
        ir_put(&whole, metadata);
        if (most > 1) {
            ha_part_trim(rewriter->arena, text_of(&whole), &parts[i]);
        } else {
            parts[i] = whole;
        }
    }
    return count;
}
