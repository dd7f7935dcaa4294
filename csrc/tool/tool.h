/* SPDX-License-Identifier: MIT */
/* libhipadapt_tool.so: our own observers, a tool like any other.
 *
 * Where ROCP_TOOL_LIBRARIES names it, rocprofiler_force_configure is given its
 * rocprofiler_configure, or the profiler's library finds that function among all that
 * the process has loaded, it takes part as the client "hipadapt" (registration.c), but
 * only if somebody wants that (profiler/recorder.h); else it declines.  Its
 * `initialize` makes the contexts of our observers, which can be made at no other time,
 * and starts none.
 *
 * The Python half has the library as one table of functions.  A process has this
 * library once, whoever opens the file, and so one set of rings, names and devices and
 * one profiler's library: what Python collects and what the library's own observers see
 * goes the same way.  `hipadapt._core` opens the file beside it and reaches everything
 * through this table; programs don't.
 *
 * Functions take no lock of Python's and may be called with one.  Each is described in
 * the header that the comment names. */
#ifndef HA_TOOL_TOOL_H
#define HA_TOOL_TOOL_H

#include "core/status.h"
#include "tool/debug/stream.h"
#include "tool/event.h"
#include "tool/include/hipadapt/debug_stream.h"
#include "tool/include/hipadapt/profile_client.h"
#include "tool/include/hipadapt/verbose.h"
#include "tool/ring.h"
#include "tool/sdk.h"

struct ha_tool {
    /* The text of this thread's last failure in this library, which has a core/ of its
     * own; borrowed. */
    const char *(*error_text)(void);

    /* sdk.h */
    const struct ha_sdk *sdk;
    enum ha_status (*sdk_need)(void);

    /* ring.h */
    struct ha_collector *(*collector_new)(uint32_t watermark, uint64_t limit,
                                          bool arguments);
    void (*collector_drop)(struct ha_collector *collector);
    void (*collector_give)(struct ha_collector *collector);
    void (*collector_look)(struct ha_collector *collector,
                           struct ha_collector_state *state);
    struct ha_trace_event *(*collector_take)(struct ha_collector *collector, size_t max,
                                             size_t *count);

    /* events.h, records.h */
    rocprofiler_callback_tracing_cb_t on_callback;
    rocprofiler_buffer_tracing_cb_t on_buffer;
    void (*mute)(bool on);
    void (*leave_out)(uint32_t thread);

    /* kernel_names.h */
    bool (*kernel_names_begin)(void);
    void (*kernel_names_end)(void);

    /* include/hipadapt/profile.h */
    __typeof__(hipadapt_profile_prepare) *profile_prepare;
    __typeof__(hipadapt_profile_start) *profile_start;
    __typeof__(hipadapt_profile_stop) *profile_stop;
    __typeof__(hipadapt_profile_save) *profile_save;
    __typeof__(hipadapt_profile_cancel) *profile_cancel;
    __typeof__(hipadapt_profile_step) *profile_step;
    __typeof__(hipadapt_profile_add_metadata) *profile_add_metadata;
    __typeof__(hipadapt_profile_push) *profile_push;
    __typeof__(hipadapt_profile_pop) *profile_pop;
    __typeof__(hipadapt_profile_request) *profile_request;
    __typeof__(hipadapt_profile_listen) *profile_listen;
    __typeof__(hipadapt_profile_status) *profile_status;

    /* profiler/whole.h */
    __typeof__(hipadapt_profile_stop) *profile_end;
    /* What exit handlers do, for a process that ends without; then they do nothing. */
    __typeof__(hipadapt_profile_stop) *profile_leave;

    /* include/hipadapt/profile_client.h */
    __typeof__(hipadapt_profile_register_client) *profile_register_client;
    __typeof__(hipadapt_profile_register_child) *profile_register_child;
    __typeof__(hipadapt_profile_unregister) *profile_unregister;
    __typeof__(hipadapt_profile_now) *profile_now;
    __typeof__(hipadapt_profile_hand_over) *profile_hand_over;
    __typeof__(hipadapt_profile_child_device) *profile_child_device;
    __typeof__(hipadapt_profile_child_stream) *profile_child_stream;
    __typeof__(hipadapt_profile_child_slice) *profile_child_slice;
    __typeof__(hipadapt_profile_child_metadata) *profile_child_metadata;

    /* include/hipadapt/debug_stream.h */
    __typeof__(hipadapt_debug_stream_connect_types) *debug_stream_connect;
    __typeof__(hipadapt_debug_stream_read_one_event) *debug_stream_read;
    __typeof__(hipadapt_debug_stream_close) *debug_stream_close;
    __typeof__(hipadapt_debug_stream_count) *debug_stream_count;

    /* include/hipadapt/verbose.h, verbose/watch.h */
    __typeof__(hipadapt_verbose_set) *verbose_set;
    __typeof__(hipadapt_verbose_output) *verbose_output;
    __typeof__(hipadapt_verbose_flush) *verbose_flush;
    __typeof__(hipadapt_verbose_status) *verbose_status;
    bool (*verbose_wants_arguments)(void);
    void (*verbose_arguments)(char *text);

    /* debug/stream.h */
    __typeof__(ha_debug_stream_admits) *debug_stream_admits;
    __typeof__(ha_debug_stream_send) *debug_stream_send;
    __typeof__(ha_debug_stream_drop) *debug_stream_drop;

    /* bell.h, name.h */
    void (*wait)(uint64_t ns);
    void (*wake)(void);
    const char *(*name_text)(uint32_t number);
    uint32_t (*name_of)(const char *text);

    /* profiler/recorder.h */
    void (*stacks_from)(uint32_t (*source)(void));
};

/* The table, for a caller that knows `bytes` of it.  NULL where that is another number
 * than ours, and so a file of another build, and where the fork hook finds no room. */
__attribute__((visibility("default"))) const struct ha_tool *
hipadapt_tool_table(size_t bytes);

#endif
