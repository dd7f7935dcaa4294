/* SPDX-License-Identifier: MIT */
/* Instructions that compute: once for the gang where the value is the same or linear,
 * as a vector where it varies. */
#include "cpu/compile/gang/gang_emit.h"

#include "cpu/base/image.h"
#include "cpu/compile/rewrite_state.h"

static const struct gang_type wide_type = {GANG_INT, 8, 64};

/* ---- vectors ---- */

static bool
is_division(const struct gang_value *value)
{
    return value->op == GANG_BINARY &&
           (ir_is(value->word, "udiv") || ir_is(value->word, "sdiv") ||
            ir_is(value->word, "urem") || ir_is(value->word, "srem"));
}

/* A divisor that is right for lanes that are on, and 1 for the others. */
static struct ir_slice
safe_divisor(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice divisor = gang_vector(emit, value->operands[1]);
    struct ir_slice type = gang_vector_type(emit, value->type);
    struct ir_slice name;
    int64_t number;

    if (gang_integer(emit->function, value->operands[1], &number) && number != 0 &&
        number != -1) {
        return divisor;
    }
    name = gang_name(emit);
    gang_line(emit, "%.*s = select <%u x i1> %.*s, %.*s %.*s, %.*s splat (%s 1)",
              IR_ARGS(name), emit->width, IR_ARGS(emit->mask), IR_ARGS(type),
              IR_ARGS(divisor), IR_ARGS(type), gang_type_name(value->type));
    return name;
}

static struct ir_slice
vector_address(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice sum = ir_slice_of("");
    struct ir_slice wide = gang_vector_type(emit, wide_type);
    struct ir_slice name;

    for (uint32_t i = 1; i < value->operand_count; i++) {
        struct gang_type type = emit->function->values[value->operands[i]].type;
        struct ir_slice index = gang_vector(emit, value->operands[i]);
        if (type.bits != 64) {
            name = gang_name(emit);
            gang_line(emit, "%.*s = sext %.*s %.*s to %.*s", IR_ARGS(name),
                      IR_ARGS(gang_vector_type(emit, type)), IR_ARGS(index),
                      IR_ARGS(wide));
            index = name;
        }
        if (value->scales[i] != 1) {
            name = gang_name(emit);
            gang_line(emit, "%.*s = mul %.*s %.*s, splat (i64 %lld)", IR_ARGS(name),
                      IR_ARGS(wide), IR_ARGS(index), (long long)value->scales[i]);
            index = name;
        }
        if (sum.size > 0) {
            name = gang_name(emit);
            gang_line(emit, "%.*s = add %.*s %.*s, %.*s", IR_ARGS(name), IR_ARGS(wide),
                      IR_ARGS(sum), IR_ARGS(index));
            index = name;
        }
        sum = index;
    }
    bool same = gang_is_same(gang_shape_here(emit, value->operands[0]));
    struct ir_slice base = same ? gang_base(emit, value->operands[0])
                                : gang_vector(emit, value->operands[0]);
    const char *type = same ? "ptr" : gang_vector_type(emit, value->type).at;
    if (value->offset != 0 && same) {
        name = gang_name(emit);
        gang_line(emit, "%.*s = getelementptr i8, ptr %.*s, i64 %lld", IR_ARGS(name),
                  IR_ARGS(base), (long long)value->offset);
        base = name;
    } else if (value->offset != 0) {
        name = gang_name(emit);
        gang_line(emit, "%.*s = getelementptr i8, %s %.*s, %.*s splat (i64 %lld)",
                  IR_ARGS(name), type, IR_ARGS(base), IR_ARGS(wide),
                  (long long)value->offset);
        base = name;
    }
    if (sum.size == 0 && !same) {
        return base;
    }
    name = gang_name(emit);
    gang_line(emit, "%.*s = getelementptr i8, %s %.*s, %.*s %.*s", IR_ARGS(name), type,
              IR_ARGS(base), IR_ARGS(wide),
              IR_ARGS(sum.size > 0 ? sum : ir_slice_of("zeroinitializer")));
    return name;
}

