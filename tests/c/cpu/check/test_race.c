/* SPDX-License-Identifier: MIT */
/* Which accesses of a launch race, as it is told what lanes do. */
/* sources: cpu/check/race.c cpu/check/race_clock.c cpu/check/race_order.c
   cpu/check/race_pages.c cpu/check/race_seen.c cpu/check/race_syncs.c */
#include "check.h"

#include "cpu/check/race.h"
#include "cpu/check/race_clock.h"

#define READ 1u
#define WRITE 2u
#define ATOMIC 4u
#define ACQUIRE 8u
#define RELEASE 16u
#define SHARED 32u

static _Alignas(64) unsigned char memory[4096];
static struct ha_race_other others[HA_RACE_OTHERS];
static struct ha_race *race;

static void
start(bool relaxed, uint64_t kept)
{
    race = ha_race_start(128, 32, relaxed, kept);
    CHECK(race != NULL);
    ha_race_block(race, 0);
}

static void
end(void)
{
    CHECK(!ha_race_has_lost(race));
    ha_race_end(race);
}

/* How many races the access is told to have; its mark is the lane's number. */
static unsigned
access_at(uint32_t lane, size_t at, uint64_t bytes, unsigned what)
{
    const struct ha_race_access access = {
        .at = (uintptr_t)memory + at,
        .bytes = bytes,
        .lane = lane,
        .mark = lane + 1,
        .reads = (what & READ) != 0,
        .writes = (what & WRITE) != 0,
        .atomic = (what & ATOMIC) != 0,
        .acquire = (what & ACQUIRE) != 0,
        .release = (what & RELEASE) != 0,
        .shared = (what & SHARED) != 0,
    };

    return ha_race_access(race, &access, others);
}

static unsigned
word(uint32_t lane, unsigned what)
{
    return access_at(lane, 0, 4, what);
}

/* ---- accesses ---- */

static void
test_accesses_of_two_lanes_race(void)
{
    start(false, 0);
    CHECK_EQUAL(word(3, WRITE), 0);
    CHECK_EQUAL(word(3, READ | WRITE), 0);
    CHECK_EQUAL(word(4, READ), 1);
    CHECK_EQUAL(others[0].lane, 3);
    CHECK_EQUAL(others[0].mark, 4);
    CHECK(others[0].wrote && !others[0].atomic);
    CHECK_EQUAL(word(5, WRITE), 2); /* after the write of 3 and the read of 4 */
    end();
}

static void
test_reads_do_not_race(void)
{
    start(false, 0);
    for (uint32_t lane = 0; lane < 128; lane++) {
        CHECK_EQUAL(word(lane, READ), 0);
    }
    CHECK_EQUAL(word(0, WRITE), 1);
    CHECK(!others[0].wrote);
    end();
}

static void
test_bytes_side_by_side_do_not_race(void)
{
    start(false, 0);
    CHECK_EQUAL(access_at(0, 0, 4, WRITE), 0);
    CHECK_EQUAL(access_at(1, 4, 1, WRITE), 0);
    CHECK_EQUAL(access_at(2, 5, 1, WRITE), 0);
    CHECK_EQUAL(access_at(3, 3, 2, READ), 2); /* a byte of 0 and one of 1 */
    CHECK_EQUAL((uintptr_t)others[0].at, (uintptr_t)memory + 3);
    CHECK_EQUAL((uintptr_t)others[1].at, (uintptr_t)memory + 4);
    end();
}

static void
test_wide_access_tells_each_place_once(void)
{
    start(false, 0);
    CHECK_EQUAL(access_at(0, 1020, 16, WRITE), 0); /* in two pages */
    CHECK_EQUAL(access_at(1, 1024, 4, WRITE), 1);
    CHECK_EQUAL(access_at(2, 1016, 32, READ), 2);
    CHECK_EQUAL(access_at(2, 0, sizeof memory, WRITE), 2);
    end();
}

static void
test_more_places_than_there_is_room_for(void)
{
    start(false, 0);
    for (uint32_t lane = 0; lane < 8; lane++) {
        CHECK_EQUAL(access_at(lane, lane * 4, 4, WRITE), 0);
    }
    CHECK_EQUAL(access_at(9, 0, 32, READ), HA_RACE_OTHERS);
    end();
}

/* ---- atomics ---- */

