/* SPDX-License-Identifier: MIT */
/* HIP entry points: many copies with one call.
 *
 * A batch is checked as a whole before its first copy is queued, so that a bad entry
 * leaves nothing half done; `failIdx` names that entry, or is SIZE_MAX if the fault
 * lies with no entry.  Copies keep the order of the stream, which HIP allows but does
 * not ask for.  A source that must be read before the call returns is waited for. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "abi/hip.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/enter.h"
#include "cpu/entry/runtime.h"
#include "cpu/submit/copy.h"
#include "cpu/work/copy_shape.h"

#define HINT_FLAGS                                                                     \
    ((unsigned)hipMemcpyFlagPreferOverlapWithCompute | hipMemcpyFlagExtPreferCE)
#define OTHER_FLAGS                                                                    \
    ((unsigned)hipMemcpyFlagExtOpSwap | hipMemcpyFlagExtOpIndirectSrc |                \
     hipMemcpyFlagExtOpIndirectDst)

struct batch {
    struct ha_copy *copies; /* owned */
    bool *waits;            /* owned; a flag for each copy */
    size_t count;
};

static void
batch_release(struct batch *batch)
{
    free(batch->copies);
    free(batch->waits);
}

static hipError_t
batch_new(struct batch *batch, size_t count)
{
    *batch = (struct batch){
        .copies = calloc(count, sizeof *batch->copies),
        .waits = calloc(count, sizeof *batch->waits),
        .count = count,
    };
    if (batch->copies == NULL || batch->waits == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for %zu copies", count);
    }
    return hipSuccess;
}

static hipError_t
check_attributes(hipMemcpySrcAccessOrder order, unsigned flags, bool *waits)
{
    int number = (int)order;
    if (number < hipMemcpySrcAccessOrderStream || number > hipMemcpySrcAccessOrderAny) {
        return ha_cpu_fail(hipErrorInvalidValue, "%d is not a hipMemcpySrcAccessOrder",
                           number);
    }
    if ((flags & OTHER_FLAGS) != 0) {
        return ha_cpu_fail(hipErrorNotSupported,
                           "flags 0x%x: swapped and indirect copies are not supported",
                           flags);
    }
    if ((flags & ~HINT_FLAGS) != 0) {
        return ha_cpu_fail(hipErrorInvalidValue, "flags 0x%x are not hipMemcpyFlags",
                           flags);
    }
    *waits = order == hipMemcpySrcAccessOrderDuringApiCall;
    return hipSuccess;
}

static hipError_t
batch_run(const struct batch *batch, hipStream_t stream, struct ha_device *device,
          size_t *fail)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct ha_copy copy = batch->copies[i];
        copy.in_order = true;
        hipError_t code = ha_submit_copy(stream, device, &copy,
                                         batch->waits[i] ? HA_RUN_SYNC : HA_RUN_ASYNC);
        if (code != hipSuccess) {
            *fail = i;
            return code;
        }
    }
    return hipSuccess;
}

/* ---- one dimension ---- */

/* What describes a batch of copies of one dimension. */
struct list {
    void **dsts;
    void **srcs;
    const size_t *sizes;
    const hipMemcpyAttributes *attributes;
    const size_t *indices; /* the copy from which each attribute holds */
    size_t attribute_count;
};

static hipError_t
check_list(const struct list *list, size_t count)
{
    if (list->dsts == NULL || list->srcs == NULL || list->sizes == NULL) {
        return ha_cpu_fail_null(list->dsts == NULL   ? "dsts"
                                : list->srcs == NULL ? "srcs"
                                                     : "sizes");
    }
    if (list->attribute_count == 0) {
        return hipSuccess; /* all in stream order */
    }
    if (list->attributes == NULL || list->indices == NULL) {
        return ha_cpu_fail_null(list->attributes == NULL ? "attrs" : "attrsIdxs");
    }
    for (size_t i = 0; i < list->attribute_count; i++) {
        bool first = i == 0 && list->indices[0] == 0;
        bool later = i > 0 && list->indices[i] > list->indices[i - 1];
        if (!(first || later) || list->indices[i] >= count) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument 'attrsIdxs': number %zu is %zu; they begin "
                               "with 0 and rise below %zu",
                               i, list->indices[i], count);
        }
    }
    return hipSuccess;
}

static hipError_t
check_entry(const struct list *list, size_t at, size_t attribute, struct ha_copy *copy,
            bool *waits)
{
    bool work;
    hipError_t code = hipSuccess;
    if (list->attribute_count != 0) {
        const hipMemcpyAttributes *found = &list->attributes[attribute];
        code = check_attributes(found->srcAccessOrder, found->flags, waits);
    }
    *copy = (struct ha_copy){.dst = list->dsts[at],
                             .src = list->srcs[at],
                             .width = list->sizes[at],
                             .height = 1};
    return code == hipSuccess ? ha_copy_check(copy, &work) : code;
}

