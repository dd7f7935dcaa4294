/* SPDX-License-Identifier: MIT */
/* Warp calls of a gang that is one warp: shuffles and votes among its lanes.
 *
 * The lanes that take part are those of the mask.  What a call means is said in
 * cpu/base/image.h (enum ha_warp_op), and the same is done there for lanes on fibers
 * (cpu/exec/warp.c). */
#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_emit.h"

static const struct gang_type wide = {GANG_INT, 8, 64};
static const struct gang_type index_type = {GANG_INT, 4, 32};

/* Operands of a warp call. */
enum { OPERATION, MASK, VALUE, OPERAND, WIDTH };

/* The bits that a shuffle carries: of a shorter type, where the value was made longer
 * from one. */
static uint32_t
narrow_operand(const struct gang_emit *emit, uint32_t number, bool *longer)
{
    const struct gang_value *value = &emit->function->values[number];

    *longer = value->op == GANG_CAST && ir_is(value->word, "zext") &&
              value->from.bits >= 8 && value->block == emit->block;
    return *longer ? value->operands[0] : number;
}

static uint32_t
width_of(const struct gang_emit *emit, const struct gang_value *value)
{
    int64_t width;

    if (!gang_integer(emit->function, value->operands[WIDTH], &width)) {
        gang_refuse(emit->function, "a shuffle of a width known at run time");
    }
    return width <= 0 || width > emit->width || (width & (width - 1)) != 0
               ? emit->width
               : (uint32_t)width;
}

/* The lane that lane `self` reads, `self` where there is none; as the device does. */
static uint32_t
source_of(uint64_t operation, uint32_t self, int64_t operand, uint32_t width)
{
    uint32_t begin = self & ~(width - 1);
    uint32_t end = begin + width;
    int64_t source;

    switch (operation) {
    case HA_WARP_SHFL:
        return begin + ((uint32_t)operand & (width - 1));
    case HA_WARP_SHFL_UP:
        source = (int64_t)self - (int32_t)operand;
        break;
    case HA_WARP_SHFL_DOWN:
        source = (int64_t)self + (int32_t)operand;
        break;
    default:
        source = self ^ (uint32_t)operand;
        return source < end ? (uint32_t)source : self;
    }
    return source >= begin && source < end ? (uint32_t)source : self;
}

static struct ir_slice
index_list(struct gang_emit *emit, const struct gang_value *value, int64_t operand)
{
    struct ir_out text = {.arena = emit->function->arena};
    uint32_t width = width_of(emit, value);

    ir_print(&text, "<");
    for (uint32_t i = 0; i < emit->width; i++) {
        ir_print(&text, "%si32 %u", i > 0 ? ", " : "",
                 source_of(value->extra, i, operand, width));
    }
    ir_print(&text, ">");
    return (struct ir_slice){text.text, text.size};
}

/* A shuffle by a constant: lanes whose source is off keep what they have. */
static struct ir_slice
fixed_shuffle(struct gang_emit *emit, const struct gang_value *value,
              struct gang_type type, struct ir_slice vector, int64_t operand)
{
    struct ir_slice list = index_list(emit, value, operand);
    struct ir_slice full = gang_vector_type(emit, type);
    struct ir_slice moved = gang_name(emit);
    struct ir_slice on = gang_name(emit);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = shufflevector %.*s %.*s, %.*s poison, <%u x i32> %.*s",
              IR_ARGS(moved), IR_ARGS(full), IR_ARGS(vector), IR_ARGS(full),
              emit->width, IR_ARGS(list));
    gang_line(emit,
              "%.*s = shufflevector <%u x i1> %.*s, <%u x i1> poison, <%u x i32> %.*s",
              IR_ARGS(on), emit->width, IR_ARGS(emit->mask), emit->width, emit->width,
              IR_ARGS(list));
    gang_line(emit, "%.*s = select <%u x i1> %.*s, %.*s %.*s, %.*s %.*s", IR_ARGS(name),
              emit->width, IR_ARGS(on), IR_ARGS(full), IR_ARGS(moved), IR_ARGS(full),
              IR_ARGS(vector));
    return name;
}

/* name = operation <W x i32> a, b */
static struct ir_slice
indices(struct gang_emit *emit, const char *operation, struct ir_slice a,
        struct ir_slice b)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = %s <%u x i32> %.*s, %.*s", IR_ARGS(name), operation,
              emit->width, IR_ARGS(a), IR_ARGS(b));
    return name;
}

static struct ir_slice
choose(struct gang_emit *emit, struct ir_slice which, struct ir_slice a,
       struct ir_slice b)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = select <%u x i1> %.*s, <%u x i32> %.*s, <%u x i32> %.*s",
              IR_ARGS(name), emit->width, IR_ARGS(which), emit->width, IR_ARGS(a),
              emit->width, IR_ARGS(b));
    return name;
}

