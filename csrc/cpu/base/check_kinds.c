/* SPDX-License-Identifier: MIT */
#include "cpu/base/check_kinds.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "abi/check.h"
#include "core/env.h"
#include "core/log.h"

#define NOT_READ UINT32_MAX

static _Atomic uint32_t kinds_now = NOT_READ;

static const struct {
    const char *word;
    uint32_t bits;
} words[] = {
    {"memory", HA_CHECK_MEMORY},
    {"race", HA_CHECK_RACE},
    {"init", HA_CHECK_INIT},
    {"sync", HA_CHECK_SYNC},
    {"nan", HA_CHECK_NAN},
    {"leaks", HA_CHECK_LEAKS},
    {"strict", HA_CHECK_STRICT},
    {"equal", HA_CHECK_EQUAL},
    {"relaxed-warps", HA_CHECK_RELAXED},
    {"quiet", HA_CHECK_QUIET},
};
#define WORD_COUNT (sizeof words / sizeof words[0])

static enum ha_status
read_word(const char *word, size_t size, uint32_t *kinds)
{
    if (size == 3 && memcmp(word, "all", 3) == 0) {
        *kinds |= HA_CHECK_ALL & HA_CHECK_BUILT;
        return HA_OK;
    }
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0 &&
            (words[i].bits & HA_CHECK_BUILT) != 0) {
            *kinds |= words[i].bits;
            return HA_OK;
        }
    }
    return ha_error_set(HA_ERROR_INVALID,
                        "'%.*s' is no kind of check; there are memory, race, init, "
                        "sync, %sall, leaks, strict, equal, relaxed-warps and quiet",
                        (int)size, word, HA_CHECK_NUMBERS != 0 ? "nan, " : "");
}

enum ha_status
ha_check_kinds_read(const char *text, uint32_t *kinds)
{
    uint32_t found = 0;

    for (;;) {
        text += strspn(text, " \t");
        size_t size = strcspn(text, ",");
        const char *next = text + size;
        while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t')) {
            size--;
        }
        if (size > 0) {
            enum ha_status status = read_word(text, size, &found);
            if (status != HA_OK) {
                return status;
            }
        }
        if (*next == '\0') {
            break;
        }
        text = next + 1;
    }
    *kinds = found;
    return HA_OK;
}

void
ha_check_kinds_write(uint32_t kinds, char text[HA_CHECK_WORDS_BYTES])
{
    size_t size = 0;

    text[0] = '\0';
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if ((kinds & words[i].bits) != 0) {
            size += (size_t)snprintf(text + size, HA_CHECK_WORDS_BYTES - size, "%s%s",
                                     size > 0 ? "," : "", words[i].word);
        }
    }
}

uint32_t
ha_check_kinds(void)
{
    uint32_t kinds = atomic_load_explicit(&kinds_now, memory_order_acquire);

    if (kinds != NOT_READ) {
        return kinds;
    }
    const char *text = ha_env(HA_ENV_CHECK);
    kinds = 0;
    if (text != NULL && ha_check_kinds_read(text, &kinds) != HA_OK) {
        ha_log(0, "HIPADAPT_CHECK: %s; nothing is checked", ha_error_text());
    }
    uint32_t before = NOT_READ;
    return atomic_compare_exchange_strong(&kinds_now, &before, kinds) ? kinds : before;
}

void
ha_check_kinds_set(uint32_t kinds)
{
    atomic_store_explicit(&kinds_now, kinds, memory_order_release);
}
