/* SPDX-License-Identifier: MIT */
#include "cpu/compile/check_insert.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/check_plain.h"
#include "cpu/compile/ir_operand.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/ir_pass.h"

#define NAME "@__ha_check"
#define SCOPE_NAME "@_Z10__ha_scopeILi" /* and "3EEvv": hipadapt/scope.h */
#define OPERANDS_MOST 12

struct insert {
    struct ir_arena *arena;
    struct ha_bytes *text;
    struct ir_types types;
    /* Of the function at hand: pointers to variables of its own -> number in `room`,
     * the bytes that are there behind each. */
    struct ir_map own;
    uint64_t *room;
    uint32_t room_count;
    uint32_t room_capacity;
    uint32_t casts;
    uint32_t scope; /* of the next atomic or fence, as it was told; 0: not told */
    bool twins;
};

/* ---- variables of the function ---- */

static void
own_add(struct insert *insert, struct ir_slice name, uint64_t room)
{
    if (insert->room_count == insert->room_capacity) {
        uint32_t capacity = 2 * insert->room_capacity + 64;
        uint64_t *grown = ir_alloc(insert->arena, capacity, sizeof *grown);
        if (insert->room_count > 0) {
            memcpy(grown, insert->room, insert->room_count * sizeof *grown);
        }
        insert->room = grown;
        insert->room_capacity = capacity;
    }
    ir_map_set(&insert->own, name, insert->room_count);
    insert->room[insert->room_count++] = room;
}

/* Bytes that are there behind an address of the function's own; 0: it is another. */
static uint64_t
own_room(const struct insert *insert, struct ir_slice name)
{
    uint32_t number;

    return ir_map_get(&insert->own, name, &number) ? insert->room[number] : 0;
}

/* "%x = alloca [8 x i32], align 4": no array of unknown length. */
static void
read_alloca(struct insert *insert, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(insert->arena, inst->rest, &count);

    if (count < 2 || ir_begins(ir_trim(parts[1]), "align ")) {
        own_add(insert, inst->def,
                ir_layout_of(&insert->types, ir_trim(parts[0])).size);
    }
}

/* The element `index` of the type, and where it begins; false where it cannot be
 * told or is not there. */
static bool
element_of(struct insert *insert, struct ir_slice type, uint64_t index,
           struct ir_slice *element, uint64_t *offset)
{
    uint32_t number, count;

    while (type.size > 0 && type.at[0] == '%') {
        if (!ir_map_get(&insert->types.names, type, &number)) {
            return false;
        }
        type = ir_trim(insert->types.bodies[number]);
    }
    size_t times = ir_find(type, " x ", 0);
    if (type.size > 2 && type.at[0] == '[' && times != SIZE_MAX) {
        *element = ir_trim(ir_part(type, times + 3, type.size - 1));
        *offset = index * ir_layout_of(&insert->types, *element).size;
        return index < strtoull(type.at + 1, NULL, 10);
    }
    if (type.size < 2 || type.at[0] != '{') {
        return false;
    }
    struct ir_slice *parts =
        ir_split(insert->arena, ir_trim(ir_part(type, 1, type.size - 1)), &count);
    uint64_t at = 0;
    for (uint32_t i = 0; i < count && i <= index; i++) {
        struct ir_layout layout = ir_layout_of(&insert->types, ir_trim(parts[i]));
        at = (at + layout.align - 1) / layout.align * layout.align;
        *offset = at;
        *element = ir_trim(parts[i]);
        at += layout.size;
    }
    return index < count;
}

/* "%b = getelementptr inbounds nuw %S, ptr %v, i32 0, i32 1": a part of a variable,
 * where all of it is known. */
