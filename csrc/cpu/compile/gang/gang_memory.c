/* SPDX-License-Identifier: MIT */
/* Loads, stores, atomics and calls of a gang.
 *
 * One address for all lanes is one access.  Addresses side by side are one access of a
 * vector, with the mask.  Other addresses are gathered and scattered; atomics and calls
 * are done lane by lane, from the first that is on to the last. */
#include "cpu/compile/gang/gang_emit.h"
#include "cpu/compile/gang/gang_place.h"

#include <string.h>

#include "cpu/compile/rewrite_state.h"

/* ---- lane by lane ---- */

/* Memories of one instruction (gang_lanes): its operands by number, and its result. */
enum { RESULT_PART = 100 };

/* A loop over the lanes that are on. */
struct lanes {
    uint32_t number;      /* of the instruction */
    struct ir_slice loop; /* labels */
    struct ir_slice done;
    struct ir_slice rest;   /* bits of the lanes that are to come */
    struct ir_slice lane;   /* its number, i64 */
    struct ir_slice memory; /* of the result */
};

static void
lanes_begin(struct gang_emit *emit, struct lanes *lanes, uint32_t number,
            struct gang_type result)
{
    struct ir_slice all = gang_bits(emit, emit->mask);
    struct ir_slice bits = gang_name(emit);
    struct ir_slice less = gang_name(emit);
    struct ir_slice before = emit->label;
    unsigned width = emit->width;

    *lanes = (struct lanes){.number = number,
                            .loop = gang_label(emit, "lane"),
                            .done = gang_label(emit, "lanes"),
                            .rest = gang_name(emit)};
    if (result.kind != GANG_VOID) {
        lanes->memory =
            gang_lanes(emit, number, RESULT_PART, result, ir_slice_of("poison"));
    }
    gang_line(emit, "br label %%%.*s", IR_ARGS(lanes->loop));
    gang_begin_label(emit, lanes->loop);
    ir_print(emit->out, "  %.*s = phi i%u [ %.*s, %%%.*s ], [ %.*s, %%%.*s.end ]\n",
             IR_ARGS(bits), width, IR_ARGS(all), IR_ARGS(before), IR_ARGS(lanes->rest),
             IR_ARGS(lanes->loop));
    lanes->lane = gang_lane(emit, bits, false);
    gang_line(emit, "%.*s = add i%u %.*s, -1", IR_ARGS(less), width, IR_ARGS(bits));
    gang_line(emit, "%.*s = and i%u %.*s, %.*s", IR_ARGS(lanes->rest), width,
              IR_ARGS(bits), IR_ARGS(less));
    gang_place_lane(emit, lanes->lane);
    emit->aside++;
}

/* An operand before the loop: in memory, or empty where it is the same for all. */
static struct ir_slice
lanes_operand(struct gang_emit *emit, uint32_t number, uint32_t part)
{
    uint32_t operand = emit->function->values[number].operands[part];

    return gang_is_same(gang_shape_here(emit, operand))
               ? ir_slice_of("")
               : gang_lanes(emit, number, part, emit->function->values[operand].type,
                            gang_vector(emit, operand));
}

/* What an operand is for the lane. */
static struct ir_slice
lane_value(struct gang_emit *emit, const struct lanes *lanes, uint32_t part,
           struct ir_slice memory)
{
    uint32_t operand = emit->function->values[lanes->number].operands[part];

    return memory.size == 0
               ? gang_base(emit, operand)
               : gang_lane_read(emit, memory, emit->function->values[operand].type,
                                lanes->lane);
}

/* Ends the loop; `value` is the lane's result, and the vector of all comes back. */
static struct ir_slice
lanes_end(struct gang_emit *emit, struct lanes *lanes, struct gang_type type,
          struct ir_slice value)
{
    struct ir_slice more = gang_name(emit);
    struct ir_slice name = gang_name(emit);

