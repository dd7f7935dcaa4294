/* SPDX-License-Identifier: MIT */
/* Values in memory by which streams hand over: see cpu/queue/order.h. */
#include <string.h>

#include "cpu/queue/order.h"

#define WRITES_MOST 64u /* that are remembered; the oldest one goes */
#define WAITS_MOST 64u  /* that are open; further ones are not ended by writes */
#define WAIT_BYTES 64u

struct write {
    const void *at;
    uint64_t value;
    struct ha_past *past; /* owned */
};

struct wait {
    const void *at; /* NULL: the place is free */
    ha_order_holds holds;
    _Alignas(16) unsigned char bytes[WAIT_BYTES];
    uint32_t line;
    uint64_t number;
};

/* Pool lock. */
static struct {
    struct write writes[WRITES_MOST];
    uint32_t next; /* counts on */
    struct wait waits[WAITS_MOST];
} values;

/* The newest write that ends such a wait, or NULL. */
static const struct write *
find_write(const void *at, ha_order_holds holds, const void *wait)
{
    for (uint32_t back = 1; back <= WRITES_MOST; back++) {
        const struct write *write = &values.writes[(values.next - back) % WRITES_MOST];
        if (write->at == at && holds(wait, write->value)) {
            return write;
        }
    }
    return NULL;
}

static void
learn(struct ha_past **past, struct ha_past *more)
{
    struct ha_past *both = ha_past_join(*past, more);

    ha_past_release(*past);
    *past = both;
}

void
ha_order_write(struct ha_past **past, const void *at, uint64_t value)
{
    struct write *write = &values.writes[values.next++ % WRITES_MOST];

    ha_past_release(write->past);
    *write = (struct write){.at = at, .value = value, .past = ha_past_keep(*past)};
    for (uint32_t i = 0; i < WAITS_MOST; i++) {
        struct wait *wait = &values.waits[i];
        if (wait->at == at && wait->holds(wait->bytes, value)) {
            ha_past_promise(wait->line, wait->number, *past);
            wait->at = NULL;
        }
    }
}

/* A place for a wait; NULL: there is none. */
static struct wait *
new_wait(void)
{
    for (uint32_t i = 0; i < WAITS_MOST; i++) {
        struct wait *wait = &values.waits[i];
        if (wait->at == NULL || !ha_past_waits(wait->line, wait->number)) {
            return wait;
        }
    }
    return NULL;
}

void
ha_order_wait(struct ha_past **past, const void *at, ha_order_holds holds,
              const void *wait, size_t wait_bytes)
{
    const struct write *write = find_write(at, holds, wait);
    struct wait made = {.at = at, .holds = holds};

    if (write != NULL) {
        learn(past, write->past);
        return;
    }
    struct ha_past *open = ha_past_open(&made.line, &made.number);
    struct wait *place = new_wait();
    if (place != NULL && open != ha_past_everything() && wait_bytes <= WAIT_BYTES) {
        memcpy(made.bytes, wait, wait_bytes);
        *place = made;
    }
    learn(past, open);
    ha_past_release(open);
}

void
ha_order_values_after_fork_child(void)
{
    memset(&values, 0, sizeof values); /* pasts stay with the parent */
}
