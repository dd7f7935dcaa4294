/* SPDX-License-Identifier: MIT */
/* Lines and pasts: who knows whom, and what the host has waited for. */
/* sources: core cpu/check/past */
#include "check.h"

#include "cpu/check/past.h"

#define STREAMS 5u
#define STEPS 4000u

static bool
knows(const struct ha_line *line, const struct ha_line *other, uint64_t number)
{
    return ha_past_has(ha_line_past(line), ha_line_id(other), number);
}

static void
test_a_line_knows_its_own_and_what_it_learns(void)
{
    struct ha_line *a = ha_line_new(0, HA_LINE_STREAM);
    struct ha_line *b = ha_line_new(0, HA_LINE_STREAM);

    CHECK_EQUAL(ha_line_step(a), 1);
    CHECK_EQUAL(ha_line_step(a), 2);
    struct ha_past *event = ha_past_keep(ha_line_past(a));
    CHECK_EQUAL(ha_line_step(a), 3);
    CHECK(!knows(b, a, 1));
    ha_line_learn(b, event);
    CHECK(knows(b, a, 1) && knows(b, a, 2) && !knows(b, a, 3));
    CHECK(!knows(a, b, 1));
    ha_past_release(event);
    ha_lines_waited_all();
    ha_line_close(a);
    ha_line_close(b);
}

static void
test_what_the_host_waited_for_is_left_out(void)
{
    struct ha_line *a = ha_line_new(0, HA_LINE_STREAM);
    struct ha_line *b = ha_line_new(0, HA_LINE_STREAM);

    (void)ha_line_step(b);
    uint64_t first = ha_line_step(a);
    struct ha_past *past = ha_past_keep(ha_line_past(a));
    ha_lines_waited(past);
    ha_line_learn(b, past);
    CHECK(!knows(b, a, first)); /* everybody does */
    ha_past_release(past);
    ha_lines_waited_all();
    ha_line_close(a);
    ha_line_close(b);
}

static void
test_lines_are_used_again_when_all_is_waited_for(void)
{
    struct ha_line *a = ha_line_new(0, HA_LINE_STREAM);
    uint32_t id = ha_line_id(a);

    (void)ha_line_step(a);
    ha_line_close(a);
    struct ha_line *b = ha_line_new(0, HA_LINE_STREAM);
    CHECK(ha_line_id(b) != id);
    ha_lines_waited_all();
    struct ha_line *c = ha_line_new(1, HA_LINE_BLOCKING);
    CHECK_EQUAL(ha_line_id(c), id);
    CHECK(ha_line_past(c) == NULL);
    CHECK(ha_line_step(c) > 1); /* numbers go on, so that old pasts say nothing */
    ha_lines_waited_all();
    ha_line_close(b);
    ha_line_close(c);
}

static void
test_nodes_that_follow_each_other_share_a_line(void)
{
    struct ha_past *first = NULL, *left, *right;
    uint32_t line = 0, left_line = 0, right_line = 0;

    uint64_t one = ha_line_of_node(0, &first, &line);
    left = ha_past_keep(first);
    right = ha_past_keep(first);
    uint64_t two = ha_line_of_node(0, &left, &left_line);
    uint64_t three = ha_line_of_node(0, &right, &right_line);
    CHECK_EQUAL(left_line, line);
    CHECK_EQUAL(two, one + 1);
    CHECK(right_line != line); /* it does not know the left one */
    CHECK(ha_past_has(left, line, one) && ha_past_has(right, line, one));
    CHECK(!ha_past_has(left, right_line, three) && !ha_past_has(right, line, two));
    ha_past_release(first);
    ha_past_release(left);
    ha_past_release(right);
    ha_lines_waited_all();
}

static void
test_lines_of_a_device_stay_when_streams_are_gone(void)
{
    struct ha_line *a = ha_line_new(3, HA_LINE_BLOCKING);
    struct ha_line *b = ha_line_new(3, HA_LINE_STREAM);
    uint64_t one = ha_line_step(a), two = ha_line_step(b);

    ha_line_close(a);
    struct ha_past *blocking = ha_lines_past(3, true), *all = ha_lines_past(3, false);
    CHECK(ha_past_has(blocking, ha_line_id(a), one));
    CHECK(!ha_past_has(blocking, ha_line_id(b), two));
    CHECK(ha_past_has(all, ha_line_id(a), one) && ha_past_has(all, ha_line_id(b), two));
    CHECK(ha_lines_past(4, false) == NULL);
    ha_past_release(blocking);
    ha_past_release(all);
    ha_line_close(b);
    ha_lines_waited_all();
}

static void
test_everything_is_known_without_memory(void)
{
    struct ha_past *all = ha_past_everything();

    CHECK(ha_past_has(all, 7, 1u << 30));
    CHECK(ha_past_join(all, NULL) == all && ha_past_join(NULL, all) == all);
    ha_past_release(ha_past_keep(all));
}

static uint64_t state = 1;

static uint32_t
below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

/* Beside sets of all that is known, one byte for each operation. */
static void
test_random_streams_know_what_sets_say(void)
{
    static unsigned char known[STREAMS][STEPS], host[STEPS];
    struct ha_line *lines[STREAMS];
    uint32_t owners[STEPS], count = 0;
    uint64_t numbers[STEPS];

    for (uint32_t i = 0; i < STREAMS; i++) {
        lines[i] = ha_line_new(0, HA_LINE_STREAM);
    }
    while (count < STEPS) {
        uint32_t one = below(STREAMS), other = below(STREAMS), what = below(20);
        if (what < 12) {
            owners[count] = one;
            numbers[count] = ha_line_step(lines[one]);
            known[one][count++] = 1;
        } else if (what < 19) {
            ha_line_learn(lines[one], ha_line_past(lines[other]));
            for (uint32_t i = 0; i < count; i++) {
                known[one][i] |= known[other][i];
            }
        } else {
            ha_lines_waited(ha_line_past(lines[one]));
            for (uint32_t i = 0; i < count; i++) {
                host[i] |= known[one][i];
            }
        }
        for (uint32_t i = count > 60 ? count - 60 : 0; i < count; i++) {
            if (!host[i]) {
                CHECK_EQUAL(knows(lines[one], lines[owners[i]], numbers[i]),
                            known[one][i]);
            }
        }
    }
}

int
main(void)
{
    RUN(test_a_line_knows_its_own_and_what_it_learns);
    RUN(test_what_the_host_waited_for_is_left_out);
    RUN(test_lines_are_used_again_when_all_is_waited_for);
    RUN(test_nodes_that_follow_each_other_share_a_line);
    RUN(test_lines_of_a_device_stay_when_streams_are_gone);
    RUN(test_everything_is_known_without_memory);
    RUN(test_random_streams_know_what_sets_say);
    return 0;
}
