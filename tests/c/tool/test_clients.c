/* SPDX-License-Identifier: MIT */
/* When clients are called, by which thread, and what becomes of those that fail. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "core/clock.h"
#include "core/fork.h"
#include "tool/profiler/clients.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct seen {
    char letters[64]; /* of the calls, in their order */
    atomic_int count;
    atomic_int gate; /* `start` waits while it is closed */
    int fails;       /* letter of the function that does */
    pthread_t thread;
    uint64_t handle;
    atomic_int released;
} seen;

static int
call(struct seen *it, char letter)
{
    CHECK(!pthread_equal(pthread_self(), it->thread)); /* not the program's */
    CHECK(ha_clients_refuse("a function"));
    it->letters[atomic_load(&it->count)] = letter; /* one function at a time */
    atomic_fetch_add(&it->count, 1);
    return it->fails == letter ? 3 : 0;
}

static int
on_prepare(void *context, const struct hipadapt_profile_setup *setup)
{
    CHECK_EQUAL(setup->detail, HIPADAPT_PROFILE_STACKS);
    CHECK_EQUAL(setup->request, 4);
    return call(context, 'p');
}

static int
on_start(void *context)
{
    struct seen *it = context;

    while (atomic_load(&it->gate)) {
        (void)usleep(1000);
    }
    return call(context, 's');
}

static int
on_step(void *context, int64_t iteration)
{
    CHECK_EQUAL(iteration, 9);
    return call(context, 'i');
}

static int
on_stop(void *context)
{
    return call(context, 'e');
}

static int
on_collect(void *context)
{
    const struct seen *it = context;
    struct ha_child child;
    struct ha_child_items *items = ha_clients_take(it->handle, &child);

    CHECK(items != NULL);
    ha_child_add_metadata(items, "key", "1");
    ha_clients_give();
    return call(context, 'c');
}

static void
on_cancel(void *context)
{
    (void)call(context, 'x');
}

static void
on_release(void *context)
{
    atomic_fetch_add(&((struct seen *)context)->released, 1);
}

static uint64_t
add(bool is_child)
{
    const struct ha_client_table table = {
        .name = "a \"client\"",
        .is_child = is_child,
        .clock = CLOCK_MONOTONIC,
        .context = &seen,
        .prepare = on_prepare,
        .start = on_start,
        .step = on_step,
        .stop = on_stop,
        .collect = on_collect,
        .cancel = on_cancel,
        .release = on_release,
    };

    memset(&seen, 0, sizeof seen);
    seen.thread = pthread_self();
    CHECK_EQUAL(ha_clients_add(&table, &seen.handle), HIPADAPT_PROFILE_OK);
    return seen.handle;
}

static bool
prepare(void)
{
    const struct hipadapt_profile_setup setup = {
        .size = sizeof setup,
        .request = 4,
        .detail = HIPADAPT_PROFILE_STACKS,
    };
    const struct ha_clock_bridge bridge = ha_clock_bridge_measure();

    return ha_clients_prepare(&setup, &bridge);
}

/* A whole recording; what went wrong in it. */
static const char *
record(void)
{
    static char failures[4096];
    struct ha_child_items *items = ha_child_items_new(0);

    (void)prepare();
    ha_clients_start();
    ha_clients_settle();
    ha_clients_step(9);
    ha_clients_stop();
    ha_clients_finish(items);
    ha_clients_failures(failures, sizeof failures);
    ha_child_items_free(items);
    return failures;
}

static void
wait_for(const char *letters)
{
    uint64_t until = ha_clock_ns() + UINT64_C(5000000000);

    while (strlen(letters) != (size_t)atomic_load(&seen.count)) {
        CHECK(ha_clock_ns() < until);
        (void)usleep(1000);
    }
    CHECK_TEXT(seen.letters, letters);
}

static void
test_functions_are_called_in_their_order(void)
{
    for (int is_child = 0; is_child < 2; is_child++) {
        uint64_t handle = add(is_child != 0);
        CHECK_TEXT(record(), "");
        wait_for(is_child ? "psiec" : "psie");
        CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_OK);
        CHECK_EQUAL(atomic_load(&seen.released), 1);
        CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_INVALID);
        CHECK_TEXT(record(), "");
        wait_for(is_child ? "psiec" : "psie");
    }
}

