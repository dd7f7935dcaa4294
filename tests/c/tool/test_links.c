/* SPDX-License-Identifier: MIT */
/* Operations and their work are joined in any order, within limits. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/profiler/links.h"

enum { TOLD_MAX = 8 };

static struct ha_link told[TOLD_MAX];
static size_t told_count;

static void
on_link(void *context, const struct ha_link *link)
{
    CHECK(context == told);
    if (told_count < TOLD_MAX) {
        told[told_count] = *link;
    }
    told_count++;
}

static struct ha_links *
begin(void)
{
    struct ha_links *links = ha_links_new(on_link, told);

    CHECK(links != NULL);
    told_count = 0;
    return links;
}

static void
test_work_finds_its_operation_in_any_order(void)
{
    struct ha_links *links = begin();

    ha_links_work(links, 5, 0, 2, 130);
    ha_links_work(links, 6, 1, 3, 140);
    ha_links_join(links);
    CHECK_EQUAL(told_count, 0);
    ha_links_operation(links, 5, 77, 100);
    CHECK_EQUAL(told_count, 0);
    ha_links_join(links);
    CHECK_EQUAL(told_count, 1);
    ha_links_work(links, 5, 0, 2, 150); /* later than its operation: at once */
    CHECK_EQUAL(told_count, 2);
    CHECK_EQUAL(told[0].thread, 77);
    CHECK_EQUAL(told[0].start, 100);
    CHECK_EQUAL(told[0].stream, 2);
    CHECK_EQUAL(told[0].work_start, 130);
    CHECK_EQUAL(told[1].work_start, 150);
    ha_links_join(links); /* the other one still waits, and none comes twice */
    CHECK_EQUAL(told_count, 2);
    ha_links_free(links);
}

static void
test_a_later_operation_takes_the_place(void)
{
    struct ha_links *links = begin();

    ha_links_operation(links, 1, 7, 100);
    ha_links_operation(links, 1 + HA_LINKS_OPERATIONS, 7, 200);
    ha_links_work(links, 1, 0, 0, 300);
    CHECK_EQUAL(told_count, 0);
    ha_links_work(links, 1 + HA_LINKS_OPERATIONS, 0, 0, 310);
    CHECK_EQUAL(told_count, 1);
    CHECK_EQUAL(told[0].start, 200);
    ha_links_free(links);
}

static void
test_work_without_room_is_counted(void)
{
    struct ha_links *links = begin();

    for (uint64_t i = 0; i < HA_LINKS_WAITING + 3; i++) {
        ha_links_work(links, 9, 0, 0, i);
    }
    CHECK_EQUAL(ha_links_lost(links), 3);
    ha_links_operation(links, 9, 7, 1);
    ha_links_join(links);
    CHECK_EQUAL(told_count, HA_LINKS_WAITING);
    ha_links_free(links);
}

int
main(void)
{
    test_work_finds_its_operation_in_any_order();
    test_a_later_operation_takes_the_place();
    test_work_without_room_is_counted();
    return 0;
}
