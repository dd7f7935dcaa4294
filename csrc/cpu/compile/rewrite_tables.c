/* SPDX-License-Identifier: MIT */
/* The tables of an image as host IR.  For `scale(float *a, int n)` in a program with
 * the variables `limit` and `weights`, with the types of the rows left out:
 *
 *     @__ha_kernel_name.0 = internal constant [6 x i8] c"scale\00"
 *     @__ha_args.0        = [{ 8, 8, 0, 1 }, { 4, 4, 8, 3 }]
 *                              size, align, offset, enum ha_arg_kind
 *     @__ha_report.0      = [39 x i8] c"k.hip:1\\09kernel\\09\\0A...\\00"
 *     @__ha_kernels       = [{ @__ha_kernel_name.0, @scale.ref, @scale.fast,
 *                              @__ha_args.0, 2, 0, 0, 1024, 0, 0, @__ha_report.0,
 *                              null }]
 *                              count of arguments, flags, shared bytes, threads, gangs,
 *                              report, proof
 *     @__ha_variables     = [{ @__ha_variable_name.0, @limit, 4, 0, 0 },
 *                            { @__ha_variable_name.1, @weights, 16, 1, 0 }]
 *                              size, whether it is __constant__, nothing
 *     @__ha_image         = { 8, 32, null, @__ha_kernels, @__ha_variables, 1, 2 }
 *                              ABI, warp size, set by the loader, ..., counts
 *
 * The structs are those of cpu/base/image.h, field by field. */
#include "cpu/compile/rewrite_tables.h"

#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_form.h"
#include "cpu/compile/proof/proof_build.h"
#include "cpu/compile/rewrite_plain.h"
#include "cpu/compile/rewrite_reach.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

#define KERNEL "{ ptr, ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, ptr, ptr }"

/* A name as a string constant; the IR's own escapes stand for one byte each. */
static void
write_string(struct ha_rewriter *rewriter, const char *prefix, uint32_t number,
             struct ir_slice name)
{
    size_t bytes = 1;

    name = ir_part(name, 1, name.size);
    if (name.size >= 2 && name.at[0] == '"') {
        name = ir_part(name, 1, name.size - 1);
    }
    for (size_t i = 0; i < name.size; i++) {
        i += name.at[i] == '\\' ? 2 : 0;
        bytes++;
    }
    ir_print(&rewriter->out,
             "@__ha_%s.%u = internal constant [%zu x i8] c\"%.*s\\00\"\n", prefix,
             number, bytes, IR_ARGS(name));
}

/* Text with bytes of any kind. */
static void
write_text(struct ha_rewriter *rewriter, const char *prefix, uint32_t number,
           struct ir_slice text)
{
    ir_print(&rewriter->out, "@__ha_%s.%u = internal constant [%zu x i8] c\"", prefix,
             number, text.size + 1);
    for (size_t i = 0; i < text.size; i++) {
        size_t plain = i;
        while (plain < text.size && text.at[plain] >= ' ' && text.at[plain] <= '~' &&
               text.at[plain] != '"' && text.at[plain] != '\\') {
            plain++;
        }
        ir_put(&rewriter->out, ir_part(text, i, plain));
        if (plain < text.size) {
            ir_print(&rewriter->out, "\\%02X", (unsigned char)text.at[plain]);
        }
        i = plain;
    }
    ir_print(&rewriter->out, "\\00\"\n");
}

/* An integer of IR is an i and its bits. */
static enum ha_arg_kind
kind_of(struct ir_slice type)
{
    static const char *const floats[] = {"float", "double", "half", "bfloat"};

    if (ir_begins(type, "ptr")) {
        return HA_ARG_POINTER;
    }
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        if (ir_is(type, floats[i])) {
            return HA_ARG_FLOAT;
        }
    }
    return ir_begins(type, "i") ? HA_ARG_INTEGER : HA_ARG_VALUE;
}

static void
write_kernel_args(struct ha_rewriter *rewriter, uint32_t kernel,
                  const struct ir_function *function)
{
    uint64_t end = 0;

    ir_print(&rewriter->out,
             "@__ha_args.%u = internal constant [%u x { i32, i32, i32, i32 }] [",
             kernel, function->param_count);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ir_param *param = &function->params[i];
        bool record = param->byval.size > 0;
        struct ir_layout layout =
            ir_layout_of(&rewriter->types, record ? param->byval : param->type);
        if (record && param->align > 0) {
            layout.align = param->align;
        }
        end = (end + layout.align - 1) / layout.align * layout.align;
        ir_print(&rewriter->out,
                 "%s{ i32, i32, i32, i32 } { i32 %llu, i32 %llu, i32 %llu, i32 %d }",
                 i > 0 ? ", " : "", (unsigned long long)layout.size,
                 (unsigned long long)layout.align, (unsigned long long)end,
                 (int)(record ? HA_ARG_RECORD : kind_of(param->type)));
        end += layout.size;
    }
    ir_print(&rewriter->out, "]\n");
}