    if (type.kind != GANG_VOID) {
        struct ir_slice at = gang_lane_address(emit, lanes->memory, type, lanes->lane);
        gang_line(emit, "store %s %.*s, ptr %.*s", gang_type_name(type), IR_ARGS(value),
                  IR_ARGS(at));
    }
    gang_line(emit, "%.*s = icmp ne i%u %.*s, 0", IR_ARGS(more), emit->width,
              IR_ARGS(lanes->rest));
    gang_line(emit, "br label %%%.*s.end", IR_ARGS(lanes->loop));
    gang_begin_label(
        emit, ir_format(emit->function->arena, "%.*s.end", IR_ARGS(lanes->loop)));
    gang_line(emit, "br i1 %.*s, label %%%.*s, label %%%.*s", IR_ARGS(more),
              IR_ARGS(lanes->loop), IR_ARGS(lanes->done));
    gang_begin_label(emit, lanes->done);
    gang_place_all(emit);
    emit->aside--;
    if (type.kind == GANG_VOID) {
        return ir_slice_of("");
    }
    struct ir_slice vector = gang_vector_type(emit, type);
    gang_line(emit, "%.*s = load %.*s, ptr %.*s", IR_ARGS(name), IR_ARGS(vector),
              IR_ARGS(lanes->memory));
    return name;
}

/* ---- loads and stores ---- */

/* Whether an address is in the block's shared memory for certain: then only lanes of
 * this block know it, and they are done by one thread. */
static bool
is_shared(const struct gang_function *function, uint32_t number, unsigned depth)
{
    const struct gang_value *value = &function->values[number];

    if (value->op == GANG_SHARED || value->op == GANG_DYNAMIC) {
        return true;
    }
    return value->op == GANG_ADDRESS && depth < 32 &&
           is_shared(function, value->operands[0], depth + 1);
}

static bool
is_side_by_side(struct gang_shape shape, struct gang_type type)
{
    return shape.level == GANG_LINEAR && shape.stride == type.bytes && type.bits != 1;
}

static void
refuse_bits(struct gang_emit *emit, struct gang_type type)
{
    if (type.kind == GANG_INT && type.bits == 1) {
        gang_refuse(emit->function, "single bits in memory");
    }
}

/* Accesses with a mask take AMD's processors a long time before AVX-512, so there it is
 * asked first whether all lanes are on. */
struct sides {
    struct ir_slice plain; /* labels */
    struct ir_slice part;
    struct ir_slice met;
};

static bool
asks_for_all(const struct gang_emit *emit)
{
    return emit->function->rewriter->gang_width == 8 && emit->mask.at[0] == '%';
}

/* What follows is for lanes that are all on, up to sides_turn. */
static void
sides_begin(struct gang_emit *emit, struct sides *sides)
{
    struct ir_slice bits = gang_bits(emit, emit->mask);
    struct ir_slice all = gang_name(emit);

    sides->plain = gang_label(emit, "plain");
    sides->part = gang_label(emit, "part");
    sides->met = gang_label(emit, "sides");
    gang_line(emit, "%.*s = icmp eq i%u %.*s, -1", IR_ARGS(all), emit->width,
              IR_ARGS(bits));
    gang_line(emit, "br i1 %.*s, label %%%.*s, label %%%.*s", IR_ARGS(all),
              IR_ARGS(sides->plain), IR_ARGS(sides->part));
    gang_begin_label(emit, sides->plain);
}

static void
sides_turn(struct gang_emit *emit, const struct sides *sides)
{
    gang_line(emit, "br label %%%.*s", IR_ARGS(sides->met));
    gang_begin_label(emit, sides->part);
}

static void
sides_end(struct gang_emit *emit, const struct sides *sides)
{
    gang_line(emit, "br label %%%.*s", IR_ARGS(sides->met));
    gang_begin_label(emit, sides->met);
}

static struct ir_slice
write_load_masked(struct gang_emit *emit, const struct gang_value *value,
                  struct ir_slice base)
{
    struct ir_slice type = gang_vector_type(emit, value->type);
    struct ir_slice name = gang_name(emit);
    struct ir_slice callee =
        ir_format(emit->function->arena, "@llvm.masked.load.%.*s.p0",
                  IR_ARGS(gang_mangled(emit, value->type)));

