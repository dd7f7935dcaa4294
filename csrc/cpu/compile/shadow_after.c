/* SPDX-License-Identifier: MIT */
/* What LLVM's pass has made, with our functions in place of the Linux kernel's. */
#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_operand.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/shadow_insert.h"
#include "cpu/compile/ir_pass.h"

#define OWN_MOST 64u /* bytes of a variable whose shadow is a variable */
#define PARAMS_BYTES 800u
#define NOT_OWN UINT32_MAX

static const char declarations[] =
    "\ndeclare ptr @__ha_shadow_calls() nounwind willreturn memory(none)\n"
    "declare { ptr, ptr } @__ha_shadow_read(ptr readnone, i64) nounwind willreturn "
    "memory(none)\n"
    "declare { ptr, ptr } @__ha_shadow_write(ptr readnone, i64) nounwind willreturn "
    "memory(none)\n"
    "declare i32 @__ha_shadow_name(ptr readnone, i64) nounwind willreturn "
    "memory(none)\n"
    "declare void @__ha_shadow_copy(ptr, ptr, i64) nounwind willreturn\n"
    "declare void @__ha_shadow_clear(ptr, i64) nounwind willreturn\n"
    "declare void @__ha_shadow_fill(ptr, i64, i64) nounwind willreturn\n"
    "declare void @__ha_shadow_origin(ptr, i64, i64) nounwind willreturn\n";

/* What the text may call that the pass reads. */
#define COMPUTED HA_SHADOW_PREFIX "computed"

static const struct {
    const char *name, *line;
} needed[] = {
    {"@__ha_check(", "declare void @__ha_check(ptr nocapture readnone, i64, i32, i64) "
                     "nounwind willreturn nocallback nofree memory(inaccessiblemem: "
                     "readwrite)\n"},
    {"@llvm.memset.p0.i64(",
     "declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg)\n"},
    {"@llvm.memmove.p0.p0.i64(",
     "declare void @llvm.memmove.p0.p0.i64(ptr nocapture "
     "writeonly, ptr nocapture readonly, i64, i1 immarg)\n"},
};

/* A variable of the function at hand. */
struct own {
    struct ir_slice name;
    uint64_t bytes;
    bool shown; /* its address goes elsewhere */
};

struct after {
    struct ir_arena *arena;
    struct ha_bytes *text;
    struct ir_types types;
    struct ir_map names;  /* variable -> number in `own` */
    struct ir_map places; /* pair of its shadow's addresses -> the same */
    struct own *own;
    uint32_t own_count, own_capacity;
    uint32_t made; /* names of ours */
    bool kernel;
};

/* ---- variables ---- */

static uint32_t
own_of(const struct after *after, struct ir_slice name)
{
    uint32_t number;

    return name.size > 0 && name.at[0] == '%' &&
                   ir_map_get(&after->names, name, &number)
               ? number
               : NOT_OWN;
}

/* "%x = alloca i32, align 4" */
static void
add_own(struct after *after, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(after->arena, inst->rest, &count);

    if (count > 2 || (count == 2 && !ir_begins(ir_trim(parts[1]), "align "))) {
        return;
    }
    uint64_t bytes = ir_layout_of(&after->types, ir_trim(parts[0])).size;
    if (bytes == 0 || bytes > OWN_MOST) {
        return;
    }
    if (after->own_count == after->own_capacity) {
        uint32_t capacity = 2 * after->own_capacity + 64;
        struct own *grown = ir_alloc(after->arena, capacity, sizeof *grown);
        if (after->own_count > 0) {
            memcpy(grown, after->own, after->own_count * sizeof *grown);
        }
        after->own = grown;
        after->own_capacity = capacity;
    }
    ir_map_set(&after->names, inst->def, after->own_count);
    after->own[after->own_count++] = (struct own){.name = inst->def, .bytes = bytes};
}

