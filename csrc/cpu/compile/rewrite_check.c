/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_check.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/ir_operand.h"
#include "cpu/compile/ir_place.h"
#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

#define DEPTH_MAX 64u
#define TEXT_MOST 240u /* bytes of a line of the source */

const char ha_check_function[] =
    "define internal void @__ha_rt_check(ptr %at, i64 %size, ptr %site, ptr %root, "
    "i64 %value) alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 96)\n"
    "  call void %f(ptr %at, i64 %size, ptr %site, ptr %root, i64 %value)\n"
    "  ret void\n}\n\n";

_Static_assert(offsetof(struct ha_image_runtime, check) == 96, "in ha_check_function");

_Static_assert(offsetof(struct ha_image_runtime, shadow_calls) == 112, "in the text");
_Static_assert(offsetof(struct ha_image_runtime, shadow) == 120, "in the text");
_Static_assert(offsetof(struct ha_image_runtime, shadow_do) == 128, "in the text");

#define DO(name, parameters, op, to, from, size, value)                                \
    "define internal void @__ha_shadow_" name "(" parameters ") alwaysinline "         \
    "nounwind {\n"                                                                     \
    "  %f = call ptr @__ha_rt_at(i64 128)\n"                                           \
    "  %u = call i64 %f(i32 " op ", ptr " to ", ptr " from ", i64 " size               \
    ", i64 " value ")\n"                                                               \
    "  ret void\n}\n"
#define PLACE(name, write)                                                             \
    "define internal { ptr, ptr } @__ha_shadow_" name                                  \
    "(ptr %at, i64 %size) alwaysinline nounwind {\n"                                   \
    "  %f = call ptr @__ha_rt_at(i64 120)\n"                                           \
    "  %r = call { ptr, ptr } %f(ptr %at, i64 %size, i32 " write                       \
    ") nounwind willreturn memory(none)\n"                                             \
    "  ret { ptr, ptr } %r\n}\n"

const char ha_shadow_functions[] =
    "define internal ptr @__ha_shadow_calls() alwaysinline nounwind {\n"
    "  %f = call ptr @__ha_rt_at(i64 112)\n"
    "  %r = call ptr %f() nounwind willreturn memory(none)\n  ret ptr %r\n}\n" PLACE(
        "read", "0")
        PLACE(
            "write",
            "1") "define internal i32 @__ha_shadow_name(ptr %name, i64 %size) alwaysinline nounwind "
                 "{\n  %f = call ptr @__ha_rt_at(i64 128)\n"
                 "  %r = call i64 %f(i32 4, ptr null, ptr %name, i64 %size, i64 0) nounwind "
                 "willreturn memory(none)\n"
                 "  %t = trunc i64 %r to i32\n  ret i32 %t\n}\n"
                 "define internal i64 @__ha_shadow_atomic(ptr %at, i64 %size, i64 %kind, i64 %v) "
                 "alwaysinline nounwind {\n  %f = call ptr @__ha_rt_at(i64 128)\n"
                 "  %r = call i64 %f(i32 5, ptr %at, ptr null, i64 %size, i64 %kind)\n"
                 "  ret i64 %r\n}\n" DO("atomic_done",
                                        "ptr %at, i64 %size, i64 %stored", "6", "%at",
                                        "null", "%size", "%stored")
                     DO("copy", "ptr %to, ptr %from, i64 %size", "0", "%to", "%from",
                        "%size", "0") DO("clear", "ptr %to, i64 %size", "1", "%to",
                                         "null", "%size", "0")
                         DO("fill", "ptr %to, i64 %size, i64 %origin", "1", "%to",
                            "null", "%size", "%origin")
                             DO("computed", "ptr %to, i64 %size", "3", "%to", "null",
                                "%size", "0")
                                 DO("origin", "ptr %to, i64 %size, i64 %origin", "2",
                                    "%to", "null", "%size", "%origin") "\n";

struct root {
    enum ha_check_root kind;
    struct ir_slice value; /* "%p", "@x"; empty: there is none */
    struct ir_slice name;
    uint64_t bytes;
};

/* ---- roots ---- */