    gang_declare(emit, callee,
                 ir_format(emit->function->arena,
                           "%.*s %.*s(ptr, i32 immarg, <%u x i1>, %.*s)", IR_ARGS(type),
                           IR_ARGS(callee), emit->width, IR_ARGS(type)));
    gang_line(emit,
              "%.*s = call %.*s %.*s(ptr %.*s, i32 %u, <%u x i1> %.*s, %.*s poison)",
              IR_ARGS(name), IR_ARGS(type), IR_ARGS(callee), IR_ARGS(base),
              value->align, emit->width, IR_ARGS(emit->mask), IR_ARGS(type));
    return name;
}

static struct ir_slice
write_together(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice type = gang_vector_type(emit, value->type);
    struct ir_slice base = gang_base(emit, value->operands[0]);
    struct sides sides;

    if (!asks_for_all(emit)) {
        return write_load_masked(emit, value, base);
    }
    sides_begin(emit, &sides);
    struct ir_slice whole = gang_name(emit);
    gang_line(emit, "%.*s = load %.*s, ptr %.*s, align %u", IR_ARGS(whole),
              IR_ARGS(type), IR_ARGS(base), value->align);
    sides_turn(emit, &sides);
    struct ir_slice some = write_load_masked(emit, value, base);
    sides_end(emit, &sides);
    struct ir_slice name = gang_name(emit);
    gang_line(emit, "%.*s = phi %.*s [ %.*s, %%%.*s ], [ %.*s, %%%.*s ]", IR_ARGS(name),
              IR_ARGS(type), IR_ARGS(whole), IR_ARGS(sides.plain), IR_ARGS(some),
              IR_ARGS(sides.part));
    return name;
}

struct ir_slice
gang_gather(struct gang_emit *emit, struct gang_type type, struct ir_slice pointers,
            uint32_t align, struct ir_slice mask, struct ir_slice other)
{
    struct ir_slice vector = gang_vector_type(emit, type);
    struct ir_slice name = gang_name(emit);
    struct ir_slice mangled = gang_mangled(emit, type);
    struct ir_slice callee =
        ir_format(emit->function->arena, "@llvm.masked.gather.%.*s.v%up0",
                  IR_ARGS(mangled), emit->width);

    gang_declare(emit, callee,
                 ir_format(emit->function->arena,
                           "%.*s %.*s(<%u x ptr>, i32 immarg, <%u x i1>, %.*s)",
                           IR_ARGS(vector), IR_ARGS(callee), emit->width, emit->width,
                           IR_ARGS(vector)));
    gang_line(emit,
              "%.*s = call %.*s %.*s(<%u x ptr> %.*s, i32 %u, <%u x i1> %.*s, %.*s "
              "%.*s)",
              IR_ARGS(name), IR_ARGS(vector), IR_ARGS(callee), emit->width,
              IR_ARGS(pointers), align, emit->width, IR_ARGS(mask), IR_ARGS(vector),
              IR_ARGS(other));
    return name;
}

static struct ir_slice
write_gather(struct gang_emit *emit, const struct gang_value *value)
{
    return gang_gather(emit, value->type, gang_vector(emit, value->operands[0]),
                       value->align, emit->mask, ir_slice_of("poison"));
}

/* Two ways, by whether the check of an address passed. */
struct ways {
    struct ir_slice near;
    struct ir_slice far;
    struct ir_slice done;
};

static void
ways_begin(struct gang_emit *emit, struct ways *ways, struct ir_slice check)
{
    *ways = (struct ways){gang_label(emit, "near"), gang_label(emit, "far"),
                          gang_label(emit, "met")};
    gang_line(emit, "br i1 %.*s, label %%%.*s, label %%%.*s", IR_ARGS(check),
              IR_ARGS(ways->near), IR_ARGS(ways->far));
    gang_begin_label(emit, ways->near);
    emit->aside++;
}

