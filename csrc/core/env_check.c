/* SPDX-License-Identifier: MIT */
#include "core/env_check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/env.h"
#include "core/log.h"

#define PREFIX "HIPADAPT_"
#define PREFIX_LENGTH (sizeof PREFIX - 1)
#define NAME_MAX_BYTES 48 /* longer names are not compared */
#define NEAR 3            /* edits that a slip may have */

/* Read by builds and tests of this project; a trailing '_' stands for all that follow.
 */
static const char *const others[] = {"HIPADAPT_COVERAGE",
                                     "HIPADAPT_DEBUG",
                                     "HIPADAPT_FREE_THREADED_PYTHON",
                                     "HIPADAPT_HIP_HEADERS",
                                     "HIPADAPT_ROCPROFILER_HEADERS",
                                     "HIPADAPT_SANITIZE",
                                     "HIPADAPT_SANITIZER",
                                     "HIPADAPT_SLOW_TESTS",
                                     "HIPADAPT_STRESS",
                                     "HIPADAPT_STRESS_SECONDS",
                                     "HIPADAPT_TARGET",
                                     "HIPADAPT_TEST_",
                                     "HIPADAPT_WERROR"};

/* Variables that take one of some words. */
static const struct {
    enum ha_env_name name;
    const char *words[3]; /* NULL: no more */
} choices[] = {
    {HA_ENV_CPU_EXEC, {"fast", "reference"}},
    {HA_ENV_CPU_WARP_SIZE, {"32", "64"}},
    {HA_ENV_PROFILE_API_NAMES, {"hip", "cuda"}},
    {HA_ENV_VERBOSE_TRACKERS, {"records", "events"}},
};

/* The fewest characters to put in, take out or replace; `NEAR + 1` for more. */
static unsigned
distance(const char *left, const char *right)
{
    unsigned row[NAME_MAX_BYTES + 1];
    size_t width = strlen(right);
    if (strlen(left) > NAME_MAX_BYTES || width > NAME_MAX_BYTES) {
        return NEAR + 1;
    }
    for (unsigned i = 0; i <= width; i++) {
        row[i] = i;
    }
    for (unsigned j = 0; left[j] != '\0'; j++) {
        unsigned corner = row[0];
        row[0] = j + 1;
        for (unsigned i = 0; i < width; i++) {
            unsigned above = row[i + 1];
            unsigned best = corner + (left[j] != right[i]);
            best = above + 1 < best ? above + 1 : best;
            best = row[i] + 1 < best ? row[i] + 1 : best;
            row[i + 1] = best;
            corner = above;
        }
    }
    return row[width];
}

static bool
is_other(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        size_t length = strlen(others[i]);
        bool all = others[i][length - 1] == '_';
        if (all ? strncmp(name, others[i], length) == 0
                : strcmp(name, others[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void
tell_unknown(const char *name, ha_env_complain *complain, void *context)
{
    const char *nearest = NULL;
    unsigned least = NEAR + 1;
    char text[128] = "is no variable of hipadapt";
    for (unsigned i = 0; i < HA_ENV_COUNT; i++) {
        unsigned edits = distance(name, ha_env_table[i].variable);
        if (edits < least) {
            least = edits;
            nearest = ha_env_table[i].variable;
        }
    }
    if (nearest != NULL) {
        (void)snprintf(text, sizeof text, "is no variable of hipadapt; %s is one",
                       nearest);
    }
    complain(context, name, text);
}

static void
examine_names(ha_env_complain *complain, void *context)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        size_t length = strcspn(*entry, "=");
        char name[128];
        if (strncmp(*entry, PREFIX, PREFIX_LENGTH) != 0 || length >= sizeof name) {
            continue;
        }
        memcpy(name, *entry, length);
        name[length] = '\0';
        bool known = is_other(name);
        for (unsigned i = 0; i < HA_ENV_COUNT && !known; i++) {
            known = strcmp(name, ha_env_table[i].variable) == 0;
        }
        if (!known) {
            tell_unknown(name, complain, context);
        }
    }
}

static void
examine_words(ha_env_complain *complain, void *context)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const char *value = ha_env(choices[i].name);
        const char *const *words = choices[i].words;
        bool known = value == NULL;
        for (size_t k = 0; words[k] != NULL && !known; k++) {
            known = strcmp(value, words[k]) == 0;
        }
        if (!known) {
            char text[160];
            (void)snprintf(text, sizeof text, "must be %s or %s, not '%.64s'", words[0],
                           words[1], value);
            complain(context, ha_env_table[choices[i].name].variable, text);
        }
    }
}

static bool
is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool
is_switch(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void
examine_numbers(ha_env_complain *complain, void *context)
{
    for (unsigned i = 0; i < HA_ENV_COUNT; i++) {
        const char *fallback = ha_env_table[i].fallback;
        const char *value = ha_env((enum ha_env_name)i);
        if (strncmp(ha_env_table[i].variable, PREFIX, PREFIX_LENGTH) == 0 &&
            fallback != NULL && is_number(fallback) && !is_number(value) &&
            !is_switch(value)) {
            char text[160];
            (void)snprintf(text, sizeof text,
                           "must be a number, not '%.64s'; %s is used", value,
                           fallback);
            complain(context, ha_env_table[i].variable, text);
        }
    }
}

void
ha_env_examine(ha_env_complain *complain, void *context)
{
    if (getauxval(AT_SECURE) == 0) {
        examine_names(complain, context);
        examine_words(complain, context);
        examine_numbers(complain, context);
    }
}

static void
warn(void *context, const char *name, const char *text)
{
    (void)context;
    ha_log(1, "%s %s", name, text);
}

void
ha_env_warn(void)
{
    static atomic_bool done;
    if (getauxval(AT_SECURE) == 0 && !atomic_exchange(&done, true)) {
        examine_names(warn, NULL);
        examine_words(warn, NULL);
    }
}
