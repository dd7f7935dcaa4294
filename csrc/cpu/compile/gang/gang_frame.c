/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_frame.h"

#include <stdlib.h>

#include "cpu/compile/gang/gang_edge.h"

/* Of a slot in the frame, whose begin is a multiple of 64. */
static unsigned
align_of(const struct gang_slot *slot)
{
    unsigned align = 1;

    while (align < 64 && align < slot->bytes) {
        align *= 2;
    }
    return align;
}

void
gang_copy_slots(struct gang_emit *emit, bool in)
{
    uint8_t wanted = in ? GANG_RUN_TOUCHES : GANG_RUN_WRITES;

    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (!slot->framed || slot->kind == GANG_SLOT_ARRAY ||
            !(slot->runs[emit->run] & wanted)) {
            continue;
        }
        struct ir_slice at = gang_name(emit);
        struct ir_slice bits = gang_name(emit);
        struct ir_slice value = gang_name(emit);
        struct ir_slice type =
            slot->mask     ? ir_format(emit->function->arena, "i%u", emit->width)
            : slot->vector ? gang_vector_type(emit, slot->type)
                           : ir_slice_of(gang_type_name(slot->type));
        gang_line(emit, "%.*s = getelementptr i8, ptr %%own.%u, i64 %llu", IR_ARGS(at),
                  emit->run, (unsigned long long)slot->offset);
        if (in) {
            gang_line(emit, "%.*s = load %.*s, ptr %.*s, align %u", IR_ARGS(bits),
                      IR_ARGS(type), IR_ARGS(at), align_of(slot));
            if (slot->mask) {
                gang_line(emit, "%.*s = bitcast i%u %.*s to <%u x i1>", IR_ARGS(value),
                          emit->width, IR_ARGS(bits), emit->width);
                gang_line(emit, "store <%u x i1> %.*s, ptr %%slot.%u", emit->width,
                          IR_ARGS(value), s);
            } else {
                gang_line(emit, "store %.*s %.*s, ptr %%slot.%u", IR_ARGS(type),
                          IR_ARGS(bits), s);
            }
        } else if (slot->mask) {
            gang_line(emit, "%.*s = load <%u x i1>, ptr %%slot.%u", IR_ARGS(bits),
                      emit->width, s);
            gang_line(emit, "%.*s = bitcast <%u x i1> %.*s to i%u", IR_ARGS(value),
                      emit->width, IR_ARGS(bits), emit->width);
            gang_line(emit, "store i%u %.*s, ptr %.*s, align %u", emit->width,
                      IR_ARGS(value), IR_ARGS(at), align_of(slot));
        } else {
            gang_line(emit, "%.*s = load %.*s, ptr %%slot.%u", IR_ARGS(bits),
                      IR_ARGS(type), s);
            gang_line(emit, "store %.*s %.*s, ptr %.*s, align %u", IR_ARGS(type),
                      IR_ARGS(bits), IR_ARGS(at), align_of(slot));
        }
    }
}

void
gang_name_arrays(struct gang_emit *emit)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->kind == GANG_SLOT_ARRAY && slot->runs[emit->run]) {
            ir_print(emit->out,
                     "  %%slot.%u.%u = getelementptr i8, ptr %%own.%u, i64 %llu\n", s,
                     emit->run, emit->run, (unsigned long long)slot->offset);
        }
    }
}

void
gang_write_slots(struct gang_emit *emit)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->kind == GANG_SLOT_ARRAY) {
            continue;
        }
        if (slot->mask) {
            ir_print(emit->out, "  %%slot.%u = alloca <%u x i1>\n", s, emit->width);
        } else if (slot->vector) {
            ir_print(emit->out, "  %%slot.%u = alloca %.*s\n", s,
                     IR_ARGS(gang_vector_type(emit, slot->type)));
        } else {
            ir_print(emit->out, "  %%slot.%u = alloca %s\n", s,
                     gang_type_name(slot->type));
        }
    }
}

static int
by_size(const void *a, const void *b)
{
    const struct gang_slot *x = *(struct gang_slot *const *)a;
    const struct gang_slot *y = *(struct gang_slot *const *)b;

    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->value > y->value;
}

static bool
is_carried(const struct gang_emit *emit, const struct gang_slot *slot)
{
    uint32_t block = slot->kind <= GANG_SLOT_LEFT
                         ? emit->function->values[slot->value].block
                         : slot->value;

    if (slot->kind == GANG_SLOT_LEFT) {
        return emit->plan.block_level[slot->loop] != 0;
    }
    return (slot->kind == GANG_SLOT_PHI || slot->kind == GANG_SLOT_COME ||
            slot->kind == GANG_SLOT_FLAG) &&
           gang_is_level_header(emit, block);
}

void
gang_check_slots(struct gang_emit *emit)
{
    for (uint32_t s = 0; s < emit->slot_count; s++) {
        const struct gang_slot *slot = &emit->slots[s];
        if (slot->read && !slot->written) {
            gang_refuse(emit->function, "a value that is read and was not kept");
        }
    }
}

void
gang_place_slots(struct gang_emit *emit)
{
    struct gang_slot **list = ir_alloc(emit->function->arena, emit->slot_count + 1u,
                                       sizeof(struct gang_slot *));
    uint32_t count = 0;

    for (uint32_t s = 0; s < emit->slot_count; s++) {
        struct gang_slot *slot = &emit->slots[s];
        uint32_t runs = 0;
        for (uint32_t r = 0; r < emit->plan.run_count; r++) {
            runs += slot->runs[r] != 0;
        }
        slot->framed = !slot->block_wide && (runs > 1 || is_carried(emit, slot));
        if (slot->kind == GANG_SLOT_ARRAY) {
            slot->framed = true;
            slot->bytes = (emit->function->values[slot->value].extra + 63) / 64 * 64 *
                          emit->width;
        }
        if (slot->framed) {
            list[count++] = slot;
        }
    }
    qsort(list, count, sizeof(struct gang_slot *), by_size);
    emit->frame_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t align = align_of(list[i]);
        emit->frame_bytes = (emit->frame_bytes + align - 1) / align * align;
        list[i]->offset = emit->frame_bytes;
        emit->frame_bytes += list[i]->bytes;
    }
    /* The first slot is the one with the strictest alignment. */
    uint64_t align = count > 0 ? align_of(list[0]) : 1;
    emit->frame_bytes = (emit->frame_bytes + align - 1) / align * align;
}
