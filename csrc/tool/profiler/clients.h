/* SPDX-License-Identifier: MIT */
/* Clients and children of the profiler (hipadapt/profile_client.h): who they are, and
 * when their functions are called.
 *
 * Each has a *place* and a thread, which calls one function after another.  A recording
 * notes what is to be called and waits for it where it must, with an end: who is late
 * or fails is *left out* of the recording.
 *
 * Locks: `lock` in clients.c guards all of it, comes after those of the session, and is
 * held by none who calls a client or waits for another lock.  Handing over an operation
 * takes no lock: a count of those who do so is waited for when a recording closes. */
#ifndef HA_TOOL_PROFILER_CLIENTS_H
#define HA_TOOL_PROFILER_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tool/include/hipadapt/profile_client.h"
#include "tool/profiler/child.h"
#include "tool/clock.h"

enum { HA_CLIENTS_MAX = 16, HA_CLIENT_NAME_BYTES = 64 };

/* Of a client or of a child. */
struct ha_client_table {
    char name[HA_CLIENT_NAME_BYTES];
    bool is_child;
    clockid_t clock;
    void *context;
    int (*prepare)(void *context, const struct hipadapt_profile_setup *setup);
    int (*start)(void *context);
    int (*step)(void *context, int64_t iteration);
    int (*stop)(void *context);
    int (*collect)(void *context);
    void (*cancel)(void *context);
    void (*release)(void *context);
};

/* As the functions of profile_client.h, whose arguments were checked. */
enum hipadapt_profile_result ha_clients_add(const struct ha_client_table *table,
                                            uint64_t *handle);
enum hipadapt_profile_result ha_clients_remove(uint64_t handle);
enum hipadapt_profile_result
ha_clients_hand_over(uint64_t handle, const struct hipadapt_profile_event *event);

/* The child whose collect runs, with its items and the lock, until ha_clients_give;
 * NULL: it does not collect, and no lock is held. */
struct ha_child_items *ha_clients_take(uint64_t handle, struct ha_child *child);
void ha_clients_give(void);

/* A recording begins: all that are registered are to be prepared.  True: there are
 * clients among them.  `bridge` is the recording's. */
bool ha_clients_prepare(const struct hipadapt_profile_setup *setup,
                        const struct ha_clock_bridge *bridge);

/* It has started or stopped, or a step begins.  No waiting. */
void ha_clients_start(void);
void ha_clients_step(int64_t iteration);
void ha_clients_stop(void);

/* Waits for prepare and start of all; without any lock. */
void ha_clients_settle(void);

/* Leaves out whose prepare or start had its time; waits for nobody. */
void ha_clients_look(void);

/* After the stop: waits for all, lets children collect, and closes: nothing can be
 * handed over any more.  `items` may be NULL. */
void ha_clients_finish(struct ha_child_items *items);

/* There is no trace.  No waiting. */
void ha_clients_cancel(void);

/* What went wrong in this recording, as a JSON list; "" for nothing. */
void ha_clients_failures(char *text, size_t bytes);

/* Whether a client's function calls this one, which is refused; then the text is set.
 */
bool ha_clients_refuse(const char *function);

/* Fork hook of the child process. */
void ha_clients_forked(void);

#endif
