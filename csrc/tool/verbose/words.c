/* SPDX-License-Identifier: MIT */
#include "tool/verbose/words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORDS                                                                          \
    "none, error, check, profile_create, profile_exec, profile, all, or 0, 1, 2"

static const struct word {
    const char *name;
    unsigned wanted; /* 0: nothing of before */
} words[] = {
    {"error", HA_VERBOSE_ERROR},
    {"check", HA_VERBOSE_CHECK},
    {"profile_create", HA_VERBOSE_CREATE},
    {"profile_exec", HA_VERBOSE_EXEC},
    {"profile", HA_VERBOSE_CREATE | HA_VERBOSE_EXEC},
    {"all", HA_VERBOSE_ALL},
    {"none", 0},
    {"0", 0},
    {"1", HA_VERBOSE_ERROR | HA_VERBOSE_EXEC},
    {"2", HA_VERBOSE_ERROR | HA_VERBOSE_CREATE | HA_VERBOSE_EXEC},
    {"-1", HA_VERBOSE_ALL},
};

static const struct word *
find(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].name) == bytes &&
            strncasecmp(words[i].name, text, bytes) == 0) {
            return &words[i];
        }
    }
    return NULL;
}

bool
ha_verbose_words(const char *list, unsigned *wanted, char *unknown, size_t bytes)
{
    bool known = true;

    *wanted = 0;
    for (;;) {
        list += strspn(list, " \t");
        size_t all = strcspn(list, ","), used = all;
        while (used > 0 && (list[used - 1] == ' ' || list[used - 1] == '\t')) {
            used--;
        }
        const struct word *word = find(list, used);
        if (word == NULL && used > 0 && known) {
            (void)snprintf(unknown, bytes, "'%.*s'", (int)(used < 256 ? used : 256),
                           list);
            known = false;
        }
        if (word != NULL) {
            *wanted = word->wanted != 0 ? *wanted | word->wanted : 0;
        }
        if (list[all] == '\0') {
            return known;
        }
        list += all + 1;
    }
}

void
ha_verbose_list(unsigned wanted, char *list)
{
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < 4; i++) { /* the first four are one bit each */
        if ((wanted & words[i].wanted) != 0) {
            used += (size_t)snprintf(list + used, HA_VERBOSE_LIST_BYTES - used, "%s%s",
                                     used > 0 ? "," : "", words[i].name);
        }
    }
    if (used == 0) {
        (void)snprintf(list, HA_VERBOSE_LIST_BYTES, "none");
    }
}

const char *
ha_verbose_all_words(void)
{
    return WORDS;
}
