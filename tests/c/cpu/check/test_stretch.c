/* SPDX-License-Identifier: MIT */
/* Layers of stretches, beside arrays with an entry for each byte. */
/* sources: core cpu/check/stretch */
#include "check.h"

#include "cpu/check/stretch.h"

#define BYTES 96u

static void
add(struct ha_layer *layer, uintptr_t begin, uintptr_t end, uint64_t thread,
    enum ha_way way)
{
    const struct ha_stretch cell = {
        .begin = begin, .end = end, .thread = thread, .site = 5, .way = way};

    CHECK(ha_layer_add(layer, &cell));
}

static void
test_threads_in_a_row_are_one_stretch(void)
{
    struct ha_layer layer = {.items = NULL};

    for (uint32_t i = 0; i < 1000; i++) {
        add(&layer, 4 * i, 4 * i + 4, 7 + i / 2, HA_WAY_WRITE);
    }
    CHECK_EQUAL(layer.count, 1);
    CHECK_EQUAL(layer.items[0].unit, 8);
    CHECK_EQUAL(ha_stretch_thread(&layer.items[0], 0), 7);
    CHECK_EQUAL(ha_stretch_thread(&layer.items[0], 3999), 506);
    ha_layer_release(&layer);
}

static void
test_other_threads_sites_and_ways_are_stretches_of_their_own(void)
{
    struct ha_layer layer = {.items = NULL};

    add(&layer, 0, 4, 1, HA_WAY_WRITE);
    add(&layer, 4, 8, 9, HA_WAY_WRITE);  /* another thread */
    add(&layer, 8, 12, 9, HA_WAY_WRITE); /* the same one */
    add(&layer, 12, 16, 9, HA_WAY_ATOMIC);
    add(&layer, 20, 24, 9, HA_WAY_ATOMIC);
    CHECK_EQUAL(layer.count, 4);
    CHECK_EQUAL(layer.items[1].end, 12);
    ha_layer_release(&layer);
}

static void
test_many_threads_of_little_memory_are_one(void)
{
    struct ha_layer layer = {.items = NULL};

    for (uint32_t i = 0; i < 100000; i++) {
        add(&layer, 4 * i, 4 * i + 4, (uint64_t)i * 7919 % 65521, HA_WAY_WRITE);
    }
    CHECK(layer.count > 4000 && layer.count * sizeof layer.items[0] < 500000);
    CHECK_EQUAL(layer.items[layer.count - 1].end, 400000);
    ha_layer_release(&layer);
}

static void
test_ways_that_race(void)
{
    static const bool race[4][4] = {/* read, atomic read, atomic, write */
                                    {false, false, true, true},
                                    {false, false, false, true},
                                    {true, false, false, true},
                                    {true, true, true, true}};

    for (unsigned a = 0; a < 4; a++) {
        for (unsigned b = 0; b < 4; b++) {
            CHECK_EQUAL(ha_ways_race((enum ha_way)a, (enum ha_way)b), race[a][b]);
        }
    }
}

/* ---- beside bytes ---- */

struct bytes {
    int way[BYTES]; /* -1: none */
    uint64_t thread[BYTES];
};

static uint64_t state = 1;

static uint32_t
below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

static void
fill(struct ha_layer *layer, struct bytes *bytes, bool reads)
{
    *layer = (struct ha_layer){.items = NULL};
    for (uint32_t i = 0; i < BYTES; i++) {
        bytes->way[i] = -1;
    }
    uint64_t thread = below(4);
    for (uint32_t at = below(8); at < BYTES;) {
        uint32_t size = 1 + below(6);
        enum ha_way way = reads ? HA_WAY_READ : (enum ha_way)(1 + below(3));
        for (uint32_t cells = below(4); cells > 0 && at + size <= BYTES; cells--) {
            add(layer, at, at + size, thread, way);
            for (uint32_t i = at; i < at + size; i++) {
                bytes->way[i] = way;
                bytes->thread[i] = thread;
            }
            thread += below(3) > 0;
            at += size;
        }
        at += below(5);
        thread = below(2) > 0 ? thread + 1 : below(9);
    }
}

static void
check_same(const struct ha_layer *layer, const struct bytes *bytes)
{
    size_t item = 0;

    for (uint32_t i = 0; i < BYTES; i++) {
        while (item < layer->count && layer->items[item].end <= i) {
            item++;
        }
        bool there = item < layer->count && layer->items[item].begin <= i;
        CHECK_EQUAL(there, bytes->way[i] >= 0);
        if (there) {
            CHECK_EQUAL(layer->items[item].way, bytes->way[i]);
            CHECK_EQUAL(ha_stretch_thread(&layer->items[item], i), bytes->thread[i]);
        }
    }
}

/* Whoever races with the earlier way races with the later one. */
static bool
covers(int later, int earlier)
{
    for (unsigned way = 0; way < 4; way++) {
        if (ha_ways_race((enum ha_way)way, (enum ha_way)earlier) &&
            !ha_ways_race((enum ha_way)way, (enum ha_way)later)) {
            return false;
        }
    }
    return true;
}

struct met {
    unsigned char at[BYTES];
};

static void
note(void *context, const struct ha_stretch *a, const struct ha_stretch *b,
     uintptr_t at)
{
    uintptr_t end = a->end < b->end ? a->end : b->end;

    CHECK(at >= a->begin && at >= b->begin && at < end);
    CHECK(at == a->begin || at == b->begin);
    for (; at < end; at++) {
        ((struct met *)context)->at[at]++;
    }
}

static void
test_random_layers_are_as_their_bytes_say(void)
{
    for (uint32_t round = 0; round < 20000; round++) {
        struct ha_layer layer, later;
        struct bytes bytes, over;
        struct met met = {{0}};
        fill(&layer, &bytes, round % 3 == 0);
        fill(&later, &over, round % 5 == 0);
        check_same(&layer, &bytes);
        ha_layers_meet(&layer, &later, note, &met);
        for (uint32_t i = 0; i < BYTES; i++) {
            CHECK_EQUAL(met.at[i], bytes.way[i] >= 0 && over.way[i] >= 0);
            if (bytes.way[i] >= 0 && over.way[i] >= 0 &&
                covers(over.way[i], bytes.way[i])) {
                bytes.way[i] = -1;
            }
        }
        CHECK(ha_layer_cover(&layer, &later));
        check_same(&layer, &bytes);
        ha_layer_release(&layer);
        ha_layer_release(&later);
    }
}

int
main(void)
{
    RUN(test_threads_in_a_row_are_one_stretch);
    RUN(test_other_threads_sites_and_ways_are_stretches_of_their_own);
    RUN(test_many_threads_of_little_memory_are_one);
    RUN(test_ways_that_race);
    RUN(test_random_layers_are_as_their_bytes_say);
    return 0;
}
