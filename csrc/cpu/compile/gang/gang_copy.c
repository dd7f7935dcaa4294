/* SPDX-License-Identifier: MIT */
/* Copies of records in a kernel whose lanes run in step: all lanes read before one of
 * them writes.  Piece by piece, as vectors of at most eight bytes a lane. */
#include "cpu/compile/gang/gang_emit.h"

#include "cpu/compile/rewrite_lockstep.h"
#include "cpu/compile/rewrite_state.h"

#define PIECES_MAX 32u

struct piece {
    struct gang_type type;
    uint64_t offset;
    struct ir_slice read;
};

bool
gang_is_in_step(const struct gang_function *function)
{
    return function->rewriter->infos[function->number].lockstep != HA_LOCKSTEP_NONE;
}

static struct ir_slice
piece_address(struct gang_emit *emit, struct ir_slice pointers, uint64_t offset)
{
    struct ir_slice name;

    if (offset == 0) {
        return pointers;
    }
    name = gang_name(emit);
    gang_line(emit, "%.*s = getelementptr i8, <%u x ptr> %.*s, i64 %llu", IR_ARGS(name),
              emit->width, IR_ARGS(pointers), (unsigned long long)offset);
    return name;
}

static void
write_piece(struct gang_emit *emit, const struct piece *piece, struct ir_slice pointers)
{
    struct ir_slice type = gang_vector_type(emit, piece->type);
    struct ir_slice at = piece_address(emit, pointers, piece->offset);
    struct ir_slice callee =
        ir_format(emit->function->arena, "@llvm.masked.scatter.%.*s.v%up0",
                  IR_ARGS(gang_mangled(emit, piece->type)), emit->width);

    gang_declare(emit, callee,
                 ir_format(emit->function->arena,
                           "void %.*s(%.*s, <%u x ptr>, i32 immarg, <%u x i1>)",
                           IR_ARGS(callee), IR_ARGS(type), emit->width, emit->width));
    gang_line(emit, "call void %.*s(%.*s %.*s, <%u x ptr> %.*s, i32 1, <%u x i1> %.*s)",
              IR_ARGS(callee), IR_ARGS(type), IR_ARGS(piece->read), emit->width,
              IR_ARGS(at), emit->width, IR_ARGS(emit->mask));
}

void
gang_write_copy(struct gang_emit *emit, uint32_t number)
{
    const struct gang_value *value = &emit->function->values[number];
    struct ir_slice to = gang_vector(emit, value->operands[0]);
    struct ir_slice from = gang_vector(emit, value->operands[1]);
    struct piece pieces[PIECES_MAX];
    uint32_t count = 0;

    for (uint64_t at = 0; at < value->extra; count++) {
        uint64_t rest = value->extra - at;
        uint8_t bytes = rest >= 8 ? 8 : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
        if (count == PIECES_MAX) {
            gang_refuse(emit->function, "a copy of many bytes that is made in step");
        }
        struct piece *piece = &pieces[count];
        *piece = (struct piece){.type = {GANG_INT, bytes, (uint16_t)(8 * bytes)},
                                .offset = at};
        struct ir_slice pointers = piece_address(emit, from, at);
        piece->read = gang_gather(emit, piece->type, pointers, 1, emit->mask,
                                  ir_slice_of("poison"));
        at += bytes;
    }
    for (uint32_t i = 0; i < count; i++) {
        write_piece(emit, &pieces[i], to);
    }
}
