/* SPDX-License-Identifier: MIT */
/* Work is noted for the innermost range alone; one that is complete hands what it has
 * to its outer range. */
#include "tool/profiler/ranges.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tool/table.h"

struct span {
    int32_t device;
    uint64_t stream;
    uint64_t start;
    uint64_t end;
};

struct range {
    uint64_t number;
    uint64_t outer; /* 0: none */
    uint64_t id;
    uint32_t name;
    bool pushed;
    bool popped;
    uint64_t inner; /* ranges that are not complete */
    uint64_t launched;
    uint64_t done;
    struct span *spans; /* owned */
    size_t span_count;
    size_t span_room;
};

struct ha_ranges {
    ha_range_told told;
    void *context;
    struct ha_table table; /* by number; `first` is the address, owned */
};

struct ha_ranges *
ha_ranges_new(ha_range_told told, void *context)
{
    struct ha_ranges *ranges = calloc(1, sizeof *ranges);

    if (ranges != NULL) {
        ranges->told = told;
        ranges->context = context;
    }
    return ranges;
}

static struct range *
find(const struct ha_ranges *ranges, uint64_t number)
{
    const struct ha_table_entry *entry =
        number != 0 ? ha_table_find(&ranges->table, number) : NULL;

    return entry != NULL ? (struct range *)(uintptr_t)entry->first : NULL;
}

/* The range, made where it isn't there; NULL for 0, and without memory. */
static struct range *
need(struct ha_ranges *ranges, uint64_t number)
{
    struct range *range = find(ranges, number);

    if (range != NULL || number == 0) {
        return range;
    }
    range = calloc(1, sizeof *range);
    struct ha_table_entry *entry =
        range != NULL ? ha_table_put(&ranges->table, number) : NULL;
    if (entry == NULL) {
        free(range);
        return NULL;
    }
    range->number = number;
    entry->first = (uintptr_t)range;
    return range;
}

static void
widen(struct range *range, const struct span *by)
{
    for (size_t i = 0; i < range->span_count; i++) {
        struct span *span = &range->spans[i];
        if (span->device == by->device && span->stream == by->stream) {
            span->start = by->start < span->start ? by->start : span->start;
            span->end = by->end > span->end ? by->end : span->end;
            return;
        }
    }
    if (range->span_count == range->span_room) {
        size_t room = range->span_room > 0 ? 2 * range->span_room : 2;
        struct span *more = realloc(range->spans, room * sizeof *more);
        if (more == NULL) {
            return;
        }
        range->spans = more;
        range->span_room = room;
    }
    range->spans[range->span_count++] = *by;
}

/* Tells of the range, and hands its spans to the outer one; both are dropped. */
static void
complete(struct ha_ranges *ranges, struct range *range, struct range *outer)
{
    for (size_t i = 0; i < range->span_count; i++) {
        const struct span *span = &range->spans[i];
        const struct ha_range_span told = {range->name,  range->id,   span->device,
                                           span->stream, span->start, span->end};
        if (range->pushed) {
            ranges->told(ranges->context, &told);
        }
        if (outer != NULL) {
            widen(outer, span);
        }
    }
    ha_table_remove(&ranges->table, range->number);
    free(range->spans);
    free(range);
}

/* Completes it and the ranges around it, as far as they wait for nothing. */
static void
look(struct ha_ranges *ranges, struct range *range)
{
    while (range != NULL && range->popped && range->inner == 0 &&
           range->done >= range->launched) {
        struct range *outer = find(ranges, range->outer);
        complete(ranges, range, outer);
        if (outer != NULL) {
            outer->inner--;
        }
        range = outer;
    }
}

void
ha_ranges_push(struct ha_ranges *ranges, const struct ha_trace_event *push)
{
    struct range *range = need(ranges, push->object);
    struct range *outer = find(ranges, push->source);

    if (range == NULL) {
        return;
    }
    range->pushed = true;
    range->name = push->name;
    range->id = push->external;
    if (outer != NULL) {
        range->outer = push->source;
        outer->inner++;
    }
}

void
ha_ranges_pop(struct ha_ranges *ranges, const struct ha_trace_event *pop)
{
    struct range *range = find(ranges, pop->object);

    if (range != NULL) {
        range->popped = true;
        look(ranges, range);
    }
}

void
ha_ranges_launch(struct ha_ranges *ranges, uint64_t number, uint64_t count)
{
    struct range *range = count > 0 ? need(ranges, number) : NULL;

    if (range != NULL) {
        range->launched += count;
    }
}

void
ha_ranges_work(struct ha_ranges *ranges, uint64_t number,
               const struct ha_range_span *work)
{
    struct range *range = need(ranges, number);

    if (range == NULL) {
        return;
    }
    range->done++;
    if (work != NULL) {
        const struct span span = {work->device, work->stream, work->start, work->end};
        widen(range, &span);
    }
    look(ranges, range);
}

static int
greater_first(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;

    return (*left < *right) - (*left > *right);
}

/* Inner ranges have greater numbers, and come first. */
static void
complete_all(struct ha_ranges *ranges, uint64_t *numbers)
{
    size_t count = 0;

    for (size_t i = 0; i < ranges->table.room; i++) {
        if (ranges->table.entries[i].key != 0) {
            numbers[count++] = ranges->table.entries[i].key;
        }
    }
    qsort(numbers, count, sizeof *numbers, greater_first);
    for (size_t i = 0; i < count; i++) {
        struct range *range = find(ranges, numbers[i]);
        complete(ranges, range, find(ranges, range->outer));
    }
}

void
ha_ranges_end(struct ha_ranges *ranges)
{
    if (ranges == NULL) {
        return;
    }
    uint64_t *numbers = malloc((ranges->table.count + 1) * sizeof *numbers);
    if (numbers != NULL) { /* else they stay for good, which harms nobody */
        complete_all(ranges, numbers);
    }
    free(numbers);
    ha_table_free(&ranges->table);
    free(ranges);
}
