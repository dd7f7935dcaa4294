/* SPDX-License-Identifier: MIT */
/* Findings and summaries as texts: lines for people, and lines of JSON.
 *
 * All of it has a bound, whatever the finding's own texts are, and is plain text and
 * valid UTF-8.  docs/checking.md describes both formats.  Any thread, no lock, also on
 * the stack of a lane and in a signal handler. */
#ifndef HA_CPU_CHECK_REPORT_H
#define HA_CPU_CHECK_REPORT_H

#include <stdbool.h>

#include "abi/check.h"
#include "cpu/check/writer.h"

/* A report and its line of JSON have room in as many bytes. */
#define HA_REPORT_BYTES ((size_t)128 << 10)

/* Lines, each with its end.  NULL texts are not known, as empty ones. */
void ha_check_report_text(struct ha_writer *writer,
                          const struct ha_check_finding *found);
void ha_check_report_summary_text(struct ha_writer *writer,
                                  const struct ha_check_summary *summary);

/* "1024 times: out-of-bounds, saxpy.hip:7:12 in scale(float*)", for a finding that is
 * known already. */
void ha_check_report_again_text(struct ha_writer *writer,
                                const struct ha_check_finding *found);

/* One line of JSON without its end each.  Its members `process` and `since` together
 * are of this process alone, also where its number is used again.  `count` says how
 * often a finding was made that has been told before.  A finding's member `report` is
 * its text for people. */
void ha_check_report_json(struct ha_writer *writer,
                          const struct ha_check_finding *found);
void ha_check_report_start_json(struct ha_writer *writer, const char *kinds);
void ha_check_report_count_json(struct ha_writer *writer, uint64_t number,
                                uint64_t count);
void ha_check_report_summary_json(struct ha_writer *writer,
                                  const struct ha_check_summary *summary);

/* In a forked child, which is another process. */
void ha_check_report_begin(void);

/* The name of a memory space: "global". */
const char *ha_space_name(enum ha_check_space space);

/* Whether there is a second side. */
bool ha_check_report_has_side(const struct ha_check_side *side);

#endif
