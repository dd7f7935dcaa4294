/* SPDX-License-Identifier: MIT */
/* Arguments as text. */
#ifndef HA_ROCPROFILER_ARG_TEXT_H
#define HA_ROCPROFILER_ARG_TEXT_H

#include "rocprofiler/hip_op.h"

enum { HA_ARG_TEXT_BYTES = 512 };

/* Writes the argument that stands at `at`; `argument->name` and `->type` aren't looked
 * at.  Returns how many pointers were followed, `follow_max` at most. */
int ha_arg_print(char text[HA_ARG_TEXT_BYTES], const struct ha_op_arg *argument,
                 const void *at, int follow_max);

#endif
