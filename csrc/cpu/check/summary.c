/* SPDX-License-Identifier: MIT */
#include "cpu/check/summary.h"

#include <stdatomic.h>

#include "cpu/base/check_kinds.h"
#include "cpu/check/end_signal.h"
#include "cpu/check/finding.h"
#include "cpu/check/kernel_name.h"
#include "cpu/check/report.h"

static _Atomic uint64_t launches, unchecked, observed, proved;
static atomic_bool begun; /* and not ended */

static void
add(_Atomic uint64_t *counter, uint64_t count)
{
    atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

void
ha_summary_launch(bool checked)
{
    add(checked ? &launches : &unchecked, 1);
}

void
ha_summary_accesses(uint64_t now_observed, uint64_t now_proved)
{
    add(&observed, now_observed);
    add(&proved, now_proved);
}

static struct ha_check_summary
counters(void)
{
    return (struct ha_check_summary){
        .size = sizeof(struct ha_check_summary),
        .kinds = ha_check_kinds(),
        .launches = atomic_load(&launches),
        .unchecked = atomic_load(&unchecked),
        .observed = atomic_load(&observed),
        .proved = atomic_load(&proved),
    };
}

void
ha_summary_get(struct ha_check_summary *summary)
{
    *summary = counters();
    ha_finding_count(summary);
}

static void
clear_counters(void)
{
    atomic_store(&launches, 0);
    atomic_store(&unchecked, 0);
    atomic_store(&observed, 0);
    atomic_store(&proved, 0);
}

void
ha_summary_clear(void)
{
    ha_finding_clear();
    clear_counters();
}

void
ha_summary_begin(void)
{
    if (ha_check_kinds() != 0 && !atomic_exchange(&begun, true)) {
        ha_finding_begin();
        ha_end_signal_watch(ha_summary_end);
    }
}

void
ha_summary_end(void)
{
    struct ha_check_summary summary = counters();

    if (atomic_exchange(&begun, false)) {
        ha_finding_end(&summary);
    }
}

void
ha_check_after_fork_child(void)
{
    atomic_store(&begun, false);
    clear_counters();
    ha_check_report_begin();
    ha_kernel_name_after_fork_child();
    ha_finding_after_fork_child();
}
