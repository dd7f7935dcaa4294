/* SPDX-License-Identifier: MIT */
/* Verbose lines as text.
 *
 *   hipadapt_verbose,v1,[timestamp,]component,operation,engine,primitive,
 *   implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,
 *   exec_time
 *
 * The columns are oneDNN's, and a header line names them.  In a field `%`, `,`, control
 * characters and bytes that are not UTF-8 stand as %XX.  docs/verbose.md says what
 * stands in each column.  One thread at a time. */
#ifndef HA_TOOL_VERBOSE_LINE_H
#define HA_TOOL_VERBOSE_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/clock.h"
#include "tool/event.h"
#include "tool/table.h"

/* Lines that are to be written: zero is none. */
struct ha_line_text {
    char *text; /* owned */
    size_t used;
    size_t room;
};

/* How lines are made. */
struct ha_line_form {
    struct ha_clock_bridge clock; /* to Unix time */
    struct ha_table labels;       /* of kernels, owned */
    bool timestamp;
};

/* Adds a line for the event, or the lines that a process begins and ends with.  False:
 * no memory, and nothing was added. */
bool ha_line_event(struct ha_line_text *lines, struct ha_line_form *form,
                   const struct ha_trace_event *event);
bool ha_line_header(struct ha_line_text *lines, const struct ha_line_form *form);
bool ha_line_lost(struct ha_line_text *lines, unsigned long long lost);

/* Whether a text begins with a line that is no result: of the header. */
bool ha_line_is_header(const char *text, size_t bytes);

/* Adds the text as one field.  `to` has room for three times `bytes`; returns the end.
 */
char *ha_line_field(char *to, const char *text, size_t bytes);

#endif
