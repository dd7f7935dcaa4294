/* SPDX-License-Identifier: MIT */
#include "cpu/compile/numbers_insert.h"

#include <string.h>

#include "cpu/compile/ir_strict.h"
#include "cpu/compile/ir_pass.h"

static void
insert_all(struct ir_arena *arena, struct ir_slice text, struct ha_bytes *out)
{
    bool inside = false;

    for (size_t at = 0; at < text.size;) {
        const char *end = memchr(text.at + at, '\n', text.size - at);
        size_t size = end == NULL ? text.size - at : (size_t)(end - text.at) - at;
        struct ir_slice line = ir_part(text, at, at + size), made = {0};
        ir_poll(arena);
        inside = (inside || ir_begins(line, "define ")) && !ir_begins(line, "}");
        if (inside && line.size > 2 && line.at[0] == ' ') {
            struct ir_inst inst = ir_inst_of(ir_trim(line));
            made = ir_strict_write(arena, &inst);
        }
        if (made.size > 0) {
            ha_buffer_text(out, "  ");
            line = made;
        }
        ha_buffer_append(out, line.at, line.size);
        ha_buffer_text(out, "\n");
        at += size + 1;
    }
}

static void
run(struct ir_arena *arena, const struct ha_rewrite_request *request,
    struct ha_bytes *text)
{
    insert_all(arena, (struct ir_slice){request->ir, request->ir_size}, text);
}

enum ha_status
ha_numbers_insert(const struct ha_rewrite_request *request, struct ha_bytes *text)
{
    return ir_pass_run(run, "numbers", request, text);
}
