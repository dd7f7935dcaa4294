/* SPDX-License-Identifier: MIT */
/* The functions of abi/check.h, for test frameworks and hipadapt.check.
 *
 * They neither start the runtime nor need it: a framework asks for checks before the
 * program that it tests uses HIP. */
#include "abi/check.h"

#include "abi/hip.h"
#include "cpu/base/check_kinds.h"
#include "cpu/base/error.h"
#include "cpu/base/life.h"
#include "cpu/base/thread.h"
#include "cpu/check/finding.h"
#include "cpu/check/report.h"
#include "cpu/check/summary.h"
#include "cpu/queue/order.h"

/* The name is that of later messages. */
static void
enter(const char *function)
{
    ha_thread_self()->function = function;
}

int
hipadaptCheckStart(const char *kinds)
{
    uint32_t wanted;

    enter("hipadaptCheckStart");
    if (kinds == NULL) {
        return (int)ha_cpu_fail_null("kinds");
    }
    if (ha_check_kinds_read(kinds, &wanted) != HA_OK) {
        return (int)ha_cpu_fail(hipErrorInvalidValue, "argument 'kinds': %s",
                                ha_error_text());
    }
    bool races = ha_order_on();
    ha_check_kinds_set(wanted);
    if (!races && ha_order_on()) {
        ha_order_begin();
    }
    if (ha_life_is_ready()) {
        ha_summary_begin(); /* else when the runtime starts */
    }
    return hipSuccess;
}

int
hipadaptCheckStop(void)
{
    enter("hipadaptCheckStop");
    ha_check_kinds_set(0);
    return hipSuccess;
}

int
hipadaptCheckFindings(ha_check_each each, void *context)
{
    enter("hipadaptCheckFindings");
    if (each == NULL) {
        return (int)ha_cpu_fail_null("each");
    }
    return ha_finding_each(each, context);
}

int
hipadaptCheckWrite(const struct ha_check_finding *finding, enum ha_check_format format,
                   char *text, size_t *bytes)
{
    enter("hipadaptCheckWrite");
    if (finding == NULL || bytes == NULL) {
        return (int)ha_cpu_fail_null(finding == NULL ? "finding" : "bytes");
    }
    if (finding->size != sizeof *finding) {
        return (int)ha_cpu_fail(hipErrorInvalidValue,
                                "argument 'finding' has size %zu, not %zu",
                                finding->size, sizeof *finding);
    }
    if (format != HA_CHECK_TEXT && format != HA_CHECK_JSON) {
        return (int)ha_cpu_fail(hipErrorInvalidValue,
                                "argument 'format' must be HA_CHECK_TEXT or "
                                "HA_CHECK_JSON, not %d",
                                (int)format);
    }
    struct ha_writer writer = {.text = text, .room = text != NULL ? *bytes : 0};
    (format == HA_CHECK_TEXT ? ha_check_report_text : ha_check_report_json)(&writer,
                                                                            finding);
    size_t needed = writer.needed + 1, room = *bytes;
    *bytes = needed;
    if (text == NULL) {
        return hipSuccess;
    }
    if (room < needed) {
        return (int)ha_cpu_fail(hipErrorInvalidValue,
                                "argument 'bytes' is %zu; the text needs %zu", room,
                                needed);
    }
    text[writer.needed] = '\0';
    return hipSuccess;
}

int
hipadaptCheckSummary(struct ha_check_summary *summary)
{
    enter("hipadaptCheckSummary");
    if (summary == NULL) {
        return (int)ha_cpu_fail_null("summary");
    }
    if (summary->size != sizeof *summary) {
        return (int)ha_cpu_fail(hipErrorInvalidValue,
                                "argument 'summary' has size %zu, not %zu",
                                summary->size, sizeof *summary);
    }
    ha_summary_get(summary);
    return hipSuccess;
}

int
hipadaptCheckClear(void)
{
    enter("hipadaptCheckClear");
    ha_summary_clear();
    return hipSuccess;
}
