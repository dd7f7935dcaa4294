/* SPDX-License-Identifier: MIT */
/* The recorder: it makes the profiler's contexts, and events of what they tell.
 *
 * Contexts can be made within the library's `initialize` only, and stay for the life of
 * the process.  While they are stopped, nothing costs anything.  A process has one
 * recorder with one collector (tool/ring.h).
 *
 * What belongs together is noted on the thread where it happens, so that nobody has to
 * search for it later:
 *   - the event of a call that gave work to a device has the shape of the first piece;
 *   - work and calls have the *range* that their thread was in.
 * A range is what lies between a push and its pop on a thread: of roctx, or of a user's
 * correlation id.  Its number is never used again, and that of an outer range is
 * smaller.
 *
 * Events differ from tool/event.h in what these kinds have no use for:
 *   call    name: pieces of work; ancestor: range; with work, device, object (0: a
 *           copy) and what stands behind are the first one's; call_note.h has more, and
 *           ha_call_stack
 *   kernel  source: range; no name, ha_kernel_name_get(object) has it; bytes: that it
 *           fills; address: ha_sdk_launch_form
 *   copy    grid[0], grid[1]: range, low half first
 *   both    result: ha_sdk_work_status
 *   memory  as there
 *   push    object: range; source: the outer one; name, or external
 *   pop     object: range
 *   start, stop of a roctx range that no thread is in: object is roctx's number
 *
 * Any thread may call these. */
#ifndef HA_TOOL_PROFILER_RECORDER_H
#define HA_TOOL_PROFILER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "tool/event.h"
#include "tool/profiler/call_note.h"
#include "tool/profiler/kinds.h"
#include "tool/ring.h"
#include "tool/sdk.h"

/* A range's number, of the event of work. */
static inline uint64_t
ha_work_range(const struct ha_trace_event *work)
{
    return work->kind == HA_KIND_COPY ? (uint64_t)work->grid[1] << 32 | work->grid[0]
                                      : work->source;
}

/* The stack of a call stands where neither its work nor its note has anything to say.
 */
static inline bool
ha_call_stack_is_address(const struct ha_trace_event *call)
{
    return call->object != 0 && ha_call_note(call->operation) == HA_NOTE_NONE;
}

/* The name of the stack that a call was made from; 0: none. */
static inline uint32_t
ha_call_stack(const struct ha_trace_event *call)
{
    return ha_call_stack_is_address(call) ? (uint32_t)call->address : call->shared;
}

/* Who tells the stack of the calling thread, as a name (tool/name.h), 0 for none; for
 * the life of the process.  It is asked at launches, where no lock is held. */
void ha_recorder_stacks_from(uint32_t (*source)(void));

/* Within the library's `initialize`: makes the contexts. */
enum ha_status ha_recorder_configure(void);

/* Makes the contexts now, unless they are there.  `room` is how many events wait for
 * their reader at most from now on; 0: as is usual.  HA_ERROR_UNSUPPORTED with a
 * sentence where the profiler's library refuses. */
enum ha_status ha_recorder_need(uint64_t room);

/* Whether somebody wants the contexts: ha_recorder_need, or the environment. */
bool ha_recorder_wanted(void);

/* Whether somebody in this process has asked for the contexts. */
bool ha_recorder_forced(void);

/* No range that was pushed so far has this number or a greater one. */
uint64_t ha_recorder_next_range(void);

/* Starts the contexts that these activities need.  Nothing of before is in the
 * collector, and threads are in no range. */
enum ha_status ha_recorder_start(uint32_t activities);

/* Stops them.  Work on its way still makes events. */
void ha_recorder_stop(void);

/* Borrowed; NULL where there are no contexts. */
struct ha_collector *ha_recorder_collector(void);

/* Whether the work of calls is noted as they make it, which AMD's library need not do.
 */
bool ha_recorder_notes_work(void);

/* Identifiers of this thread: of the first domain (external correlation), and a range
 * of the second.  HA_ERROR_INVALID: nothing to pop. */
enum ha_status ha_recorder_push_external(uint64_t id);
enum ha_status ha_recorder_pop_external(void);
enum ha_status ha_recorder_push_user(uint64_t id);
enum ha_status ha_recorder_pop_user(void);

/* Fork hook of the child. */
void ha_recorder_forked(void);

#endif