static void
test_atomics_race_with_what_is_none(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, ATOMIC | READ | WRITE), 0);
    CHECK_EQUAL(word(1, ATOMIC | READ | WRITE), 0);
    CHECK_EQUAL(word(2, ATOMIC | READ), 0);
    CHECK_EQUAL(word(3, READ), 2);
    CHECK_EQUAL(word(4, WRITE), 4);
    end();
}

static void
test_plain_write_before_an_own_atomic_still_counts(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE), 0);
    CHECK_EQUAL(word(0, ATOMIC | READ | WRITE), 0);
    CHECK_EQUAL(word(1, ATOMIC | READ | WRITE), 1);
    CHECK_EQUAL(others[0].lane, 0);
    end();
}

static void
test_last_lane_that_counts_does_not_hide_the_others(void)
{
    start(false, 0);
    for (uint32_t lane = 0; lane < 32; lane++) {
        CHECK_EQUAL(word(lane, ATOMIC | READ | WRITE), 0);
    }
    CHECK_EQUAL(word(31, READ), 1);
    end();
}

static void
test_equal_is_what_memory_has(void)
{
    struct ha_race_access access = {
        .at = (uintptr_t)memory, .bytes = 4, .mark = 1, .writes = true};
    const uint32_t same = 7, other = 263;

    start(false, 0);
    memcpy(memory, &same, 4);
    CHECK_EQUAL(ha_race_access(race, &access, others), 0);
    access.lane = 1;
    access.value = &same;
    CHECK_EQUAL(ha_race_access(race, &access, others), 1);
    CHECK(others[0].equal);
    access.lane = 2;
    access.value = &other;
    CHECK_EQUAL(ha_race_access(race, &access, others), 1);
    CHECK(!others[0].equal);
    memset(memory, 0, 4);
    end();
}

/* ---- lanes that meet ---- */

static void
test_barrier_orders_the_block(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE), 0);
    ha_race_barrier(race);
    CHECK_EQUAL(word(127, WRITE), 0);
    ha_race_block(race, 1);
    ha_race_barrier(race);
    CHECK_EQUAL(word(127, WRITE), 1);
    CHECK_EQUAL(others[0].block, 0);
    end();
}

static void
test_shared_memory_of_another_block_is_other_memory(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE | SHARED), 0);
    ha_race_block(race, 1);
    CHECK_EQUAL(word(1, WRITE | SHARED), 0);
    CHECK_EQUAL(word(2, WRITE | SHARED), 1);
    end();
}

static void
test_warp_orders_its_lanes_only(void)
{
    start(false, 0);
    for (uint32_t lane = 0; lane < 64; lane++) {
        CHECK_EQUAL(word(lane, READ), 0);
    }
    ha_race_warp(race, 0, UINT32_MAX);
    CHECK_EQUAL(word(2, WRITE), 1);
    CHECK_EQUAL(others[0].lane / 32, 1);
    end();
}

static void
test_part_of_a_warp_orders_that_part(void)
{
    start(false, 0);
    CHECK_EQUAL(word(1, WRITE), 0);
    ha_race_warp(race, 0, 6);
    CHECK_EQUAL(word(2, READ), 0);
    CHECK_EQUAL(word(3, READ), 1);
    end();
}

static void
test_relaxed_warps_do_not_race_within(void)
{
    start(true, 0);
    CHECK_EQUAL(word(1, WRITE), 0);
    CHECK_EQUAL(word(2, WRITE), 0);
    CHECK_EQUAL(word(33, WRITE), 1);
    end();
}

static void
test_grid_orders_all_blocks(void)
{
    start(false, 2);
    CHECK_EQUAL(word(0, WRITE), 0);
    ha_race_barrier(race);
    ha_race_block(race, 1);
    ha_race_grid(race);
    CHECK_EQUAL(word(1, WRITE), 0);
    ha_race_block(race, 0);
    CHECK_EQUAL(word(2, READ), 1);
    end();
}

static void
test_block_that_goes_on_has_not_met(void)
{
    start(false, 2);
    CHECK_EQUAL(word(0, WRITE), 0);
    ha_race_block(race, 1);
    ha_race_block(race, 0);
    CHECK_EQUAL(word(1, WRITE), 1);
    end();
}

/* ---- what goes from hand to hand ---- */

#define FLAG 2048

static unsigned
flag(uint32_t lane, unsigned what)
{
    return access_at(lane, FLAG, 4, ATOMIC | what);
}

