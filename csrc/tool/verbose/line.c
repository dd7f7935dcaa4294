/* SPDX-License-Identifier: MIT */
#include "tool/verbose/line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/generated/version.h"
#include "tool/kernel_label.h"
#include "tool/call_names.h"
#include "tool/name.h"
#include "tool/text.h"
#include "tool/verbose/kinds.h"
#include "tool/verbose/result.h"

enum {
    FIXED = 1024, /* bytes of a line besides its texts */
    GROWTH = 3,   /* bytes of a field for a byte of text, at most */
};

#define MARK "hipadapt_verbose,v1,"
#define COLUMNS                                                                        \
    "operation,engine,primitive,implementation,prop_kind,memory_descriptors,"          \
    "attributes,auxiliary,problem_desc,exec_time"

/* ---- fields ---- */

static bool
is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '%' && byte != ',';
}

static char *
put_percent(char *to, unsigned char byte)
{
    static const char digits[] = "0123456789ABCDEF";

    *to++ = '%';
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
    return to;
}

char *
ha_line_field(char *to, const char *text, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)text;
    const unsigned char *end = from + bytes;

    while (from < end) {
        int length = 0;
        if (is_plain(*from)) {
            *to++ = (char)*from++;
        } else if (*from >= 0x80 &&
                   (length = ha_text_character(from, (size_t)(end - from))) > 0) {
            to = ha_text_put(to, (const char *)from, (size_t)length);
            from += length;
        } else {
            to = put_percent(to, *from++);
        }
    }
    return to;
}

static char *
put_text(char *to, const char *text)
{
    return ha_line_field(to, text, strlen(text));
}

/* A literal that needs no care. */
static char *
put_word(char *to, const char *word)
{
    return ha_text_put(to, word, strlen(word));
}

/* ` key:value`, or without the blank at the beginning of a field. */
static char *
put_key(char *to, const char *key)
{
    if (to[-1] != ',') {
        *to++ = ' ';
    }
    return put_word(to, key);
}

static char *
put_number(char *to, const char *key, uint64_t value)
{
    return ha_text_uint(put_key(to, key), value);
}

/* Milliseconds with all digits that nanoseconds have. */
static char *
put_ms(char *to, uint64_t ns)
{
    to = ha_text_milli(to, ns / 1000);
    *to++ = (char)('0' + ns / 100 % 10);
    return ha_text_put(to, &ha_digit_pairs[2 * (ns % 100)], 2);
}

/* The same without the zeros that say nothing. */
static char *
put_short_ms(char *to, uint64_t ns)
{
    to = put_ms(to, ns);
    while (to[-1] == '0') {
        to--;
    }
    return to[-1] == '.' ? to - 1 : to;
}

static char *
put_xyz(char *to, const char *key, uint64_t x, uint64_t y, uint64_t z)
{
    to = put_number(to, key, x);
    *to++ = 'x';
    to = ha_text_uint(to, y);
    *to++ = 'x';
    return ha_text_uint(to, z);
}

/* ---- columns ---- */

/* Room for a line with texts of that many bytes; NULL: no memory. */
static char *
begin(struct ha_line_text *lines, size_t texts)
{
    size_t need = lines->used + FIXED + GROWTH * texts;

    if (need > lines->room) {
        size_t room = 2 * need;
        char *text = realloc(lines->text, room);
        if (text == NULL) {
            return NULL;
        }
        lines->text = text;
        lines->room = room;
    }
    return lines->text + lines->used;
}

static void
end(struct ha_line_text *lines, char *to)
{
    *to++ = '\n';
    lines->used = (size_t)(to - lines->text);
}

static char *
put_head(char *to, const struct ha_line_form *form, uint64_t start,
         const char *component)
{
    HA_PUT(to, MARK);
    if (form->timestamp) {
        to = put_ms(to, ha_clock_unix(&form->clock, start));
        *to++ = ',';
    }
    to = put_word(to, component);
    *to++ = ',';
    return to;
}

static char *
put_engine(char *to, int device)
{
    if (device < 0) {
        return put_word(to, ",cpu,");
    }
    to = ha_text_uint(put_word(to, ",gpu:"), (unsigned)device);
    *to++ = ',';
    return to;
}

static char *
put_attributes(char *to, const struct ha_trace_event *event)
{
    if (event->correlation != 0) {
        to = put_number(to, "corr:", event->correlation);
    }
    if (event->external != 0) {
        to = put_number(to, "ext:", event->external);
    }
    return put_number(to, "tid:", event->thread);
}

static char *
put_times(char *to, const char *clock, const struct ha_trace_event *event)
{
    to = put_word(put_key(to, "clock:"), clock);
    to = put_number(to, "start:", event->start);
    return put_number(to, "end:", event->end);
}