static void
read_part(struct insert *insert, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice rest = inst->rest;
    static const char *const words[] = {"inbounds ", "nuw ", "nusw "};
    struct ir_address base;
    uint64_t at = 0;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (ir_begins(rest, words[i])) {
            rest = ir_part(rest, strlen(words[i]), rest.size);
        }
    }
    struct ir_slice *parts = ir_split(insert->arena, rest, &count);
    if (count < 3 || count > OPERANDS_MOST || !ir_address_read(parts[1], &base)) {
        return;
    }
    struct ir_slice type = ir_trim(parts[0]);
    uint64_t room = own_room(insert, base.name);
    struct ir_slice first = ir_trim(parts[2]);
    if (room < ir_layout_of(&insert->types, type).size || first.size < 5 ||
        !ir_is(ir_part(first, 3, first.size), " 0")) {
        return;
    }
    for (uint32_t i = 3; i < count; i++) {
        struct ir_slice index = ir_trim(parts[i]);
        uint64_t offset;
        if (index.size < 5 || index.at[4] < '0' || index.at[4] > '9' ||
            !element_of(insert, type, strtoull(index.at + 4, NULL, 10), &type,
                        &offset)) {
            return;
        }
        at += offset;
    }
    uint64_t left = ir_layout_of(&insert->types, type).size;
    if (at + left <= room) {
        own_add(insert, inst->def, left);
    }
}

/* "ptr noundef byval(%struct.S) align 4 %v" of a function's head. */
static void
read_parameters(struct insert *insert, struct ir_slice header)
{
    size_t open = ir_find(header, "(", ir_find(header, "@", 0));
    uint32_t count;

    if (open == SIZE_MAX) {
        return;
    }
    struct ir_slice list =
        ir_part(header, open + 1, ir_close(insert->arena, header, open) - 1);
    struct ir_slice *parts = ir_split(insert->arena, list, &count);
    for (uint32_t i = 0; i < count; i++) {
        size_t at = ir_find(parts[i], "byval(", 0);
        size_t name = ir_find(parts[i], " %", at == SIZE_MAX ? 0 : at);
        if (at == SIZE_MAX || name == SIZE_MAX) {
            continue;
        }
        size_t close = ir_close(insert->arena, parts[i], at + 5);
        own_add(
            insert, ir_token(parts[i], name + 1),
            ir_layout_of(&insert->types, ir_part(parts[i], at + 6, close - 1)).size);
    }
}

/* ---- questions ---- */

static uint32_t
log_of(uint64_t align)
{
    uint32_t log = 0;

    while (align > 1 && log < 15) {
        align /= 2;
        log++;
    }
    return log;
}

/* "float %v", which is going to be stored, as an i64; empty: it is no scalar. */
static struct ir_slice
value_of(struct insert *insert, const struct ir_inst *inst, struct ir_slice typed)
{
    static const struct {
        const char *type, *as;
    } floats[] = {
        {"float ", "i32"}, {"double ", "i64"}, {"half ", "i16"}, {"bfloat ", "i16"}};
    struct ir_slice debug = ir_debug(inst->line),
                    type = ir_type_at(insert->arena, typed);
    struct ir_slice value = ir_trim(ir_part(typed, type.size, typed.size));
    const char *bits = NULL;

    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        bits = ir_begins(typed, floats[i].type) ? floats[i].as : bits;
    }
    if (bits != NULL) {
        struct ir_slice cast = ir_format(insert->arena, "%%ha.cb.%u", insert->casts++);
        ha_buffer_format(insert->text, "  %.*s = bitcast %.*s %.*s to %s%.*s\n",
                         IR_ARGS(cast), IR_ARGS(type), IR_ARGS(value), bits,
                         IR_ARGS(debug));
        type = ir_slice_of(bits);
        value = cast;
    }
    bool address = ir_is(type, "ptr");
    if (!address && (type.at[0] != 'i' || ir_access_bytes(&insert->types, type) > 8)) {
        return (struct ir_slice){0};
    }
    if (ir_is(type, "i64")) {
        return value;
    }
    struct ir_slice wide = ir_format(insert->arena, "%%ha.cv.%u", insert->casts++);
    ha_buffer_format(insert->text, "  %.*s = %s %.*s %.*s to i64%.*s\n", IR_ARGS(wide),
                     address ? "ptrtoint" : "zext", IR_ARGS(type), IR_ARGS(value),
                     IR_ARGS(debug));
    return wide;
}

/* `value`: what is going to be stored as an i64, or empty.
 *
 * For the optimiser, the question before a write writes: else a copy of what is only
 * read, whose own writes it has found to be of no use, would become that itself, and
 * the question one about a write there. */
static void
ask(struct insert *insert, const struct ir_inst *inst, struct ir_address place,
    struct ir_slice bytes, uint32_t what, struct ir_slice value)
{
    struct ir_slice debug = ir_debug(inst->line);
    struct ir_slice name = place.name;