HA_EXPORT hipError_t
hipMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
                    hipMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                    size_t *failIdx, hipStream_t stream)
{
    const struct list list = {dsts, srcs, sizes, attrs, attrsIdxs, numAttrs};
    struct batch batch = {NULL, NULL, 0};
    struct ha_device *device;
    size_t attribute = 0;
    size_t fail = SIZE_MAX;
    hipError_t code = ha_enter("hipMemcpyBatchAsync", &device);
    if (code == hipSuccess && count == 0) {
        code = ha_cpu_fail(hipErrorInvalidValue, "argument 'count' is 0");
    }
    if (code == hipSuccess) {
        code = check_list(&list, count);
    }
    if (code == hipSuccess) {
        code = batch_new(&batch, count);
    }
    for (size_t i = 0; i < count && code == hipSuccess; i++) {
        while (attribute + 1 < numAttrs && attrsIdxs[attribute + 1] <= i) {
            attribute++;
        }
        code = check_entry(&list, i, attribute, &batch.copies[i], &batch.waits[i]);
        fail = code == hipSuccess ? SIZE_MAX : i;
    }
    if (code == hipSuccess) {
        code = batch_run(&batch, stream, device, &fail);
    }
    if (code != hipSuccess && failIdx != NULL) {
        *failIdx = fail;
    }
    batch_release(&batch);
    return code;
}

/* ---- three dimensions ---- */

/* An array and a position in it, or memory. */
struct side {
    hipArray_t array;
    hipPos pos;
    hipPitchedPtr memory;
};

/* Rows and layers are counted in elements: of the array that takes part, else bytes. */
static hipError_t
check_operand(const char *argument, const hipMemcpy3DOperand *operand,
              const hipExtent *extent, size_t element, struct side *side)
{
    size_t row;
    switch ((int)operand->type) {
    case hipMemcpyOperandTypeArray:
        if (operand->op.array.array == NULL) {
            return ha_cpu_fail_null(argument);
        }
        side->array = operand->op.array.array;
        side->pos = (hipPos){operand->op.array.offset.x, operand->op.array.offset.y,
                             operand->op.array.offset.z};
        return hipSuccess;
    case hipMemcpyOperandTypePointer:
        row =
            operand->op.ptr.rowLength != 0 ? operand->op.ptr.rowLength : extent->width;
        if (operand->op.ptr.ptr == NULL || __builtin_mul_overflow(row, element, &row)) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument '%s': rows of %zu elements at %p", argument,
                               operand->op.ptr.rowLength, operand->op.ptr.ptr);
        }
        side->memory = (hipPitchedPtr){
            .ptr = operand->op.ptr.ptr,
            .pitch = row,
            .xsize = row,
            .ysize = operand->op.ptr.layerHeight != 0 ? operand->op.ptr.layerHeight
                                                      : extent->height,
        };
        return hipSuccess;
    default:
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %d is not an operand type", argument,
                           (int)operand->type);
    }
}

/* The array that takes part, or NULL. */
static hipArray_t
array_of(const hipMemcpy3DBatchOp *op)
{
    if ((int)op->src.type == hipMemcpyOperandTypeArray) {
        return op->src.op.array.array;
    }
    return (int)op->dst.type == hipMemcpyOperandTypeArray ? op->dst.op.array.array
                                                          : NULL;
}

static hipError_t
check_3d(const hipMemcpy3DBatchOp *op, struct ha_copy *copy, bool *waits)
{
    bool work;
    size_t element = 1;
    struct side src = {.array = NULL};
    struct side dst = {.array = NULL};
    hipError_t code = check_attributes(op->srcAccessOrder, op->flags, waits);
    if (code == hipSuccess) {
        code = ha_copy_element(array_of(op), &element);
    }
    if (code == hipSuccess) {
        code = check_operand("src", &op->src, &op->extent, element, &src);
    }
    if (code == hipSuccess) {
        code = check_operand("dst", &op->dst, &op->extent, element, &dst);
    }
    if (code == hipSuccess) {
        const hipMemcpy3DParms params = {.srcArray = src.array,
                                         .srcPos = src.pos,
                                         .srcPtr = src.memory,
                                         .dstArray = dst.array,
                                         .dstPos = dst.pos,
                                         .dstPtr = dst.memory,
                                         .extent = op->extent,
                                         .kind = hipMemcpyDefault};
        code = ha_copy_shape_3d(&params, copy);
    }
    return code == hipSuccess ? ha_copy_check(copy, &work) : code;
}

HA_EXPORT hipError_t
hipMemcpy3DBatchAsync(size_t numOps, hipMemcpy3DBatchOp *opList, size_t *failIdx,
                      unsigned long long flags, hipStream_t stream)
{
    struct batch batch = {NULL, NULL, 0};
    struct ha_device *device;
    size_t fail = SIZE_MAX;
    hipError_t code = ha_enter("hipMemcpy3DBatchAsync", &device);
    if (code == hipSuccess && (numOps == 0 || flags != 0)) {
        code = ha_cpu_fail(hipErrorInvalidValue, "%zu copies with flags 0x%llx", numOps,
                           flags);
    }
    if (code == hipSuccess) {
        code = ha_need("opList", opList);
    }
    if (code == hipSuccess) {
        code = batch_new(&batch, numOps);
    }
    for (size_t i = 0; i < numOps && code == hipSuccess; i++) {
        code = check_3d(&opList[i], &batch.copies[i], &batch.waits[i]);
        fail = code == hipSuccess ? SIZE_MAX : i;
    }
    if (code == hipSuccess) {
        code = batch_run(&batch, stream, device, &fail);
    }
    if (code != hipSuccess && failIdx != NULL) {
        *failIdx = fail;
    }
    batch_release(&batch);
    return code;
}