/* "@llvm.fma.f32" -> "@llvm.fma.v16f32", with its declaration. */
static struct ir_slice
vector_intrinsic(struct gang_emit *emit, const struct gang_value *value,
                 struct ir_slice arguments)
{
    struct ir_slice name = value->text;
    size_t dot = 6;

    while (dot < name.size && name.at[dot] != '.') {
        dot++;
    }
    if (ir_begins(ir_part(name, dot, name.size), ".sat.")) {
        dot += 4;
    }
    struct ir_out vector = {.arena = emit->function->arena};
    ir_print(&vector, "%.*s.%.*s", (int)dot, name.at,
             IR_ARGS(gang_mangled(emit, value->type)));
    if (ir_begins(name, "@llvm.fpto")) {
        struct gang_type from = emit->function->values[value->operands[0]].type;
        ir_print(&vector, ".%.*s", IR_ARGS(gang_mangled(emit, from)));
    }
    struct ir_slice whole = {vector.text, vector.size};
    gang_declare(emit, whole,
                 ir_format(emit->function->arena, "%.*s %.*s(%.*s)",
                           IR_ARGS(gang_vector_type(emit, value->type)), IR_ARGS(whole),
                           IR_ARGS(arguments)));
    return whole;
}

/* The last operand of these is a constant that says what zero gives. */
static bool
has_flag_operand(struct ir_slice callee)
{
    return ir_begins(callee, "@llvm.ctlz.") || ir_begins(callee, "@llvm.cttz.") ||
           ir_begins(callee, "@llvm.abs.");
}

static struct ir_slice
vector_call(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_out arguments = {.arena = emit->function->arena};
    struct ir_out types = {.arena = emit->function->arena};
    uint32_t count = value->operand_count;

    if (gang_is_math(emit, value)) {
        return gang_write_math(emit, value);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t operand = value->operands[i];
        bool flag = has_flag_operand(value->text) && i + 1 == count;
        struct gang_type type = emit->function->values[operand].type;
        struct ir_slice vector =
            flag ? ir_slice_of("i1") : gang_vector_type(emit, type);
        struct ir_slice text =
            flag ? gang_base(emit, operand) : gang_vector(emit, operand);
        ir_print(&arguments, "%s%.*s %.*s", i > 0 ? ", " : "", IR_ARGS(vector),
                 IR_ARGS(text));
        ir_print(&types, "%s%.*s", i > 0 ? ", " : "", IR_ARGS(vector));
    }
    struct ir_slice callee =
        vector_intrinsic(emit, value, (struct ir_slice){types.text, types.size});
    struct ir_slice name = gang_name(emit);
    gang_line(emit, "%.*s = call %.*s %.*s %.*s(%.*s)", IR_ARGS(name),
              IR_ARGS(value->flags), IR_ARGS(gang_vector_type(emit, value->type)),
              IR_ARGS(callee), (int)arguments.size, arguments.text);
    return name;
}

static struct ir_slice
vector_select(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice name;
    struct ir_slice type = gang_vector_type(emit, value->type);
    bool same = gang_is_same(gang_shape_here(emit, value->operands[0]));
    struct ir_slice condition = same ? gang_base(emit, value->operands[0])
                                     : gang_vector(emit, value->operands[0]);
    struct ir_slice a = gang_vector(emit, value->operands[1]);
    struct ir_slice b = gang_vector(emit, value->operands[2]);

    name = gang_name(emit);
    if (same) {
        gang_line(emit, "%.*s = select i1 %.*s, %.*s %.*s, %.*s %.*s", IR_ARGS(name),
                  IR_ARGS(condition), IR_ARGS(type), IR_ARGS(a), IR_ARGS(type),
                  IR_ARGS(b));
    } else {
        gang_line(emit, "%.*s = select %.*s <%u x i1> %.*s, %.*s %.*s, %.*s %.*s",
                  IR_ARGS(name), IR_ARGS(value->flags), emit->width, IR_ARGS(condition),
                  IR_ARGS(type), IR_ARGS(a), IR_ARGS(type), IR_ARGS(b));
    }
    return name;
}

