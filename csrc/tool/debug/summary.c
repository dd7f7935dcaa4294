/* SPDX-License-Identifier: MIT */
#include "tool/debug/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/dtype.h"
#include "tool/debug/element.h"

enum { VALUES_MOST = 8, DIMENSIONS = 8 };

typedef hipadapt_debug_stream_payload_debug_tensor_read_t payload_t;

struct line {
    char *text;
    size_t used;
};

/* What doesn't fit is cut, which no tensor's line comes near. */
__attribute__((format(printf, 2, 3))) static void
put(struct line *line, const char *format, ...)
{
    size_t room = HA_SUMMARY_BYTES - 1 - line->used; /* for the line end */
    va_list list;

    va_start(list, format);
    int wrote = vsnprintf(line->text + line->used, room, format, list);
    va_end(list);
    if (wrote > 0) {
        line->used += (size_t)wrote < room ? (size_t)wrote : room - 1;
    }
}

/* A tensor has one line, and takes no liberties with a terminal. */
static void
put_prefix(struct line *line, const payload_t *tensor)
{
    size_t length = strnlen(tensor->prefix, sizeof tensor->prefix);

    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)tensor->prefix[i];
        if (byte == '\n') {
            put(line, "\\n");
        } else if (byte < ' ' || byte == 0x7f) {
            put(line, "\\x%02x", byte);
        } else if (line->used < HA_SUMMARY_BYTES - 1) {
            line->text[line->used++] = (char)byte;
        }
    }
    put(line, "%s", length > 0 ? ": " : "");
}

static void
put_head(struct line *line, const payload_t *tensor)
{
    put_prefix(line, tensor);
    put(line, "%.*s ", (int)sizeof tensor->tensor_dtype, tensor->tensor_dtype);
    for (int i = 0; i < DIMENSIONS && tensor->tensor_shape[i] != 0; i++) {
        put(line, "%s%" PRIu64, i > 0 ? "x" : "", tensor->tensor_shape[i]);
    }
    put(line, " device=%" PRIu32, tensor->device);
}

/* ---- statistics ---- */

struct statistics {
    uint64_t finite;
    uint64_t nans;
    uint64_t infinities;
    struct ha_element least; /* by `rank_of` */
    struct ha_element most;
    struct ha_element sum;
};

static long double
rank_of(const struct ha_dtype *dtype, const struct ha_element *element)
{
    return dtype->kind == HA_DTYPE_COMPLEX ? hypotl(element->real, element->imaginary)
                                           : element->real;
}

static void
add(struct statistics *all, const struct ha_dtype *dtype,
    const struct ha_element *element)
{
    if (isnan(element->real) || isnan(element->imaginary)) {
        all->nans++;
        return;
    }
    if (isinf(element->real) || isinf(element->imaginary)) {
        all->infinities++;
        return;
    }
    const struct ha_element rank = {rank_of(dtype, element), 0};
    if (all->finite == 0 || rank.real < all->least.real) {
        all->least = rank;
    }
    if (all->finite == 0 || rank.real > all->most.real) {
        all->most = rank;
    }
    all->finite++;
    all->sum.real += element->real;
    all->sum.imaginary += element->imaginary;
}

static void
put_rank(struct line *line, const char *word, const struct ha_dtype *dtype,
         const struct ha_element *rank)
{
    char text[HA_ELEMENT_TEXT];

    if (dtype->kind == HA_DTYPE_COMPLEX) {
        put(line, " %s=%.6Lg", word, rank->real);
    } else {
        ha_element_text(dtype, rank, text);
        put(line, " %s=%s", word, text);
    }
}

static void
put_statistics(struct line *line, const struct ha_dtype *dtype,
               const struct statistics *all)
{
    if (all->finite == 0) {
        put(line, " min=- max=- mean=-");
    } else {
        long double count = (long double)all->finite;
        put_rank(line, "min", dtype, &all->least);
        put_rank(line, "max", dtype, &all->most);
        put(line, " mean=%.6Lg", all->sum.real / count);
        if (dtype->kind == HA_DTYPE_COMPLEX) {
            put(line, "%+.6Lgj", all->sum.imaginary / count);
        }
    }
    put(line, " nan=%" PRIu64 " inf=%" PRIu64, all->nans, all->infinities);
}

static void
put_values(struct line *line, const struct ha_dtype *dtype, const char *data,
           uint64_t count)
{
    char text[HA_ELEMENT_TEXT];

    put(line, " [");
    for (uint64_t i = 0; i < count && i < VALUES_MOST; i++) {
        struct ha_element element = ha_element_load(dtype, data + i * dtype->bytes);
        ha_element_text(dtype, &element, text);
        put(line, "%s%s", i > 0 ? " " : "", text);
    }
    put(line, "%s]", count > VALUES_MOST ? " ..." : "");
}

static void
put_bytes(struct line *line, const payload_t *tensor)
{
    uint64_t count = tensor->tensor_data_size;

    put(line, " bytes=%" PRIu64 " [", count);
    for (uint64_t i = 0; i < count && i < VALUES_MOST; i++) {
        put(line, "%s%02x", i > 0 ? " " : "", (unsigned char)tensor->tensor_data[i]);
    }
    put(line, "%s]", count > VALUES_MOST ? " ..." : "");
}

size_t
ha_summary_write(const payload_t *tensor, char text[HA_SUMMARY_BYTES])
{
    const struct ha_dtype *dtype = ha_dtype_find(tensor->tensor_dtype);
    struct line line = {text, 0};
    struct statistics all = {0};

    put_head(&line, tensor);
    if (dtype != NULL) {
        uint64_t count = tensor->tensor_data_size / dtype->bytes;
        for (uint64_t i = 0; i < count; i++) {
            struct ha_element element =
                ha_element_load(dtype, tensor->tensor_data + i * dtype->bytes);
            add(&all, dtype, &element);
        }
        put_statistics(&line, dtype, &all);
        put_values(&line, dtype, tensor->tensor_data, count);
    } else {
        put_bytes(&line, tensor);
    }
    text[line.used++] = '\n';
    return line.used;
}
