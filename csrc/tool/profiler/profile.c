/* SPDX-License-Identifier: MIT */
/* The functions of profile.h: arguments are checked here. */
#include <string.h>

#include "tool/forks.h"
#include "tool/include/hipadapt/profile.h"
#include "tool/profiler/activities.h"
#include "tool/profiler/clients.h"
#include "tool/profiler/listen.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/refuse.h"
#include "tool/profiler/session.h"
#include "tool/text.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *
hipadapt_profile_error_text(void)
{
    return ha_error_text();
}

EXPORT const char *
hipadapt_profile_result_name(enum hipadapt_profile_result result)
{
#define NAME(name) [HIPADAPT_PROFILE_##name] = "HIPADAPT_PROFILE_" #name
    static const char *const names[] = {
        NAME(OK),        NAME(INVALID), NAME(STATE),  NAME(BUSY),   NAME(UNSUPPORTED),
        NAME(NOT_FOUND), NAME(SYSTEM),  NAME(MEMORY), NAME(FORKED),
    };
#undef NAME

    return (unsigned)result < sizeof names / sizeof *names ? names[result] : NULL;
}

/* Whether this process and this thread may drive the profiler. */
static enum hipadapt_profile_result
enter(const char *function)
{
    if (ha_session_is_forked()) {
        return HIPADAPT_PROFILE_FORKED;
    }
    if (ha_clients_refuse(function)) {
        return HIPADAPT_PROFILE_STATE;
    }
    return ha_session_result(ha_forks_watch());
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_prepare(const struct hipadapt_profile_options *options)
{
    static const char function[] = "hipadapt_profile_prepare";
    uint32_t activities = HA_ACTIVITIES_DEFAULT;

    if (options == NULL || options->size != sizeof *options) {
        return ha_refuse_struct(function, "options", options);
    }
    if (options->url != NULL && options->url[0] == '\0') {
        return ha_refuse(function, "url", "must not be empty");
    }
    if (options->distributed != NULL &&
        (options->distributed[0] != '{' || !ha_json_is_value(options->distributed))) {
        return ha_refuse(function, "distributed", "must be a JSON object");
    }
    if (options->activities != NULL) {
        enum ha_status status = ha_activities_from(options->activities, &activities);
        if (status != HA_OK) {
            return ha_session_result(status);
        }
    }
    enum hipadapt_profile_result result = enter(function);
    return result == HIPADAPT_PROFILE_OK ? ha_session_prepare(options, activities)
                                         : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_start(void)
{
    enum hipadapt_profile_result result = enter("hipadapt_profile_start");

    return result == HIPADAPT_PROFILE_OK ? ha_session_start() : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_stop(void)
{
    enum hipadapt_profile_result result = enter("hipadapt_profile_stop");

    return result == HIPADAPT_PROFILE_OK ? ha_session_stop() : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_save(const char *url)
{
    if (url != NULL && url[0] == '\0') {
        return ha_refuse("hipadapt_profile_save", "url", "must not be empty");
    }
    enum hipadapt_profile_result result = enter("hipadapt_profile_save");
    return result == HIPADAPT_PROFILE_OK ? ha_session_save(url) : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_cancel(void)
{
    enum hipadapt_profile_result result = enter("hipadapt_profile_cancel");

    return result == HIPADAPT_PROFILE_OK ? ha_session_cancel() : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_step(void)
{
    enum hipadapt_profile_result result = enter("hipadapt_profile_step");

    return result == HIPADAPT_PROFILE_OK ? ha_session_step() : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_add_metadata(const char *key, const char *json)
{
    static const char function[] = "hipadapt_profile_add_metadata";

    if (key == NULL || key[0] == '\0') {
        return ha_refuse(function, "key", "must be a text that is not empty");
    }
    if (json == NULL || !ha_json_is_value(json)) {
        return ha_refuse(function, "json",
                         "must be JSON text: a string needs its quotes");
    }
    enum hipadapt_profile_result result = enter(function);
    return result == HIPADAPT_PROFILE_OK ? ha_session_describe(key, json) : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_push(enum hipadapt_profile_domain domain, uint64_t id)
{
    if (ha_session_is_forked()) {
        return HIPADAPT_PROFILE_FORKED;
    }
    switch (domain) {
    case HIPADAPT_PROFILE_DOMAIN_OPERATION:
        return ha_session_result(ha_recorder_push_external(id));
    case HIPADAPT_PROFILE_DOMAIN_USER:
        return ha_session_result(ha_recorder_push_user(id));
    default:
        return ha_refuse("hipadapt_profile_push", "domain", "is none of 0 and 1");
    }
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_pop(enum hipadapt_profile_domain domain)
{
    if (ha_session_is_forked()) {
        return HIPADAPT_PROFILE_FORKED;
    }
    switch (domain) {
    case HIPADAPT_PROFILE_DOMAIN_OPERATION:
        return ha_session_result(ha_recorder_pop_external());
    case HIPADAPT_PROFILE_DOMAIN_USER:
        return ha_session_result(ha_recorder_pop_user());
    default:
        return ha_refuse("hipadapt_profile_pop", "domain", "is none of 0 and 1");
    }
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_request(const char *text, uint64_t *request)
{
    if (text == NULL) {
        return ha_refuse("hipadapt_profile_request", "text", "must not be NULL");
    }
    enum hipadapt_profile_result result = enter("hipadapt_profile_request");
    return result == HIPADAPT_PROFILE_OK ? ha_session_request(text, request) : result;
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_listen(void)
{
    if (ha_session_is_forked()) {
        return HIPADAPT_PROFILE_FORKED;
    }
    enum ha_status status = ha_forks_watch();
    if (status == HA_OK) {
        status = ha_recorder_need(0);
    }
    return ha_session_result(status == HA_OK ? ha_listen_attach() : status);
}

EXPORT enum hipadapt_profile_result
hipadapt_profile_status(struct hipadapt_profile_status *status)
{
    if (status == NULL || status->size != sizeof *status) {
        return ha_refuse_struct("hipadapt_profile_status", "status", status);
    }
    return ha_session_is_forked() ? HIPADAPT_PROFILE_FORKED : ha_session_status(status);
}
