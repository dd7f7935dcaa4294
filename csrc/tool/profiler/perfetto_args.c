/* SPDX-License-Identifier: MIT */
#include "tool/profiler/perfetto_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/profiler/proto.h"
#include "tool/text.h"
#include "tool/profiler/work.h"
#include "tool/profiler/writer_class.h"

/* Fields of DebugAnnotation; ANNOTATIONS is TrackEvent's. */
enum {
    ANNOTATIONS = 4,
    NAME_IID = 1,
    BOOL_VALUE = 2,
    UINT_VALUE = 3,
    INT_VALUE = 4,
    DOUBLE_VALUE = 5,
    STRING_VALUE = 6,
    JSON_VALUE = 9,
    NAME = 10,
    ARRAY_VALUES = 12,
};

/* ---- values of slices ---- */

/* Numbers and their names fit a length of one byte. */
static inline char *
put_number(char *to, struct ha_packet *packet, enum ha_perfetto_key key, uint64_t value)
{
    char *begin = ha_proto_begin(to, ANNOTATIONS, 1);

    to = ha_proto_uint(begin, NAME_IID, ha_packet_use(packet, key));
    to = ha_proto_uint(to, UINT_VALUE, value);
    ha_proto_end(begin, to, 1);
    return to;
}

static char *
put_signed(char *to, struct ha_packet *packet, enum ha_perfetto_key key, int64_t value)
{
    char *begin = ha_proto_begin(to, ANNOTATIONS, 1);

    to = ha_proto_uint(begin, NAME_IID, ha_packet_use(packet, key));
    to = ha_proto_uint(to, INT_VALUE, (uint64_t)value);
    ha_proto_end(begin, to, 1);
    return to;
}

static char *
put_string(char *to, int width, uint32_t field, const char *text, size_t bytes)
{
    char *begin = ha_proto_begin(to, field, width);

    to = ha_text_utf8(begin, text, bytes);
    ha_proto_end(begin, to, width);
    return to;
}

static char *
put_text(char *to, struct ha_packet *packet, enum ha_perfetto_key key, const char *text)
{
    char *begin = ha_proto_begin(to, ANNOTATIONS, packet->width);

    to = ha_proto_uint(begin, NAME_IID, ha_packet_use(packet, key));
    to = put_string(to, packet->width, STRING_VALUE, text, strlen(text));
    ha_proto_end(begin, to, packet->width);
    return to;
}

static char *
put_triple(char *to, struct ha_packet *packet, enum ha_perfetto_key key,
           const uint32_t values[3])
{
    char *begin = ha_proto_begin(to, ANNOTATIONS, 1);

    to = ha_proto_uint(begin, NAME_IID, ha_packet_use(packet, key));
    for (int i = 0; i < 3; i++) {
        char *value = ha_proto_begin(to, ARRAY_VALUES, 1);
        to = ha_proto_uint(value, UINT_VALUE, values[i]);
        ha_proto_end(value, to, 1);
    }
    ha_proto_end(begin, to, 1);
    return to;
}

static char *
put_launch(char *to, struct ha_packet *packet, const struct ha_trace_event *event)
{
    const uint32_t grid[3] = {ha_work_blocks(event, 0), ha_work_blocks(event, 1),
                              ha_work_blocks(event, 2)};
    const uint32_t block[3] = {event->block[0], event->block[1], event->block[2]};

    to = put_triple(to, packet, HA_KEY_GRID, grid);
    to = put_triple(to, packet, HA_KEY_BLOCK, block);
    return put_number(to, packet, HA_KEY_SHARED, event->shared);
}

static char *
put_copy(char *to, struct ha_packet *packet, const struct ha_trace_event *event)
{
    to = put_text(to, packet, HA_KEY_KIND, ha_work_direction(event)->kind);
    to = put_number(to, packet, HA_KEY_BYTES, event->bytes);
    to = put_number(to, packet, HA_KEY_SRC, event->source);
    return put_number(to, packet, HA_KEY_DST, event->address);
}

static char *
put_bandwidth(char *to, struct ha_packet *packet, const struct ha_slice *slice)
{
    uint64_t ns = slice->end > slice->start ? slice->end - slice->start : 1;
    double value = (double)slice->event->bytes / (double)ns;
    char *begin = ha_proto_begin(to, ANNOTATIONS, 1);

    to = ha_proto_uint(begin, NAME_IID, ha_packet_use(packet, HA_KEY_BANDWIDTH));
    to = ha_proto_fixed64(to, DOUBLE_VALUE, &value);
    ha_proto_end(begin, to, 1);
    return to;
}

static char *
put_form(char *to, struct ha_packet *packet, uint64_t form)
{
    const char *name = ha_work_form(form);

    if (name == NULL) {
        return to;
    }
    to = put_text(to, packet, HA_KEY_FORM, name);
    if (ha_work_width(form) > 0) {
        to = put_number(to, packet, HA_KEY_WIDTH, ha_work_width(form));
    }
    if (ha_work_blocks_left(form) > 0) {
        to = put_number(to, packet, HA_KEY_LEFT, ha_work_blocks_left(form));
    }
    return to;
}