static uint32_t
flags_of(const struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];
    const struct ha_gang *gang = &rewriter->gangs[number];
    bool checked = rewriter->check && !ha_plain_is_twin(rewriter, number);
    /* The kernel itself is given its lane; functions that it calls ask for it. */
    bool lane = info->indirect || info->pause;

    for (uint32_t i = 0; i < info->call_count; i++) {
        lane |= rewriter->infos[info->calls[i]].lane;
    }
    return (info->block ? (uint32_t)HA_KERNEL_BLOCK : 0) |
           (info->warp ? (uint32_t)HA_KERNEL_WARP : 0) |
           (lane ? (uint32_t)HA_KERNEL_LANE : 0) |
           (info->dynamic ? (uint32_t)HA_KERNEL_SHARED_DYNAMIC : 0) |
           (rewriter->guard ? (uint32_t)HA_KERNEL_GUARDED : 0) |
           (checked ? (uint32_t)HA_KERNEL_CHECKED : 0) |
           (rewriter->numbers ? (uint32_t)HA_KERNEL_NUMBERS : 0) |
           (rewriter->shadow ? (uint32_t)HA_KERNEL_SHADOWED : 0) |
           (rewriter->control ? (uint32_t)HA_KERNEL_CONTROL : 0) |
           (gang->whole_warps ? (uint32_t)HA_KERNEL_WARPS : 0) |
           (gang->grid ? (uint32_t)HA_KERNEL_GRID : 0) |
           (gang->span ? (uint32_t)HA_KERNEL_SPAN : 0);
}

/* The struct of a form of the kernel whose texts have the number `row`. */
static void
write_kernel(struct ha_rewriter *rewriter, uint32_t form, uint32_t row, bool proved,
             struct ir_out *out)
{
    const struct ir_function *function = &rewriter->module.functions[form];
    const struct ha_ir_function_info *info = &rewriter->infos[form];
    struct ir_slice name = function->name;
    uint32_t threads =
        info->max_threads > 0 && info->max_threads < 1024 ? info->max_threads : 1024;

    ir_print(out, KERNEL " { ptr @__ha_kernel_name.%u, ptr %.*s, ", row,
             IR_ARGS(ha_suffixed(rewriter->arena, name, "ref")));
    if (rewriter->fast[form]) {
        ir_print(out, "ptr %.*s", IR_ARGS(ha_suffixed(rewriter->arena, name, "fast")));
    } else {
        ir_print(out, "ptr null");
    }
    ir_print(out,
             ", ptr @__ha_args.%u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, i32 %u, "
             "ptr @__ha_report.%u, ",
             row, function->param_count, flags_of(rewriter, form),
             (uint32_t)info->shared_static, threads, rewriter->gangs[form].width,
             (uint32_t)rewriter->gangs[form].frame_bytes, row);
    if (proved) {
        ir_print(out, "ptr @__ha_proof.%u }", row);
    } else {
        ir_print(out, "ptr null }");
    }
}

/* A launch that is proved right runs the twin, which is no row of the table. */
static void
write_proof(struct ha_rewriter *rewriter, uint32_t kernel, uint32_t row)
{
    ha_proof_write(rewriter->proofs[kernel], row, &rewriter->out);
    ir_print(&rewriter->out, "@__ha_plain.%u = internal constant ", row);
    write_kernel(rewriter, rewriter->plains[kernel], row, false, &rewriter->out);
    ir_print(&rewriter->out, "\n");
}

static uint32_t
write_kernels(struct ha_rewriter *rewriter)
{
    struct ir_module *module = &rewriter->module;
    struct ir_out rows = {.arena = rewriter->arena};
    uint32_t count = 0;

    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ir_function *function = &module->functions[f];
        bool proved = rewriter->proofs[f] != NULL;
        if (!function->kernel || ha_plain_is_twin(rewriter, f)) {
            continue;
        }
        write_string(rewriter, "kernel_name", count, function->name);
        write_text(rewriter, "report", count,
                   rewriter->reports[proved ? rewriter->plains[f] : f]);
        write_kernel_args(rewriter, count, function);
        if (proved) {
            write_proof(rewriter, f, count);
        }
        ir_print(&rows, "%s\n  ", count > 0 ? "," : "");
        write_kernel(rewriter, f, count, proved, &rows);
        count++;
    }
    ir_print(&rewriter->out,
             "@__ha_kernels = internal constant [%u x " KERNEL "] [%s]\n", count,
             rows.text != NULL ? rows.text : "");
    return count;
}

static uint32_t
write_variable_table(struct ha_rewriter *rewriter)
{
    struct ir_out rows = {.arena = rewriter->arena};
    uint32_t count = 0;

    for (size_t i = 0; i < rewriter->module.global_count; i++) {
        const struct ir_global *global = &rewriter->module.globals[i];
        if (!ha_is_variable(global)) {
            continue;
        }
        struct ir_layout layout = ir_layout_of(&rewriter->types, global->type);
        write_string(rewriter, "variable_name", count, global->name);
        ir_print(
            &rows,
            "%s\n  { ptr, ptr, i64, i32, i32 } { ptr @__ha_variable_name.%u, ptr %.*s, "
            "i64 %llu, i32 %d, i32 0 }",
            count > 0 ? "," : "", count, IR_ARGS(global->name),
            (unsigned long long)layout.size, global->space == 4);
        count++;
    }
    ir_print(
        &rewriter->out,
        "@__ha_variables = internal constant [%u x { ptr, ptr, i64, i32, i32 }] [%s]\n",
        count, rows.text != NULL ? rows.text : "");
    return count;
}

void
ha_rewrite_tables(struct ha_rewriter *rewriter)
{
    uint32_t kernels = write_kernels(rewriter);
    uint32_t variables = write_variable_table(rewriter);

    ir_print(
        &rewriter->out,
        "@__ha_image = global { i32, i32, ptr, ptr, ptr, i32, i32 } { i32 %u, i32 %u, "
        "ptr null, ptr @__ha_kernels, ptr @__ha_variables, i32 %u, i32 %u }\n\n",
        HA_IMAGE_ABI, rewriter->warp_size, kernels, variables);
}
