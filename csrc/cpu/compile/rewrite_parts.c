/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_parts.h"

#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

/* A compiler that is started takes as long as this much text. */
#define PART_BYTES ((size_t)24 << 10)

static struct ir_slice
text_of(const struct ir_out *out)
{
    return (struct ir_slice){out->text, out->size};
}

/* ---- pieces ---- */

void
ha_pieces_start(struct ha_rewriter *rewriter)
{
    const struct ir_module *module = &rewriter->module;
    struct ha_pieces *pieces = &rewriter->pieces;
    struct ir_arena *arena = rewriter->arena;

    *pieces =
        (struct ha_pieces){.names = {.arena = arena}, .globals = {.arena = arena}};
    /* Two forms of each function, and room for more. */
    pieces->items = ir_alloc(arena, HA_FORMS_MAX * module->function_count + 1,
                             sizeof *pieces->items);
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
                             .tail = text_of(&rewriter->tail)};

    rewriter->out = pieces->out;
    rewriter->tail = pieces->tail;
    if (is_apart(rewriter, &piece)) {
        ir_map_set(&pieces->names, name, pieces->count);
        pieces->items[pieces->count++] = piece;
    } else {
        ir_put(&rewriter->out, piece.text);
        ir_put(&rewriter->tail, piece.tail);
    }
}

/* ---- parts ---- */

/* The largest pieces first, each to the part that has least. */
static uint32_t
share_out(struct ha_rewriter *rewriter, uint32_t most)
{
    struct ha_pieces *pieces = &rewriter->pieces;
    size_t total = rewriter->out.size;

    for (uint32_t i = 0; i < pieces->count; i++) {
        total += pieces->items[i].text.size;
        pieces->items[i].part = UINT32_MAX;
    }
    uint32_t count = total / PART_BYTES < most ? (uint32_t)(total / PART_BYTES) : most;
    count = count > 0 ? count : 1;
    size_t *sizes = ir_alloc(rewriter->arena, count, sizeof *sizes);
    sizes[0] = rewriter->out.size;
    for (uint32_t turn = 0; turn < pieces->count; turn++) {
        struct ha_piece *largest = NULL;
        uint32_t part = 0;
        for (uint32_t i = 0; i < pieces->count; i++) {
            struct ha_piece *piece = &pieces->items[i];
            if (piece->part == UINT32_MAX &&
                (largest == NULL || piece->text.size > largest->text.size)) {
                largest = piece;
            }
        }
        for (uint32_t i = 1; i < count; i++) {
            part = sizes[i] < sizes[part] ? i : part;
        }
        largest->part = part;
        sizes[part] += largest->text.size;
        ir_poll(rewriter->arena);
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
            declare_globals(rewriter, piece, globals, out);
        }
    }
}

uint32_t
ha_parts_make(struct ha_rewriter *rewriter, struct ir_slice common,
              struct ir_slice metadata, uint32_t most, struct ir_out *parts)
{
    uint32_t count = share_out(rewriter, most > 0 ? most : 1);

    for (uint32_t i = 0; i < count; i++) {
        make_part(rewriter, common, i, &parts[i]);
        ir_put(&parts[i], metadata);
    }
    return count;
}
