/* SPDX-License-Identifier: MIT */
#include "tool/profiler/bell.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
ha_bell_open(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void
ha_bell_ring(int bell)
{
    const uint64_t one = 1;

    while (write(bell, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void
ha_bell_hear(int bell)
{
    uint64_t count;

    while (read(bell, &count, sizeof count) < 0 && errno == EINTR) {
    }
}