/* Marks what the text names as shown. */
static void
show_all(struct after *after, struct ir_slice text)
{
    for (size_t at = ir_find(text, "%", 0); at != SIZE_MAX;
         at = ir_find(text, "%", at + 1)) {
        uint32_t number = own_of(after, ir_token(text, at));
        if (number != NOT_OWN) {
            after->own[number].shown = true;
        }
        if (at + 1 < text.size && text.at[at + 1] == '"') {
            at += ir_token(text, at).size - 1;
        }
    }
}

/* Whether a call needs nothing but to know which variable is meant. */
static bool
is_about(const struct ir_inst *inst)
{
    return ir_begins(inst->callee, "@llvm.lifetime.") ||
           ir_begins(inst->callee, "@__msan_metadata_ptr_for_") ||
           ir_is(inst->callee, COMPUTED) ||
           ir_is(inst->callee, "@__msan_poison_alloca") ||
           ir_is(inst->callee, "@__msan_unpoison_alloca");
}

/* Reads and writes at the variable's own address do not show it. */
static void
study(struct after *after, const struct ir_inst *inst)
{
    uint32_t count;
    bool load = ir_is(inst->op, "load"), store = ir_is(inst->op, "store");

    if (ir_is(inst->op, "alloca")) {
        add_own(after, inst);
        return;
    }
    if (ir_is(inst->op, "call") && is_about(inst)) {
        return;
    }
    if (!load && !store) {
        show_all(after, inst->rest);
        return;
    }
    struct ir_slice *parts = ir_split(after->arena, inst->rest, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct ir_slice part = ir_trim(parts[i]);
        bool address = i == 1 && ir_begins(part, "ptr %") &&
                       ir_token(part, 4).size == part.size - 4;
        if (!address) {
            show_all(after, part);
        }
    }
}

/* The number of a variable whose shadow is a variable, by its name. */
static uint32_t
hidden_of(const struct after *after, struct ir_slice name)
{
    uint32_t number = own_of(after, name);

    return number != NOT_OWN && !after->own[number].shown ? number : NOT_OWN;
}

/* ---- calls ---- */

/* The value of an argument: "%p" of "ptr noundef %p". */
static struct ir_slice
value_of(struct ir_slice argument)
{
    uint64_t unused = 0;
    struct ir_slice text = ir_trim(argument);
    size_t at = ir_find(text, " ", 0);

    return at == SIZE_MAX
               ? text
               : ir_without_attributes(ir_trim(ir_part(text, at, text.size)), &unused);
}

/* An address as one of the generic space: "ptr addrspace(3) %p". */
static struct ir_slice
generic(struct after *after, struct ir_slice argument, struct ir_slice debug)
{
    struct ir_address address;

    if (!ir_address_read(argument, &address)) {
        return value_of(argument);
    }
    if (address.space == 0) {
        return address.name;
    }
    struct ir_slice name = ir_format(after->arena, "%%ha.sg.%u", after->made++);
    ha_buffer_format(
        after->text, "  %.*s = addrspacecast ptr addrspace(%u) %.*s to ptr%.*s\n",
        IR_ARGS(name), address.space, IR_ARGS(address.name), IR_ARGS(debug));
    return name;
}

/* "@__msan_metadata_ptr_for_load_4(ptr %p)"; those of other sizes have a second
 * argument. */
static void
put_place(struct after *after, const struct ir_inst *inst,
          const struct ir_slice *arguments, uint32_t count)
{
    struct ir_slice debug = ir_debug(inst->line), name = inst->callee;
    bool writes = ir_find(name, "_for_store_", 0) != SIZE_MAX;
    uint32_t number = hidden_of(after, value_of(arguments[0]));
    struct ir_slice bytes =
        count > 1 ? value_of(arguments[1]) : ir_part(name, name.size - 1, name.size);

    if (number != NOT_OWN) {
        /* The name stays in use: names that are numbers have no gaps. */
        ir_map_set(&after->places, inst->def, number);
        ha_buffer_format(after->text, "  %.*s = or i1 false, false%.*s\n",
                         IR_ARGS(inst->def), IR_ARGS(debug));
        return;
    }
    struct ir_slice at = generic(after, arguments[0], debug);
    ha_buffer_format(
        after->text,
        "  %.*s = call { ptr, ptr } @__ha_shadow_%s(ptr %.*s, i64 %.*s)%.*s\n",
        IR_ARGS(inst->def), writes ? "write" : "read", IR_ARGS(at), IR_ARGS(bytes),
        IR_ARGS(debug));
}

