/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_report.h"

#include <string.h>

#include "cpu/compile/ir_place.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_state.h"

#define CAUSES_MOST 3u /* that one remark names */

struct telling {
    const struct gang_emit *emit;
    const struct gang_function *function;
    struct ha_report *report;
    uint32_t far; /* accesses whose lanes are not side by side */
};

static struct gang_shape
shape_at(const struct telling *telling, uint32_t value, uint32_t block)
{
    const struct gang_emit *emit = telling->emit;

    return gang_shape_at(telling->function, &emit->flow, &emit->shapes, value, block);
}

/* ---- why lanes differ ---- */

struct causes {
    const struct telling *telling;
    uint8_t *seen;
    struct ir_slice texts[CAUSES_MOST];
    uint32_t count;
};

static void
add_cause(struct causes *causes, struct ir_slice text)
{
    for (uint32_t i = 0; i < causes->count; i++) {
        if (ir_same(causes->texts[i], text)) {
            return;
        }
    }
    if (causes->count < CAUSES_MOST) {
        causes->texts[causes->count++] = text;
    }
}

/* "the load of line 7", or "a load". */
static struct ir_slice
of_line(struct causes *causes, const char *what, uint32_t value)
{
    const struct telling *telling = causes->telling;
    struct ir_place place =
        ir_place_of(telling->report->module, telling->function->values[value].source);
    struct ir_arena *arena = telling->function->arena;

    return place.line == 0
               ? ir_format(arena, "%s", what)
               : ir_format(arena, "the%s of line %u", strchr(what, ' '), place.line);
}

/* From a value that differs back to where that begins. */
static void
find_causes(struct causes *causes, uint32_t number, unsigned depth)
{
    const struct telling *telling = causes->telling;
    const struct gang_value *value = &telling->function->values[number];

    if (causes->seen[number] || depth > 64 ||
        telling->emit->shapes.of[number].level <= GANG_SAME_GANG) {
        return;
    }
    causes->seen[number] = 1;
    switch (value->op) {
    case GANG_COORDINATE:
        add_cause(causes, ir_slice_of("threadIdx.x"));
        return;
    case GANG_LOAD:
        add_cause(causes, of_line(causes, "a load", number));
        return;
    case GANG_ATOMIC:
    case GANG_EXCHANGE:
    case GANG_SUCCESS:
        add_cause(causes, of_line(causes, "an atomic", number));
        return;
    case GANG_WARP:
        add_cause(causes, of_line(causes, "a warp call", number));
        return;
    case GANG_CALL:
        add_cause(causes, of_line(causes, "a call", number));
        return;
    case GANG_ALLOCA:
        return;
    default:
        break;
    }
    for (uint32_t i = 0; i < value->operand_count; i++) {
        find_causes(causes, value->operands[i], depth + 1);
    }
}

/* "it depends on threadIdx.x and the load of line 7" */
static struct ir_slice
cause_of(const struct telling *telling, uint32_t value)
{
    struct ir_arena *arena = telling->function->arena;
    struct causes causes = {.telling = telling};
    struct ir_out out = {.arena = arena};

    causes.seen = ir_alloc(arena, telling->function->value_count + 1u, 1);
    find_causes(&causes, value, 0);
    if (causes.count == 0) {
        return ir_slice_of("it depends on which way lanes came");
    }
    ir_print(&out, "it depends on ");
    for (uint32_t i = 0; i < causes.count; i++) {
        ir_print(&out, "%s%.*s",
                 i == 0                  ? ""
                 : i + 1 == causes.count ? " and "
                                         : ", ",
                 IR_ARGS(causes.texts[i]));
    }
    return (struct ir_slice){out.text, out.size};
}

/* ---- loops and branches ---- */

static uint32_t
end_of(const struct gang_function *function, uint32_t block)
{
    return function->blocks[block].insts[function->blocks[block].count - 1];
}

