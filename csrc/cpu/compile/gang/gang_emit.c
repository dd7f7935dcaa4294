/* SPDX-License-Identifier: MIT */
/* Names, types, slots and masks: what all files that write a gang need. */
#include "cpu/compile/gang/gang_emit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cpu/compile/rewrite_state.h"

struct ir_slice
gang_name(struct gang_emit *emit)
{
    return ir_format(emit->function->arena, "%%t%u", emit->names++);
}

struct ir_slice
gang_label(struct gang_emit *emit, const char *word)
{
    return ir_format(emit->function->arena, "%s.%u", word, emit->names++);
}

void
gang_line(struct gang_emit *emit, const char *format, ...)
{
    va_list arguments;
    char text[8192];

    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof text) {
        gang_refuse(emit->function, "a line of IR that is too long");
    }
    ir_print(emit->out, "  %s\n", text);
}

void
gang_begin_label(struct gang_emit *emit, struct ir_slice label)
{
    ir_print(emit->out, "%.*s:\n", IR_ARGS(label));
    emit->label = label;
}

struct ir_slice
gang_vector_type(struct gang_emit *emit, struct gang_type type)
{
    return ir_format(emit->function->arena, "<%u x %s>", emit->width,
                     gang_type_name(type));
}

struct ir_slice
gang_mangled(struct gang_emit *emit, struct gang_type type)
{
    static const char *const letters[] = {"", "i", "f", "bf", "p"};

    if (type.kind == GANG_POINTER) {
        return ir_format(emit->function->arena, "v%up0", emit->width);
    }
    return ir_format(emit->function->arena, "v%u%s%u", emit->width, letters[type.kind],
                     type.bits);
}

void
gang_declare(struct gang_emit *emit, struct ir_slice name, struct ir_slice line)
{
    struct ha_rewriter *rewriter = emit->function->rewriter;
    uint32_t found;

    if (emit->planning || ir_map_get(&rewriter->declared, name, &found)) {
        return;
    }
    ir_map_set(&rewriter->declared, name, 1);
    ir_print(&rewriter->intrinsics, "declare %.*s\n", IR_ARGS(line));
}

/* ---- slots ---- */

bool
gang_is_block_wide(const struct gang_emit *emit, uint32_t value)
{
    uint32_t block = emit->function->values[value].block;

    if (emit->shapes.of[value].level != GANG_SAME_BLOCK) {
        return false;
    }
    for (uint32_t loop = emit->flow.loops.inner[block]; loop != IR_NONE;
         loop = emit->flow.loops.loops[loop].outer) {
        if (emit->shapes.leave[loop] > GANG_SAME_BLOCK) {
            return false;
        }
    }
    return true;
}

static struct gang_slot
new_slot(struct gang_emit *emit, enum gang_slot_kind kind, uint32_t value,
         uint32_t loop)
{
    struct gang_slot slot = {.kind = (uint8_t)kind, .value = value, .loop = loop};
    static const struct gang_type bit = {GANG_INT, 1, 1};

    switch (kind) {
    case GANG_SLOT_VALUE:
    case GANG_SLOT_PHI:
        slot.type = emit->function->values[value].type;
        slot.vector = emit->shapes.of[value].level == GANG_VARYING;
        slot.block_wide = gang_is_block_wide(emit, value);
        break;
    case GANG_SLOT_LEFT:
        slot.type = emit->function->values[value].type;
        slot.vector = true;
        break;
    case GANG_SLOT_CHECK:
    case GANG_SLOT_FLAG:
        slot.type = bit;
        break;
    case GANG_SLOT_COME:
    case GANG_SLOT_MASK:
    case GANG_SLOT_ALIVE:
        slot.mask = true;
        break;
    case GANG_SLOT_ARRAY:
        break;
    case GANG_SLOT_LANES:
        slot.block_wide = true;
        slot.vector = true;
        break;
    }
    if (slot.vector && slot.type.kind == GANG_INT && slot.type.bits == 1) {
        slot.mask = true;
        slot.vector = false;
    }
    if (slot.mask && emit->function->rewriter->gang_width == 8) {
        slot.mask = false;
        slot.vector = slot.words = true;
        slot.type = (struct gang_type){GANG_INT, 4, 32};
    }
    if (slot.mask) {
        slot.bytes = emit->width / 8;
    } else if (kind != GANG_SLOT_ARRAY) {
        slot.bytes = (uint64_t)slot.type.bytes * (slot.vector ? emit->width : 1);
    }
    slot.runs = ir_alloc(emit->function->arena, emit->plan.run_count + 1u, 1);
    return slot;
}