/* What has no value reads as zero; see the header. */
static void
put_poison(struct after *after, const struct ir_inst *inst,
           const struct ir_slice *arguments)
{
    struct ir_slice debug = ir_debug(inst->line), at = value_of(arguments[0]);
    struct ir_slice bytes = value_of(arguments[1]), text = value_of(arguments[2]);
    uint32_t number = hidden_of(after, at);
    unsigned made = after->made++;

    ha_buffer_format(after->text,
                     "  call void @llvm.memset.p0.i64(ptr %.*s, i8 0, i64 %.*s, i1 "
                     "false)%.*s\n"
                     "  %%ha.sn.%u = call i32 @__ha_shadow_name(ptr %.*s, i64 "
                     "%.*s)%.*s\n",
                     IR_ARGS(at), IR_ARGS(bytes), IR_ARGS(debug), made, IR_ARGS(text),
                     IR_ARGS(bytes), IR_ARGS(debug));
    if (number == NOT_OWN) {
        ha_buffer_format(after->text,
                         "  %%ha.sw.%u = zext i32 %%ha.sn.%u to i64%.*s\n"
                         "  call void @__ha_shadow_fill(ptr %.*s, i64 %.*s, i64 "
                         "%%ha.sw.%u)%.*s\n",
                         made, made, IR_ARGS(debug), IR_ARGS(at), IR_ARGS(bytes), made,
                         IR_ARGS(debug));
        return;
    }
    ha_buffer_format(after->text,
                     "  call void @llvm.memset.p0.i64(ptr %%ha.sb.%u, i8 -1, i64 %.*s, "
                     "i1 false)%.*s\n",
                     number, IR_ARGS(bytes), IR_ARGS(debug));
    for (uint64_t i = 0; i < after->own[number].bytes; i += 4) {
        unsigned part = after->made++;
        ha_buffer_format(after->text,
                         "  %%ha.sp.%u = getelementptr i8, ptr %%ha.so.%u, i64 "
                         "%llu%.*s\n  store i32 %%ha.sn.%u, ptr %%ha.sp.%u, align "
                         "4%.*s\n",
                         part, number, (unsigned long long)i, IR_ARGS(debug), made,
                         part, IR_ARGS(debug));
    }
}

static void
put_unpoison(struct after *after, const struct ir_inst *inst,
             const struct ir_slice *arguments)
{
    struct ir_slice debug = ir_debug(inst->line), at = value_of(arguments[0]);
    struct ir_slice bytes = value_of(arguments[1]);
    uint32_t number = hidden_of(after, at);

    if (number == NOT_OWN) {
        ha_buffer_format(after->text,
                         "  call void @__ha_shadow_clear(ptr %.*s, i64 %.*s)%.*s\n",
                         IR_ARGS(at), IR_ARGS(bytes), IR_ARGS(debug));
    } else {
        ha_buffer_format(after->text,
                         "  call void @llvm.memset.p0.i64(ptr %%ha.sb.%u, i8 0, i64 "
                         "%.*s, i1 false)%.*s\n",
                         number, IR_ARGS(bytes), IR_ARGS(debug));
    }
}

/* "@__msan_warning(i32 %origin)" */
static void
put_warning(struct after *after, const struct ir_inst *inst,
            const struct ir_slice *arguments)
{
    struct ir_slice debug = ir_debug(inst->line), origin = value_of(arguments[0]);
    unsigned made = after->made++;

    ha_buffer_format(after->text,
                     "  %%ha.sw.%u = zext i32 %.*s to i64%.*s\n"
                     "  call void @__ha_check(ptr null, i64 0, i32 %u, i64 %%ha.sw.%u) "
                     "nomerge%.*s\n",
                     made, IR_ARGS(origin), IR_ARGS(debug),
                     (unsigned)(HA_SITE_UNWRITTEN | HA_SITE_READ), made,
                     IR_ARGS(debug));
}

