/* SPDX-License-Identifier: MIT */
#include "cpu/compile/rewrite_report.h"

#include "cpu/compile/gang/gang_form.h"
#include "cpu/compile/ir_flow.h"
#include "cpu/compile/rewrite_fast.h"
#include "cpu/compile/rewrite_lockstep.h"
#include "cpu/compile/rewrite_state.h"

/* The places of loops: the ends of the blocks that go back to their headers. */
static void
tell_loops(struct ha_rewriter *rewriter, const struct ir_function *function,
           struct ha_report *report)
{
    struct ir_flow flow;

    ir_flow_read(rewriter->arena, function, &flow);
    for (uint32_t i = 0; i < flow.loop_count; i++) {
        const struct ir_block *header = &function->blocks[flow.loops[i].header];
        uint32_t place = 0;
        for (uint32_t k = 0; k < header->prev_count; k++) {
            if (flow.loops[i].members[header->prev[k]]) {
                const struct ir_block *back = &function->blocks[header->prev[k]];
                place = back->insts[back->count - 1].place;
            }
        }
        ha_report_add(
            report, HA_REPORT_LOOP, place,
            "each lane does this loop by itself: a row whose lanes have loops "
            "is not turned into vectors");
    }
}

static void
tell_rows(struct ha_rewriter *rewriter, uint32_t number, const struct ha_fast *fast,
          struct ha_report *report)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];

    ha_report_add(
        report, HA_REPORT_FORM, 0,
        "rows: the lanes that differ in x run in a loop%s, which the compiler "
        "may turn into vectors",
        fast->spans ? ", through neighbouring blocks" : "");
    if (rewriter->gangs[number].unwanted) {
        ha_report_add(report, HA_REPORT_FORM, 0,
                      "no gangs: by an estimate they would be slower");
    }
    ha_report_add(report, HA_REPORT_FORM, 0,
                  "blocks in which an index wraps run in the reference form");
    if (!fast->parallel) {
        ha_report_add(report, HA_REPORT_FORM, 0,
                      "the compiler is not told that lanes can run side by side: %s",
                      info->ordered ? "the kernel has atomic or volatile accesses"
                      : info->stack ? "the kernel has private arrays"
                                    : "an access of one lane may meet one of another");
    }
    for (uint32_t i = 0; i < fast->leaf_count; i++) {
        uint32_t place = fast->values.insts[fast->leaf_of[i]]->place;
        ha_report_drop(report, HA_REPORT_BRANCH, place);
        ha_report_add(report, HA_REPORT_BRANCH, place,
                      "asked once for a row whose first and last lane agree, else for "
                      "each lane");
    }
    tell_loops(rewriter, &rewriter->module.functions[number], report);
}

void
ha_report_lockstep(const struct ha_rewriter *rewriter, uint32_t number,
                   struct ha_report *report)
{
    const struct ha_ir_function_info *info = &rewriter->infos[number];

    if (info->lockstep == HA_LOCKSTEP_WANTED) {
        ha_report_add(report, HA_REPORT_FORM, 0,
                      "the lanes of a warp run in step, as the program asks");
    } else if (info->lockstep == HA_LOCKSTEP_SEEN) {
        ha_report_add(report, HA_REPORT_FORM, 0,
                      "the lanes of a warp run in step: %.*s",
                      IR_ARGS(info->lockstep_why));
    } else if (info->lockstep_why.size > 0) {
        ha_report_add(report, HA_REPORT_HINT, 0, "%.*s", IR_ARGS(info->lockstep_why));
    }
}

void
ha_rewrite_report(struct ha_rewriter *rewriter, uint32_t number,
                  const struct ha_fast *fast, struct ha_report *report)
{
    report->form = fast != NULL ? "rows" : "reference";
    if (fast != NULL) {
        tell_rows(rewriter, number, fast, report);
        return;
    }
    const struct ha_ir_function_info *info = &rewriter->infos[number];
    ha_report_add(report, HA_REPORT_FORM, 0,
                  "reference: one lane runs after the other%s",
                  info->block || info->warp
                      ? "; each has a stack, and is left where it waits for others"
                      : "");
}