uint32_t
gang_slot(struct gang_emit *emit, enum gang_slot_kind kind, uint32_t value,
          uint32_t loop)
{
    struct ir_arena *arena = emit->function->arena;
    struct ir_slice key = ir_format(arena, "%u %u %u", (unsigned)kind, value, loop);
    uint32_t number;

    if (ir_map_get(&emit->slot_names, key, &number)) {
        return number;
    }
    if (emit->slot_count == emit->slot_capacity) {
        uint32_t capacity = emit->slot_capacity * 2 + 64;
        struct gang_slot *slots = ir_alloc(arena, capacity, sizeof *slots);
        if (emit->slot_count > 0) {
            memcpy(slots, emit->slots, emit->slot_count * sizeof *slots);
        }
        emit->slots = slots;
        emit->slot_capacity = capacity;
    }
    number = emit->slot_count++;
    emit->slots[number] = new_slot(emit, kind, value, loop);
    ir_map_set(&emit->slot_names, key, number);
    return number;
}

static void
touch(struct gang_emit *emit, uint32_t slot)
{
    emit->slots[slot].runs[emit->run] |= GANG_RUN_TOUCHES;
}

/* The type of a slot on the stack. */
static struct ir_slice
slot_type(struct gang_emit *emit, const struct gang_slot *slot)
{
    static const struct gang_type bit = {GANG_INT, 1, 1};

    if (slot->mask) {
        return gang_vector_type(emit, bit);
    }
    return slot->vector ? gang_vector_type(emit, slot->type)
                        : ir_slice_of(gang_type_name(slot->type));
}

struct ir_slice
gang_slot_address(struct gang_emit *emit, uint32_t slot)
{
    touch(emit, slot);
    return ir_format(emit->function->arena, "%%slot.%u.%u", slot, emit->run);
}

struct ir_slice
gang_slot_read(struct gang_emit *emit, uint32_t slot)
{
    struct ir_slice name = gang_name(emit);
    struct ir_slice type = slot_type(emit, &emit->slots[slot]);

    touch(emit, slot);
    emit->slots[slot].read = true;
    gang_line(emit, "%.*s = load %.*s, ptr %%slot.%u", IR_ARGS(name), IR_ARGS(type),
              slot);
    if (!emit->slots[slot].words) {
        return name;
    }
    struct ir_slice bits = gang_name(emit);
    gang_line(emit, "%.*s = icmp slt %.*s %.*s, zeroinitializer", IR_ARGS(bits),
              IR_ARGS(type), IR_ARGS(name));
    return bits;
}

void
gang_slot_write(struct gang_emit *emit, uint32_t slot, struct ir_slice value)
{
    struct ir_slice type = slot_type(emit, &emit->slots[slot]);

    touch(emit, slot);
    emit->slots[slot].runs[emit->run] |= GANG_RUN_WRITES;
    emit->slots[slot].written |= !ir_is(value, "poison");
    if (emit->slots[slot].words && !ir_is(value, "poison") &&
        !ir_is(value, "zeroinitializer")) {
        struct ir_slice words = gang_name(emit);
        gang_line(emit, "%.*s = sext <%u x i1> %.*s to %.*s", IR_ARGS(words),
                  emit->width, IR_ARGS(value), IR_ARGS(type));
        value = words;
    }
    gang_line(emit, "store %.*s %.*s, ptr %%slot.%u", IR_ARGS(type), IR_ARGS(value),
              slot);
}

/* ---- masks ---- */

struct ir_slice
gang_bits(struct gang_emit *emit, struct ir_slice mask)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = bitcast <%u x i1> %.*s to i%u", IR_ARGS(name), emit->width,
              IR_ARGS(mask), emit->width);
    return name;
}

struct ir_slice
gang_lane(struct gang_emit *emit, struct ir_slice bits, bool last)
{
    struct ir_arena *arena = emit->function->arena;
    unsigned width = emit->width;
    const char *count = last ? "ctlz" : "cttz";
    struct ir_slice zeros = gang_name(emit);
    struct ir_slice lane = gang_name(emit);
    struct ir_slice bound = gang_name(emit);
    struct ir_slice name = gang_name(emit);

    gang_declare(emit, ir_format(arena, "@llvm.%s.i%u", count, width),
                 ir_format(arena, "i%u @llvm.%s.i%u(i%u, i1 immarg)", width, count,
                           width, width));
    gang_line(emit, "%.*s = call i%u @llvm.%s.i%u(i%u %.*s, i1 false)", IR_ARGS(zeros),
              width, count, width, width, IR_ARGS(bits));
    gang_line(emit, "%.*s = %s i%u %u, %.*s", IR_ARGS(lane), last ? "sub" : "add",
              width, last ? width - 1 : 0, IR_ARGS(zeros));
    gang_line(emit, "%.*s = and i%u %.*s, %u", IR_ARGS(bound), width, IR_ARGS(lane),
              width - 1);
    if (width == 64) {
        return bound;
    }
    gang_line(emit, "%.*s = zext i%u %.*s to i64", IR_ARGS(name), width,
              IR_ARGS(bound));
    return name;
}

