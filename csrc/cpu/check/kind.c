/* SPDX-License-Identifier: MIT */
#include "cpu/check/kind.h"

#define HA_CHECK_KIND(what, name, word, text, advice)                                  \
    [what] = {name, word, text, advice},

static const struct ha_check_kind kinds[HA_FOUND_KINDS] = {
    [0] = {"unknown", "", "a finding of no known kind", ""},
#include "cpu/check/generated/kinds.def"
};

const struct ha_check_kind *
ha_check_kind(enum ha_check_what what)
{
    unsigned number = (unsigned)what;

    return &kinds[number < HA_FOUND_KINDS ? number : 0];
}