static void
test_who_fails_is_named_and_left_out_before_the_start_only(void)
{
    static const struct {
        char fails;
        const char *letters;
        const char *failures;
    } cases[] = {
        {'p', "px", "[\"'a \\\"client\\\"' failed in prepare with 3\"]"},
        {'s', "psx", "[\"'a \\\"client\\\"' failed in start with 3\"]"},
        {'i', "psie", "[\"'a \\\"client\\\"' failed in step with 3\"]"},
        {'e', "psie", "[\"'a \\\"client\\\"' failed in stop with 3\"]"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t handle = add(false);
        seen.fails = cases[i].fails;
        CHECK_TEXT(record(), cases[i].failures);
        wait_for(cases[i].letters);
        CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_OK);
    }
}

static void
test_who_blocks_is_left_out_until_it_returns(void)
{
    uint64_t handle = add(false);

    atomic_store(&seen.gate, 1);
    uint64_t begin = ha_clock_ns();
    CHECK_TEXT(record(),
               "[\"'a \\\"client\\\"' was left out: start took more than 1 s\"]");
    CHECK(ha_clock_ns() - begin > UINT64_C(900000000));
    begin = ha_clock_ns();
    CHECK_TEXT(record(), "[\"'a \\\"client\\\"' is left out: a function of before has "
                         "not returned\"]");
    CHECK(ha_clock_ns() - begin < UINT64_C(900000000)); /* no waiting again */
    atomic_store(&seen.gate, 0);
    wait_for("psx");
    CHECK_TEXT(record(), "");
    wait_for("psxpsie");
    CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_OK);
}

static void
test_a_blocked_client_is_released_at_its_end(void)
{
    uint64_t handle = add(false);

    atomic_store(&seen.gate, 1);
    (void)prepare();
    ha_clients_start();
    ha_clients_settle();
    CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_BUSY);
    CHECK_EQUAL(atomic_load(&seen.released), 0);
    atomic_store(&seen.gate, 0);
    while (atomic_load(&seen.released) == 0) {
        (void)usleep(1000);
    }
    CHECK_TEXT(seen.letters, "ps"); /* and nothing more is asked */
    ha_clients_finish(NULL);
}

static void
test_a_cancel_is_told_once(void)
{
    uint64_t handle = add(false);

    CHECK(prepare());
    ha_clients_settle();
    ha_clients_cancel();
    ha_clients_cancel();
    wait_for("px");
    CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_OK);
}

static void
test_there_are_so_many_places(void)
{
    uint64_t handles[HA_CLIENTS_MAX], more;
    const struct ha_client_table table = {.name = "one"};

    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        CHECK_EQUAL(ha_clients_add(&table, &handles[i]), HIPADAPT_PROFILE_OK);
    }
    CHECK_EQUAL(ha_clients_add(&table, &more), HIPADAPT_PROFILE_MEMORY);
    CHECK_TEXT(record(), ""); /* all functions are NULL */
    for (int i = 0; i < HA_CLIENTS_MAX; i++) {
        CHECK_EQUAL(ha_clients_remove(handles[i]), HIPADAPT_PROFILE_OK);
    }
}

static void
test_a_child_process_has_none(void)
{
    int status = 0;
    uint64_t handle = add(false);

    CHECK_EQUAL(ha_fork_register(ha_clients_forked), HA_OK);
    (void)prepare();
    ha_clients_settle();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        ha_clients_start();
        ha_clients_finish(NULL);
        CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_INVALID);
        _exit(strcmp(seen.letters, "p") == 0 && seen.released == 0 ? 42 : 1);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    ha_clients_cancel();
    wait_for("px");
    CHECK_EQUAL(ha_clients_remove(handle), HIPADAPT_PROFILE_OK);
}

/* What a device is said to be may be said again and again. */
static void
test_texts_that_are_replaced_make_room(void)
{
    const struct ha_child child = {.name = "child"};
    struct ha_child_items *items = ha_child_items_new(0);
    char *text = malloc(HA_CHILD_BYTES_MAX / 4);

    CHECK(items != NULL && text != NULL);
    memset(text, ' ', HA_CHILD_BYTES_MAX / 4);
    text[HA_CHILD_BYTES_MAX / 4 - 1] = '\0';
    for (int i = 0; i < 8; i++) {
        ha_child_add_device(items, &child, 0, "device", text);
    }
    CHECK_EQUAL(ha_child_items_lost(items), 0);
    ha_child_items_free(items);
    free(text);
}

int
main(void)
{
    test_texts_that_are_replaced_make_room();
    test_functions_are_called_in_their_order();
    test_who_fails_is_named_and_left_out_before_the_start_only();
    test_who_blocks_is_left_out_until_it_returns();
    test_a_blocked_client_is_released_at_its_end();
    test_a_cancel_is_told_once();
    test_there_are_so_many_places();
    test_a_child_process_has_none();
    return 0;
}