static void
test_release_and_acquire_order(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE), 0);
    CHECK_EQUAL(flag(0, WRITE | RELEASE), 0);
    CHECK_EQUAL(access_at(0, 8, 4, WRITE), 0); /* behind the release */
    ha_race_block(race, 1);
    CHECK_EQUAL(flag(5, READ | ACQUIRE), 0);
    CHECK_EQUAL(word(5, READ), 0);
    CHECK_EQUAL(word(6, READ), 1);
    CHECK_EQUAL(access_at(5, 8, 4, READ), 1);
    end();
}

static void
test_read_without_acquire_waits_for_a_fence_or_barrier(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE), 0);
    ha_race_fence(race, 0, false, true, false);
    CHECK_EQUAL(flag(0, WRITE), 0);
    ha_race_block(race, 1);
    CHECK_EQUAL(flag(5, READ), 0);
    ha_race_fence(race, 5, false, true, false); /* no acquire */
    CHECK_EQUAL(word(5, READ), 1);
    ha_race_fence(race, 5, true, false, false);
    CHECK_EQUAL(word(5, READ), 0);
    CHECK_EQUAL(word(6, READ), 1);
    ha_race_barrier(race);
    CHECK_EQUAL(word(6, READ), 0);
    end();
}

static void
test_lanes_that_meet_share_fences(void)
{
    for (int whole = 0; whole < 2; whole++) {
        start(false, 0);
        CHECK_EQUAL(word(3, WRITE), 0);
        ha_race_fence(race, 3, true, true, false);
        if (whole != 0) {
            ha_race_barrier(race);
        } else {
            ha_race_warp(race, 0, UINT32_MAX);
        }
        CHECK_EQUAL(access_at(0, 8, 4, WRITE), 0); /* nobody fences that */
        CHECK_EQUAL(flag(0, READ | WRITE), 0);
        ha_race_block(race, 1);
        CHECK_EQUAL(flag(5, READ | ACQUIRE), 0);
        CHECK_EQUAL(word(5, READ), 0);
        CHECK_EQUAL(access_at(5, 8, 4, READ), 1);
        end();
    }
}

static void
test_flag_itself_is_handed_over_behind_a_fence(void)
{
    start(false, 0);
    ha_race_fence(race, 0, true, true, false);
    CHECK_EQUAL(flag(0, READ | WRITE), 0);
    ha_race_block(race, 1);
    CHECK_EQUAL(flag(5, READ | WRITE | ACQUIRE), 0);
    CHECK_EQUAL(access_at(5, FLAG, 4, WRITE), 0);
    end();
}

static void
test_acquire_fence_releases_nothing(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE), 0);
    ha_race_fence(race, 0, true, false, false);
    CHECK_EQUAL(flag(0, WRITE), 0);
    ha_race_block(race, 1);
    CHECK_EQUAL(flag(5, READ | ACQUIRE), 0);
    CHECK_EQUAL(word(5, READ), 1);
    end();
}

static void
test_write_that_releases_nothing_takes_the_release_away(void)
{
    static const unsigned writes[] = {ATOMIC | WRITE, WRITE};

    for (size_t i = 0; i < 2; i++) {
        start(false, 0);
        CHECK_EQUAL(word(0, WRITE), 0);
        CHECK_EQUAL(flag(0, WRITE | RELEASE), 0);
        CHECK_EQUAL(flag(0, READ | WRITE), 0); /* goes on with what it read */
        ha_race_block(race, 1);
        CHECK_EQUAL(flag(4, READ | ACQUIRE), 0);
        CHECK_EQUAL(word(4, READ), 0);
        ha_race_block(race, 2);
        (void)access_at(0, FLAG, 4, writes[i]);
        (void)flag(5, READ | ACQUIRE);
        CHECK_EQUAL(word(5, READ), 1);
        end();
    }
}

static void
test_warp_hands_over_what_its_lanes_did(void)
{
    start(false, 0);
    CHECK_EQUAL(word(3, WRITE), 0);
    ha_race_warp(race, 0, UINT32_MAX);
    CHECK_EQUAL(flag(0, WRITE | RELEASE), 0);
    ha_race_block(race, 1);
    CHECK_EQUAL(flag(5, READ), 0);
    ha_race_warp(race, 0, UINT32_MAX);
    CHECK_EQUAL(word(6, READ), 0);
    CHECK_EQUAL(word(40, READ), 1);
    end();
}