static char *
put_duration(char *to, const struct ha_trace_event *event)
{
    *to++ = ',';
    return put_short_ms(to, event->end - event->start);
}

/* ---- lines ---- */

/* How work has ended, by ha_sdk_work_status; NULL: the library doesn't tell it. */
static const char *
status_word(int32_t status)
{
    static const char *const words[] = {"done", "fault", "timeout", "cancelled"};

    return status >= 0 && status < 4 ? words[status] : NULL;
}

static char *
put_work_head(char *to, const struct ha_line_form *form,
              const struct ha_trace_event *event, const char *primitive)
{
    to = put_head(to, form, event->start, "kernel");
    to = put_word(to, event->result > 0 ? "exec:error" : "exec");
    to = put_engine(to, event->device);
    return put_word(to, primitive);
}

static char *
put_work_tail(char *to, const struct ha_trace_event *event, const char *arguments)
{
    bool ran = event->result != HA_VERBOSE_CANCELLED;
    const char *status = status_word(event->result);

    to = put_word(to, ",stream:");
    to = ha_text_uint(to, event->stream);
    *to++ = ',';
    to = put_text(to, arguments);
    *to++ = ',';
    to = put_attributes(to, event);
    *to++ = ',';
    to = put_times(to, ran ? "device" : "host", event);
    return status != NULL ? put_word(put_key(to, "status:"), status) : to;
}

static unsigned
blocks(uint32_t threads, uint16_t block)
{
    return block != 0 ? (threads + block - 1U) / block : 0;
}

static bool
kernel(struct ha_line_text *lines, struct ha_line_form *form,
       const struct ha_trace_event *event)
{
    struct ha_kernel_label label = ha_kernel_label(&form->labels, event->object);
    const char *arguments = ha_verbose_text(event);
    size_t more = arguments != NULL ? strlen(arguments) : 0;
    char *to = begin(lines, strlen(label.name) + more);

    if (to == NULL) {
        return false;
    }
    to = put_work_head(to, form, event, event->bytes > 0 ? "memset," : "kernel,");
    to = put_text(to, label.name);
    to = put_work_tail(to, event, arguments != NULL ? arguments : "");
    to = put_number(to, "shmem:", event->shared);
    *to++ = ',';
    if (event->bytes > 0) {
        to = put_number(to, "bytes:", event->bytes);
    }
    to = put_xyz(to, "grid:", blocks(event->grid[0], event->block[0]),
                 blocks(event->grid[1], event->block[1]),
                 blocks(event->grid[2], event->block[2]));
    to = put_xyz(to, "block:", event->block[0], event->block[1], event->block[2]);
    end(lines, put_duration(to, event));
    return true;
}

static const char *
copy_name(const struct ha_trace_event *event)
{
    bool from_host = event->source_device < 0, to_host = event->device < 0;

    if (from_host) {
        return to_host ? "HtoH" : "HtoD";
    }
    if (to_host) {
        return "DtoH";
    }
    return event->source_device == event->device ? "DtoD" : "PtoP";
}

static bool
copy(struct ha_line_text *lines, const struct ha_line_form *form,
     const struct ha_trace_event *event)
{
    struct ha_trace_event shown = *event;
    char *to = begin(lines, 0);

    if (to == NULL) {
        return false;
    }
    /* The device that does it is the one that is no host. */
    shown.device = event->device >= 0 ? event->device : event->source_device;
    to = put_work_head(to, form, &shown, "memcpy,");
    to = put_word(to, copy_name(event));
    to = put_work_tail(to, event, "");
    *to++ = ',';
    to = put_number(to, "bytes:", event->bytes);
    end(lines, put_duration(to, event));
    return true;
}

static bool
host(struct ha_line_text *lines, const struct ha_line_form *form,
     const struct ha_trace_event *event)
{
    static const char digits[] = "0123456789abcdef";
    char *to = begin(lines, 0);

    if (to == NULL) {
        return false;
    }
    to = put_work_head(to, form, event, "hostfunc,0x");
    for (int shift = 60; shift >= 0; shift -= 4) {
        if (event->address >> shift != 0 || shift == 0) {
            *to++ = digits[event->address >> shift & 15];
        }
    }
    to = put_work_tail(to, event, "");
    *to++ = ',';
    end(lines, put_duration(to, event));
    return true;
}

