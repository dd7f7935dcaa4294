/* SPDX-License-Identifier: MIT */
#include "cpu/compile/check_plain.h"

#include <string.h>

#include "cpu/compile/rewrite_text.h"

void
ha_check_plain_start(struct ha_check_plain *plain, struct ir_arena *arena,
                     const struct ir_module *module)
{
    *plain = (struct ha_check_plain){.arena = arena,
                                     .module = module,
                                     .functions = {.arena = arena},
                                     .text = {.arena = arena}};
    for (uint32_t f = 0; f < module->function_count; f++) {
        ir_map_set(&plain->functions, module->functions[f].name, f);
    }
}

/* "define weak_odr dso_local hidden void @f": what stands behind the words that say who
 * sees the function. */
static size_t
end_of_linkage(struct ir_slice line)
{
    static const char *const words[] = {
        "private ",
        "internal ",
        "available_externally ",
        "linkonce_odr ",
        "linkonce ",
        "weak_odr ",
        "weak ",
        "external ",
        "dso_local ",
        "dso_preemptable ",
        "default ",
        "hidden ",
        "protected ",
    };
    size_t at = sizeof "define " - 1;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (ir_begins(ir_part(line, at, line.size), words[i])) {
            at += strlen(words[i]);
            i = SIZE_MAX; /* from the first one again */
        }
    }
    return at;
}

/* Twins are no part of a group of which the linker keeps one. */
static struct ir_slice
without_comdat(struct ha_check_plain *plain, struct ir_slice line)
{
    size_t at = ir_find(line, " comdat", 0);

    if (at == SIZE_MAX) {
        return line;
    }
    size_t end = at + sizeof " comdat" - 1;
    if (end < line.size && line.at[end] == '(') {
        end = ir_close(plain->arena, line, end);
    }
    return ir_format(plain->arena, "%.*s%.*s", IR_ARGS(ir_part(line, 0, at)),
                     IR_ARGS(ir_part(line, end, line.size)));
}

/* What describes a function to debuggers belongs to one function alone. */
static struct ir_slice
without_debug(struct ha_check_plain *plain, struct ir_slice line)
{
    size_t at = ir_find(line, " !dbg !", 0);
    size_t end = at == SIZE_MAX ? 0 : at + sizeof " !dbg !" - 1;

    while (end > 0 && end < line.size && line.at[end] >= '0' && line.at[end] <= '9') {
        end++;
    }
    return at == SIZE_MAX
               ? line
               : ir_format(plain->arena, "%.*s%.*s", IR_ARGS(ir_part(line, 0, at)),
                           IR_ARGS(ir_part(line, end, line.size)));
}

static void
write_define(struct ha_check_plain *plain, struct ir_slice line)
{
    struct ir_slice rest = ir_part(line, end_of_linkage(line), line.size);
    bool kernel = ir_begins(rest, "ptx_kernel ");

    rest = without_debug(plain, without_comdat(plain, rest));
    size_t at = ir_find(rest, "@", 0);
    struct ir_slice name = ir_token(rest, at);
    struct ir_slice plain_name = ha_suffixed(plain->arena, name, HA_PLAIN_SUFFIX);
    ir_print(&plain->text, "\ndefine %s%.*s%.*s%.*s\n",
             kernel ? "dso_local " : "internal ", IR_ARGS(ir_part(rest, 0, at)),
             IR_ARGS(plain_name), IR_ARGS(ir_part(rest, at + name.size, rest.size)));
}

void
ha_check_plain_line(struct ha_check_plain *plain, struct ir_slice line)
{
    uint32_t number;

    if (ir_begins(line, "define ")) {
        write_define(plain, line);
        return;
    }
    struct ir_inst inst = ir_inst_of(ir_trim(line));
    bool own = ir_is(inst.op, "call") &&
               ir_map_get(&plain->functions, inst.callee, &number) &&
               !plain->module->functions[number].kernel;
    if (!own) {
        ir_print(&plain->text, "%.*s\n", IR_ARGS(line));
        return;
    }
    size_t at = (size_t)(inst.callee.at - line.at) + inst.callee.size;
    struct ir_slice name = ha_suffixed(plain->arena, inst.callee, HA_PLAIN_SUFFIX);
    ir_print(&plain->text, "%.*s%.*s%.*s\n",
             IR_ARGS(ir_part(line, 0, at - inst.callee.size)), IR_ARGS(name),
             IR_ARGS(ir_part(line, at, line.size)));
}

bool
ha_check_is_plain(struct ir_slice name)
{
    static const char suffix[] = "." HA_PLAIN_SUFFIX;
    size_t end = name.size;

    end -= end > 0 && name.at[end - 1] == '"' ? 1u : 0u;
    return end >= sizeof suffix &&
           ir_is(ir_part(name, end - (sizeof suffix - 1), end), suffix);
}