struct ir_slice
gang_lanes(struct gang_emit *emit, uint32_t number, uint32_t part,
           struct gang_type type, struct ir_slice vector)
{
    uint32_t slot = gang_slot(emit, GANG_SLOT_LANES, number, part);

    if (type.kind == GANG_INT && type.bits == 1) {
        gang_refuse(emit->function, "single bits, lane by lane");
    }
    emit->slots[slot].type = type;
    gang_slot_write(emit, slot, vector);
    return ir_format(emit->function->arena, "%%slot.%u", slot);
}

struct ir_slice
gang_lane_address(struct gang_emit *emit, struct ir_slice lanes, struct gang_type type,
                  struct ir_slice lane)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = getelementptr %s, ptr %.*s, i64 %.*s", IR_ARGS(name),
              gang_type_name(type), IR_ARGS(lanes), IR_ARGS(lane));
    return name;
}

struct ir_slice
gang_lane_read(struct gang_emit *emit, struct ir_slice lanes, struct gang_type type,
               struct ir_slice lane)
{
    struct ir_slice at = gang_lane_address(emit, lanes, type, lane);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = load %s, ptr %.*s", IR_ARGS(name), gang_type_name(type),
              IR_ARGS(at));
    return name;
}

struct ir_slice
gang_any(struct gang_emit *emit, struct ir_slice mask)
{
    struct ir_slice bits = gang_bits(emit, mask);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = icmp ne i%u %.*s, 0", IR_ARGS(name), emit->width,
              IR_ARGS(bits));
    return name;
}

struct ir_slice
gang_masked(struct gang_emit *emit, struct ir_slice mask, struct ir_slice condition)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit,
              "%.*s = select <%u x i1> %.*s, <%u x i1> %.*s, <%u x i1> "
              "zeroinitializer",
              IR_ARGS(name), emit->width, IR_ARGS(mask), emit->width,
              IR_ARGS(condition), emit->width);
    return name;
}

/* ---- values ---- */

struct gang_shape
gang_shape_here(const struct gang_emit *emit, uint32_t value)
{
    return gang_shape_at(emit->function, &emit->flow, &emit->shapes, value,
                         emit->block);
}

static bool
is_remembered(const struct gang_emit *emit, const uint32_t *times, uint32_t value)
{
    return times[value] == emit->time + 1;
}

static void
remember(struct gang_emit *emit, struct ir_slice *names, uint32_t *times,
         uint32_t value, struct ir_slice name)
{
    if (emit->aside == 0) {
        names[value] = name;
        times[value] = emit->time + 1;
    }
}

static struct ir_slice
coordinate_name(struct gang_emit *emit, uint32_t coordinate)
{
    static const char *const threads[] = {"x0", "ty", "tz"};

    if (coordinate == HA_KNOWN_BLOCK_X && emit->span > 0) {
        return emit->asking ? ir_slice_of("%ask.x")
                            : ir_format(emit->function->arena, "%%bx.%u", emit->run);
    }
    return coordinate <= HA_KNOWN_THREAD_Z ? ir_format(emit->function->arena, "%%%s.%u",
                                                       threads[coordinate], emit->run)
                                           : ir_format(emit->function->arena, "%%ha.%s",
                                                       ha_coordinate_names[coordinate]);
}

/* Whether a value is computed here once more, instead of kept since another run. */
static bool
is_made_again(const struct gang_emit *emit, uint32_t number)
{
    return emit->again[number] &&
           emit->plan.run[emit->function->values[number].block] != emit->run;
}

struct ir_slice
gang_base(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_arena *arena = emit->function->arena;

    switch (value->op) {
    case GANG_CONSTANT:
        return value->word;
    case GANG_PARAMETER:
        return ir_format(arena, "%%ha.p.%u", (unsigned)value->extra);
    case GANG_SHARED:
        return ir_format(arena, "%%ha.sh.%u", (unsigned)value->extra);
    case GANG_DYNAMIC:
        return ir_slice_of("%ha.dynamic");
    case GANG_COORDINATE:
        return coordinate_name(emit, (uint32_t)value->extra);
    default:
        break;
    }
    if (!is_remembered(emit, emit->base_time, number)) {
        struct ir_slice name =
            is_made_again(emit, number)
                ? gang_write_base(emit, number)
                : gang_slot_read(emit, gang_slot(emit, GANG_SLOT_VALUE, number, 0));
        remember(emit, emit->bases, emit->base_time, number, name);
        return name;
    }
    return emit->bases[number];
}

struct ir_slice
gang_check(struct gang_emit *emit, uint32_t number)
{
    struct gang_shape shape = emit->shapes.of[number];

    if (shape.level != GANG_LINEAR || !shape.checked) {
        return ir_slice_of("");
    }
    return gang_slot_read(emit, gang_slot(emit, GANG_SLOT_CHECK, number, 0));
}

