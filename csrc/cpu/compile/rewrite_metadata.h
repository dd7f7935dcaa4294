/* SPDX-License-Identifier: MIT */
/* Which numbered nodes of the front end's metadata the host IR keeps. */
#ifndef HA_CPU_COMPILE_REWRITE_METADATA_H
#define HA_CPU_COMPILE_REWRITE_METADATA_H

#include <stdbool.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* Chooses the nodes that stay, and the first number that is free for others. */
void ha_metadata_choose(struct ha_rewriter *rewriter);

/* Needs ha_metadata_choose, as does the next. */
void ha_metadata_write(struct ha_rewriter *rewriter);

/* Whether the metadata node of a name such as !7 is in the host IR. */
bool ha_keeps_node(const struct ha_rewriter *rewriter, struct ir_slice name);

#endif