static void
ways_turn(struct gang_emit *emit, struct ways *ways)
{
    struct ir_slice last = emit->label;

    gang_line(emit, "br label %%%.*s", IR_ARGS(ways->done));
    gang_begin_label(emit, ways->far);
    ways->near = last;
}

static void
ways_end(struct gang_emit *emit, struct ways *ways)
{
    struct ir_slice last = emit->label;

    gang_line(emit, "br label %%%.*s", IR_ARGS(ways->done));
    gang_begin_label(emit, ways->done);
    ways->far = last;
    emit->aside--;
}

static struct ir_slice
write_vector_load(struct gang_emit *emit, const struct gang_value *value)
{
    struct gang_shape shape = gang_shape_here(emit, value->operands[0]);
    struct ways ways;

    refuse_bits(emit, value->type);
    if (!is_side_by_side(shape, value->type)) {
        return write_gather(emit, value);
    }
    if (!shape.checked) {
        return write_together(emit, value);
    }
    ways_begin(emit, &ways, gang_check(emit, value->operands[0]));
    struct ir_slice near = write_together(emit, value);
    ways_turn(emit, &ways);
    struct ir_slice far = write_gather(emit, value);
    ways_end(emit, &ways);
    struct ir_slice name = gang_name(emit);
    gang_line(emit, "%.*s = phi %.*s [ %.*s, %%%.*s ], [ %.*s, %%%.*s ]", IR_ARGS(name),
              IR_ARGS(gang_vector_type(emit, value->type)), IR_ARGS(near),
              IR_ARGS(ways.near), IR_ARGS(far), IR_ARGS(ways.far));
    return name;
}

static void
write_load(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    const char *type = gang_type_name(value->type);
    bool atomic = value->text.size > 0;
    struct ir_slice name;
    struct lanes lanes;

    if (emit->shapes.of[number].level != GANG_VARYING) {
        struct ir_slice at = gang_base(emit, value->operands[0]);
        bool first =
            !is_shared(emit->function, value->operands[0], 0) && gang_place_first(emit);
        name = gang_name(emit);
        gang_line(emit, "%.*s = load %s%s, ptr %.*s %.*s, align %u", IR_ARGS(name),
                  atomic ? "atomic " : "", type, IR_ARGS(at), IR_ARGS(value->text),
                  value->align);
        if (first) {
            gang_place_all(emit);
        }
    } else if (atomic) {
        struct ir_slice pointers = lanes_operand(emit, number, 0);
        lanes_begin(emit, &lanes, number, value->type);
        struct ir_slice at = lane_value(emit, &lanes, 0, pointers);
        struct ir_slice one = gang_name(emit);
        gang_line(emit, "%.*s = load atomic %s, ptr %.*s %.*s, align %u", IR_ARGS(one),
                  type, IR_ARGS(at), IR_ARGS(value->text), value->align);
        name = lanes_end(emit, &lanes, value->type, one);
    } else {
        name = write_vector_load(emit, value);
    }
    gang_define(emit, number, name);
}

/* The last lane that is on, as the lanes of a warp that store to one place leave it. */
static struct ir_slice
last_lane(struct gang_emit *emit, uint32_t number, uint32_t part)
{
    struct ir_slice memory = lanes_operand(emit, number, part);
    struct gang_type type =
        emit->function->values[emit->function->values[number].operands[part]].type;
    struct ir_slice lane = gang_lane(emit, gang_bits(emit, emit->mask), true);

    return gang_lane_read(emit, memory, type, lane);
}

static void
write_store_masked(struct gang_emit *emit, const struct gang_value *value,
                   struct ir_slice stored)
{
    struct ir_slice type = gang_vector_type(emit, value->from);
    struct ir_slice callee =
        ir_format(emit->function->arena, "@llvm.masked.store.%.*s.p0",
                  IR_ARGS(gang_mangled(emit, value->from)));

