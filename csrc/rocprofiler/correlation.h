/* SPDX-License-Identifier: MIT */
/* Identifiers of what belongs together.
 *
 * A *scope* is a call that a thread is in; scopes of a thread nest, and each has a
 * number. Work that the device does later holds a reference to the number of the scope
 * it was enqueued in; when the call has returned and no work is left, the number is
 * *retired*. */
#ifndef HA_ROCPROFILER_CORRELATION_H
#define HA_ROCPROFILER_CORRELATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A number that work refers to, beyond the call. */
struct ha_correlation {
    _Atomic unsigned references;
    uint64_t internal;
};

struct ha_scope {
    struct ha_scope *outer;
    uint64_t internal;
    uint64_t ancestor;
    struct ha_correlation *shared; /* NULL: no work refers to it so far */
};

/* The scope that this thread is in, or NULL. */
struct ha_scope *ha_scope_current(void);

void ha_scope_enter(struct ha_scope *scope);

/* Drops the scope's reference. */
void ha_scope_leave(struct ha_scope *scope);

/* What this thread does between the two has one number, where it is in no scope, as
 * with a tool that asks for work and not for calls. */
void ha_correlation_together(int begins);

/* For what begins and ends without being the innermost: a number, and its end. */
uint64_t ha_correlation_number(void);
void ha_correlation_retire(uint64_t internal);

/* A reference to the number of the current scope, or a new number where there is none.
 * NULL: no memory. */
struct ha_correlation *ha_correlation_hold(void);
void ha_correlation_drop(struct ha_correlation *correlation);

#endif
