/* SPDX-License-Identifier: MIT */
/* Words for what is checked, and back. */
/* sources: core cpu/base/check_kinds */
#include "check.h"

#include "abi/check.h"
#include "cpu/base/check_kinds.h"

static void
test_words_are_bits(void)
{
    static const struct {
        const char *text;
        uint32_t kinds;
    } rows[] = {
        {"", 0},
        {" , ,", 0},
        {"memory", HA_CHECK_MEMORY},
        {" race , memory ", HA_CHECK_RACE | HA_CHECK_MEMORY},
        {"all", HA_CHECK_MEMORY | HA_CHECK_RACE | HA_CHECK_INIT | HA_CHECK_SYNC |
                    HA_CHECK_NUMBERS},
        {"all,leaks", HA_CHECK_MEMORY | HA_CHECK_RACE | HA_CHECK_INIT | HA_CHECK_SYNC |
                          HA_CHECK_NUMBERS | HA_CHECK_LEAKS},
        {"init", HA_CHECK_INIT},
        {"sync, strict", HA_CHECK_SYNC | HA_CHECK_STRICT},
        {"equal,relaxed-warps", HA_CHECK_EQUAL | HA_CHECK_RELAXED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t kinds = 12345;
        CHECK(ha_check_kinds_read(rows[i].text, &kinds) == HA_OK);
        CHECK(kinds == rows[i].kinds);
    }
}

static void
test_other_words_are_named(void)
{
    static const char *const texts[] = {"memories", "memory;race", "all,mem", "Memory",
                                        "inits"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        uint32_t kinds = 7;
        CHECK(ha_check_kinds_read(texts[i], &kinds) == HA_ERROR_INVALID);
        CHECK(kinds == 7);
    }
    uint32_t kinds;
    (void)ha_check_kinds_read("race, what ,memory", &kinds);
    CHECK(strstr(ha_error_text(), "'what' is no kind of check") != NULL);
}

static void
test_bits_are_words_again(void)
{
    for (uint32_t kinds = 0; kinds < 1u << 12; kinds++) {
        char text[HA_CHECK_WORDS_BYTES];
        uint32_t again;
        uint32_t known = kinds & HA_CHECK_BUILT;
        ha_check_kinds_write(known, text);
        CHECK(ha_check_kinds_read(text, &again) == HA_OK && again == known);
    }
}

int
main(void)
{
    test_words_are_bits();
    test_other_words_are_named();
    test_bits_are_words_again();
    return 0;
}
