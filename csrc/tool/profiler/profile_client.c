/* SPDX-License-Identifier: MIT */
/* The functions of profile_client.h: arguments are checked here. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tool/events.h"
#include "tool/forks.h"
#include "tool/include/hipadapt/profile_client.h"
#include "tool/profiler/clients.h"
#include "tool/profiler/handed.h"
#include "tool/profiler/refuse.h"
#include "tool/profiler/session.h"
#include "tool/text.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- registration ---- */

static const clockid_t clocks[] = {
    [HIPADAPT_PROFILE_CLOCK_BOOTTIME] = CLOCK_BOOTTIME,
    [HIPADAPT_PROFILE_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
    [HIPADAPT_PROFILE_CLOCK_REALTIME] = CLOCK_REALTIME,
};

/* What both tables have; it is added to `table`. */
static enum hipadapt_profile_result
add(const char *function, struct ha_client_table *table, const char *name, int clock,
    hipadapt_profile_handle *handle)
{
    if (name == NULL || name[0] == '\0') {
        return ha_refuse(function, "name", "must be a text that is not empty");
    }
    if (clock < 0 || (size_t)clock >= sizeof clocks / sizeof *clocks) {
        return ha_refuse(function, "clock", "is none of enum hipadapt_profile_clock");
    }
    if (handle == NULL) {
        return ha_refuse(function, "handle", "must not be NULL");
    }
    (void)snprintf(table->name, sizeof table->name, "%s", name);
    table->clock = clocks[clock];
    if (ha_session_is_forked()) {
        return HIPADAPT_PROFILE_FORKED;
    }
    enum ha_status status = ha_forks_watch();
    return status == HA_OK ? ha_clients_add(table, handle) : ha_session_result(status);
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_register_client(const struct hipadapt_profile_client *client,
                                 void *context, hipadapt_profile_handle *handle)
{
    static const char function[] = "hipadapt_profile_register_client";

    if (client == NULL || client->size != sizeof *client) {
        return ha_refuse_struct(function, "client", client);
    }
    struct ha_client_table table = {
        .context = context,
        .prepare = client->prepare,
        .start = client->start,
        .step = client->step,
        .stop = client->stop,
        .cancel = client->cancel,
        .release = client->release,
    };
    return add(function, &table, client->name, client->clock, handle);
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_register_child(const struct hipadapt_profile_child *child,
                                void *context, hipadapt_profile_handle *handle)
{
    static const char function[] = "hipadapt_profile_register_child";

    if (child == NULL || child->size != sizeof *child) {
        return ha_refuse_struct(function, "child", child);
    }
    if (child->collect == NULL) {
        return ha_refuse(function, "collect", "must not be NULL");
    }
    struct ha_client_table table = {
        .is_child = true,
        .context = context,
        .prepare = child->configure,
        .start = child->start,
        .stop = child->stop,
        .collect = child->collect,
        .cancel = child->cancel,
        .release = child->release,
    };
    return add(function, &table, child->name, child->clock, handle);
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_unregister(hipadapt_profile_handle handle)
{
    return ha_session_is_forked() ? HIPADAPT_PROFILE_FORKED : ha_clients_remove(handle);
}

EXPORT uint64_t
hipadapt_profile_now(void)
{
    return ha_events_now();
}

/* ---- what is handed over ---- */

/* What operations and slices have in common. */
static enum hipadapt_profile_result
check(const char *function, const char *name, uint64_t start, uint64_t end,
      const char *args)
{
    char text[96];

    if (name == NULL) {
        return ha_refuse(function, "name", "must not be NULL");
    }
    if (end < start) {
        (void)snprintf(text, sizeof text, "is %" PRIu64 ", before the start, %" PRIu64,
                       end, start);
        return ha_refuse(function, "end", text);
    }
    if (args != NULL && strnlen(args, HA_HANDED_ARGS_MAX + 1) > HA_HANDED_ARGS_MAX) {
        return ha_refuse(function, "args", "has more than 64 KiB");
    }
    if (args != NULL && args[0] != '\0' && !ha_json_is_members(args)) {
        return ha_refuse(function, "args", "must be members of a JSON object");
    }
    return HIPADAPT_PROFILE_OK;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_hand_over(hipadapt_profile_handle handle,
                           const struct hipadapt_profile_event *event)
{
    static const char function[] = "hipadapt_profile_hand_over";

    if (event == NULL || event->size != sizeof *event) {
        return ha_refuse_struct(function, "event", event);
    }
    enum hipadapt_profile_result result =
        check(function, event->name, event->start, event->end, event->args);
    if (result != HIPADAPT_PROFILE_OK) {
        return result;
    }
    return ha_session_is_forked() ? HIPADAPT_PROFILE_FORKED
                                  : ha_clients_hand_over(handle, event);
}

/* ---- children ---- */

/* The items of the child, whose lock is held then. */
static enum hipadapt_profile_result
take(hipadapt_profile_handle handle, struct ha_child *child,
     struct ha_child_items **items)
{
    if (ha_session_is_forked()) {
        return HIPADAPT_PROFILE_FORKED;
    }
    *items = ha_clients_take(handle, child);
    return *items != NULL ? HIPADAPT_PROFILE_OK : HIPADAPT_PROFILE_STATE;
}

static bool
is_device(int32_t device)
{
    return device >= 0 && device < HA_CHILD_DEVICES_MAX;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_child_device(hipadapt_profile_handle handle, int32_t device,
                              const char *name, const char *properties)
{
    static const char function[] = "hipadapt_profile_child_device";
    struct ha_child_items *items;
    struct ha_child child;

    if (!is_device(device)) {
        return ha_refuse(function, "device", "is none of 0 to 63");
    }
    if (name == NULL || name[0] == '\0') {
        return ha_refuse(function, "name", "must be a text that is not empty");
    }
    if (properties != NULL && (properties[0] != '{' || !ha_json_is_value(properties))) {
        return ha_refuse(function, "properties", "must be a JSON object");
    }
    enum hipadapt_profile_result result = take(handle, &child, &items);
    if (result == HIPADAPT_PROFILE_OK) {
        ha_child_add_device(items, &child, device, name, properties);
        ha_clients_give();
    }
    return result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_child_stream(hipadapt_profile_handle handle, int32_t device,
                              uint64_t stream, const char *name)
{
    static const char function[] = "hipadapt_profile_child_stream";
    struct ha_child_items *items;
    struct ha_child child;

    if (!is_device(device)) {
        return ha_refuse(function, "device", "is none of 0 to 63");
    }
    if (name == NULL || name[0] == '\0') {
        return ha_refuse(function, "name", "must be a text that is not empty");
    }
    enum hipadapt_profile_result result = take(handle, &child, &items);
    if (result == HIPADAPT_PROFILE_OK) {
        ha_child_add_stream(items, &child, device, stream, name);
        ha_clients_give();
    }
    return result;
}

static enum hipadapt_profile_result
check_slice(const char *function, const struct hipadapt_profile_slice *slice)
{
    if (slice->kind < 0 || slice->kind > HIPADAPT_PROFILE_SLICE_ANNOTATION) {
        return ha_refuse(function, "kind",
                         "is none of enum hipadapt_profile_slice_kind");
    }
    if (slice->kind >= HIPADAPT_PROFILE_SLICE_KERNEL && !is_device(slice->device)) {
        return ha_refuse(function, "device", "is none of 0 to 63");
    }
    if (slice->correlation >> HA_CHILD_CORRELATION_BITS != 0) {
        return ha_refuse(function, "correlation", "must be below 2^40");
    }
    return check(function, slice->name, slice->start, slice->end, slice->args);
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_child_slice(hipadapt_profile_handle handle,
                             const struct hipadapt_profile_slice *slice)
{
    static const char function[] = "hipadapt_profile_child_slice";
    struct ha_child_items *items;
    struct ha_child child;

    if (slice == NULL || slice->size != sizeof *slice) {
        return ha_refuse_struct(function, "slice", slice);
    }
    enum hipadapt_profile_result result = check_slice(function, slice);
    if (result == HIPADAPT_PROFILE_OK) {
        result = take(handle, &child, &items);
    }
    if (result == HIPADAPT_PROFILE_OK) {
        ha_child_add_slice(items, &child, slice);
        ha_clients_give();
    }
    return result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_child_metadata(hipadapt_profile_handle handle, const char *key,
                                const char *json)
{
    static const char function[] = "hipadapt_profile_child_metadata";
    struct ha_child_items *items;
    struct ha_child child;

    if (key == NULL || key[0] == '\0') {
        return ha_refuse(function, "key", "must be a text that is not empty");
    }
    if (json == NULL || !ha_json_is_value(json)) {
        return ha_refuse(function, "json",
                         "must be JSON text: a string needs its quotes");
    }
    enum hipadapt_profile_result result = take(handle, &child, &items);
    if (result == HIPADAPT_PROFILE_OK) {
        ha_child_add_metadata(items, key, json);
        ha_clients_give();
    }
    return result;
}
