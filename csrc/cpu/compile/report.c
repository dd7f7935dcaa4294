/* SPDX-License-Identifier: MIT */
#include "cpu/compile/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/compile/ir_place.h"

#define REMARKS_MOST 256u
#define TEXT_BYTES 512

const char *const ha_report_kinds[HA_REPORT_KINDS] = {
    [HA_REPORT_FORM] = "form",       [HA_REPORT_REFUSED] = "refused",
    [HA_REPORT_REGION] = "region",   [HA_REPORT_KEPT] = "kept",
    [HA_REPORT_BARRIER] = "barrier", [HA_REPORT_LOOP] = "loop",
    [HA_REPORT_BRANCH] = "branch",   [HA_REPORT_ACCESS] = "access",
    [HA_REPORT_ATOMIC] = "atomic",   [HA_REPORT_CALL] = "call",
    [HA_REPORT_HINT] = "hint",
};

static bool
same_place(const struct ha_report *report, uint32_t a, uint32_t b)
{
    struct ir_place x = ir_place_of(report->module, a);
    struct ir_place y = ir_place_of(report->module, b);

    return a == b || (x.line == y.line && ir_same(x.file, y.file));
}

static bool
has_remark(const struct ha_report *report, enum ha_report_kind kind, uint32_t place,
           struct ir_slice text)
{
    for (uint32_t i = 0; i < report->count; i++) {
        const struct ha_remark *remark = &report->remarks[i];
        if (remark->kind == kind && ir_same(remark->text, text) &&
            same_place(report, remark->place, place)) {
            return true;
        }
    }
    return false;
}

void
ha_report_add(struct ha_report *report, enum ha_report_kind kind, uint32_t place,
              const char *format, ...)
{
    struct ir_arena *arena = report->module->arena;
    char text[TEXT_BYTES];
    va_list arguments;

    if (report->count == REMARKS_MOST) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (has_remark(report, kind, place, ir_slice_of(text))) {
        return;
    }
    if (report->count == report->capacity) {
        uint32_t capacity = report->capacity * 2 + 16;
        struct ha_remark *remarks = ir_alloc(arena, capacity, sizeof *remarks);
        if (report->count > 0) {
            memcpy(remarks, report->remarks, report->count * sizeof *remarks);
        }
        report->remarks = remarks;
        report->capacity = capacity;
    }
    report->remarks[report->count++] =
        (struct ha_remark){kind, place, ir_format(arena, "%s", text)};
}

void
ha_report_drop(struct ha_report *report, enum ha_report_kind kind, uint32_t place)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < report->count; i++) {
        if (report->remarks[i].kind != kind ||
            !same_place(report, report->remarks[i].place, place)) {
            report->remarks[kept++] = report->remarks[i];
        }
    }
    report->count = kept;
}

/* ---- places ---- */

/* "12", "other.h:12" or "". */
static struct ir_slice
place_text(const struct ir_module *module, struct ir_slice file, uint32_t node)
{
    struct ir_place place = ir_place_of(module, node);

    if (place.line == 0) {
        return ir_slice_of("");
    }
    return ir_same(place.file, file)
               ? ir_format(module->arena, "%u", place.line)
               : ir_format(module->arena, "%.*s:%u", IR_ARGS(place.file), place.line);
}

/* ---- the text ---- */

struct entry {
    const struct ha_remark *remark;
    struct ir_place place;
    uint32_t number;
};

/* First what is about the whole, then by line, then what can be changed. */
static int
group_of(const struct entry *entry)
{
    return entry->remark->kind == HA_REPORT_HINT ? 2 : entry->place.line > 0;
}

static int
compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int first = group_of(x), second = group_of(y);

    if (first != second) {
        return first - second;
    }
    if (x->place.line != y->place.line) {
        return x->place.line < y->place.line ? -1 : 1;
    }
    if (x->remark->kind != y->remark->kind) {
        return x->remark->kind < y->remark->kind ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

struct ir_slice
ha_report_text(const struct ha_report *report, const struct ir_function *kernel)
{
    const struct ir_module *module = report->module;
    struct ir_place own = ir_place_of(module, kernel->place);
    struct ir_out out = {.arena = module->arena};
    struct entry *entries =
        ir_alloc(module->arena, report->count + 1u, sizeof *entries);

    for (uint32_t i = 0; i < report->count; i++) {
        entries[i] = (struct entry){&report->remarks[i],
                                    ir_place_of(module, report->remarks[i].place), i};
    }
    qsort(entries, report->count, sizeof *entries, compare);
    if (own.line > 0) {
        ir_print(&out, "%.*s:%u", IR_ARGS(own.file), own.line);
    }
    ir_print(&out, "\tkernel\t%s", report->form);
    if (report->width > 0) {
        ir_print(&out, " %u", report->width);
    }
    ir_print(&out, "\n");
    for (uint32_t i = 0; i < report->count; i++) {
        const struct ha_remark *remark = entries[i].remark;
        struct ir_slice place = place_text(module, own.file, remark->place);
        ir_print(&out, "%.*s\t%s\t%.*s\n", IR_ARGS(place),
                 ha_report_kinds[remark->kind], IR_ARGS(remark->text));
    }
    if (report->count == REMARKS_MOST) {
        ir_print(&out, "\t%s\tmore remarks than %u are not kept\n",
                 ha_report_kinds[HA_REPORT_HINT], REMARKS_MOST);
    }
    return (struct ir_slice){out.text, out.size};
}