/* memcpy, memmove and memset: the pass leaves them to its functions, with an answer. */
static void
put_copy(struct after *after, const struct ir_inst *inst,
         const struct ir_slice *arguments)
{
    struct ir_slice debug = ir_debug(inst->line), to, from, bytes;
    unsigned made = after->made++;
    bool fills = ir_is(inst->callee, "@__msan_memset");

    to = generic(after, arguments[0], debug);
    bytes = value_of(arguments[2]);
    if (fills) {
        ha_buffer_format(
            after->text,
            "  %%ha.sf.%u = trunc i32 %.*s to i8%.*s\n"
            "  call void @llvm.memset.p0.i64(ptr %.*s, i8 %%ha.sf.%u, i64 %.*s, i1 "
            "false)%.*s\n"
            "  call void @__ha_shadow_clear(ptr %.*s, i64 %.*s)%.*s\n",
            made, IR_ARGS(value_of(arguments[1])), IR_ARGS(debug), IR_ARGS(to), made,
            IR_ARGS(bytes), IR_ARGS(debug), IR_ARGS(to), IR_ARGS(bytes),
            IR_ARGS(debug));
    } else {
        from = generic(after, arguments[1], debug);
        ha_buffer_format(
            after->text,
            "  call void @llvm.memmove.p0.p0.i64(ptr %.*s, ptr %.*s, i64 %.*s, i1 "
            "false)%.*s\n"
            "  call void @__ha_shadow_copy(ptr %.*s, ptr %.*s, i64 %.*s)%.*s\n",
            IR_ARGS(to), IR_ARGS(from), IR_ARGS(bytes), IR_ARGS(debug), IR_ARGS(to),
            IR_ARGS(from), IR_ARGS(bytes), IR_ARGS(debug));
    }
    if (inst->def.size > 0) {
        ha_buffer_format(after->text,
                         "  %.*s = getelementptr i8, ptr %.*s, i64 0%.*s\n",
                         IR_ARGS(inst->def), IR_ARGS(to), IR_ARGS(debug));
    }
}

static void
put_calls(struct after *after, const struct ir_inst *inst)
{
    ha_buffer_format(after->text, "  %.*s = call ptr @__ha_shadow_calls()\n",
                     IR_ARGS(inst->def));
    if (after->kernel) { /* nobody has called it */
        ha_buffer_format(after->text,
                         "  call void @llvm.memset.p0.i64(ptr %.*s, i8 0, i64 %u, i1 "
                         "false)\n",
                         IR_ARGS(inst->def), PARAMS_BYTES);
    }
}

static void
put_other(struct after *after, const struct ir_inst *inst,
          const struct ir_slice *arguments, uint32_t count)
{
    struct ir_slice debug = ir_debug(inst->line);

    if (ir_is(inst->callee, "@__msan_instrument_asm_store") && count > 1) {
        struct ir_slice at = generic(after, arguments[0], debug);
        ha_buffer_format(after->text,
                         "  call void @__ha_shadow_clear(ptr %.*s, i64 %.*s)%.*s\n",
                         IR_ARGS(at), IR_ARGS(value_of(arguments[1])), IR_ARGS(debug));
    } else if (ir_is(inst->callee, "@__msan_set_origin") && count > 2) {
        struct ir_slice at = generic(after, arguments[0], debug);
        unsigned made = after->made++;
        ha_buffer_format(after->text,
                         "  %%ha.sw.%u = zext i32 %.*s to i64%.*s\n"
                         "  call void @__ha_shadow_origin(ptr %.*s, i64 %.*s, i64 "
                         "%%ha.sw.%u)%.*s\n",
                         made, IR_ARGS(value_of(arguments[2])), IR_ARGS(debug),
                         IR_ARGS(at), IR_ARGS(value_of(arguments[1])), made,
                         IR_ARGS(debug));
    } else {
        ir_fail(after->arena, HA_ERROR_UNSUPPORTED,
                "the compiler's check calls a function that is not known: %.*s",
                IR_ARGS(inst->line));
    }
}