    gang_declare(emit, callee,
                 ir_format(emit->function->arena,
                           "void %.*s(%.*s, ptr, i32 immarg, <%u x i1>)",
                           IR_ARGS(callee), IR_ARGS(type), emit->width));
    gang_line(emit, "call void %.*s(%.*s %.*s, ptr %.*s, i32 %u, <%u x i1> %.*s)",
              IR_ARGS(callee), IR_ARGS(type), IR_ARGS(stored),
              IR_ARGS(gang_base(emit, value->operands[0])), value->align, emit->width,
              IR_ARGS(emit->mask));
}

static void
write_store_together(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice type = gang_vector_type(emit, value->from);
    struct ir_slice stored = gang_vector(emit, value->operands[1]);
    struct ir_slice base = gang_base(emit, value->operands[0]);
    struct sides sides;

    if (!asks_for_all(emit)) {
        write_store_masked(emit, value, stored);
        return;
    }
    sides_begin(emit, &sides);
    gang_line(emit, "store %.*s %.*s, ptr %.*s, align %u", IR_ARGS(type),
              IR_ARGS(stored), IR_ARGS(base), value->align);
    sides_turn(emit, &sides);
    write_store_masked(emit, value, stored);
    sides_end(emit, &sides);
}

static void
write_scatter(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice type = gang_vector_type(emit, value->from);
    struct ir_slice stored = gang_vector(emit, value->operands[1]);
    struct ir_slice pointers = gang_vector(emit, value->operands[0]);
    struct ir_slice callee =
        ir_format(emit->function->arena, "@llvm.masked.scatter.%.*s.v%up0",
                  IR_ARGS(gang_mangled(emit, value->from)), emit->width);

    gang_declare(emit, callee,
                 ir_format(emit->function->arena,
                           "void %.*s(%.*s, <%u x ptr>, i32 immarg, <%u x i1>)",
                           IR_ARGS(callee), IR_ARGS(type), emit->width, emit->width));
    gang_line(emit,
              "call void %.*s(%.*s %.*s, <%u x ptr> %.*s, i32 %u, <%u x i1> %.*s)",
              IR_ARGS(callee), IR_ARGS(type), IR_ARGS(stored), emit->width,
              IR_ARGS(pointers), value->align, emit->width, IR_ARGS(emit->mask));
}

static void
write_store(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct gang_shape at = gang_shape_here(emit, value->operands[0]);
    const char *type = gang_type_name(value->from);
    bool atomic = value->text.size > 0;
    struct ways ways;
    struct lanes lanes;

    refuse_bits(emit, value->from);
    if (gang_is_same(at)) {
        struct ir_slice stored = gang_is_same(gang_shape_here(emit, value->operands[1]))
                                     ? gang_base(emit, value->operands[1])
                                     : last_lane(emit, number, 1);
        struct ir_slice to = gang_base(emit, value->operands[0]);
        bool first =
            !is_shared(emit->function, value->operands[0], 0) && gang_place_first(emit);
        gang_line(emit, "store %s%s %.*s, ptr %.*s %.*s, align %u",
                  atomic ? "atomic " : "", type, IR_ARGS(stored), IR_ARGS(to),
                  IR_ARGS(value->text), value->align);
        if (first) {
            gang_place_all(emit);
        }
        return;
    }
    if (atomic) {
        struct ir_slice pointers = lanes_operand(emit, number, 0);
        struct ir_slice values = lanes_operand(emit, number, 1);
        lanes_begin(emit, &lanes, number, (struct gang_type){0});
        struct ir_slice to = lane_value(emit, &lanes, 0, pointers);
        struct ir_slice stored = lane_value(emit, &lanes, 1, values);
        gang_line(emit, "store atomic %s %.*s, ptr %.*s %.*s, align %u", type,
                  IR_ARGS(stored), IR_ARGS(to), IR_ARGS(value->text), value->align);
        (void)lanes_end(emit, &lanes, (struct gang_type){0}, ir_slice_of(""));
        return;
    }
    if (!is_side_by_side(at, value->from)) {
        write_scatter(emit, value);
        return;
    }
    if (!at.checked) {
        write_store_together(emit, value);
        return;
    }
    ways_begin(emit, &ways, gang_check(emit, value->operands[0]));
    write_store_together(emit, value);
    ways_turn(emit, &ways);
    write_scatter(emit, value);
    ways_end(emit, &ways);
}

