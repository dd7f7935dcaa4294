/* SPDX-License-Identifier: MIT */
/* What was decided about a kernel, for people: `explain` shows it.
 *
 * A report is text that lies in the image (struct ha_image_kernel), a *remark* a line:
 *
 *     place TAB kind TAB sentence LF        12  access  loads 4 bytes ... (gathered)
 *
 * The place is the line in the file of the kernel, or "other.h:12", or nothing where a
 * remark is about the whole.  Kinds are the words of ha_report_kinds.  The first line
 * has the file and line of the kernel itself, the kind "kernel", and its form with the
 * lanes of a gang: "gang 16", "rows" or "reference". */
#ifndef HA_CPU_COMPILE_REPORT_H
#define HA_CPU_COMPILE_REPORT_H

#include "cpu/compile/ir_text.h"

/* In the order in which those of one line, or of none, are shown. */
enum ha_report_kind {
    HA_REPORT_FORM,    /* which form it has, and in which launches that is run */
    HA_REPORT_REFUSED, /* why it has no faster one */
    HA_REPORT_REGION,  /* what gangs do before they wait for one another */
    HA_REPORT_KEPT,    /* values that are kept between regions */
    HA_REPORT_BARRIER,
    HA_REPORT_LOOP,
    HA_REPORT_BRANCH,
    HA_REPORT_ACCESS,
    HA_REPORT_ATOMIC,
    HA_REPORT_CALL,
    HA_REPORT_HINT, /* what the program can change */
    HA_REPORT_KINDS,
};

extern const char *const ha_report_kinds[HA_REPORT_KINDS];

struct ha_remark {
    enum ha_report_kind kind;
    uint32_t place; /* node of cpu/compile/ir_place.h, or 0 */
    struct ir_slice text;
};

/* Lies in the arena of the module. */
struct ha_report {
    const struct ir_module *module;
    const char *form; /* constant: "gang", "rows" or "reference" */
    uint32_t width;   /* lanes of a gang, or 0 */
    struct ha_remark *remarks;
    uint32_t count;
    uint32_t capacity;
};

/* Adds a remark, unless the same one is there. */
__attribute__((format(printf, 4, 5))) void ha_report_add(struct ha_report *report,
                                                         enum ha_report_kind kind,
                                                         uint32_t place,
                                                         const char *format, ...);

/* Takes back what was said of a place. */
void ha_report_drop(struct ha_report *report, enum ha_report_kind kind, uint32_t place);

/* The text of the report of a kernel. */
struct ir_slice ha_report_text(const struct ha_report *report,
                               const struct ir_function *kernel);

#endif
