/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_place.h"

#include <stddef.h>

#include "cpu/base/image.h"

void
gang_place_launch(struct gang_emit *emit)
{
    ir_print(emit->out,
             "  %%place.blocks = getelementptr i8, ptr %%frame, i64 %zu\n"
             "  store volatile i32 1, ptr %%place.blocks\n"
             "  %%place.lane = getelementptr i8, ptr %%frame, i64 %zu\n"
             "  store volatile i32 -1, ptr %%place.lane\n"
             "  %%gangs = getelementptr i8, ptr %%frame, i64 %zu\n",
             offsetof(struct ha_place, blocks), offsetof(struct ha_place, lane),
             sizeof(struct ha_place));
}

void
gang_place_block(struct gang_emit *emit, const char *number)
{
    ir_print(emit->out, "  store volatile i64 %s, ptr %%frame\n", number);
}

void
gang_place_names(struct gang_emit *emit)
{
    static const struct {
        const char *name;
        size_t offset;
    } fields[] = {{"gang", offsetof(struct ha_place, gang)},
                  {"lane", offsetof(struct ha_place, lane)}};

    ir_print(emit->out, "  %%ha.place = getelementptr i8, ptr %%ha.frame, i64 -%zu\n",
             sizeof(struct ha_place));
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        ir_print(emit->out,
                 "  %%ha.place.%s = getelementptr i8, ptr %%ha.place, i64 %zu\n",
                 fields[i].name, fields[i].offset);
    }
}

void
gang_place_gang(struct gang_emit *emit)
{
    ir_print(emit->out, "  store volatile i32 %%g2.%u, ptr %%ha.place.gang\n",
             emit->run);
}

void
gang_place_lane(struct gang_emit *emit, struct ir_slice lane)
{
    struct ir_slice name = gang_name(emit);

    gang_line(emit, "%.*s = trunc i64 %.*s to i32", IR_ARGS(name), IR_ARGS(lane));
    gang_line(emit, "store volatile i32 %.*s, ptr %%ha.place.lane", IR_ARGS(name));
}

void
gang_place_all(struct gang_emit *emit)
{
    gang_line(emit, "store volatile i32 -1, ptr %%ha.place.lane");
}

bool
gang_place_first(struct gang_emit *emit)
{
    uint32_t loop = emit->flow.loops.inner[emit->block];

    if (emit->plan.root[emit->block] == emit->flow.at[0] ||
        (loop != IR_NONE && !emit->plan.block_level[loop])) {
        return false;
    }
    gang_place_lane(emit, gang_lane(emit, gang_bits(emit, emit->mask), false));
    return true;
}
