/* SPDX-License-Identifier: MIT */
/* Races between operations: the order of the answers, and what is remembered. */
/* sources: core cpu/base/check_kinds cpu/base/thread cpu/check */
/* libraries: -Wl,-z,now */
#include "check.h"

#include "cpu/base/check_kinds.h"
#include "cpu/check/deed.h"
#include "cpu/check/finding.h"
#include "cpu/check/past.h"

static struct ha_deed *
deed_of(const char *name, uintptr_t begin, uintptr_t end, enum ha_way way)
{
    const struct ha_doer doer = {
        .kernel = name, .grid = {64, 1, 1}, .block = {64, 1, 1}};
    const struct ha_check_side side = {
        .bits = way == HA_WAY_READ ? HA_CHECK_READS : HA_CHECK_WRITES, .line = 1};
    struct ha_deed *deed = ha_deed_new(&doer);

    CHECK(deed != NULL);
    const struct ha_stretch cell = {.begin = begin,
                                    .end = end,
                                    .thread = 130,
                                    .site = ha_deed_site(deed, &side) & 1,
                                    .way = way};
    ha_deed_add(deed, &cell);
    return deed;
}

static struct ha_deed *
submit(struct ha_line *line, struct ha_deed *deed)
{
    uint64_t number = ha_line_step(line);

    CHECK(ha_deed_submit(deed, ha_line_past(line), ha_line_id(line), number));
    return deed;
}

static void
done(struct ha_line *line, struct ha_deed *deed)
{
    ha_deed_end(submit(line, deed));
    ha_deeds_settle();
}

static void
wait_for_all(void)
{
    struct ha_past *past = ha_lines_past(0, false);

    ha_deeds_waited(past);
    ha_lines_waited(past);
    ha_past_release(past);
    ha_deeds_settle();
}

static char told[1024];

static int
tell(const struct ha_check_finding *found, void *context)
{
    size_t used = strlen(told);

    (void)context;
    (void)snprintf(told + used, sizeof told - used, "%s%s after %s at %d by %u.%u",
                   used > 0 ? "; " : "", found->here.kernel, found->other.kernel,
                   (int)found->address, found->here.block[0], found->here.thread[0]);
    return 0;
}

/* What was found, which is forgotten then. */
static const char *
found(void)
{
    told[0] = '\0';
    (void)ha_finding_each(tell, NULL);
    ha_finding_clear();
    return told;
}

static struct ha_line *a, *b;

static void
test_operations_without_an_order_race(void)
{
    done(a, deed_of("one", 100, 140, HA_WAY_WRITE));
    done(b, deed_of("two", 120, 160, HA_WAY_READ));
    CHECK_TEXT(found(), "two after one at 120 by 2.2");
    ha_line_learn(b, ha_line_past(a));
    done(b, deed_of("three", 120, 160, HA_WAY_READ));
    CHECK_TEXT(found(), "");
    wait_for_all();
    done(a, deed_of("four", 100, 160, HA_WAY_WRITE));
    CHECK_TEXT(found(), "");
    wait_for_all();
}

static void
test_the_order_of_submission_counts(void)
{
    struct ha_deed *one = submit(a, deed_of("one", 100, 104, HA_WAY_WRITE));
    struct ha_deed *two = submit(b, deed_of("two", 100, 104, HA_WAY_WRITE));

    ha_deed_end(two); /* which is over first */
    ha_deeds_settle();
    CHECK_TEXT(found(), "");
    ha_deed_end(one);
    ha_deeds_settle();
    CHECK_TEXT(found(), "two after one at 100 by 2.2");
    wait_for_all();
}

static void
test_waits_count_where_they_were_made(void)
{
    struct ha_deed *early = submit(b, deed_of("early", 100, 104, HA_WAY_WRITE));

    ha_deed_end(submit(a, deed_of("one", 100, 104, HA_WAY_WRITE)));
    struct ha_past *past = ha_past_keep(ha_line_past(a));
    ha_deeds_waited(past);
    ha_lines_waited(past);
    ha_past_release(past);
    ha_deed_end(submit(b, deed_of("late", 100, 104, HA_WAY_WRITE)));
    ha_deeds_settle();
    CHECK_TEXT(found(), "");
    ha_deed_end(early);
    ha_deeds_settle();
    CHECK_TEXT(found(), "one after early at 100 by 2.2");
    wait_for_all();
}

static void
test_what_is_remembered_does_not_grow(void)
{
    for (uint32_t i = 0; i < 1000; i++) {
        done(a, deed_of("write", 100, 140, HA_WAY_WRITE));
        done(a, deed_of("read", 120, 180, HA_WAY_READ));
    }
    CHECK(ha_deeds_remembered() <= 4);
    done(b, deed_of("other", 130, 131, HA_WAY_WRITE));
    CHECK_TEXT(found(), "other after write at 130 by 2.2; "
                        "other after read at 130 by 2.2");
    wait_for_all();
    CHECK_EQUAL(ha_deeds_remembered(), 0);
}

static void
test_memory_that_is_other_memory_now_is_forgotten(void)
{
    done(a, deed_of("one", 100, 140, HA_WAY_WRITE));
    ha_deeds_forget(110, 10);
    done(b, deed_of("two", 110, 120, HA_WAY_WRITE));
    CHECK_TEXT(found(), "");
    done(b, deed_of("three", 110, 121, HA_WAY_WRITE));
    CHECK_TEXT(found(), "three after one at 120 by 2.2");
    wait_for_all();
}

static void
test_what_the_host_did_is_not_remembered(void)
{
    struct ha_deed *host = deed_of("host", 100, 104, HA_WAY_WRITE);

    done(a, deed_of("one", 100, 104, HA_WAY_WRITE));
    CHECK(ha_deed_submit(host, NULL, 0, 0));
    ha_deed_end(host);
    done(b, deed_of("two", 200, 204, HA_WAY_WRITE));
    CHECK_TEXT(found(), "host after one at 100 by 2.2");
    wait_for_all();
    CHECK_EQUAL(ha_deeds_remembered(), 0);
}

static void
test_equal_texts_are_kept_once(void)
{
    char text[] = "text";

    CHECK(ha_text_keep(text) == ha_text_keep("text"));
    CHECK(ha_text_keep(text) != text);
    CHECK_TEXT(ha_text_keep(NULL), "");
}

int
main(void)
{
    ha_check_kinds_set(HA_CHECK_RACE | HA_CHECK_QUIET);
    a = ha_line_new(0, HA_LINE_STREAM);
    b = ha_line_new(0, HA_LINE_STREAM);
    RUN(test_operations_without_an_order_race);
    RUN(test_the_order_of_submission_counts);
    RUN(test_waits_count_where_they_were_made);
    RUN(test_what_is_remembered_does_not_grow);
    RUN(test_memory_that_is_other_memory_now_is_forgotten);
    RUN(test_what_the_host_did_is_not_remembered);
    RUN(test_equal_texts_are_kept_once);
    return 0;
}
