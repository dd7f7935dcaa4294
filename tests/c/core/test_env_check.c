/* SPDX-License-Identifier: MIT */
/* Variables of the environment that are misspelt, or whose values are none. */
/* sources: core */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/env_check.h"

struct told {
    unsigned count;
    char text[1024];
};

static void
note(void *context, const char *name, const char *text)
{
    struct told *told = context;
    size_t used = strlen(told->text);

    told->count++;
    (void)snprintf(told->text + used, sizeof told->text - used, "%s %s\n", name, text);
}

/* Everything that is told with this variable set and no other of ours. */
static struct told
told_with(const char *name, const char *value)
{
    struct told told = {0};

    CHECK_EQUAL(setenv(name, value, 1), 0);
    ha_env_examine(note, &told);
    CHECK_EQUAL(unsetenv(name), 0);
    return told;
}

static void
test_good_values_are_not_told(void)
{
    static const char *const good[][2] = {
        {"HIPADAPT_CPU_DEVICES", "3"},    {"HIPADAPT_CPU_EXEC", "reference"},
        {"HIPADAPT_CPU_EXEC", ""},        {"HIPADAPT_CACHE", "off"},
        {"HIPADAPT_CPU_WARP_SIZE", "64"}, {"HIPADAPT_CACHE_DIR", "any thing"},
        {"HIPADAPT_WERROR", "1"},         {"HIPADAPT_TEST_SEED", "x"},
        {"HIPADAPTER", "no prefix"},      {"HIPADAPT_CACHE_SIZE", "1000"}};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_TEXT(told_with(good[i][0], good[i][1]).text, "");
    }
}

static void
test_unknown_name_is_told_with_the_one_that_is_near(void)
{
    struct told near = told_with("HIPADAPT_CPU_DEVICE", "1");
    struct told far = told_with("HIPADAPT_SOMETHING_ELSE", "1");

    CHECK_TEXT(near.text, "HIPADAPT_CPU_DEVICE is no variable of hipadapt; "
                          "HIPADAPT_CPU_DEVICES is one\n");
    CHECK_TEXT(far.text, "HIPADAPT_SOMETHING_ELSE is no variable of hipadapt\n");
}

static void
test_value_that_is_none_is_told(void)
{
    struct told word = told_with("HIPADAPT_CPU_EXEC", "fats");
    struct told number = told_with("HIPADAPT_CACHE_SIZE", "many");

    CHECK_TEXT(word.text, "HIPADAPT_CPU_EXEC must be fast or reference, not 'fats'\n");
    CHECK_TEXT(number.text,
               "HIPADAPT_CACHE_SIZE must be a number, not 'many'; 512 is used\n");
}

static void
test_long_names_and_values_fit(void)
{
    char name[600] = "HIPADAPT_", value[600] = "";

    memset(name + strlen(name), 'A', 100 - strlen(name));
    memset(value, 'v', sizeof value - 1);
    CHECK_EQUAL(told_with(name, "1").count, 1);
    CHECK_EQUAL(told_with("HIPADAPT_CPU_EXEC", value).count, 1);
    memset(name, 'A', sizeof name - 1);
    memcpy(name, "HIPADAPT_", 9);
    CHECK_EQUAL(told_with(name, "1").count, 0); /* nobody's slip */
}

int
main(void)
{
    RUN(test_good_values_are_not_told);
    RUN(test_unknown_name_is_told_with_the_one_that_is_near);
    RUN(test_value_that_is_none_is_told);
    RUN(test_long_names_and_values_fit);
    return 0;
}