/* To a short integer: by way of 32 bits, as the processor does for one lane.  Values
 * that do not fit are nothing in IR, but both executors should make the same of them.
 */
static struct ir_slice
vector_short(struct gang_emit *emit, const struct gang_value *value)
{
    static const struct gang_type middle = {GANG_INT, 4, 32};
    struct ir_slice a = gang_vector(emit, value->operands[0]);
    struct ir_slice from = gang_vector_type(emit, value->from);
    struct ir_slice between = gang_vector_type(emit, middle);
    struct ir_slice to = gang_vector_type(emit, value->type);
    struct ir_slice whole = gang_name(emit);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = fptosi %.*s %.*s to %.*s", IR_ARGS(whole), IR_ARGS(from),
              IR_ARGS(a), IR_ARGS(between));
    gang_line(emit, "%.*s = trunc %.*s %.*s to %.*s", IR_ARGS(name), IR_ARGS(between),
              IR_ARGS(whole), IR_ARGS(to));
    return name;
}

struct ir_slice
gang_write_vector(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice type = gang_vector_type(emit, value->type);
    struct ir_slice from = gang_vector_type(emit, value->from);
    struct ir_slice a;
    struct ir_slice b;
    struct ir_slice name;

    switch (value->op) {
    case GANG_BINARY:
        a = gang_vector(emit, value->operands[0]);
        b = is_division(value) ? safe_divisor(emit, value)
                               : gang_vector(emit, value->operands[1]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %.*s %.*s %.*s %.*s, %.*s", IR_ARGS(name),
                  IR_ARGS(value->word), IR_ARGS(value->flags), IR_ARGS(type),
                  IR_ARGS(a), IR_ARGS(b));
        return name;
    case GANG_COMPARE:
        a = gang_vector(emit, value->operands[0]);
        b = gang_vector(emit, value->operands[1]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %s %.*s %.*s %.*s %.*s, %.*s", IR_ARGS(name),
                  value->float_compare ? "fcmp" : "icmp", IR_ARGS(value->flags),
                  IR_ARGS(value->word), IR_ARGS(from), IR_ARGS(a), IR_ARGS(b));
        return name;
    case GANG_NEGATE:
    case GANG_FREEZE:
        a = gang_vector(emit, value->operands[0]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %s %.*s %.*s %.*s", IR_ARGS(name),
                  value->op == GANG_NEGATE ? "fneg" : "freeze", IR_ARGS(value->flags),
                  IR_ARGS(type), IR_ARGS(a));
        return name;
    case GANG_CAST:
        if (ir_begins(value->word, "fpto") && value->type.bits < 32) {
            return vector_short(emit, value);
        }
        a = gang_vector(emit, value->operands[0]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %.*s %.*s %.*s %.*s to %.*s", IR_ARGS(name),
                  IR_ARGS(ir_is(value->word, "addrspacecast") ? ir_slice_of("bitcast")
                                                              : value->word),
                  IR_ARGS(value->flags), IR_ARGS(from), IR_ARGS(a), IR_ARGS(type));
        return name;
    case GANG_SELECT:
        return vector_select(emit, value);
    case GANG_ADDRESS:
        return vector_address(emit, value);
    case GANG_PURE:
        return vector_call(emit, value);
    default:
        gang_refuse(emit->function, "a value that has no vector");
    }
}

/* ---- one for all ---- */

/* The first lane may be off, so what is computed of it has no flags that promise
 * anything; what is the same for all is computed where a lane is on. */
static struct ir_slice
flags_of(const struct gang_emit *emit, uint32_t number)
{
    return emit->shapes.of[number].level == GANG_LINEAR
               ? ir_slice_of("")
               : emit->function->values[number].flags;
}