static void
test_chain_of_many_hands_orders(void)
{
    start(false, 0);
    CHECK_EQUAL(word(0, WRITE), 0);
    for (uint32_t block = 0; block < 1000; block++) {
        ha_race_block(race, block);
        if (block > 0) {
            CHECK_EQUAL(
                access_at(1, FLAG + 4 * ((block - 1) % 8), 4, ATOMIC | READ | ACQUIRE),
                0);
        }
        uint32_t lane = block > 0 ? 1 : 0;
        CHECK_EQUAL(
            access_at(lane, FLAG + 4 * (block % 8), 4, ATOMIC | WRITE | RELEASE), 0);
    }
    CHECK_EQUAL(word(1, READ), 0);
    CHECK_EQUAL(word(2, READ), 1);
    end();
}

static void
test_new_memory_has_no_past(void)
{
    start(false, 0);
    CHECK_EQUAL(access_at(0, 0, 2048, WRITE), 0);
    CHECK_EQUAL(access_at(0, 3, 1, WRITE), 0);
    CHECK_EQUAL(access_at(0, 8, 4, ATOMIC | READ | WRITE), 0);
    ha_race_forget(race, (uintptr_t)memory, 2000);
    CHECK_EQUAL(access_at(1, 0, 2000, WRITE), 0);
    CHECK_EQUAL(access_at(1, 2000, 4, WRITE), 1);
    end();
}

static void
test_clocks_are_shared_until_one_changes(void)
{
    struct ha_race_clock *one = NULL, *other = NULL;

    CHECK(!ha_race_clock_knows(one, 1, 2, 3));
    CHECK(ha_race_clock_raise(&one, 1, 2, 9));
    CHECK(ha_race_clock_knows(one, 1, 2, 8));
    CHECK(!ha_race_clock_knows(one, 1, 2, 9));
    CHECK(!ha_race_clock_knows(one, 1, 3, 8));
    CHECK(ha_race_clock_join(&other, one));
    CHECK(other == one);
    CHECK(ha_race_clock_raise(&other, 0, HA_RACE_ALL, 5));
    CHECK(other != one);
    CHECK(ha_race_clock_knows(other, 0, 77, 4));
    CHECK(!ha_race_clock_knows(one, 0, 77, 4));
    CHECK(ha_race_clock_raise(&one, 1, 4, 12));
    CHECK(ha_race_clock_join(&one, other));
    CHECK(ha_race_clock_knows(one, 0, 1, 4) && ha_race_clock_knows(one, 1, 4, 11));
    ha_race_clock_drop(&one);
    ha_race_clock_drop(&other);
    CHECK(one == NULL && other == NULL);
}

int
main(void)
{
    RUN(test_accesses_of_two_lanes_race);
    RUN(test_reads_do_not_race);
    RUN(test_bytes_side_by_side_do_not_race);
    RUN(test_wide_access_tells_each_place_once);
    RUN(test_more_places_than_there_is_room_for);
    RUN(test_atomics_race_with_what_is_none);
    RUN(test_plain_write_before_an_own_atomic_still_counts);
    RUN(test_last_lane_that_counts_does_not_hide_the_others);
    RUN(test_equal_is_what_memory_has);
    RUN(test_barrier_orders_the_block);
    RUN(test_shared_memory_of_another_block_is_other_memory);
    RUN(test_warp_orders_its_lanes_only);
    RUN(test_part_of_a_warp_orders_that_part);
    RUN(test_relaxed_warps_do_not_race_within);
    RUN(test_grid_orders_all_blocks);
    RUN(test_block_that_goes_on_has_not_met);
    RUN(test_release_and_acquire_order);
    RUN(test_read_without_acquire_waits_for_a_fence_or_barrier);
    RUN(test_lanes_that_meet_share_fences);
    RUN(test_flag_itself_is_handed_over_behind_a_fence);
    RUN(test_acquire_fence_releases_nothing);
    RUN(test_write_that_releases_nothing_takes_the_release_away);
    RUN(test_warp_hands_over_what_its_lanes_did);
    RUN(test_chain_of_many_hands_orders);
    RUN(test_new_memory_has_no_past);
    RUN(test_clocks_are_shared_until_one_changes);
    return 0;
}