/* ---- atomics ---- */

/* a op b as plain instructions; empty where the operation is none of them. */
static struct ir_slice
plain_operation(struct gang_emit *emit, const struct gang_value *value,
                struct ir_slice old, struct ir_slice operand)
{
    static const char *const plain[] = {"add", "sub",  "and",  "or",
                                        "xor", "fadd", "fsub", NULL};
    static const struct {
        const char *name;
        const char *predicate;
    } extremes[] = {{"max", "sgt"}, {"min", "slt"}, {"umax", "ugt"}, {"umin", "ult"}};
    const char *type = gang_type_name(value->type);
    struct ir_slice name = gang_name(emit);

    if (ir_is(value->word, "xchg")) {
        return operand;
    }
    for (size_t i = 0; plain[i] != NULL; i++) {
        if (ir_is(value->word, plain[i])) {
            gang_line(emit, "%.*s = %s %s %.*s, %.*s", IR_ARGS(name), plain[i], type,
                      IR_ARGS(old), IR_ARGS(operand));
            return name;
        }
    }
    for (size_t i = 0; i < sizeof extremes / sizeof extremes[0]; i++) {
        if (ir_is(value->word, extremes[i].name)) {
            struct ir_slice which = gang_name(emit);
            gang_line(emit, "%.*s = icmp %s %s %.*s, %.*s", IR_ARGS(which),
                      extremes[i].predicate, type, IR_ARGS(old), IR_ARGS(operand));
            gang_line(emit, "%.*s = select i1 %.*s, %s %.*s, %s %.*s", IR_ARGS(name),
                      IR_ARGS(which), type, IR_ARGS(old), type, IR_ARGS(operand));
            return name;
        }
    }
    return ir_slice_of("");
}

static struct ir_slice
one_atomic(struct gang_emit *emit, const struct gang_value *value, struct ir_slice at,
           struct ir_slice operand, bool plain)
{
    const char *type = gang_type_name(value->type);
    struct ir_slice old = gang_name(emit);

    if (plain) {
        gang_line(emit, "%.*s = load %s, ptr %.*s, align %u", IR_ARGS(old), type,
                  IR_ARGS(at), value->align);
        struct ir_slice new = plain_operation(emit, value, old, operand);
        gang_line(emit, "store %s %.*s, ptr %.*s, align %u", type, IR_ARGS(new),
                  IR_ARGS(at), value->align);
        return old;
    }
    gang_line(emit, "%.*s = atomicrmw %.*s ptr %.*s, %s %.*s %.*s, align %u",
              IR_ARGS(old), IR_ARGS(value->word), IR_ARGS(at), type, IR_ARGS(operand),
              IR_ARGS(value->text), value->align);
    return old;
}

static bool
is_plain_word(struct ir_slice word)
{
    static const char *const words[] = {"add",  "sub",  "and",  "or",  "xor",
                                        "xchg", "fadd", "fsub", "max", "min",
                                        "umax", "umin", NULL};

    for (size_t i = 0; words[i] != NULL; i++) {
        if (ir_is(word, words[i])) {
            return true;
        }
    }
    return false;
}