    if (place.space != 0 && name.at[0] == '%') {
        struct ir_slice cast = ir_format(insert->arena, "%%ha.ck.%u", insert->casts++);
        ha_buffer_format(insert->text,
                         "  %.*s = addrspacecast ptr addrspace(%u) %.*s to ptr%.*s\n",
                         IR_ARGS(cast), place.space, IR_ARGS(name), IR_ARGS(debug));
        name = cast;
    } else if (place.space != 0) {
        name = ir_format(insert->arena, "addrspacecast (ptr addrspace(%u) %.*s to ptr)",
                         place.space, IR_ARGS(name));
    }
    ha_buffer_format(
        insert->text,
        "  call void " NAME "(ptr%s %.*s, i64 %.*s, i32 %u, i64 %.*s) nomerge%.*s\n",
        (what & HA_SITE_WRITE) != 0 ? "" : " readnone", IR_ARGS(name), IR_ARGS(bytes),
        what | log_of(place.align) << HA_SITE_ALIGN_SHIFT |
            (value.size > 0 ? (uint32_t)HA_SITE_VALUED : 0),
        IR_ARGS(value.size > 0 ? value : ir_slice_of("0")), IR_ARGS(debug));
}

static void
ask_bytes(struct insert *insert, const struct ir_inst *inst, struct ir_address place,
          struct ir_slice typed, uint32_t what)
{
    uint64_t bytes = ir_access_bytes(&insert->types, ir_type_at(insert->arena, typed));

    if (bytes > 0 && own_room(insert, place.name) < bytes) {
        bool stores = (what & (HA_SITE_WRITE | HA_SITE_READ)) == HA_SITE_WRITE ||
                      (what & HA_SITE_EXCHANGE) != 0;
        struct ir_slice value =
            stores ? value_of(insert, inst, typed) : (struct ir_slice){0};
        ask(insert, inst, place,
            ir_format(insert->arena, "%llu", (unsigned long long)bytes), what, value);
    }
}

/* The bits of "syncscope("agent") acq_rel", which may stand anywhere in the text. */
static uint32_t
order_of(struct ir_slice text)
{
    static const struct {
        const char *word;
        uint32_t bits;
    } words[] = {
        {" acquire", HA_SITE_ACQUIRE},
        {" release", HA_SITE_RELEASE},
        {" acq_rel", HA_SITE_ACQUIRE | HA_SITE_RELEASE},
        {" seq_cst", HA_SITE_ACQUIRE | HA_SITE_RELEASE},
        {"\"workgroup", HA_SITE_SCOPE_BLOCK},
        {"\"wavefront", HA_SITE_SCOPE_WARP},
        {"\"singlethread", HA_SITE_SCOPE_LANE},
        {"\"agent", HA_SITE_SCOPE_DEVICE},
    };
    uint32_t bits = 0;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *word = words[i].word;
        if (memmem(text.at, text.size, word, strlen(word)) != NULL) {
            bits |= words[i].bits;
        }
    }
    return bits;
}

/* That which was told before the instruction. */
static uint32_t
take_scope(struct insert *insert)
{
    uint32_t scope = insert->scope;

    insert->scope = 0;
    return scope;
}

/* Takes "volatile" and the like away. */
static uint32_t
take_words(struct ir_slice *text)
{
    static const struct {
        const char *word;
        uint32_t bits;
    } words[] = {
        {"atomic ", HA_SITE_ATOMIC}, {"volatile ", HA_SITE_VOLATILE}, {"weak ", 0}};
    uint32_t bits = 0;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (ir_begins(*text, words[i].word)) {
            *text = ir_part(*text, strlen(words[i].word), text->size);
            bits |= words[i].bits;
            i = SIZE_MAX; /* from the first one again */
        }
    }
    return bits;
}

/* "align 4" among what stands behind the operands. */
static uint64_t
align_of(const struct ir_slice *parts, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct ir_slice part = ir_trim(parts[i]);
        if (ir_begins(part, "align ")) {
            return strtoull(part.at + 6, NULL, 10);
        }
    }
    return 0;
}

