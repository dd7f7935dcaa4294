/* SPDX-License-Identifier: MIT */
/* The gang form of a kernel: lanes as vectors, block by block. */
#ifndef HA_CPU_COMPILE_GANG_FORM_H
#define HA_CPU_COMPILE_GANG_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/compile/ir_text.h"

struct ha_report;
struct ha_rewriter;

/* What the tables say about a gang form. */
struct ha_gang {
    uint32_t width;         /* lanes; 0: the kernel has no gang form */
    bool span;              /* blocks go in step */
    bool whole_warps;       /* a gang is a warp: rows of blocks are whole ones */
    bool grid;              /* waits at barriers of the grid */
    uint64_t frame_bytes;   /* memory of each gang of a block */
    struct ir_slice reason; /* why there is none */
    bool unwanted;          /* there could be one, and another form is better */
};

/* Writes the gang form of a kernel as its fast one, if it can have one that is worth
 * it.  `other` says that the kernel has another fast form: then only one that lanes
 * diverge in or meet in is.  What was decided goes to the report. */
void ha_gang_write(struct ha_rewriter *rewriter, uint32_t number, bool other,
                   struct ha_gang *gang, struct ha_report *report);

#endif