/* One atomic for all lanes, where nobody asks what each of them found. */
static bool
write_combined(struct gang_emit *emit, uint32_t number)
{
    static const struct {
        const char *word;
        const char *reduce;
        const char *neutral;
    } all[] = {{"add", "add", "0"}, {"or", "or", "0"},     {"and", "and", "-1"},
               {"xor", "xor", "0"}, {"umax", "umax", "0"}, {"umin", "umin", "-1"}};
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice type = gang_vector_type(emit, value->type);

    if (emit->function->used[number] || value->type.kind != GANG_INT ||
        !gang_is_same(gang_shape_here(emit, value->operands[0]))) {
        return false;
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!ir_is(value->word, all[i].word)) {
            continue;
        }
        struct ir_slice vector = gang_vector(emit, value->operands[1]);
        struct ir_slice on = gang_name(emit);
        struct ir_slice sum = gang_name(emit);
        struct ir_slice callee =
            ir_format(emit->function->arena, "@llvm.vector.reduce.%s.%.*s",
                      all[i].reduce, IR_ARGS(gang_mangled(emit, value->type)));
        gang_declare(emit, callee,
                     ir_format(emit->function->arena, "%s %.*s(%.*s)",
                               gang_type_name(value->type), IR_ARGS(callee),
                               IR_ARGS(type)));
        gang_line(emit, "%.*s = select <%u x i1> %.*s, %.*s %.*s, %.*s splat (%s %s)",
                  IR_ARGS(on), emit->width, IR_ARGS(emit->mask), IR_ARGS(type),
                  IR_ARGS(vector), IR_ARGS(type), gang_type_name(value->type),
                  all[i].neutral);
        gang_line(emit, "%.*s = call %s %.*s(%.*s %.*s)", IR_ARGS(sum),
                  gang_type_name(value->type), IR_ARGS(callee), IR_ARGS(type),
                  IR_ARGS(on));
        (void)one_atomic(emit, value, gang_base(emit, value->operands[0]), sum,
                         is_shared(emit->function, value->operands[0], 0));
        return true;
    }
    return false;
}

static void
write_atomic(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    bool used = emit->function->used[number] != 0;
    bool plain =
        is_shared(emit->function, value->operands[0], 0) && is_plain_word(value->word);
    struct lanes lanes;

    if (write_combined(emit, number)) {
        emit->combined[number] = 1;
        return;
    }
    struct ir_slice pointers = lanes_operand(emit, number, 0);
    struct ir_slice values = lanes_operand(emit, number, 1);
    struct gang_type result = used ? value->type : (struct gang_type){0};
    lanes_begin(emit, &lanes, number, result);
    struct ir_slice at = lane_value(emit, &lanes, 0, pointers);
    struct ir_slice operand = lane_value(emit, &lanes, 1, values);
    struct ir_slice old = one_atomic(emit, value, at, operand, plain);
    struct ir_slice found = lanes_end(emit, &lanes, result, old);
    if (used) {
        gang_define(emit, number, found);
    }
}

/* The success of a lane's exchange is kept as what the other value would be read from:
 * whether what was there is what was expected. */
static void
write_exchange(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    const char *type = gang_type_name(value->type);
    struct ir_slice vectors[3];
    struct ir_slice texts[3];
    struct lanes lanes;

    for (unsigned i = 0; i < 3; i++) {
        vectors[i] = lanes_operand(emit, number, i);
    }
    lanes_begin(emit, &lanes, number, value->type);
    for (unsigned i = 0; i < 3; i++) {
        texts[i] = lane_value(emit, &lanes, i, vectors[i]);
    }
    struct ir_slice both = gang_name(emit);
    struct ir_slice old = gang_name(emit);
    gang_line(emit, "%.*s = cmpxchg ptr %.*s, %s %.*s, %s %.*s %.*s, align %u",
              IR_ARGS(both), IR_ARGS(texts[0]), type, IR_ARGS(texts[1]), type,
              IR_ARGS(texts[2]), IR_ARGS(value->text), value->align);
    gang_line(emit, "%.*s = extractvalue { %s, i1 } %.*s, 0", IR_ARGS(old), type,
              IR_ARGS(both));
    struct ir_slice found = lanes_end(emit, &lanes, value->type, old);
    gang_define(emit, number, found);
}

/* A strong exchange succeeded if and only if it found what it expected. */
static void
write_success(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    const struct gang_value *of = &emit->function->values[value->operands[0]];
    struct ir_slice found = gang_vector(emit, value->operands[0]);
    struct ir_slice expected = gang_vector(emit, of->operands[1]);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = icmp eq %.*s %.*s, %.*s", IR_ARGS(name),
              IR_ARGS(gang_vector_type(emit, of->type)), IR_ARGS(found),
              IR_ARGS(expected));
    gang_define(emit, number, name);
}

