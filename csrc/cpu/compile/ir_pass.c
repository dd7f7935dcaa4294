/* SPDX-License-Identifier: MIT */
#include "cpu/compile/ir_pass.h"

/* Where ir_fail lands. */
static enum ha_status
run_guarded(ir_pass pass, struct ir_arena *arena,
            const struct ha_rewrite_request *request, struct ha_bytes *text)
{
    if (setjmp(arena->escape) != 0) {
        return arena->status;
    }
    pass(arena, request, text);
    return HA_OK;
}

enum ha_status
ir_pass_run(ir_pass pass, const char *what, const struct ha_rewrite_request *request,
            struct ha_bytes *text)
{
    struct ir_arena arena = {.stop = request->stop,
                             .stop_context = request->stop_context};
    enum ha_status status = run_guarded(pass, &arena, request, text);

    ir_arena_release(&arena);
    return status != HA_OK ? status
           : text->failed  ? ha_error_set(HA_ERROR_MEMORY, "%s: no memory", what)
                           : HA_OK;
}
