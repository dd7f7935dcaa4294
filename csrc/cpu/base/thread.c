/* SPDX-License-Identifier: MIT */
#include "cpu/base/thread.h"

static _Thread_local struct ha_thread this_thread;

struct ha_thread *
ha_thread_self(void)
{
    return &this_thread;
}