static void
put_msan(struct after *after, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *arguments = ir_arguments(after->arena, inst->line, &count);

    if (ir_is(inst->callee, "@__msan_get_context_state")) {
        put_calls(after, inst);
    } else if (ir_begins(inst->callee, "@__msan_metadata_ptr_for_") && count > 0) {
        put_place(after, inst, arguments, count);
    } else if (ir_is(inst->callee, "@__msan_poison_alloca") && count > 2) {
        put_poison(after, inst, arguments);
    } else if (ir_is(inst->callee, "@__msan_unpoison_alloca") && count > 1) {
        put_unpoison(after, inst, arguments);
    } else if (ir_is(inst->callee, "@__msan_warning") && count > 0) {
        put_warning(after, inst, arguments);
    } else if (ir_begins(inst->callee, "@__msan_mem") && count > 2) {
        put_copy(after, inst, arguments);
    } else {
        put_other(after, inst, arguments, count);
    }
}

/* A mark on the origins of what was stored; see HA_SHADOW_COMPUTED. */
static bool
put_computed(struct after *after, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *arguments = ir_arguments(after->arena, inst->line, &count);
    struct ir_slice debug = ir_debug(inst->line);
    uint32_t number = count > 1 ? hidden_of(after, value_of(arguments[0])) : NOT_OWN;

    if (number == NOT_OWN) {
        return false;
    }
    for (uint64_t i = 0; i < after->own[number].bytes; i += 4) {
        unsigned made = after->made++;
        ha_buffer_format(after->text,
                         "  %%ha.sq.%u = getelementptr i8, ptr %%ha.so.%u, i64 "
                         "%llu%.*s\n"
                         "  %%ha.sr.%u = load i32, ptr %%ha.sq.%u, align 4%.*s\n"
                         "  %%ha.ss.%u = or i32 %%ha.sr.%u, %u%.*s\n"
                         "  store i32 %%ha.ss.%u, ptr %%ha.sq.%u, align 4%.*s\n",
                         made, number, (unsigned long long)i, IR_ARGS(debug), made,
                         made, IR_ARGS(debug), made, made, HA_SHADOW_COMPUTED_BIT,
                         IR_ARGS(debug), made, made, IR_ARGS(debug));
    }
    return true;
}

/* ---- the text ---- */

/* "extractvalue { ptr, ptr } %19, 1" of a pair that is not there. */
static bool
put_half(struct after *after, const struct ir_inst *inst)
{
    size_t at = ir_find(inst->rest, "{ ptr, ptr } %", 0);
    uint32_t number;

    if (at != 0) {
        return false;
    }
    struct ir_slice pair = ir_token(inst->rest, strlen("{ ptr, ptr } "));
    if (!ir_map_get(&after->places, pair, &number)) {
        return false;
    }
    bool second = ir_find(inst->rest, ", 1", strlen("{ ptr, ptr } ")) != SIZE_MAX;
    ha_buffer_format(
        after->text, "  %.*s = getelementptr i8, ptr %%ha.s%c.%u, i64 0%.*s\n",
        IR_ARGS(inst->def), second ? 'o' : 'b', number, IR_ARGS(ir_debug(inst->line)));
    return true;
}