/* The end of the last block that goes back to the header: it names the loop's line. */
static uint32_t
back_of(const struct telling *telling, uint32_t loop)
{
    const struct gang_flow *flow = &telling->emit->flow;
    const struct gang_block *header =
        &telling->function->blocks[flow->loops.loops[loop].header];
    uint32_t found = end_of(telling->function, flow->loops.loops[loop].header);

    for (uint32_t i = 0; i < header->prev_count; i++) {
        if (flow->loops.loops[loop].members[header->prev[i]]) {
            found = end_of(telling->function, header->prev[i]);
        }
    }
    return found;
}

/* The first branch by which lanes leave a loop apart, or GANG_NONE. */
static uint32_t
exit_of(const struct telling *telling, uint32_t loop)
{
    const struct gang_emit *emit = telling->emit;
    const uint8_t *members = emit->flow.loops.loops[loop].members;

    for (uint32_t at = 0; at < emit->flow.count; at++) {
        uint32_t b = emit->flow.at[at];
        const struct gang_block *block = &telling->function->blocks[b];
        bool leaves = false;
        for (uint32_t i = 0; i < block->next_count; i++) {
            leaves |= !members[block->next[i]];
        }
        uint32_t end = end_of(telling->function, b);
        if (members[b] && leaves && block->next_count > 1 &&
            emit->shapes.of[end].level > GANG_SAME_GANG) {
            return end;
        }
    }
    return GANG_NONE;
}

static void
tell_loop(struct telling *telling, uint32_t loop, bool gangs)
{
    const struct gang_function *function = telling->function;
    uint32_t place = function->values[back_of(telling, loop)].source;
    uint8_t leave = telling->emit->shapes.leave[loop];
    uint32_t exit = exit_of(telling, loop);
    bool together = gangs && telling->emit->plan.block_level[loop];

    if (leave != GANG_VARYING) {
        return;
    }
    struct ir_slice why = exit == GANG_NONE
                              ? ir_slice_of("lanes skip the way out of it")
                              : cause_of(telling, function->values[exit].operands[0]);
    ha_report_add(telling->report, HA_REPORT_LOOP, place,
                  "lanes leave this loop in different rounds (%.*s)%s", IR_ARGS(why),
                  together ? ": all gangs of the block do a round together, until the "
                             "last lane is done"
                  : gangs  ? ": the gang goes on until its last lane is done"
                           : "");
}

/* Whether a block is where lanes leave a loop: that is told of the loop. */
static bool
leaves_loop(const struct telling *telling, uint32_t block)
{
    const struct gang_flow *flow = &telling->emit->flow;
    uint32_t loop = flow->loops.inner[block];

    for (uint32_t i = 0;
         loop != IR_NONE && i < telling->function->blocks[block].next_count; i++) {
        if (!flow->loops.loops[loop]
                 .members[telling->function->blocks[block].next[i]]) {
            return true;
        }
    }
    return false;
}

static void
tell_branch(struct telling *telling, uint32_t block, bool gangs)
{
    const struct gang_function *function = telling->function;
    uint32_t end = end_of(function, block);

    if (function->blocks[block].next_count < 2 || leaves_loop(telling, block) ||
        telling->emit->shapes.of[end].level <= GANG_SAME_GANG) {
        return;
    }
    struct ir_slice why = cause_of(telling, function->values[end].operands[0]);
    ha_report_add(telling->report, HA_REPORT_BRANCH, function->values[end].source,
                  gangs ? "lanes may go different ways (%.*s): the gang goes each way "
                          "that a lane takes, with the others off"
                        : "lanes may go different ways (%.*s)",
                  IR_ARGS(why));
}

/* ---- accesses ---- */

/* What an address points into. */
static uint32_t
base_of(const struct gang_function *function, uint32_t number)
{
    for (unsigned depth = 0; function->values[number].op == GANG_ADDRESS && depth < 64;
         depth++) {
        number = function->values[number].operands[0];
    }
    return number;
}

/* " of a", " of shared memory" or "". */
static struct ir_slice
memory_of(const struct gang_function *function, uint32_t number)
{
    const struct gang_value *base = &function->values[base_of(function, number)];

    if (base->op == GANG_SHARED || base->op == GANG_DYNAMIC) {
        return ir_slice_of(" of shared memory");
    }
    if (base->op != GANG_PARAMETER) {
        return ir_slice_of("");
    }
    struct ir_slice name = function->source->params[base->extra].name;
    return ir_format(function->arena, " of '%.*s'",
                     IR_ARGS(ir_part(name, 1, name.size)));
}