/* The first lane's value as it is in a longer type, part by part. */
static struct ir_slice
wide_base(struct gang_emit *emit, uint32_t number, struct gang_type to, bool is_signed)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice name;

    if (gang_goes_down(emit->function, &emit->shapes, number, is_signed)) {
        struct ir_slice a = wide_base(emit, value->operands[0], to, is_signed);
        struct ir_slice b = wide_base(emit, value->operands[1], to, is_signed);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %.*s %s %.*s, %.*s", IR_ARGS(name),
                  IR_ARGS(value->word), gang_type_name(to), IR_ARGS(a), IR_ARGS(b));
        return name;
    }
    name = gang_name(emit);
    gang_line(emit, "%.*s = %s %s %.*s to %s", IR_ARGS(name),
              is_signed ? "sext" : "zext", gang_type_name(value->type),
              IR_ARGS(gang_base(emit, number)), gang_type_name(to));
    return name;
}

/* Whether a value wraps between the lanes of the gang: base + stride * (width - 1), in
 * 64 bits, must be what it is in its own type. */
static struct ir_slice
write_check(struct gang_emit *emit, uint32_t number, bool is_signed)
{
    const struct gang_value *value = &emit->function->values[number];
    const char *type = gang_type_name(value->type);
    const char *extend = is_signed ? "sext" : "zext";
    struct ir_slice base = gang_base(emit, number);
    struct ir_slice wide = gang_name(emit);
    struct ir_slice last = gang_name(emit);
    struct ir_slice narrow = gang_name(emit);
    struct ir_slice again = gang_name(emit);
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = %s %s %.*s to i64", IR_ARGS(wide), extend, type,
              IR_ARGS(base));
    gang_line(emit, "%.*s = add i64 %.*s, %lld", IR_ARGS(last), IR_ARGS(wide),
              (long long)(emit->shapes.of[number].stride * (int64_t)(emit->width - 1)));
    gang_line(emit, "%.*s = trunc i64 %.*s to %s", IR_ARGS(narrow), IR_ARGS(last),
              type);
    gang_line(emit, "%.*s = %s %s %.*s to i64", IR_ARGS(again), extend, type,
              IR_ARGS(narrow));
    gang_line(emit, "%.*s = icmp eq i64 %.*s, %.*s", IR_ARGS(name), IR_ARGS(again),
              IR_ARGS(last));
    return name;
}

/* Whether all checks that the operands had, and perhaps one more, have passed. */
static void
define_check(struct gang_emit *emit, uint32_t number, struct ir_slice own)
{
    const struct gang_value *value = &emit->function->values[number];

    if (emit->shapes.of[number].level != GANG_LINEAR ||
        !emit->shapes.of[number].checked) {
        return;
    }
    for (uint32_t i = value->op == GANG_SELECT ? 1 : 0; i < value->operand_count; i++) {
        struct ir_slice other = gang_check(emit, value->operands[i]);
        if (other.size == 0) {
            continue;
        }
        if (own.size == 0) {
            own = other;
            continue;
        }
        struct ir_slice name = gang_name(emit);
        gang_line(emit, "%.*s = and i1 %.*s, %.*s", IR_ARGS(name), IR_ARGS(own),
                  IR_ARGS(other));
        own = name;
    }
    gang_slot_write(emit, gang_slot(emit, GANG_SLOT_CHECK, number, 0),
                    own.size > 0 ? own : ir_slice_of("true"));
}