static void
put_line(struct after *after, struct ir_slice line)
{
    struct ir_inst inst = ir_inst_of(ir_trim(line));

    if (ir_is(inst.op, "call") && ir_begins(inst.callee, "@__msan_")) {
        put_msan(after, &inst);
        return;
    }
    if (ir_is(inst.callee, COMPUTED) && put_computed(after, &inst)) {
        return;
    }
    if (ir_is(inst.op, "extractvalue") && put_half(after, &inst)) {
        return;
    }
    ha_buffer_format(after->text, "%.*s\n", IR_ARGS(line));
    if (!ir_is(inst.op, "alloca")) {
        return;
    }
    uint32_t number = hidden_of(after, inst.def);
    if (number != NOT_OWN) {
        uint64_t bytes = (after->own[number].bytes + 3) / 4 * 4;
        ha_buffer_format(after->text,
                         "  %%ha.sb.%u = alloca [%llu x i8], align 64\n"
                         "  %%ha.so.%u = alloca [%llu x i8], align 64\n",
                         number, (unsigned long long)bytes, number,
                         (unsigned long long)bytes);
    }
}

static void
put_attributes(struct after *after, struct ir_slice line)
{
    size_t size = strlen(HA_SHADOW_INLINE);
    const char *at = memmem(line.at, line.size, HA_SHADOW_INLINE, size);

    if (at == NULL) {
        ha_buffer_format(after->text, "%.*s\n", IR_ARGS(line));
        return;
    }
    size_t before = (size_t)(at - line.at);
    ha_buffer_format(after->text, "%.*salwaysinline%.*s\n", (int)before, line.at,
                     IR_ARGS(ir_part(line, before + size, line.size)));
}

/* From `at`, which is behind a newline, to behind the next one. */
static struct ir_slice
line_at(struct ir_slice text, size_t at)
{
    const char *end = memchr(text.at + at, '\n', text.size - at);

    return ir_part(text, at, end == NULL ? text.size : (size_t)(end - text.at));
}

static void
start_function(struct after *after, struct ir_slice text, size_t at)
{
    struct ir_slice line = line_at(text, at);

    after->kernel = ir_find(line, " ptx_kernel ", 0) != SIZE_MAX;
    after->names = (struct ir_map){.arena = after->arena};
    after->places = (struct ir_map){.arena = after->arena};
    after->own_count = 0;
    for (at += line.size + 1; at < text.size; at += line.size + 1) {
        line = line_at(text, at);
        ir_poll(after->arena);
        if (ir_begins(line, "}")) {
            break;
        }
        if (line.size > 2 && line.at[0] == ' ') {
            struct ir_inst inst = ir_inst_of(ir_trim(line));
            study(after, &inst);
        }
    }
}

static void
put_all(struct after *after, struct ir_slice text)
{
    struct ir_module module = {0};
    bool inside = false;

    ir_parse(after->arena, text, &module);
    ir_types_read(&after->types, &module);
    for (size_t at = 0; at < text.size;) {
        struct ir_slice line = line_at(text, at);
        ir_poll(after->arena);
        if (ir_begins(line, "define ")) {
            inside = true;
            start_function(after, text, at);
        } else if (ir_begins(line, "}")) {
            inside = false;
        }
        if (inside && line.size > 2 && line.at[0] == ' ') {
            put_line(after, line);
        } else if (ir_begins(line, "attributes #")) {
            put_attributes(after, line);
        } else if (!ir_begins(line, "declare ") ||
                   ir_find(line, "@__msan_", 0) == SIZE_MAX) {
            ha_buffer_format(after->text, "%.*s\n", IR_ARGS(line));
        }
        at += line.size + 1;
    }
    ha_buffer_text(after->text, declarations);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        bool there = false;
        for (size_t d = 0; d < module.declare_count; d++) {
            there = there || ir_find(module.declares[d], needed[i].name, 0) != SIZE_MAX;
        }
        if (!there) {
            ha_buffer_text(after->text, needed[i].line);
        }
    }
}

static void
run(struct ir_arena *arena, const struct ha_rewrite_request *request,
    struct ha_bytes *text)
{
    struct after after = {.arena = arena, .text = text};

    put_all(&after, (struct ir_slice){request->ir, request->ir_size});
}

enum ha_status
ha_shadow_after(const struct ha_rewrite_request *request, struct ha_bytes *text)
{
    return ir_pass_run(run, "shadow", request, text);
}