/* The address at the beginning of "ptr %p syncscope("agent") acquire". */
static struct ir_slice
address_of(struct insert *insert, struct ir_slice text)
{
    size_t at = ir_find(text, "ptr ", 0) == 0 ? 4 : 0;

    if (ir_begins(ir_part(text, at, text.size), "addrspace(")) {
        at = ir_find(text, ") ", at) + 2;
    }
    if (at < text.size && (text.at[at] == '%' || text.at[at] == '@')) {
        return ir_part(text, 0, at + ir_token(text, at).size);
    }
    size_t open = ir_find(text, "(", at);
    return open == SIZE_MAX ? text
                            : ir_part(text, 0, ir_close(insert->arena, text, open));
}

static void
ask_access(struct insert *insert, const struct ir_inst *inst)
{
    bool load = ir_is(inst->op, "load"), store = ir_is(inst->op, "store");
    bool exchange = ir_is(inst->op, "cmpxchg");
    struct ir_slice rest = ir_trim(inst->rest);
    uint32_t what = take_words(&rest), count;
    struct ir_slice *parts = ir_split(insert->arena, rest, &count);
    struct ir_address place;

    if (count < 2) {
        return;
    }
    struct ir_slice first = ir_trim(parts[0]), second = ir_trim(parts[1]);
    struct ir_slice address = second, valued = first;
    if (load || store) {
        what |= load ? HA_SITE_READ : HA_SITE_WRITE;
    } else {
        size_t at = exchange ? 0 : ir_find(first, "ptr", 0);
        if (at == SIZE_MAX) {
            return;
        }
        what |= HA_SITE_READ | HA_SITE_WRITE | HA_SITE_ATOMIC |
                (exchange ? (uint32_t)HA_SITE_EXCHANGE : 0);
        address = ir_part(first, at, first.size);
        valued = second;
    }
    if ((what & HA_SITE_ATOMIC) != 0) {
        what |= order_of(inst->rest) | take_scope(insert);
    }
    if (ir_address_read(address_of(insert, address), &place)) {
        place.align = align_of(parts, count);
        ask_bytes(insert, inst, place, valued, what);
    }
}

/* memcpy, memmove and memset, as intrinsics and as functions. */
static void
ask_call(struct insert *insert, const struct ir_inst *inst)
{
    struct ir_slice name = inst->callee;
    bool fills = ir_begins(name, "@llvm.memset.") || ir_is(name, "@memset");
    bool compares = ir_is(name, "@memcmp");
    bool copies = ir_begins(name, "@llvm.memcpy.") || ir_is(name, "@memcpy") ||
                  ir_begins(name, "@llvm.memmove.") || ir_is(name, "@memmove");
    uint64_t unused = 0;
    uint32_t count;

    if (!fills && !copies && !compares) {
        return;
    }
    struct ir_slice *parts = ir_arguments(insert->arena, inst->line, &count);
    if (count < 3 || !ir_begins(ir_trim(parts[2]), "i64 ")) {
        return;
    }
    struct ir_slice size = ir_trim(parts[2]);
    size = ir_without_attributes(ir_part(size, 4, size.size), &unused);
    uint64_t fixed = size.at[0] >= '0' && size.at[0] <= '9'
                         ? strtoull(size.at, NULL, 10)
                         : UINT64_MAX;
    for (uint32_t i = 0; i < (fills ? 1u : 2u); i++) {
        struct ir_address place;
        uint32_t what = i == 0 && !compares ? HA_SITE_WRITE : HA_SITE_READ;
        if (ir_address_read(parts[i], &place) && fixed > 0 &&
            own_room(insert, place.name) < fixed) {
            ask(insert, inst, place, size, what | HA_SITE_COPY, (struct ir_slice){0});
        }
    }
}

static void
ask_fence(struct insert *insert, const struct ir_inst *inst)
{
    struct ir_address none = {.name = ir_slice_of("null")};

    ask(insert, inst, none, ir_slice_of("0"),
        HA_SITE_FENCE | take_scope(insert) |
            order_of(ir_format(insert->arena, " %.*s", IR_ARGS(inst->rest))),
        (struct ir_slice){0});
}