/* The source of each lane, for an operand that is known at run time.  Where the sum
 * wraps, it is not in the segment either, as the segment is less than 2^31 long and the
 * comparisons are without sign relative to its begin. */
static struct ir_slice
sources(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice self = gang_steps(emit, index_type, 1);
    struct ir_slice operand = gang_vector(emit, value->operands[OPERAND]);
    uint32_t width = width_of(emit, value);
    struct ir_arena *arena = emit->function->arena;
    struct ir_slice low = ir_format(arena, "splat (i32 %u)", width - 1);
    struct ir_slice high = ir_format(arena, "splat (i32 %d)", -(int32_t)width);
    struct ir_slice begin = indices(emit, "and", self, high);
    struct ir_slice source;

    if (value->extra == HA_WARP_SHFL) {
        return indices(emit, "add", begin, indices(emit, "and", operand, low));
    }
    source = indices(emit,
                     value->extra == HA_WARP_SHFL_UP     ? "sub"
                     : value->extra == HA_WARP_SHFL_DOWN ? "add"
                                                         : "xor",
                     self, operand);
    if (value->extra == HA_WARP_SHFL_XOR) {
        /* Earlier segments count, later ones do not. */
        struct ir_slice end =
            indices(emit, "add", begin, ir_format(arena, "splat (i32 %u)", width));
        return choose(emit, indices(emit, "icmp ult", source, end), source, self);
    }
    struct ir_slice inside = indices(emit, "sub", source, begin);
    return choose(
        emit,
        indices(emit, "icmp ult", inside, ir_format(arena, "splat (i32 %u)", width)),
        source, self);
}

/* A shuffle by anything: through memory.  Lanes whose source is off keep what they
 * have. */
static struct ir_slice
free_shuffle(struct gang_emit *emit, uint32_t number, struct gang_type type,
             struct ir_slice vector)
{
    const struct gang_type word = {GANG_INT, (uint8_t)(emit->width / 8),
                                   (uint16_t)emit->width};
    struct ir_slice from = sources(emit, &emit->function->values[number]);
    struct ir_slice memory = gang_lanes(emit, number, VALUE, type, vector);
    struct ir_slice pointers = gang_name(emit);
    struct ir_slice words = gang_vector_type(emit, word);
    struct ir_slice bits = gang_splat(emit, word, gang_bits(emit, emit->mask));
    struct ir_slice shift = from;
    struct ir_slice moved = gang_name(emit);
    struct ir_slice on = gang_name(emit);

    gang_line(emit, "%.*s = getelementptr %s, ptr %.*s, <%u x i32> %.*s",
              IR_ARGS(pointers), gang_type_name(type), IR_ARGS(memory), emit->width,
              IR_ARGS(from));
    if (word.bits > 32) {
        shift = gang_name(emit);
        gang_line(emit, "%.*s = zext <%u x i32> %.*s to %.*s", IR_ARGS(shift),
                  emit->width, IR_ARGS(from), IR_ARGS(words));
    }
    gang_line(emit, "%.*s = lshr %.*s %.*s, %.*s", IR_ARGS(moved), IR_ARGS(words),
              IR_ARGS(bits), IR_ARGS(shift));
    gang_line(emit, "%.*s = trunc %.*s %.*s to <%u x i1>", IR_ARGS(on), IR_ARGS(words),
              IR_ARGS(moved), emit->width);
    return gang_gather(emit, type, pointers, type.bytes,
                       gang_masked(emit, emit->mask, on), vector);
}

static void
write_shuffle(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    bool longer;
    uint32_t operand = narrow_operand(emit, value->operands[VALUE], &longer);
    struct gang_type type = emit->function->values[operand].type;
    struct ir_slice vector = gang_vector(emit, operand);
    int64_t by;
    struct ir_slice name;

    name = gang_integer(emit->function, value->operands[OPERAND], &by)
               ? fixed_shuffle(emit, value, type, vector, by)
               : free_shuffle(emit, number, type, vector);
    if (longer) {
        struct ir_slice result = gang_name(emit);
        gang_line(emit, "%.*s = zext %.*s %.*s to %.*s", IR_ARGS(result),
                  IR_ARGS(gang_vector_type(emit, type)), IR_ARGS(name),
                  IR_ARGS(gang_vector_type(emit, wide)));
        name = result;
    }
    gang_define(emit, number, name);
}

/* ---- votes ---- */

static struct ir_slice
longer_bits(struct gang_emit *emit, struct ir_slice bits)
{
    struct ir_slice name = gang_name(emit);

    if (emit->width == 64) {
        return bits;
    }
    gang_line(emit, "%.*s = zext i%u %.*s to i64", IR_ARGS(name), emit->width,
              IR_ARGS(bits));
    return name;
}