static char *
put_work(char *to, struct ha_packet *packet, const struct ha_slice *slice)
{
    const struct ha_trace_event *event = slice->event;

    to = put_signed(to, packet, HA_KEY_DEVICE, slice->device);
    to = put_number(to, packet, HA_KEY_STREAM, slice->stream);
    if (slice->status != NULL) {
        to = put_text(to, packet, HA_KEY_STATUS, slice->status);
    }
    if (event == NULL) {
        return to;
    }
    if (slice->kind == HA_SLICE_KERNEL) {
        to = put_launch(to, packet, event);
        to = put_number(to, packet, HA_KEY_QUEUE, event->stream);
        to = put_form(to, packet, slice->form);
    } else if (slice->kind == HA_SLICE_MEMCPY) {
        to = put_copy(to, packet, event);
        to = put_bandwidth(to, packet, slice);
    } else if (slice->kind == HA_SLICE_MEMSET && event->bytes != 0) {
        to = put_number(to, packet, HA_KEY_BYTES, event->bytes);
        to = put_bandwidth(to, packet, slice);
    }
    return to;
}

static char *
put_call(char *to, struct ha_packet *packet, const struct ha_slice *slice,
         const char *call)
{
    const struct ha_trace_event *work = slice->work;

    if (call != NULL) {
        to = put_text(to, packet, HA_KEY_API, call);
    }
    if (slice->event != NULL) {
        to = put_number(to, packet, HA_KEY_CID, (uint32_t)slice->event->operation);
        if (slice->event->result != 0) {
            to = put_signed(to, packet, HA_KEY_RESULT, slice->event->result);
        }
    }
    if (slice->work_name != NULL) {
        to = put_text(to, packet, HA_KEY_KERNEL, slice->work_name);
    }
    if (work != NULL) {
        to = work->block[0] != 0 ? put_launch(to, packet, work)
                                 : put_copy(to, packet, work);
    }
    return to;
}

char *
ha_perfetto_put_args(char *to, struct ha_packet *packet, const struct ha_slice *slice,
                     const char *call)
{
    if (slice->external != 0) {
        to = put_number(to, packet, HA_KEY_EXTERNAL, slice->external);
    }
    if (slice->correlation != 0) {
        to = put_number(to, packet, HA_KEY_CORRELATION, slice->correlation);
    }
    if (slice->kind >= HA_SLICE_KERNEL && slice->kind <= HA_SLICE_GPU_ANNOTATION) {
        to = put_work(to, packet, slice);
    } else if (slice->kind == HA_SLICE_SYNC && slice->device != HA_DEVICE_NONE) {
        to = put_work(to, packet, slice);
    } else if (slice->kind == HA_SLICE_RUNTIME) {
        to = put_call(to, packet, slice, call);
    }
    if (slice->args != NULL) {
        to = ha_perfetto_put_members(to, packet->width, slice->args);
    }
    return to;
}

/* ---- JSON ---- */

/* A number, as what it is. */
static char *
put_json_number(char *to, const char *at, size_t bytes)
{
    char text[400];

    if (bytes <= 20 && memchr(at, '.', bytes) == NULL &&
        memchr(at, 'e', bytes) == NULL && memchr(at, 'E', bytes) == NULL) {
        memcpy(text, at, bytes);
        text[bytes] = '\0';
        errno = 0;
        long long value = strtoll(text, NULL, 10);
        if (errno == 0) {
            return ha_proto_uint(to, INT_VALUE, (uint64_t)value);
        }
        errno = 0;
        unsigned long long large = strtoull(text, NULL, 10);
        if (errno == 0 && text[0] != '-') {
            return ha_proto_uint(to, UINT_VALUE, large);
        }
    }
    double value = ha_text_to_double(at, bytes);
    return ha_proto_fixed64(to, DOUBLE_VALUE, &value);
}

/* The value from `at` to `end`, which is valid. */
static char *
put_json(char *to, int width, const char *at, const char *end)
{
    char *begin;

    switch (*at) {
    case '"':
        begin = ha_proto_begin(to, STRING_VALUE, width);
        to = ha_json_unescape(begin, at + 1);
        ha_proto_end(begin, to, width);
        return to;
    case 't':
    case 'f':
        return ha_proto_uint(to, BOOL_VALUE, *at == 't');
    case '{':
    case '[':
    case 'n':
        return put_string(to, width, JSON_VALUE, at, (size_t)(end - at));
    default:
        return put_json_number(to, at, (size_t)(end - at));
    }
}

static const char *
skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

char *
ha_perfetto_put_members(char *to, int width, const char *members)
{
    const char *at = skip_space(members);

    while (*at == '"') {
        const char *key = at;
        at = ha_json_skip(at);
        at = at != NULL ? skip_space(at) : NULL;
        if (at == NULL || *at != ':') {
            break;
        }
        const char *value = skip_space(at + 1);
        at = ha_json_skip(value);
        if (at == NULL) {
            break;
        }
        char *begin = ha_proto_begin(to, ANNOTATIONS, width);
        char *name = ha_proto_begin(begin, NAME, width);
        to = ha_json_unescape(name, key + 1);
        ha_proto_end(name, to, width);
        to = put_json(to, width, value, at);
        ha_proto_end(begin, to, width);
        at = skip_space(at);
        at = *at == ',' ? skip_space(at + 1) : at;
    }
    return to;
}

char *
ha_perfetto_put_pair(char *to, int width, const char *key, const char *value)
{
    char *begin = ha_proto_begin(to, ANNOTATIONS, width);

    to = put_string(begin, width, NAME, key, strlen(key));
    if (value != NULL && ha_json_is_value(value)) {
        value = skip_space(value);
        to = put_json(to, width, value, ha_json_skip(value));
    } else {
        value = value != NULL ? value : "";
        to = put_string(to, width, STRING_VALUE, value, strlen(value));
    }
    ha_proto_end(begin, to, width);
    return to;
}
