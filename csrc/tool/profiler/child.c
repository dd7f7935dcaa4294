/* SPDX-License-Identifier: MIT */
#include "tool/profiler/child.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/profiler/activities.h"
#include "tool/text.h"

struct device {
    unsigned place; /* of its child */
    int32_t device;
    char *name;       /* owned, as the next two */
    char *child;      /* the child's name */
    char *properties; /* JSON; NULL: none */
};

enum type { SLICE, STREAM, METADATA };

struct item {
    enum type type;
    enum ha_slice_kind kind;
    bool launches;
    uint32_t thread;
    int32_t device; /* of the trace */
    uint64_t stream;
    uint64_t start; /* as events have it */
    uint64_t end;
    uint64_t correlation;
    uint64_t external;
    char *name; /* owned; a key of metadata */
    char *args; /* owned; a value of metadata; NULL: none */
};

struct ha_child_items {
    int32_t first; /* number in the trace of devices[0] */
    struct device devices[HA_CHILD_DEVICES_MAX];
    unsigned device_count;
    struct item *items; /* owned */
    size_t count;
    size_t room;
    size_t bytes; /* of texts */
    uint64_t lost;
};

static const struct {
    enum ha_slice_kind kind;
    uint32_t activity;
} kinds[] = {
    [HIPADAPT_PROFILE_SLICE_CALL] = {HA_SLICE_RUNTIME, HA_ACTIVITIES_RUNTIME},
    [HIPADAPT_PROFILE_SLICE_OPERATION] = {HA_SLICE_CPU_OP, HA_ACTIVITIES_CPU_OP},
    [HIPADAPT_PROFILE_SLICE_KERNEL] = {HA_SLICE_KERNEL, HA_ACTIVITIES_KERNEL},
    [HIPADAPT_PROFILE_SLICE_COPY] = {HA_SLICE_MEMCPY, HA_ACTIVITIES_MEMCPY},
    [HIPADAPT_PROFILE_SLICE_FILL] = {HA_SLICE_MEMSET, HA_ACTIVITIES_MEMSET},
    [HIPADAPT_PROFILE_SLICE_ANNOTATION] = {HA_SLICE_GPU_ANNOTATION,
                                           HA_ACTIVITIES_GPU_ANNOTATION},
};

struct ha_child_items *
ha_child_items_new(int32_t first)
{
    struct ha_child_items *items = calloc(1, sizeof *items);

    if (items != NULL) {
        items->first = first > HA_CHILD_DEVICE_FIRST ? first : HA_CHILD_DEVICE_FIRST;
    }
    return items;
}

/* ---- adding ---- */

/* A copy; NULL: none was given, or there is no room, which `ok` says. */
static char *
copy_text(struct ha_child_items *items, const char *text, bool *ok)
{
    size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    char *copy = NULL;

    if (bytes > 0 && *ok && items->bytes + bytes <= HA_CHILD_BYTES_MAX) {
        copy = malloc(bytes);
    }
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        items->bytes += bytes;
    }
    *ok = *ok && (copy != NULL || text == NULL);
    return copy;
}

/* Frees a copy; NULL is allowed. */
static void
drop_text(struct ha_child_items *items, char *copy)
{
    if (copy != NULL) {
        items->bytes -= strlen(copy) + 1;
        free(copy);
    }
}

/* Room for one more; NULL: counted as lost. */
static struct item *
next_item(struct ha_child_items *items)
{
    if (items->count == items->room) {
        size_t room = items->room > 0 ? 2 * items->room : 64;
        struct item *more = room <= HA_CHILD_ITEMS_MAX
                                ? realloc(items->items, room * sizeof *more)
                                : NULL;
        if (more == NULL) {
            items->lost++;
            return NULL;
        }
        items->items = more;
        items->room = room;
    }
    return &items->items[items->count];
}

/* Adds the item with copies of both texts. */
static void
add(struct ha_child_items *items, const struct item *item, const char *name,
    const char *args)
{
    struct item *made = next_item(items);
    bool ok = true;

    if (made == NULL) {
        return;
    }
    *made = *item;
    made->name = copy_text(items, name, &ok);
    made->args = copy_text(items, args, &ok);
    if (!ok) {
        drop_text(items, made->name);
        drop_text(items, made->args);
        items->lost++;
        return;
    }
    items->count++;
}

