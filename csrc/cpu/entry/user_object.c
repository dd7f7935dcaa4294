/* SPDX-License-Identifier: MIT */
/* HIP entry points: user objects, alone and kept by graphs. */
#include "abi/hip.h"
#include "cpu/base/error.h"
#include "cpu/base/export.h"
#include "cpu/entry/graph_node.h"
#include "cpu/graph/graph.h"
#include "cpu/graph/user_object.h"

HA_EXPORT hipError_t
hipUserObjectCreate(hipUserObject_t *object_out, void *ptr, hipHostFn_t destroy,
                    unsigned int initialRefcount, unsigned int flags)
{
    hipError_t code = ha_graph_enter("hipUserObjectCreate");
    if (code != hipSuccess) {
        return code;
    }
    if (object_out == NULL || destroy == NULL) {
        return ha_graph_leave(
            ha_cpu_fail_null(object_out == NULL ? "object_out" : "destroy"));
    }
    if (flags != (unsigned)hipUserObjectNoDestructorSync || initialRefcount == 0) {
        return ha_graph_leave(ha_cpu_fail(
            hipErrorInvalidValue, "flags must be hipUserObjectNoDestructorSync and "
                                  "initialRefcount at least 1"));
    }
    return ha_graph_leave(
        ha_user_object_create(destroy, ptr, initialRefcount, object_out));
}

HA_EXPORT hipError_t
hipUserObjectRelease(hipUserObject_t object, unsigned int count)
{
    hipError_t code = ha_graph_enter("hipUserObjectRelease");
    return code != hipSuccess
               ? code
               : ha_graph_leave(ha_user_object_change(object, count, false));
}

HA_EXPORT hipError_t
hipUserObjectRetain(hipUserObject_t object, unsigned int count)
{
    hipError_t code = ha_graph_enter("hipUserObjectRetain");
    return code != hipSuccess
               ? code
               : ha_graph_leave(ha_user_object_change(object, count, true));
}

HA_EXPORT hipError_t
hipGraphRetainUserObject(hipGraph_t handle, hipUserObject_t object, unsigned int count,
                         unsigned int flags)
{
    hipError_t code = ha_graph_enter("hipGraphRetainUserObject");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_graph *graph = ha_graph_find(handle);
    if (graph == NULL || flags > (unsigned)hipGraphUserObjectMove) {
        return ha_graph_leave(
            graph == NULL
                ? hipErrorInvalidValue
                : ha_cpu_fail(hipErrorInvalidValue, "argument 'flags' is 0x%x", flags));
    }
    return ha_graph_leave(ha_graph_keep_object(
        graph, object, count, flags == (unsigned)hipGraphUserObjectMove));
}

HA_EXPORT hipError_t
hipGraphReleaseUserObject(hipGraph_t handle, hipUserObject_t object, unsigned int count)
{
    hipError_t code = ha_graph_enter("hipGraphReleaseUserObject");
    if (code != hipSuccess) {
        return code;
    }
    struct ha_graph *graph = ha_graph_find(handle);
    return ha_graph_leave(graph == NULL ? hipErrorInvalidValue
                                        : ha_graph_drop_object(graph, object, count));
}
