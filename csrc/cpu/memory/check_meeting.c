/* SPDX-License-Identifier: MIT */
#include "cpu/memory/check_meeting.h"

#include <stdio.h>
#include <string.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/finding.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/warp.h"
#include "cpu/memory/check_side.h"

#define MESSAGE_BYTES 192

static const struct {
    enum ha_check_what what;
    uint32_t kinds; /* all of them must be checked */
} faults[] = {
    [HA_MEETING_DIVERGED] = {HA_FOUND_DIVERGED_BARRIER, HA_CHECK_SYNC},
    [HA_MEETING_LEFT] = {HA_FOUND_LEFT_BARRIER, HA_CHECK_SYNC | HA_CHECK_STRICT},
    [HA_MEETING_ABSENT] = {HA_FOUND_ABSENT_LANES, HA_CHECK_SYNC},
    [HA_MEETING_SOURCE] = {HA_FOUND_ABSENT_SOURCE, HA_CHECK_SYNC},
    [HA_MEETING_NOT_COOPERATIVE] = {HA_FOUND_NOT_COOPERATIVE, HA_CHECK_SYNC},
};

static struct ha_check_side
side_of(const struct ha_launch *launch, const struct ha_lane_record *record)
{
    static const struct ha_check_site unknown = {
        .file = "", .function = "", .text = ""};
    struct ha_check_side side =
        ha_check_side_at(launch, record->site != NULL ? record->site : &unknown, 0);

    memcpy(side.block, record->lane.block_idx, sizeof side.block);
    memcpy(side.thread, record->lane.thread_idx, sizeof side.thread);
    return side;
}

/* "lane 20 of the warp, thread (20, 0, 0), which waits at line 7" */
static void
put_other(const struct ha_meeting *meeting, char *text, size_t room)
{
    const struct ha_lane_record *other = meeting->other;
    char where[48] = "which the block does not have";

    if (other == NULL) {
        (void)snprintf(text, room, "lane %u of the warp, %s", meeting->lane, where);
        return;
    }
    const uint32_t *thread = other->lane.thread_idx;
    if (meeting->ended) {
        (void)snprintf(where, sizeof where, "which has returned");
    } else if (other->site != NULL) {
        (void)snprintf(where, sizeof where, "which is at line %u", other->site->line);
    } else {
        (void)snprintf(where, sizeof where, "which does not come");
    }
    (void)snprintf(text, room, "thread (%u, %u, %u), %s", thread[0], thread[1],
                   thread[2], where);
}

static void
put_message(const struct ha_meeting *meeting, char message[MESSAGE_BYTES])
{
    char other[MESSAGE_BYTES / 2];

    message[0] = '\0'; /* the words of the kind */
    if (meeting->fault == HA_MEETING_DIVERGED ||
        meeting->fault == HA_MEETING_NOT_COOPERATIVE) {
        return;
    }
    put_other(meeting, other, sizeof other);
    (void)snprintf(message, MESSAGE_BYTES, "%s %s",
                   meeting->fault == HA_MEETING_LEFT
                       ? "left-barrier: the block waits here without"
                   : meeting->fault == HA_MEETING_ABSENT
                       ? "absent-lanes: the mask of a call of the warp names"
                       : "absent-source: a shuffle reads from",
                   other);
}

void
ha_check_meeting(const struct ha_meeting *meeting)
{
    struct ha_runner *runner = ha_runner_self;
    uint32_t kinds = faults[meeting->fault].kinds;
    char message[MESSAGE_BYTES];

    if ((ha_check_kinds() & kinds) != kinds) {
        return;
    }
    if (ha_runner_stack_short(runner, HA_CHECK_STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    put_message(meeting, message);
    struct ha_check_finding found = {
        .what = faults[meeting->fault].what,
        .device = (int)meeting->launch->device,
        .message = message,
        .here = side_of(meeting->launch, meeting->here),
    };
    if (meeting->fault == HA_MEETING_DIVERGED) {
        found.other = side_of(meeting->launch, meeting->other);
    }
    ha_runner_busy(runner);
    ha_finding_add(&found);
    ha_runner_idle(runner);
}