/* The number of a device in the trace; -1: no room. */
static int32_t
device_number(struct ha_child_items *items, const struct ha_child *child,
              int32_t device, const char *name)
{
    char usual[96];
    bool ok = true;
    unsigned at = 0;

    while (at < items->device_count && (items->devices[at].place != child->place ||
                                        items->devices[at].device != device)) {
        at++;
    }
    if (at == HA_CHILD_DEVICES_MAX) {
        items->lost++;
        return -1;
    }
    if (at == items->device_count) {
        (void)snprintf(usual, sizeof usual, "%.64s %d", child->name, device);
        items->devices[at] = (struct device){
            .place = child->place,
            .device = device,
            .name = copy_text(items, name != NULL ? name : usual, &ok),
            .child = copy_text(items, child->name, &ok),
        };
        items->device_count++;
    }
    return items->first + (int32_t)at;
}

static void
replace(struct ha_child_items *items, char **field, const char *text)
{
    bool ok = true;
    char *copy = copy_text(items, text, &ok);

    if (copy != NULL) {
        drop_text(items, *field);
        *field = copy;
    } else if (!ok) {
        items->lost++;
    }
}

void
ha_child_add_device(struct ha_child_items *items, const struct ha_child *child,
                    int32_t device, const char *name, const char *properties)
{
    int32_t number = device_number(items, child, device, name);

    if (number >= 0) {
        struct device *found = &items->devices[number - items->first];
        replace(items, &found->name, name);
        replace(items, &found->properties, properties);
    }
}

void
ha_child_add_stream(struct ha_child_items *items, const struct ha_child *child,
                    int32_t device, uint64_t stream, const char *name)
{
    const struct item item = {
        .type = STREAM,
        .device = device_number(items, child, device, NULL),
        .stream = stream,
    };

    if (item.device >= 0) {
        add(items, &item, name, NULL);
    }
}

void
ha_child_add_slice(struct ha_child_items *items, const struct ha_child *child,
                   const struct hipadapt_profile_slice *slice)
{
    uint64_t apart = (uint64_t)(child->place + 1) << HA_CHILD_CORRELATION_BITS;
    struct item item = {
        .type = SLICE,
        .kind = kinds[slice->kind].kind,
        .launches = slice->kind == HIPADAPT_PROFILE_SLICE_CALL,
        .thread = slice->thread,
        .device = HA_DEVICE_NONE,
        .stream = slice->stream,
        .start = slice->start + (uint64_t)child->offset,
        .end = slice->end + (uint64_t)child->offset,
        .correlation = slice->correlation != 0 ? apart | slice->correlation : 0,
        .external = slice->external,
    };

    if (slice->kind >= HIPADAPT_PROFILE_SLICE_KERNEL) {
        item.device = device_number(items, child, slice->device, NULL);
        if (item.device < 0) {
            return; /* counted */
        }
    }
    add(items, &item, slice->name, slice->args);
}

void
ha_child_add_metadata(struct ha_child_items *items, const char *key, const char *json)
{
    const struct item item = {.type = METADATA};

    add(items, &item, key, json);
}

uint64_t
ha_child_items_lost(const struct ha_child_items *items)
{
    return items->lost;
}

/* ---- writing ---- */

static uint32_t
activity_of(const struct item *item)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].kind == item->kind) {
            return kinds[i].activity;
        }
    }
    return 0;
}

/* The name of the row, and with it that of its device. */
static enum ha_status
write_row(const struct ha_child_items *items, struct ha_writer *writer,
          const struct item *item, bool told[HA_CHILD_DEVICES_MAX])
{
    int32_t at = item->device - items->first;
    const struct ha_trace_row row = {
        .device = item->device,
        .stream = item->stream,
        .device_name = items->devices[at].name,
        .name = item->type == STREAM ? item->name : NULL,
    };

    told[at] = true;
    return ha_writer_row(writer, &row);
}

static enum ha_status
write_slice(struct ha_writer *writer, const struct item *item,
            const struct ha_collect_options *options)
{
    const struct ha_slice slice = {
        .kind = item->kind,
        .launches = item->launches,
        .name = item->name,
        .start = ha_clock_unix(&options->clock, item->start),
        .end = ha_clock_unix(&options->clock, item->end),
        .thread = item->thread,
        .device = item->device,
        .stream = item->stream,
        .correlation = item->correlation,
        .external =
            (options->activities & HA_ACTIVITIES_EXTERNAL) != 0 ? item->external : 0,
        .args = item->args,
    };

    return ha_writer_slice(writer, &slice);
}

