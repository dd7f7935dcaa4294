/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_form.h"

#include <string.h>

#include "cpu/base/image.h"
#include "cpu/compile/gang/gang_emit.h"
#include "cpu/compile/gang/gang_report.h"
#include "cpu/compile/gang/gang_worth.h"
#include "cpu/compile/rewrite_plain.h"
#include "cpu/compile/rewrite_sites.h"
#include "cpu/compile/rewrite_state.h"

#define FRAME_MOST ((uint64_t)1 << 20) /* bytes of a gang */

/* ---- warp calls ---- */

static bool
is_named_call(const struct gang_function *function, uint32_t number)
{
    const struct gang_value *value = &function->values[number];
    int64_t mask;

    return value->op == GANG_WARP &&
           (!gang_integer(function, value->operands[1], &mask) || mask != 0);
}

/* A call whose mask names lanes waits for those that can still come.  The gang has no
 * way to wait, so all lanes that live must be there: the call may stand only where the
 * lanes of a warp are together. */
static void
check_named_calls(const struct gang_emit *emit)
{
    struct gang_function *function = emit->function;

    for (uint32_t place = 0; place < emit->flow.count; place++) {
        uint32_t b = emit->flow.at[place];
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            uint32_t number = function->blocks[b].insts[i];
            if (!is_named_call(function, number)) {
                continue;
            }
            function->at = function->values[number].source;
            if (!gang_is_same(emit->shapes.of[function->values[number].operands[1]])) {
                gang_refuse(function, "a warp call whose mask differs by lane");
            }
            if (gang_control_of(function, &emit->flow, &emit->shapes, b) >
                GANG_SAME_GANG) {
                gang_refuse(function, "a warp call with a mask, where lanes diverge");
            }
        }
    }
    function->at = 0;
}

/* ---- whether it is worth it ---- */

static bool
has_atomics(const struct gang_function *function)
{
    for (uint32_t v = 0; v < function->value_count; v++) {
        if (function->values[v].op == GANG_ATOMIC) {
            return true;
        }
    }
    return false;
}

static bool
is_worth(const struct gang_emit *emit)
{
    struct gang_worth worth = gang_worth_of(emit->function, &emit->flow, &emit->shapes);

    return worth.gang < worth.lanes;
}

/* ---- the whole ---- */

static void
choose_width(struct gang_emit *emit)
{
    const struct gang_function *function = emit->function;

    emit->width =
        function->warp ? function->rewriter->warp_size : function->rewriter->gang_width;
}

/* Whether blocks may go in step: they share nothing that a block has of its own. */
static bool
can_span(const struct gang_function *function)
{
    const struct ha_ir_function_info *info =
        &function->rewriter->infos[function->number];

    if (function->warp || function->barrier || info->shared_static > 0) {
        return false;
    }
    for (uint32_t v = 0; v < function->value_count; v++) {
        enum gang_op op = function->values[v].op;
        if (op == GANG_BARRIER || op == GANG_WARP || op == GANG_SHARED ||
            op == GANG_DYNAMIC || op == GANG_CALL) {
            return false;
        }
    }
    return true;
}

/* A function of its own, so that no local survives the jump of gang_refuse. */
static bool
try_write(struct gang_function *function, struct gang_emit *emit, bool other,
          struct ir_out *out)
{
    if (setjmp(function->refused) != 0) {
        return false;
    }
    gang_read(function);
    gang_flow_read(function, &emit->flow);
    choose_width(emit);
    gang_shapes_read(function, &emit->flow, emit->width, false, &emit->shapes);
    if (other && !is_worth(emit) && !has_atomics(function)) {
        function->unwanted = true;
        gang_refuse(function, "loops over lanes are better");
    }
    check_named_calls(emit);
    gang_plan_make(function, &emit->flow, &emit->shapes, &emit->plan);
    if (emit->plan.strides && can_span(function)) {
        emit->span = HA_SPAN_BLOCKS_MAX;
        gang_shapes_read(function, &emit->flow, emit->width, true, &emit->shapes);
        gang_plan_make(function, &emit->flow, &emit->shapes, &emit->plan);
    }
    gang_write_kernel(emit, out);
    function->at = 0;
    if (emit->frame_bytes > FRAME_MOST) {
        gang_refuse(function, "more than 1 MiB of values that live across barriers");
    }
    return true;
}