/* The calls of the device headers at which lanes wait for others. */
static void
ask_meeting(struct insert *insert, const struct ir_inst *inst)
{
    struct ir_address none = {.name = ir_slice_of("null")};

    if (ir_is(inst->callee, "@__ha_block") || ir_is(inst->callee, "@__ha_warp")) {
        ask(insert, inst, none, ir_slice_of("0"), HA_SITE_MEETS, (struct ir_slice){0});
    }
}

/* A call that tells a scope, which is not for the back end; false: it is another. */
static bool
read_scope(struct insert *insert, const struct ir_inst *inst)
{
    /* By __HIP_MEMORY_SCOPE_*: that of a lane is 1. */
    static const uint32_t scopes[] = {0, HA_SITE_SCOPE_LANE, HA_SITE_SCOPE_WARP,
                                      HA_SITE_SCOPE_BLOCK, HA_SITE_SCOPE_DEVICE};

    if (!ir_is(inst->op, "call") || !ir_begins(inst->callee, SCOPE_NAME)) {
        return false;
    }
    uint64_t number = strtoull(inst->callee.at + strlen(SCOPE_NAME), NULL, 10);
    insert->scope = number < sizeof scopes / sizeof scopes[0] ? scopes[number] : 0;
    return true;
}

/* False: the line goes. */
static bool
read_line(struct insert *insert, struct ir_slice line)
{
    struct ir_inst inst = ir_inst_of(ir_trim(line));

    if (read_scope(insert, &inst)) {
        return false;
    }
    if (ir_is(inst.op, "alloca")) {
        read_alloca(insert, &inst);
    } else if (ir_is(inst.op, "getelementptr")) {
        read_part(insert, &inst);
    } else if (ir_is(inst.op, "load") || ir_is(inst.op, "store") ||
               ir_is(inst.op, "cmpxchg") || ir_is(inst.op, "atomicrmw")) {
        ask_access(insert, &inst);
    } else if (ir_is(inst.op, "call")) {
        ask_call(insert, &inst);
        ask_meeting(insert, &inst);
    } else if (ir_is(inst.op, "fence")) {
        ask_fence(insert, &inst);
    }
    return true;
}

/* ---- the text ---- */

static void
insert_all(struct insert *insert, struct ir_slice text)
{
    struct ir_module module = {0};
    struct ha_check_plain plain;
    bool inside = false;

    ir_parse(insert->arena, text, &module);
    ir_types_read(&insert->types, &module);
    ha_check_plain_start(&plain, insert->arena, &module);
    for (size_t at = 0; at < text.size;) {
        const char *end = memchr(text.at + at, '\n', text.size - at);
        size_t size = end == NULL ? text.size - at : (size_t)(end - text.at) - at;
        struct ir_slice line = ir_part(text, at, at + size);
        bool stays = true;
        ir_poll(insert->arena);
        if (ir_begins(line, "define ")) {
            inside = true;
            insert->own = (struct ir_map){.arena = insert->arena};
            insert->room_count = 0;
            insert->scope = 0;
            read_parameters(insert, line);
        }
        bool own = inside;
        if (ir_begins(line, "}")) {
            inside = false;
        } else if (inside && line.size > 2 && line.at[0] == ' ') {
            stays = read_line(insert, line);
        } else if (ir_begins(line, "declare ")) {
            stays = ir_find(line, SCOPE_NAME, 0) == SIZE_MAX;
        }
        if (stays && own && insert->twins) {
            ha_check_plain_line(&plain, line);
        }
        if (stays) {
            ha_buffer_append(insert->text, line.at, line.size);
            ha_buffer_text(insert->text, "\n");
        }
        at += size + 1;
    }
    ha_buffer_append(insert->text, plain.text.text, plain.text.size);
    ha_buffer_text(insert->text,
                   "\ndeclare void " NAME
                   "(ptr nocapture, i64, i32, i64) nounwind willreturn nocallback "
                   "nofree memory(argmem: readwrite, inaccessiblemem: readwrite)\n");
}

static void
run(struct ir_arena *arena, const struct ha_rewrite_request *request,
    struct ha_bytes *text)
{
    struct insert insert = {.arena = arena, .text = text, .twins = request->twins};

    insert_all(&insert, (struct ir_slice){request->ir, request->ir_size});
}

enum ha_status
ha_check_insert(const struct ha_rewrite_request *request, struct ha_bytes *text)
{
    return ir_pass_run(run, "checks", request, text);
}