/* Whether the trace shows it; what overlaps the window is counted. */
static bool
shows(const struct item *item, const struct ha_collect_options *options,
      const struct ha_window *window, struct ha_collect_counts *counts)
{
    if (item->type != SLICE || (options->activities & activity_of(item)) == 0 ||
        item->end < window->start) {
        return false;
    }
    if (item->start < window->start || item->end > window->end) {
        counts->out_of_window++;
        return false;
    }
    counts->slices++;
    counts->kernels += item->kind == HA_SLICE_KERNEL;
    return true;
}

enum ha_status
ha_child_items_write(const struct ha_child_items *items, struct ha_writer *writer,
                     const struct ha_collect_options *options,
                     const struct ha_window *window, struct ha_collect_counts *counts)
{
    bool told[HA_CHILD_DEVICES_MAX] = {false};
    enum ha_status status = HA_OK;

    for (size_t i = 0; i < items->count && status == HA_OK; i++) {
        if (items->items[i].type == STREAM) { /* before its first slice */
            status = write_row(items, writer, &items->items[i], told);
        }
    }
    for (size_t i = 0; i < items->count && status == HA_OK; i++) {
        const struct item *item = &items->items[i];
        if (!shows(item, options, window, counts)) {
            continue;
        }
        if (item->device >= 0 && !told[item->device - items->first]) {
            status = write_row(items, writer, item, told);
        }
        if (status == HA_OK) {
            status = write_slice(writer, item, options);
        }
    }
    return status;
}

/* ---- metadata ---- */

/* NULL: there was no room for it. */
static char *
put_name(char *to, const char *name)
{
    return ha_text_quoted(to, name != NULL ? name : "",
                          name != NULL ? strlen(name) : 0);
}

static char *
put_device(char *to, const struct device *device, unsigned number)
{
    HA_PUT(to, "{\"id\":");
    to = ha_text_uint(to, number);
    HA_PUT(to, ",\"child\":");
    to = put_name(to, device->child);
    HA_PUT(to, ",\"device\":");
    to = ha_text_int(to, device->device);
    HA_PUT(to, ",\"name\":");
    to = put_name(to, device->name);
    if (device->properties != NULL) {
        HA_PUT(to, ",\"properties\":");
        to = ha_text_put(to, device->properties, strlen(device->properties));
    }
    HA_PUT(to, "},");
    return to;
}

/* The list of all devices; the caller frees it.  NULL: no memory. */
static char *
list_devices(const struct ha_child_items *items)
{
    size_t bytes = 16;

    for (unsigned i = 0; i < items->device_count; i++) {
        const struct device *device = &items->devices[i];
        bytes += 256;
        bytes += HA_JSON_GROWTH * (device->name != NULL ? strlen(device->name) : 0);
        bytes += HA_JSON_GROWTH * (device->child != NULL ? strlen(device->child) : 0);
        bytes += device->properties != NULL ? strlen(device->properties) : 0;
    }
    char *list = malloc(bytes), *to = list;
    if (list == NULL) {
        return NULL;
    }
    *to++ = '[';
    for (unsigned i = 0; i < items->device_count; i++) {
        to = put_device(to, &items->devices[i], (unsigned)items->first + i);
    }
    to[-1] = ']'; /* there is one, at least */
    *to = '\0';
    return list;
}

void
ha_child_items_describe(const struct ha_child_items *items,
                        void (*tell)(void *context, const char *key, const char *json),
                        void *context)
{
    char *list = items->device_count > 0 ? list_devices(items) : NULL;

    if (list != NULL) {
        tell(context, "child_devices", list);
    }
    free(list);
    for (size_t i = 0; i < items->count; i++) {
        if (items->items[i].type == METADATA) {
            tell(context, items->items[i].name, items->items[i].args);
        }
    }
}

void
ha_child_items_free(struct ha_child_items *items)
{
    if (items == NULL) {
        return;
    }
    for (unsigned i = 0; i < items->device_count; i++) {
        free(items->devices[i].name);
        free(items->devices[i].child);
        free(items->devices[i].properties);
    }
    for (size_t i = 0; i < items->count; i++) {
        free(items->items[i].name);
        free(items->items[i].args);
    }
    free(items->items);
    free(items);
}