/* Why a kernel is not even read, or NULL. */
static const char *
reason_before(struct ha_rewriter *rewriter, uint32_t number)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];

    return rewriter->guard ? "HIPADAPT_CPU_GUARD=1: kernels ask before each access"
           : rewriter->check && !ha_plain_is_twin(rewriter, number)
               ? "HIPADAPT_CHECK: kernels tell of each access"
           : rewriter->numbers ? "HIPADAPT_CHECK: the first NaN is looked for"
           : rewriter->control ? "the module may change how floating point rounds"
           : rewriter->gang_width == 0 ? "the processor has no vectors for them"
           : info->pause               ? "lanes give one another turns"
           : info->indirect            ? "calls through pointers"
           : ha_sites_polls(rewriter, number)
               ? "a loop waits for what other lanes write"
               : NULL;
}

/* Why gangs are warps: a call, or lanes that run in step. */
static void
tell_warps(const struct gang_emit *emit, struct ha_report *report)
{
    const struct gang_function *function = emit->function;
    uint32_t place = 0;

    for (uint32_t v = 0; v < function->value_count && place == 0; v++) {
        if (function->values[v].op == GANG_WARP) {
            place = function->values[v].source;
        }
    }
    ha_report_add(report, HA_REPORT_FORM, place,
                  "a gang is a warp, because %s; launches whose blocks are neither one "
                  "row (y = z = 1) nor a multiple of %u wide run in the reference form",
                  place != 0 ? "of this call" : "lanes run in step", emit->width);
}

static void
tell_form(const struct gang_emit *emit, struct ha_report *report)
{
    report->form = "gang";
    report->width = emit->width;
    ha_report_add(report, HA_REPORT_FORM, 0,
                  "gangs of %u lanes that are neighbours in x: a value of theirs is a "
                  "vector",
                  emit->width);
    if (emit->function->warp) {
        tell_warps(emit, report);
    }
    if (emit->span > 0) {
        ha_report_add(report, HA_REPORT_FORM, 0,
                      "up to %u blocks that are neighbours in x go in step",
                      emit->span);
    }
    if (emit->function->grid) {
        ha_report_add(report, HA_REPORT_FORM, 0,
                      "launches that are not cooperative run in the reference form");
    }
}

static void
tell(const struct gang_emit *emit, const struct ha_gang *gang, bool other,
     struct ha_report *report)
{
    const struct gang_function *function = emit->function;

    if (gang->width > 0) {
        tell_form(emit, report);
        gang_report_regions(emit, report);
    } else if (!gang->unwanted) {
        ha_report_add(report, HA_REPORT_REFUSED, function->at, "no gangs: %.*s",
                      IR_ARGS(gang->reason));
    }
    if (emit->shapes.settled && (gang->width > 0 || other)) {
        gang_report_lanes(emit, gang->width > 0, report);
    }
}

void
ha_gang_write(struct ha_rewriter *rewriter, uint32_t number, bool other,
              struct ha_gang *gang, struct ha_report *report)
{
    const char *before = reason_before(rewriter, number);
    struct gang_function function = {.rewriter = rewriter,
                                     .source = &rewriter->module.functions[number],
                                     .number = number,
                                     .arena = rewriter->arena,
                                     .warp = rewriter->infos[number].warp};
    struct gang_emit emit = {.function = &function};
    struct ir_out out = {.arena = rewriter->arena};

    *gang = (struct ha_gang){0};
    if (before != NULL) {
        gang->reason = ir_slice_of(before);
    } else if (try_write(&function, &emit, other, &out)) {
        gang->width = emit.width;
        gang->whole_warps = function.warp;
        gang->span = emit.span > 0;
        gang->grid = function.grid;
        gang->frame_bytes = emit.frame_bytes * (emit.span > 0 ? emit.span : 1);
        ir_print(&rewriter->out, "%s", out.text);
    } else {
        gang->reason = function.reason;
        gang->unwanted = function.unwanted;
    }
    tell(&emit, gang, other, report);
}
