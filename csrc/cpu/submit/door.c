/* SPDX-License-Identifier: MIT */
#include "cpu/submit/door.h"

#include "cpu/graph/capture.h"

void
ha_door_leave(struct ha_door *door)
{
    ha_queue_retain(&door->stream->queue);
    ha_pool_unlock();
}

void
ha_door_abandon(struct ha_door *door)
{
    ha_pool_lock();
    ha_queue_release(&door->stream->queue);
    ha_pool_unlock();
}

hipError_t
ha_door_return(struct ha_door *door)
{
    hipError_t code = ha_capture_find_again(door->stream);
    if (code == hipSuccess) {
        ha_queue_release(&door->stream->queue);
    } else {
        ha_door_abandon(door);
    }
    return code;
}

/* Asks the rules of captures, and prepares; lock held on entry, and on success. */
static hipError_t
step_outside(struct ha_door *door, bool ask, bool prepare)
{
    ha_door_leave(door);
    hipError_t code = ask ? ha_capture_permit() : hipSuccess;
    if (code != hipSuccess) {
        ha_door_abandon(door);
        return code;
    }
    if (prepare) {
        door->prepare(door);
    }
    return ha_door_return(door);
}

hipError_t
ha_door_decide(struct ha_door *door, bool ask, bool prepare)
{
    const char *refusal = door->refusal;
    if (refusal == NULL && door->how == HA_RUN_SYNC) {
        refusal = "nothing can wait for";
    }
    prepare = prepare && !ha_door_captures(door);
    hipError_t code = ask || prepare ? step_outside(door, ask, prepare) : hipSuccess;
    if (code == hipSuccess && refusal != NULL && ha_door_captures(door)) {
        code = ha_capture_refuse(door->stream->front, refusal);
    }
    return code;
}

struct ha_front *
ha_door_front(struct ha_door *door)
{
    struct ha_front *front = door->stream->front;
    ha_capture_retain(front);
    ha_pool_unlock();
    return front;
}
