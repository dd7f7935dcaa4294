/* SPDX-License-Identifier: MIT */
#include "tool/profiler/work.h"

#include <stddef.h>

#include "abi/activity.h"

const struct ha_direction *
ha_work_direction(const struct ha_trace_event *event)
{
    static const struct ha_direction directions[] = {
        {"HtoH", "Memcpy HtoH (Host -> Host)"},
        {"HtoD", "Memcpy HtoD (Host -> Device)"},
        {"DtoH", "Memcpy DtoH (Device -> Host)"},
        {"DtoD", "Memcpy DtoD (Device -> Device)"},
        {"PtoP", "Memcpy PtoP (Device -> Device)"},
    };
    bool from = event->source_device != HA_DEVICE_NONE;
    bool to = event->device != HA_DEVICE_NONE;

    if (from && to && event->source_device != event->device) {
        return &directions[4];
    }
    return &directions[2 * from + to];
}

const char *
ha_work_form(uint64_t form)
{
    static const char *const names[] = {[HA_ACTIVITY_REFERENCE] = "reference",
                                        [HA_ACTIVITY_ROWS] = "rows",
                                        [HA_ACTIVITY_GANGS] = "gang"};
    unsigned which = form & UINT8_MAX;

    return which < sizeof names / sizeof *names ? names[which] : NULL;
}

uint32_t
ha_work_width(uint64_t form)
{
    return form >> HA_ACTIVITY_WIDTH_SHIFT & UINT16_MAX;
}

uint64_t
ha_work_blocks_left(uint64_t form)
{
    return form >> HA_ACTIVITY_BLOCKS_SHIFT;
}

const char *
ha_slice_name(const struct ha_slice *slice)
{
    if (slice->name != NULL && slice->name[0] != '\0') {
        return slice->name;
    }
    if (slice->kind == HA_SLICE_MEMCPY && slice->event != NULL) {
        return ha_work_direction(slice->event)->name;
    }
    return slice->kind == HA_SLICE_MEMSET ? "Memset (Device)" : "";
}
