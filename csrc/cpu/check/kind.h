/* SPDX-License-Identifier: MIT */
/* What is said about each kind of finding: its name, the word of HIPADAPT_CHECK that
 * asks for it, one sentence, and advice.  tools/codegen/description/checks.json is the
 * source; Python and the documents have the same table.  Constant. */
#ifndef HA_CPU_CHECK_KIND_H
#define HA_CPU_CHECK_KIND_H

#include "abi/check.h"

struct ha_check_kind {
    const char *name;   /* "out-of-bounds" */
    const char *word;   /* "memory" */
    const char *text;   /* what is wrong, where a finding has no message */
    const char *advice; /* what to do, where a finding has none */
};

/* Never NULL, also for numbers that are no kind. */
const struct ha_check_kind *ha_check_kind(enum ha_check_what what);

#endif