/* How the addresses of lanes lie to one another. */
static void
tell_access(struct telling *telling, uint32_t number, bool gangs)
{
    const struct gang_function *function = telling->function;
    const struct gang_value *value = &function->values[number];
    bool load = value->op == GANG_LOAD;
    unsigned bytes = load ? value->type.bytes : value->from.bytes;
    struct gang_shape at = shape_at(telling, value->operands[0], value->block);
    struct ir_slice memory = memory_of(function, value->operands[0]);
    struct ir_slice how;

    if (function->values[base_of(function, value->operands[0])].op == GANG_ALLOCA) {
        how = ir_slice_of(" of a private array, which each lane has in memory");
    } else if (gang_is_same(at)) {
        how = ir_slice_of(", one address for all lanes");
    } else if (at.level == GANG_LINEAR && at.stride == bytes) {
        how = ir_slice_of(at.checked ? ", side by side where the index does not wrap"
                                     : ", side by side");
    } else {
        const char *far = !gangs ? "" : load ? " (gathered)" : " (scattered)";
        telling->far++;
        how =
            at.level == GANG_LINEAR
                ? ir_format(function->arena, ", %lld bytes apart%s",
                            (long long)at.stride, far)
                : ir_format(function->arena, ", at addresses without a pattern%s: %.*s",
                            far, IR_ARGS(cause_of(telling, value->operands[0])));
    }
    ha_report_add(telling->report, HA_REPORT_ACCESS, value->source,
                  "%s %u bytes%s%.*s%.*s", load ? "loads" : "stores", bytes,
                  gang_is_same(at) ? "" : " a lane", IR_ARGS(memory), IR_ARGS(how));
}

static void
tell_atomic(struct telling *telling, uint32_t number, bool gangs)
{
    const struct gang_value *value = &telling->function->values[number];
    bool same = gang_is_same(shape_at(telling, value->operands[0], value->block));
    bool combined = telling->emit->combined != NULL && telling->emit->combined[number];

    ha_report_add(telling->report, HA_REPORT_ATOMIC, value->source, "%s%s",
                  same ? "an atomic of one address for all lanes"
                       : "an atomic of addresses that differ by lane",
                  !gangs     ? ""
                  : combined ? ": the lanes are combined first, and it is done once"
                             : ": done lane by lane");
}

void
gang_report_lanes(const struct gang_emit *emit, bool gangs, struct ha_report *report)
{
    struct telling telling = {
        .emit = emit, .function = emit->function, .report = report};
    const struct gang_function *function = emit->function;

    for (uint32_t at = 0; at < emit->flow.count; at++) {
        uint32_t b = emit->flow.at[at];
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            uint32_t number = function->blocks[b].insts[i];
            const struct gang_value *value = &function->values[number];
            if (value->op == GANG_LOAD || value->op == GANG_STORE) {
                tell_access(&telling, number, gangs);
            } else if (value->op == GANG_ATOMIC || value->op == GANG_EXCHANGE) {
                tell_atomic(&telling, number, gangs);
            } else if ((value->op == GANG_COPY || value->op == GANG_FILL) && gangs) {
                ha_report_add(report, HA_REPORT_ACCESS, value->source,
                              "%s %llu bytes, one lane after the other",
                              value->op == GANG_COPY ? "copies" : "fills",
                              (unsigned long long)value->extra);
            } else if (value->op == GANG_CALL && gangs) {
                ha_report_add(report, HA_REPORT_CALL, value->source,
                              "%.*s is called for one lane after the other",
                              IR_ARGS(value->text));
            }
        }
        tell_branch(&telling, b, gangs);
    }
    for (uint32_t i = 0; i < emit->flow.loops.loop_count; i++) {
        tell_loop(&telling, i, gangs);
    }
    if (telling.far > 0) {
        ha_report_add(
            report, HA_REPORT_HINT, 0,
            "accesses are fastest where neighbouring lanes (threadIdx.x) have "
            "neighbouring elements: arrays of members rather than of "
            "structures, or a tile in shared memory");
    }
}