/* ---- calls ---- */

static void
write_call(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_out arguments = {.arena = emit->function->arena};
    struct ir_slice vectors[16];
    struct lanes lanes;

    for (uint32_t i = 0; i < value->operand_count; i++) {
        vectors[i] = lanes_operand(emit, number, i);
    }
    lanes_begin(emit, &lanes, number, value->type);
    for (uint32_t i = 0; i < value->operand_count; i++) {
        struct gang_type type = emit->function->values[value->operands[i]].type;
        struct ir_slice argument = lane_value(emit, &lanes, i, vectors[i]);
        ir_print(&arguments, "%s%s %s%.*s", i > 0 ? ", " : "", gang_type_name(type),
                 value->ways[i], IR_ARGS(argument));
    }
    struct ir_slice name = gang_name(emit);
    bool nothing = value->type.kind == GANG_VOID;
    gang_line(emit, "%.*s%s call %.*s %s %.*s(%.*s)", nothing ? 0 : (int)name.size,
              name.at, nothing ? "" : " =", IR_ARGS(value->flags),
              gang_type_name(value->type), IR_ARGS(value->text), (int)arguments.size,
              arguments.text != NULL ? arguments.text : "");
    struct ir_slice all = lanes_end(emit, &lanes, value->type, name);
    if (!nothing) {
        gang_define(emit, number, all);
    }
}

static void
write_bytes(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    bool fill = value->op == GANG_FILL;

    if (!fill && gang_is_in_step(emit->function)) {
        gang_write_copy(emit, number);
        return;
    }
    struct ir_slice to = lanes_operand(emit, number, 0);
    struct ir_slice what = lanes_operand(emit, number, 1);
    struct lanes lanes;

    if (fill) {
        gang_declare(emit, ir_slice_of("@llvm.memset.p0.i64"),
                     ir_slice_of("void @llvm.memset.p0.i64(ptr, i8, i64, i1 immarg)"));
    } else {
        gang_declare(
            emit, ir_slice_of("@llvm.memmove.p0.p0.i64"),
            ir_slice_of("void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1 immarg)"));
    }
    lanes_begin(emit, &lanes, number, (struct gang_type){0});
    struct ir_slice a = lane_value(emit, &lanes, 0, to);
    struct ir_slice b = lane_value(emit, &lanes, 1, what);
    gang_line(emit, "call void @llvm.%s.i64(ptr %.*s, %s %.*s, i64 %llu, i1 false)",
              fill ? "memset.p0" : "memmove.p0.p0", IR_ARGS(a), fill ? "i8" : "ptr",
              IR_ARGS(b), (unsigned long long)value->extra);
    (void)lanes_end(emit, &lanes, (struct gang_type){0}, ir_slice_of(""));
}

/* ---- the whole ---- */

void
gang_write_memory(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];

    switch (value->op) {
    case GANG_LOAD:
        write_load(emit, number);
        return;
    case GANG_STORE:
        write_store(emit, number);
        return;
    case GANG_ATOMIC:
        write_atomic(emit, number);
        return;
    case GANG_EXCHANGE:
        write_exchange(emit, number);
        return;
    case GANG_SUCCESS:
        write_success(emit, number);
        return;
    case GANG_FENCE:
        gang_line(emit, "fence %.*s", IR_ARGS(value->text));
        return;
    case GANG_ALLOCA:
        gang_define(
            emit, number,
            gang_slot_address(emit, gang_slot(emit, GANG_SLOT_ARRAY, number, 0)));
        return;
    case GANG_COPY:
    case GANG_FILL:
        write_bytes(emit, number);
        return;
    case GANG_CALL:
        write_call(emit, number);
        return;
    default:
        gang_refuse(emit->function, "an instruction that is not known");
    }
}