struct ir_slice
gang_splat(struct gang_emit *emit, struct gang_type type, struct ir_slice scalar)
{
    struct ir_slice vector = gang_vector_type(emit, type);
    struct ir_slice one;
    struct ir_slice all;

    if (scalar.at[0] != '%' && scalar.at[0] != '@') {
        if (ir_is(scalar, "undef") || ir_is(scalar, "poison") ||
            ir_is(scalar, "zeroinitializer")) {
            return scalar;
        }
        return ir_is(scalar, "null")
                   ? ir_slice_of("zeroinitializer")
                   : ir_format(emit->function->arena, "splat (%s %.*s)",
                               gang_type_name(type), IR_ARGS(scalar));
    }
    one = gang_name(emit);
    all = gang_name(emit);
    gang_line(emit, "%.*s = insertelement %.*s poison, %s %.*s, i64 0", IR_ARGS(one),
              IR_ARGS(vector), gang_type_name(type), IR_ARGS(scalar));
    gang_line(
        emit, "%.*s = shufflevector %.*s %.*s, %.*s poison, <%u x i32> zeroinitializer",
        IR_ARGS(all), IR_ARGS(vector), IR_ARGS(one), IR_ARGS(vector), emit->width);
    return all;
}

struct ir_slice
gang_steps(struct gang_emit *emit, struct gang_type type, int64_t stride)
{
    struct ir_out text = {.arena = emit->function->arena};

    ir_print(&text, "<");
    for (uint32_t i = 0; i < emit->width; i++) {
        uint64_t step = (uint64_t)stride * i;
        if (type.bits < 64) {
            unsigned drop = 64u - type.bits;
            step = (uint64_t)((int64_t)(step << drop) >> drop);
        }
        ir_print(&text, "%s%s %lld", i > 0 ? ", " : "", gang_type_name(type),
                 (long long)step);
    }
    ir_print(&text, ">");
    return (struct ir_slice){text.text, text.size};
}

static struct ir_slice
linear_vector(struct gang_emit *emit, struct gang_type type, struct ir_slice base,
              int64_t stride)
{
    static const struct gang_type offset = {GANG_INT, 8, 64};
    struct ir_slice name;

    if (type.kind == GANG_POINTER) {
        struct ir_slice vector = gang_vector_type(emit, offset);
        name = gang_name(emit);
        gang_line(emit, "%.*s = getelementptr i8, ptr %.*s, %.*s %.*s", IR_ARGS(name),
                  IR_ARGS(base), IR_ARGS(vector),
                  IR_ARGS(gang_steps(emit, offset, stride)));
        return name;
    }
    struct ir_slice all = gang_splat(emit, type, base);
    name = gang_name(emit);
    gang_line(emit, "%.*s = add %.*s %.*s, %.*s", IR_ARGS(name),
              IR_ARGS(gang_vector_type(emit, type)), IR_ARGS(all),
              IR_ARGS(gang_steps(emit, type, stride)));
    return name;
}

struct ir_slice
gang_vector(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct gang_shape shape = emit->shapes.of[number];
    uint32_t loop =
        gang_loop_left(emit->function, &emit->flow, &emit->shapes, number, emit->block);
    struct ir_slice name;

    if (loop != IR_NONE) {
        return gang_slot_read(emit, gang_slot(emit, GANG_SLOT_LEFT, number, loop));
    }
    if (is_remembered(emit, emit->vector_time, number)) {
        return emit->vectors[number];
    }
    if (shape.level == GANG_VARYING) {
        name = is_made_again(emit, number)
                   ? gang_write_vector(emit, number)
                   : gang_slot_read(emit, gang_slot(emit, GANG_SLOT_VALUE, number, 0));
    } else if (shape.level == GANG_LINEAR && shape.checked) {
        return gang_write_vector(emit, number);
    } else if (shape.level == GANG_LINEAR) {
        name = linear_vector(emit, value->type, gang_base(emit, number), shape.stride);
    } else {
        name = gang_splat(emit, value->type, gang_base(emit, number));
    }
    remember(emit, emit->vectors, emit->vector_time, number, name);
    return name;
}

void
gang_define(struct gang_emit *emit, uint32_t number, struct ir_slice name)
{
    bool vector = emit->shapes.of[number].level == GANG_VARYING;

    if (vector) {
        remember(emit, emit->vectors, emit->vector_time, number, name);
    } else {
        remember(emit, emit->bases, emit->base_time, number, name);
    }
    if (emit->function->used_elsewhere[number]) {
        gang_slot_write(emit, gang_slot(emit, GANG_SLOT_VALUE, number, 0), name);
    }
}