/* ---- regions ---- */

/* "12-15": the lines of a run in the kernel's own file. */
static struct ir_slice
lines_of(const struct gang_emit *emit, uint32_t run, const struct ir_module *module)
{
    const struct gang_function *function = emit->function;
    struct ir_slice file = ir_place_of(module, function->source->place).file;
    uint32_t low = UINT32_MAX, high = 0;

    for (uint32_t b = 0; b < function->block_count; b++) {
        if (emit->flow.loops.order[b] == IR_NONE || emit->plan.run[b] != run) {
            continue;
        }
        for (uint32_t i = 0; i < function->blocks[b].count; i++) {
            struct ir_place place = ir_place_of(
                module, function->values[function->blocks[b].insts[i]].source);
            if (place.line > 0 && ir_same(place.file, file)) {
                low = place.line < low ? place.line : low;
                high = place.line > high ? place.line : high;
            }
        }
    }
    return high == 0     ? ir_slice_of("-")
           : low == high ? ir_format(function->arena, "%u", low)
                         : ir_format(function->arena, "%u-%u", low, high);
}

static void
tell_kept(const struct gang_emit *emit, struct ha_report *report)
{
    uint32_t values = 0, arrays = 0;
    uint64_t bytes = 0, array_bytes = 0;

    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->kind == GANG_SLOT_ARRAY) {
            arrays++;
            array_bytes += slot->bytes;
        } else if (slot->framed) {
            values++;
            bytes += slot->bytes;
        }
    }
    if (values > 0) {
        ha_report_add(report, HA_REPORT_KEPT, 0,
                      "%u values and masks of a gang are kept between regions: %llu "
                      "bytes for %u lanes",
                      values, (unsigned long long)bytes, emit->width);
    }
    if (arrays > 0) {
        ha_report_add(report, HA_REPORT_KEPT, 0,
                      "%u private arrays lie in memory: %llu bytes a lane", arrays,
                      (unsigned long long)(array_bytes / emit->width));
    }
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->framed && slot->kind <= GANG_SLOT_LEFT &&
            ir_place_of(report->module, emit->function->values[slot->value].source)
                    .line > 0) {
            ha_report_add(report, HA_REPORT_KEPT,
                          emit->function->values[slot->value].source,
                          "what is computed here is kept between regions");
        }
    }
}

void
gang_report_regions(const struct gang_emit *emit, struct ha_report *report)
{
    const struct gang_function *function = emit->function;
    const struct ir_module *module = report->module;
    struct ir_out lines = {.arena = function->arena};
    struct ir_slice last = {0};
    uint32_t times = 0;

    for (uint32_t r = 0; r <= emit->plan.run_count; r++) {
        struct ir_slice now =
            r < emit->plan.run_count ? lines_of(emit, r, module) : (struct ir_slice){0};
        if (times > 0 && ir_same(now, last)) {
            times++;
            continue;
        }
        if (times > 1) {
            ir_print(&lines, " (%u times)", times);
        }
        if (now.size > 0) {
            ir_print(&lines, "%s%.*s", r > 0 ? ", " : "", IR_ARGS(now));
        }
        last = now;
        times = 1;
    }
    if (emit->plan.run_count > 1) {
        ha_report_add(report, HA_REPORT_REGION, 0,
                      "%u regions, each done by all gangs of a block before the next: "
                      "lines %.*s",
                      emit->plan.run_count, (int)lines.size, lines.text);
    }
    tell_kept(emit, report);
    for (uint32_t at = 0; at < emit->flow.count; at++) {
        uint32_t b = emit->flow.at[at];
        if (emit->plan.asked[b]) {
            const struct gang_block *block = &function->blocks[b];
            ha_report_add(
                report, HA_REPORT_BARRIER,
                function->values[block->insts[block->count - 2]].source,
                "whether all lanes come to this barrier is asked when it runs");
        }
    }
    for (uint32_t i = 0; i < emit->shapes.question_count; i++) {
        ha_report_add(report, HA_REPORT_FORM,
                      function->values[emit->shapes.questions[i].value].source,
                      "blocks in which this index wraps run in the reference form");
    }
}
