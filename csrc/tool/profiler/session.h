/* SPDX-License-Identifier: MIT */
/* The profiler of the process: its state, its thread, and the one recording.
 *
 * The thread "hipadapt-profile" takes events and completes traces; it sleeps while
 * there is nothing to record and no request.  It starts with the first recording or
 * request, and never ends.
 *
 * Locks: `calling` (session.c) is held by the one who prepares, saves, cancels or adds
 * metadata, and comes first; `lock` guards the state.  The recording itself belongs to
 * the thread from warm-up until processing is over, but for its start, its stop and its
 * metadata.  Writers are called without the second lock; the SDK's contexts are stopped
 * with it, within which it waits for nobody. */
#ifndef HA_TOOL_PROFILER_SESSION_H
#define HA_TOOL_PROFILER_SESSION_H

#include <stdint.h>

#include "core/status.h"
#include "tool/include/hipadapt/profile.h"
#include "tool/profiler/config.h"

/* As the functions of profile.h, whose arguments were checked. */
enum hipadapt_profile_result
ha_session_prepare(const struct hipadapt_profile_options *options, uint32_t activities);
enum hipadapt_profile_result ha_session_start(void);
enum hipadapt_profile_result ha_session_stop(void);
enum hipadapt_profile_result ha_session_save(const char *url);
enum hipadapt_profile_result ha_session_cancel(void);
enum hipadapt_profile_result ha_session_step(void);
enum hipadapt_profile_result ha_session_describe(const char *key, const char *json);
enum hipadapt_profile_result ha_session_request(const char *text, uint64_t *number);
enum hipadapt_profile_result ha_session_plan(const struct ha_config *config,
                                             uint64_t *number);
enum hipadapt_profile_result ha_session_status(struct hipadapt_profile_status *status);

/* Why the last trace has no kernel, borrowed; NULL: it has, or wasn't asked for one. */
const char *ha_session_why_empty(void);

/* Drops this request, unless it is being processed or another one is there; doesn't
 * wait for that. */
void ha_session_give_up(uint64_t number);

/* The text of a status goes with it. */
enum hipadapt_profile_result ha_session_result(enum ha_status status);

/* Whether this process is a forked child; then the text is set. */
int ha_session_is_forked(void);

/* The program ends: completes what nobody has stopped, and says so on the log. */
void ha_session_end(void);

/* Fork hook of the child. */
void ha_session_forked(void);

#endif