static bool
call(struct ha_line_text *lines, const struct ha_line_form *form,
     const struct ha_trace_event *event)
{
    const char *text = ha_verbose_text(event), *name = ha_result_name(event->result);
    char *to = begin(lines, text != NULL ? strlen(text) : 0);

    if (to == NULL) {
        return false;
    }
    to = put_head(to, form, event->start, "api");
    to = put_word(to, ha_result_is_refusal(event->result) ? "check" : "error");
    to = put_word(to, ",cpu,call,");
    to = put_word(to, ha_call_name(event->operation));
    to = put_word(to, ",,,");
    to = put_attributes(to, event);
    *to++ = ',';
    to = put_times(to, "host", event);
    to = name != NULL ? put_word(put_key(to, "status:"), name)
                      : put_number(to, "status:", (uint32_t)event->result);
    *to++ = ',';
    to = put_text(to, text != NULL ? text : "");
    end(lines, put_duration(to, event));
    return true;
}

static bool
creation(struct ha_line_text *lines, const struct ha_line_form *form,
         const struct ha_trace_event *event)
{
    static const char *const outcomes[] = {
        [HA_CREATED_HIT] = "create:cache_hit",
        [HA_CREATED_MISS] = "create:cache_miss",
        [HA_CREATED_FAILED] = "create:error",
    };
    const char *name = ha_name_text(event->name);
    char *to = begin(lines, strlen(name));

    if (to == NULL) {
        return false;
    }
    to = put_head(to, form, event->start, "kernel");
    to = put_word(to, outcomes[event->result]);
    to = put_engine(to, event->device);
    to = put_word(to, event->operation == HA_CREATE_MODULE ? "module," : "compile,");
    to = put_text(to, name);
    to = put_word(to, ",,,");
    to = put_attributes(to, event);
    *to++ = ',';
    to = put_times(to, "host", event);
    *to++ = ',';
    end(lines, put_duration(to, event));
    return true;
}

static bool
tracker(struct ha_line_text *lines, const struct ha_line_form *form,
        const struct ha_trace_event *event)
{
    const char *info = ha_verbose_text(event) != NULL ? ha_verbose_text(event) : "";
    bool sync = event->operation == HA_TRACKED_SYNC;
    char *to = begin(lines, strlen(info));

    if (to == NULL) {
        return false;
    }
    to = put_head(to, form, event->start, "kernel");
    to = put_word(to, sync ? "exec:sync" : event->result > 0 ? "exec:error" : "exec");
    to = put_engine(to, event->device);
    to = put_word(to, "tracker,");
    to = put_text(to, info);
    to = ha_text_uint(put_word(to, ",stream:"), event->stream);
    to = put_word(to, ",,");
    if (event->correlation != 0) {
        to = put_number(to, "corr:", event->correlation);
    }
    *to++ = ',';
    to = put_times(to, event->phase != 0 ? "device" : "host", event);
    if (status_word(event->result) != NULL) {
        to = put_word(put_key(to, "status:"), status_word(event->result));
    }
    *to++ = ',';
    end(lines, put_duration(to, event));
    return true;
}

bool
ha_line_event(struct ha_line_text *lines, struct ha_line_form *form,
              const struct ha_trace_event *event)
{
    switch (event->kind) {
    case HA_VERBOSE_KERNEL:
        return kernel(lines, form, event);
    case HA_VERBOSE_COPY:
        return copy(lines, form, event);
    case HA_VERBOSE_HOST:
        return host(lines, form, event);
    case HA_VERBOSE_CALL:
        return call(lines, form, event);
    case HA_VERBOSE_TRACKER:
        return tracker(lines, form, event);
    default:
        return creation(lines, form, event);
    }
}

bool
ha_line_header(struct ha_line_text *lines, const struct ha_line_form *form)
{
    char *to = begin(lines, 0);

    if (to == NULL) {
        return false;
    }
    HA_PUT(to, MARK "info,hipadapt v" HA_VERSION "\n" MARK "info,process:");
    to = ha_text_uint(to, (uint64_t)getpid());
    HA_PUT(to, ",clock:");
    to = put_ms(to, (uint64_t)form->clock.offset);
    HA_PUT(to, "\n" MARK "kernel,info,template:");
    to = put_word(to, form->timestamp ? "timestamp," : "");
    HA_PUT(to, COLUMNS);
    end(lines, to);
    return true;
}

bool
ha_line_is_header(const char *text, size_t bytes)
{
    static const char *const heads[] = {MARK "info,", MARK "kernel,info,"};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t length = strlen(heads[i]);
        if (bytes >= length && memcmp(text, heads[i], length) == 0) {
            return true;
        }
    }
    return false;
}

bool
ha_line_lost(struct ha_line_text *lines, unsigned long long lost)
{
    char *to = begin(lines, 0);

    if (to == NULL) {
        return false;
    }
    HA_PUT(to, MARK "info,lost:");
    end(lines, ha_text_uint(to, lost));
    return true;
}
