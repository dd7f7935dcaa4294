/* SPDX-License-Identifier: MIT */
/* What the back end tells about kernels: its optimisation record, as remarks.
 *
 *     --- !Passed                       saxpy TAB vector TAB loops became vectors ...
 *     Pass:            loop-vectorize
 *     Function:        saxpy.fast
 *
 * A remark is a line: the kernel, a kind ("vector", "spill", "frame"), a sentence; of a
 * kernel with a fast form those of that form.  The lines lie in an image under the name
 * HA_IMAGE_FACTS, if it was compiled with an explanation. */
#ifndef HA_CPU_COMPILE_BACK_FACTS_H
#define HA_CPU_COMPILE_BACK_FACTS_H

#include <stddef.h>

#include "cpu/compile/buffer.h"

#define HA_BACK_RECORD_PASSES "loop-vectorize|regalloc|prologepilog"

/* Appends the lines of the records of all parts of a program, in YAML. */
void ha_back_facts(const char *record, size_t size, struct ha_bytes *lines);

#endif
