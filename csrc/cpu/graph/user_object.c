/* SPDX-License-Identifier: MIT */
#include "cpu/graph/user_object.h"

#include <stdlib.h>

#include "cpu/base/error.h"
#include "cpu/base/handle.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/graph_state.h"

struct ha_user_object {
    struct ha_due due; /* first: the end of the object */
    uint64_t handle;
    hipHostFn_t destroy;
    void *ptr;
    uint64_t references; /* of the program and of graphs */
    uint64_t own;        /* those of the program */
};

static void
object_end(struct ha_due *due)
{
    struct ha_user_object *object = (struct ha_user_object *)due;
    object->destroy(object->ptr);
    free(object);
}

void
ha_user_object_retain(struct ha_user_object *object, unsigned count)
{
    object->references += count;
}

void
ha_user_object_release(struct ha_user_object *object, unsigned count)
{
    object->references -= count;
    if (object->references == 0) {
        ha_handle_retire(HA_HANDLE_USER_OBJECT, object->handle);
        ha_handle_release(object->handle);
        object->due.run = object_end;
        ha_graph_defer(&object->due);
    }
}

static struct ha_user_object *
object_find(hipUserObject_t handle)
{
    struct ha_user_object *object =
        ha_handle_peek(HA_HANDLE_USER_OBJECT, (uint64_t)(uintptr_t)handle);
    if (object == NULL) {
        ha_cpu_fail(hipErrorInvalidValue,
                    "argument 'object' (%p) is not a living user object",
                    (void *)handle);
    }
    return object;
}

hipError_t
ha_user_object_create(hipHostFn_t destroy, void *ptr, unsigned references,
                      hipUserObject_t *handle)
{
    struct ha_user_object *object = calloc(1, sizeof *object);
    if (object != NULL) {
        object->destroy = destroy;
        object->ptr = ptr;
        object->references = references;
        object->own = references;
        object->handle = ha_handle_create(HA_HANDLE_USER_OBJECT, object);
    }
    if (object == NULL || object->handle == 0) {
        free(object);
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another user object");
    }
    *handle = (hipUserObject_t)(uintptr_t)object->handle;
    return hipSuccess;
}

static hipError_t
count_check(unsigned count)
{
    return count != 0 && count <= INT32_MAX
               ? hipSuccess
               : ha_cpu_fail(hipErrorInvalidValue, "argument 'count' is %u", count);
}

/* Takes references from the program: only its own, never those of graphs. */
static hipError_t
give_up(struct ha_user_object *object, unsigned count)
{
    if (count > object->own) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the program has %llu references of the object, not %u",
                           (unsigned long long)object->own, count);
    }
    object->own -= count;
    return hipSuccess;
}

hipError_t
ha_user_object_change(hipUserObject_t handle, unsigned count, bool retain)
{
    struct ha_user_object *object = object_find(handle);
    hipError_t code = object != NULL ? count_check(count) : hipErrorInvalidValue;
    if (code != hipSuccess) {
        return code;
    }
    if (retain) {
        object->own += count;
        ha_user_object_retain(object, count);
        return hipSuccess;
    }
    code = give_up(object, count);
    if (code == hipSuccess) {
        ha_user_object_release(object, count);
    }
    return code;
}

hipError_t
ha_graph_keep_object(struct ha_graph *graph, hipUserObject_t handle, unsigned count,
                     bool move)
{
    struct ha_user_object *object = object_find(handle);
    hipError_t code = object != NULL ? count_check(count) : hipErrorInvalidValue;
    if (code != hipSuccess) {
        return code;
    }
    struct ha_user_object **objects =
        realloc(graph->objects, ((size_t)graph->object_count + count) *
                                    sizeof(struct ha_user_object *));
    if (objects == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for %u references", count);
    }
    graph->objects = objects;
    if (move && (code = give_up(object, count)) != hipSuccess) {
        return code;
    }
    for (unsigned i = 0; i < count; i++) {
        objects[graph->object_count++] = object;
    }
    if (!move) {
        ha_user_object_retain(object, count);
    }
    return hipSuccess;
}

hipError_t
ha_graph_drop_object(struct ha_graph *graph, hipUserObject_t handle, unsigned count)
{
    struct ha_user_object *object = object_find(handle);
    hipError_t code = object != NULL ? count_check(count) : hipErrorInvalidValue;
    if (code != hipSuccess) {
        return code;
    }
    unsigned held = 0;
    for (uint32_t i = 0; i < graph->object_count; i++) {
        held += graph->objects[i] == object;
    }
    if (count > held) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "the graph has %u references of the object, not %u", held,
                           count);
    }
    unsigned left = count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->object_count; i++) {
        struct ha_user_object *item = graph->objects[i];
        if (item == object && left > 0) {
            left--;
        } else {
            graph->objects[kept++] = item;
        }
    }
    graph->object_count = kept;
    ha_user_object_release(object, count);
    return hipSuccess;
}