/* A variable that an expression names. */
static struct root
variable_root(struct ha_rewriter *rewriter, struct ir_slice name)
{
    struct root root = {.value = name, .name = ir_part(name, 1, name.size)};
    uint32_t number;

    if (ir_map_get(&rewriter->shared_names, name, &number)) {
        const struct ha_shared *shared = &rewriter->shared[number];
        root.kind = shared->dynamic ? HA_ROOT_DYNAMIC : HA_ROOT_SHARED;
        root.bytes = shared->size;
        return root;
    }
    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        const struct ir_global *global = &rewriter->module.globals[i];
        if (ir_same(global->name, name)) {
            bool constant = global->space == 4 || !ha_is_variable(global);
            root.kind = constant ? HA_ROOT_CONSTANT : HA_ROOT_VARIABLE;
            root.bytes = ir_layout_of(&rewriter->types, global->type).size;
            return root;
        }
    }
    return (struct root){0};
}

/* A parameter: the address itself, or a record of the arguments. */
static struct root
parameter_root(struct ha_rewriter *rewriter, const struct ir_function *function,
               struct ir_slice name)
{
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ir_param *param = &function->params[i];
        if (!ir_same(param->name, name)) {
            continue;
        }
        if (param->byval.size == 0) {
            return (struct root){.kind = HA_ROOT_POINTER, .value = name};
        }
        return (struct root){
            .kind = HA_ROOT_ARGUMENT,
            .value = name,
            .name = ir_part(name, 1, name.size),
            .bytes = ir_layout_of(&rewriter->types, param->byval).size,
        };
    }
    return (struct root){0};
}

static struct root
local_root(struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *parts = ir_split(rewriter->arena, inst->rest, &count);

    if (count >= 2 && !ir_begins(ir_trim(parts[1]), "align ")) {
        return (struct root){0};
    }
    return (struct root){
        .kind = HA_ROOT_LOCAL,
        .value = inst->def,
        .name = ir_part(inst->def, 1, inst->def.size),
        .bytes = ir_layout_of(&rewriter->types, ir_trim(parts[0])).size,
    };
}

/* The address that an instruction computes another one from; empty: none. */
static struct ir_slice
base_of(struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_address address;

    if (ir_is(inst->op, "getelementptr")) {
        struct ir_slice *parts = ir_split(rewriter->arena, inst->rest, &count);
        return count > 1 && ir_address_read(parts[1], &address) ? address.name
                                                                : (struct ir_slice){0};
    }
    if (ir_is(inst->op, "addrspacecast") || ir_is(inst->op, "freeze")) {
        size_t to = ir_find(inst->rest, " to ", 0);
        struct ir_slice text = to == SIZE_MAX ? inst->rest : ir_part(inst->rest, 0, to);
        return ir_address_read(text, &address) ? address.name : (struct ir_slice){0};
    }
    return (struct ir_slice){0};
}

static struct root
root_of(struct ha_rewriter *rewriter, const struct ir_function *function,
        const struct ir_values *values, struct ir_slice name)
{
    uint32_t number;

    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        if (name.size == 0 || name.at[0] != '%') {
            size_t at = ir_find(name, "@", 0);
            return at == SIZE_MAX ? (struct root){0}
                                  : variable_root(rewriter, ir_token(name, at));
        }
        const struct ir_inst *inst = ir_values_find(values, name, &number);
        if (inst == NULL) {
            return parameter_root(rewriter, function, name);
        }
        if (ir_is(inst->op, "alloca")) {
            return local_root(rewriter, inst);
        }
        struct ir_slice base = base_of(rewriter, inst);
        if (base.size == 0) {
            bool made = ir_is(inst->op, "load") || ir_is(inst->op, "call");
            return (struct root){.kind = made ? HA_ROOT_POINTER : HA_ROOT_UNKNOWN,
                                 .value = made ? name : (struct ir_slice){0}};
        }
        name = base;
    }
    return (struct root){0};
}

/* ---- sites ---- */

/* The line of the program's own text, without blanks around it. */
struct ir_slice
ha_check_line_of(const struct ha_rewriter *rewriter, const struct ir_place *place)
{
    struct ir_slice source = rewriter->source;
    size_t at = 0;

    if (source.size == 0 || !ir_same(place->file, rewriter->source_name)) {
        return (struct ir_slice){0};
    }
    for (uint32_t line = 1; line < place->line; line++) {
        const char *end = memchr(source.at + at, '\n', source.size - at);
        if (end == NULL) {
            return (struct ir_slice){0};
        }
        at = (size_t)(end - source.at) + 1;
    }
    const char *end = memchr(source.at + at, '\n', source.size - at);
    size_t to = end == NULL ? source.size : (size_t)(end - source.at);
    to = to - at > TEXT_MOST ? at + TEXT_MOST : to;
    return ir_part(source, at, to);
}