static struct ir_slice
as_result(struct gang_emit *emit, struct ir_slice bit)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = zext i1 %.*s to i64", IR_ARGS(name), IR_ARGS(bit));
    return name;
}

/* The lanes that are on and have a value that is not 0, as bits. */
static struct ir_slice
ballot(struct gang_emit *emit, uint32_t operand)
{
    struct ir_slice vector = gang_vector(emit, operand);
    struct gang_type type = emit->function->values[operand].type;
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = icmp ne %.*s %.*s, zeroinitializer", IR_ARGS(name),
              IR_ARGS(gang_vector_type(emit, type)), IR_ARGS(vector));
    return gang_bits(emit, gang_masked(emit, emit->mask, name));
}

static struct ir_slice
compare_bits(struct gang_emit *emit, const char *predicate, struct ir_slice a,
             struct ir_slice b)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = icmp %s i%u %.*s, %.*s", IR_ARGS(name), predicate,
              emit->width, IR_ARGS(a), IR_ARGS(b));
    return name;
}

/* Bits of the lanes that are on and have a certain value. */
static struct ir_slice
equals(struct gang_emit *emit, struct ir_slice vector, struct ir_slice one)
{
    struct ir_slice type = gang_vector_type(emit, wide);
    struct ir_slice all = gang_splat(emit, wide, one);
    struct ir_slice same = gang_name(emit);

    gang_line(emit, "%.*s = icmp eq %.*s %.*s, %.*s", IR_ARGS(same), IR_ARGS(type),
              IR_ARGS(vector), IR_ARGS(all));
    return gang_bits(emit, gang_masked(emit, emit->mask, same));
}

static struct ir_slice
match_all(struct gang_emit *emit, uint32_t number, struct ir_slice vector,
          struct ir_slice on)
{
    struct ir_slice memory = gang_lanes(emit, number, VALUE, wide, vector);
    struct ir_slice first =
        gang_lane_read(emit, memory, wide, gang_lane(emit, on, false));
    struct ir_slice same = equals(emit, vector, first);
    struct ir_slice all = compare_bits(emit, "eq", same, on);
    struct ir_slice bits = longer_bits(emit, on);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = select i1 %.*s, i64 %.*s, i64 0", IR_ARGS(name),
              IR_ARGS(all), IR_ARGS(bits));
    return name;
}

static struct ir_slice
match_any(struct gang_emit *emit, struct ir_slice vector)
{
    struct ir_slice type = gang_vector_type(emit, wide);
    struct ir_slice result = ir_slice_of("zeroinitializer");

    for (uint32_t i = 0; i < emit->width; i++) {
        struct ir_slice one = gang_name(emit);
        gang_line(emit, "%.*s = extractelement %.*s %.*s, i64 %u", IR_ARGS(one),
                  IR_ARGS(type), IR_ARGS(vector), i);
        struct ir_slice same = longer_bits(emit, equals(emit, vector, one));
        struct ir_slice name = gang_name(emit);
        gang_line(emit, "%.*s = insertelement %.*s %.*s, i64 %.*s, i64 %u",
                  IR_ARGS(name), IR_ARGS(type), IR_ARGS(result), IR_ARGS(same), i);
        result = name;
    }
    return result;
}

void
gang_write_warp(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice on;
    struct ir_slice bits;

    switch (value->extra) {
    case HA_WARP_SHFL:
    case HA_WARP_SHFL_UP:
    case HA_WARP_SHFL_DOWN:
    case HA_WARP_SHFL_XOR:
        write_shuffle(emit, number);
        return;
    case HA_WARP_SYNC:
        gang_define(emit, number, ir_slice_of("0"));
        return;
    case HA_WARP_BALLOT:
        gang_define(emit, number,
                    longer_bits(emit, ballot(emit, value->operands[VALUE])));
        return;
    case HA_WARP_ANY:
        bits = ballot(emit, value->operands[VALUE]);
        gang_define(emit, number,
                    as_result(emit, compare_bits(emit, "ne", bits, ir_slice_of("0"))));
        return;
    case HA_WARP_ALL:
        bits = ballot(emit, value->operands[VALUE]);
        on = gang_bits(emit, emit->mask);
        gang_define(emit, number, as_result(emit, compare_bits(emit, "eq", bits, on)));
        return;
    case HA_WARP_ACTIVE:
        gang_define(emit, number, longer_bits(emit, gang_bits(emit, emit->mask)));
        return;
    case HA_WARP_MATCH_ALL:
        gang_define(emit, number,
                    match_all(emit, number, gang_vector(emit, value->operands[VALUE]),
                              gang_bits(emit, emit->mask)));
        return;
    case HA_WARP_MATCH_ANY:
        gang_define(emit, number,
                    match_any(emit, gang_vector(emit, value->operands[VALUE])));
        return;
    default:
        gang_refuse(emit->function, "a warp call of an unknown kind");
    }
}