/* `own` is the check that the cast needs, if it needs one. */
static struct ir_slice
scalar_cast(struct gang_emit *emit, uint32_t number, struct ir_slice *own)
{
    const struct gang_value *value = &emit->function->values[number];
    struct gang_shape shape = emit->shapes.of[number];
    bool longer = ir_is(value->word, "sext") || ir_is(value->word, "zext");
    struct ir_slice name;

    *own = ir_slice_of("");
    if (shape.level == GANG_LINEAR && longer) {
        bool is_signed = gang_is_signed(value);
        if (emit->shapes.widening[number] == GANG_WIDE_CHECKED) {
            *own = write_check(emit, value->operands[0], is_signed);
            name = gang_name(emit);
            gang_line(emit, "%.*s = %s %s %.*s to %s", IR_ARGS(name),
                      is_signed ? "sext" : "zext", gang_type_name(value->from),
                      IR_ARGS(gang_base(emit, value->operands[0])),
                      gang_type_name(value->type));
        } else {
            name = wide_base(emit, value->operands[0], value->type, is_signed);
        }
    } else {
        struct ir_slice a = gang_base(emit, value->operands[0]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %.*s %.*s %s %.*s to %s", IR_ARGS(name),
                  IR_ARGS(ir_is(value->word, "addrspacecast") ? ir_slice_of("bitcast")
                                                              : value->word),
                  IR_ARGS(flags_of(emit, number)), gang_type_name(value->from),
                  IR_ARGS(a), gang_type_name(value->type));
    }
    return name;
}

static void
write_cast(struct gang_emit *emit, uint32_t number)
{
    struct ir_slice own;
    struct ir_slice name = scalar_cast(emit, number, &own);

    define_check(emit, number, own);
    gang_define(emit, number, name);
}

static struct ir_slice
scalar_address(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_slice at = gang_base(emit, value->operands[0]);
    struct ir_slice name;

    for (uint32_t i = 1; i < value->operand_count; i++) {
        struct gang_type type = emit->function->values[value->operands[i]].type;
        struct ir_slice index = gang_base(emit, value->operands[i]);
        if (value->scales[i] != 1) {
            if (type.bits != 64) {
                name = gang_name(emit);
                gang_line(emit, "%.*s = sext %s %.*s to i64", IR_ARGS(name),
                          gang_type_name(type), IR_ARGS(index));
                index = name;
                type = wide_type;
            }
            name = gang_name(emit);
            gang_line(emit, "%.*s = mul i64 %.*s, %lld", IR_ARGS(name), IR_ARGS(index),
                      (long long)value->scales[i]);
            index = name;
        }
        name = gang_name(emit);
        gang_line(emit, "%.*s = getelementptr i8, ptr %.*s, %s %.*s", IR_ARGS(name),
                  IR_ARGS(at), gang_type_name(type), IR_ARGS(index));
        at = name;
    }
    if (value->offset != 0 || value->operand_count == 1) {
        name = gang_name(emit);
        gang_line(emit, "%.*s = getelementptr i8, ptr %.*s, i64 %lld", IR_ARGS(name),
                  IR_ARGS(at), (long long)value->offset);
        at = name;
    }
    return at;
}

static struct ir_slice
scalar_call(struct gang_emit *emit, const struct gang_value *value)
{
    struct ir_out arguments = {.arena = emit->function->arena};
    struct ir_slice name = gang_name(emit);

    for (uint32_t i = 0; i < value->operand_count; i++) {
        struct gang_type type = emit->function->values[value->operands[i]].type;
        ir_print(&arguments, "%s%s %.*s", i > 0 ? ", " : "", gang_type_name(type),
                 IR_ARGS(gang_base(emit, value->operands[i])));
    }
    gang_line(emit, "%.*s = call %.*s %s %.*s(%.*s)", IR_ARGS(name),
              IR_ARGS(value->flags), gang_type_name(value->type), IR_ARGS(value->text),
              (int)arguments.size, arguments.text != NULL ? arguments.text : "");
    return name;
}

