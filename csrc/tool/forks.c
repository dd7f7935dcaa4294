/* SPDX-License-Identifier: MIT */
#include "tool/forks.h"

#include "core/fork.h"
#include "tool/bell.h"
#include "tool/debug/stream.h"
#include "tool/debug/watch.h"
#include "tool/name.h"
#include "tool/profiler/clients.h"
#include "tool/profiler/listen.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/session.h"
#include "tool/ring.h"
#include "tool/sdk.h"
#include "tool/verbose/verbose.h"

static void
forked(void)
{
    ha_rings_forked();
    ha_bell_forked();
    ha_names_forked();
    ha_sdk_forked();
    ha_recorder_forked();
    ha_session_forked();
    ha_listen_forked();
    ha_clients_forked();
    ha_debug_streams_forked();
    ha_verbose_forked();
    ha_watch_forked();
}

enum ha_status
ha_forks_watch(void)
{
    return ha_fork_register(forked);
}
