/* SPDX-License-Identifier: MIT */
#include "tool/tool.h"

#include "tool/bell.h"
#include "tool/debug/stream.h"
#include "tool/debug/watch.h"
#include "tool/events.h"
#include "tool/forks.h"
#include "tool/kernel_names.h"
#include "tool/name.h"
#include "tool/profiler/clients.h"
#include "tool/profiler/listen.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/session.h"
#include "tool/profiler/whole.h"
#include "tool/records.h"
#include "tool/verbose/verbose.h"
#include "tool/verbose/watch.h"

/* First the recordings, whose ends callers may wait for. */
static enum hipadapt_profile_result
leave(void)
{
    enum hipadapt_profile_result result = ha_whole_end();

    ha_verbose_end();
    ha_session_end();
    ha_listen_end();
    ha_watch_end();
    return result;
}

static const struct ha_tool table = {
    .error_text = ha_error_text,
    .sdk = &ha_sdk,
    .sdk_need = ha_sdk_need,
    .collector_new = ha_collector_new,
    .collector_drop = ha_collector_drop,
    .collector_give = ha_collector_give,
    .collector_look = ha_collector_look,
    .collector_take = ha_collector_take,
    .on_callback = ha_events_on_callback,
    .on_buffer = ha_records_on_buffer,
    .mute = ha_events_mute,
    .leave_out = ha_records_leave_out,
    .kernel_names_begin = ha_kernel_names_begin,
    .kernel_names_end = ha_kernel_names_end,
    .profile_prepare = hipadapt_profile_prepare,
    .profile_start = hipadapt_profile_start,
    .profile_stop = hipadapt_profile_stop,
    .profile_save = hipadapt_profile_save,
    .profile_cancel = hipadapt_profile_cancel,
    .profile_step = hipadapt_profile_step,
    .profile_add_metadata = hipadapt_profile_add_metadata,
    .profile_push = hipadapt_profile_push,
    .profile_pop = hipadapt_profile_pop,
    .profile_request = hipadapt_profile_request,
    .profile_listen = hipadapt_profile_listen,
    .profile_status = hipadapt_profile_status,
    .profile_end = ha_whole_end,
    .profile_leave = leave,
    .profile_register_client = hipadapt_profile_register_client,
    .profile_register_child = hipadapt_profile_register_child,
    .profile_unregister = hipadapt_profile_unregister,
    .profile_now = hipadapt_profile_now,
    .profile_hand_over = hipadapt_profile_hand_over,
    .profile_child_device = hipadapt_profile_child_device,
    .profile_child_stream = hipadapt_profile_child_stream,
    .profile_child_slice = hipadapt_profile_child_slice,
    .profile_child_metadata = hipadapt_profile_child_metadata,
    .debug_stream_connect = hipadapt_debug_stream_connect_types,
    .debug_stream_read = hipadapt_debug_stream_read_one_event,
    .debug_stream_close = hipadapt_debug_stream_close,
    .debug_stream_count = hipadapt_debug_stream_count,
    .verbose_set = hipadapt_verbose_set,
    .verbose_output = hipadapt_verbose_output,
    .verbose_flush = hipadapt_verbose_flush,
    .verbose_status = hipadapt_verbose_status,
    .verbose_wants_arguments = ha_verbose_watch_wants_arguments,
    .verbose_arguments = ha_verbose_watch_arguments,
    .debug_stream_admits = ha_debug_stream_admits,
    .debug_stream_send = ha_debug_stream_send,
    .debug_stream_drop = ha_debug_stream_drop,
    .wait = ha_bell_wait,
    .wake = ha_bell_wake,
    .name_text = ha_name_text,
    .name_of = ha_name_of,
    .stacks_from = ha_recorder_stacks_from,
};

const struct ha_tool *
hipadapt_tool_table(size_t bytes)
{
    if (bytes != sizeof table || ha_forks_watch() != HA_OK) {
        return NULL;
    }
    ha_watch_begin(); /* with AMD's libraries nothing else may load this one */
    return &table;
}