static struct ir_slice
scalar_value(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    const char *type = gang_type_name(value->type);
    struct ir_slice flags = flags_of(emit, number);
    struct ir_slice a;
    struct ir_slice b;
    struct ir_slice c;
    struct ir_slice name;

    switch (value->op) {
    case GANG_BINARY:
        a = gang_base(emit, value->operands[0]);
        b = gang_base(emit, value->operands[1]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %.*s %.*s %s %.*s, %.*s", IR_ARGS(name),
                  IR_ARGS(ir_is(flags, "") && ir_is(value->word, "or") &&
                                  emit->shapes.of[number].level == GANG_LINEAR
                              ? ir_slice_of("add")
                              : value->word),
                  IR_ARGS(flags), type, IR_ARGS(a), IR_ARGS(b));
        return name;
    case GANG_COMPARE:
        a = gang_base(emit, value->operands[0]);
        b = gang_base(emit, value->operands[1]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %s %.*s %.*s %s %.*s, %.*s", IR_ARGS(name),
                  value->float_compare ? "fcmp" : "icmp",
                  IR_ARGS(value->float_compare ? flags : ir_slice_of("")),
                  IR_ARGS(value->word), gang_type_name(value->from), IR_ARGS(a),
                  IR_ARGS(b));
        return name;
    case GANG_NEGATE:
    case GANG_FREEZE:
        a = gang_base(emit, value->operands[0]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = %s %.*s %s %.*s", IR_ARGS(name),
                  value->op == GANG_NEGATE ? "fneg" : "freeze", IR_ARGS(flags), type,
                  IR_ARGS(a));
        return name;
    case GANG_SELECT:
        a = gang_base(emit, value->operands[0]);
        b = gang_base(emit, value->operands[1]);
        c = gang_base(emit, value->operands[2]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = select %.*s i1 %.*s, %s %.*s, %s %.*s", IR_ARGS(name),
                  IR_ARGS(value->type.kind == GANG_FLOAT ? flags : ir_slice_of("")),
                  IR_ARGS(a), type, IR_ARGS(b), type, IR_ARGS(c));
        return name;
    case GANG_ADDRESS:
        return scalar_address(emit, value);
    case GANG_PURE:
        return scalar_call(emit, value);
    case GANG_CLOCK:
        name = gang_name(emit);
        gang_line(emit, "%.*s = call i64 @__ha_rt_clock()", IR_ARGS(name));
        return name;
    case GANG_QUERY:
        a = gang_base(emit, value->operands[0]);
        name = gang_name(emit);
        gang_line(emit, "%.*s = call i64 @__ha_rt_query(i32 %.*s)", IR_ARGS(name),
                  IR_ARGS(a));
        return name;
    default:
        gang_refuse(emit->function, "a value that is not known");
    }
}

struct ir_slice
gang_write_base(struct gang_emit *emit, uint32_t number)
{
    struct ir_slice own;

    return emit->function->values[number].op == GANG_CAST
               ? scalar_cast(emit, number, &own)
               : scalar_value(emit, number);
}

/* ---- the whole ---- */

static void
write_compute(struct gang_emit *emit, uint32_t number)
{
    if (emit->shapes.of[number].level == GANG_VARYING) {
        gang_define(emit, number, gang_write_vector(emit, number));
        return;
    }
    struct ir_slice name = scalar_value(emit, number);
    define_check(emit, number, ir_slice_of(""));
    gang_define(emit, number, name);
}

void
gang_write_inst(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];

    emit->function->at = value->source;
    switch (value->op) {
    case GANG_CAST:
        if (emit->shapes.of[number].level == GANG_VARYING) {
            write_compute(emit, number);
        } else {
            write_cast(emit, number);
        }
        return;
    case GANG_BINARY:
    case GANG_COMPARE:
    case GANG_NEGATE:
    case GANG_FREEZE:
    case GANG_SELECT:
    case GANG_ADDRESS:
    case GANG_PURE:
    case GANG_CLOCK:
    case GANG_QUERY:
        write_compute(emit, number);
        return;
    case GANG_COORDINATE:
    case GANG_DYNAMIC:
    case GANG_BARRIER:
        return; /* named where they are used; at the end of the run */
    case GANG_WARP:
        gang_write_warp(emit, number);
        return;
    default:
        gang_write_memory(emit, number);
        return;
    }
}