void
ha_check_put_text(struct ir_out *out, struct ir_slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
            ir_print(out, "%c", c);
        } else {
            ir_print(out, "\\%02X", c);
        }
    }
}

/* A string constant of its own for each use: the back end makes equal ones one. */
static void
write_text(struct ha_rewriter *rewriter, uint32_t site, const char *what,
           struct ir_slice text)
{
    struct ir_out *tail = &rewriter->tail;

    ir_print(tail, "@__ha_check_%s.%u = internal unnamed_addr constant [%zu x i8] c\"",
             what, site, text.size + 1);
    ha_check_put_text(tail, text);
    ir_print(tail, "\\00\"\n");
}

static void
write_site(struct ha_rewriter *rewriter, const struct ir_inst *inst,
           const struct root *root, uint32_t what, uint64_t bytes)
{
    uint32_t site = rewriter->check_sites;
    struct ir_place place = ir_place_of(&rewriter->module, inst->place);

    write_text(rewriter, site, "file", place.file);
    write_text(rewriter, site, "function", place.function);
    write_text(rewriter, site, "text", ha_check_line_of(rewriter, &place));
    write_text(rewriter, site, "root", root->name);
    ir_print(
        &rewriter->tail,
        "@__ha_check_site.%u = internal constant { ptr, ptr, ptr, ptr, i64, i32, "
        "i32, i32, i32, i32, i32 } { ptr @__ha_check_file.%u, ptr @__ha_check_function.%u, "
        "ptr @__ha_check_text.%u, ptr @__ha_check_root.%u, i64 %llu, i32 %u, i32 "
        "%u, i32 %u, i32 %u, i32 %u, i32 0 }\n",
        site, site, site, site, site, (unsigned long long)root->bytes, place.line,
        place.column, what, (unsigned)root->kind, (unsigned)bytes);
}

uint32_t
ha_check_site_write(struct ha_rewriter *rewriter, const struct ir_inst *inst)
{
    const struct root none = {0};

    write_site(rewriter, inst, &none, 0, 0);
    return rewriter->check_sites++;
}

struct ir_slice
ha_check_line(struct ha_rewriter *rewriter, const struct ir_function *function,
              const struct ir_values *values, const struct ir_inst *inst)
{
    uint32_t count;
    struct ir_slice *parts = ir_arguments(rewriter->arena, inst->line, &count);
    struct ir_address address;
    uint64_t unused = 0;

    if (count != 4 || !ir_address_read(parts[0], &address)) {
        ir_fail(rewriter->arena, HA_ERROR_UNSUPPORTED, "a check that is none: %.*s",
                IR_ARGS(inst->line));
    }
    struct ir_slice size = ir_trim(parts[1]), bits = ir_trim(parts[2]);
    size = ir_without_attributes(ir_part(size, 4, size.size), &unused);
    bits = ir_without_attributes(ir_part(bits, 4, bits.size), &unused);
    struct ir_slice value = ir_trim(parts[3]);
    value = ir_without_attributes(ir_part(value, 4, value.size), &unused);
    uint32_t what = (uint32_t)strtoul(bits.at, NULL, 10);
    if (ir_find(value, "(", 0) != SIZE_MAX) { /* an address of shared memory, perhaps */
        what &= ~(uint32_t)(HA_SITE_VALUED | HA_SITE_EXCHANGE);
        value = ir_slice_of("0");
    }
    struct root root = root_of(rewriter, function, values, address.name);
    write_site(rewriter, inst, &root, what,
               size.at[0] == '%' ? 0 : strtoull(size.at, NULL, 10));
    struct ir_slice name = ha_host_text(rewriter, address.name, false);
    return ir_format(rewriter->arena,
                     "call void @__ha_rt_check(ptr %.*s, i64 %.*s, ptr "
                     "@__ha_check_site.%u, ptr %.*s, i64 %.*s)",
                     IR_ARGS(name), IR_ARGS(size), rewriter->check_sites++,
                     IR_ARGS(root.value.size > 0 ? root.value : ir_slice_of("null")),
                     IR_ARGS(value));
}
