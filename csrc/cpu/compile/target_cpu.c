/* SPDX-License-Identifier: MIT */
#include "cpu/compile/target_cpu.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/env.h"

enum { LISTED_BYTES = 128 };

static uint32_t processor_level; /* since `detected` */
static pthread_once_t detected = PTHREAD_ONCE_INIT;

static void
detect(void)
{
    processor_level = ha_machine_level_find();
}

/* level_count if there is none of this name. */
static uint32_t
level_of(const char *name)
{
    uint32_t level = 0;
    while (level < ha_machine.level_count &&
           strcmp(ha_machine.levels[level].name, name) != 0) {
        level++;
    }
    return level;
}

/* Names of all levels, for a message. */
static void
list_levels(char listed[LISTED_BYTES])
{
    size_t used = 0;
    listed[0] = '\0';
    for (uint32_t i = 0; i < ha_machine.level_count && used < LISTED_BYTES; i++) {
        int size = snprintf(listed + used, LISTED_BYTES - used, "%s%s",
                            i > 0 ? ", " : "", ha_machine.levels[i].name);
        used += size > 0 ? (size_t)size : 0;
    }
}

enum ha_status
ha_target_cpu_find(const struct ha_machine_level **level)
{
    (void)pthread_once(&detected, detect);
    const char *wanted = ha_env(HA_ENV_CPU_TARGET);
    uint32_t number = processor_level;
    if (strcmp(wanted, "native") != 0) {
        number = level_of(wanted);
    }
    if (number > processor_level) {
        char listed[LISTED_BYTES];
        list_levels(listed);
        return ha_error_set(
            HA_ERROR_INVALID,
            "HIPADAPT_CPU_TARGET must be native or one of %s up to this "
            "processor's own, %s; it is '%.64s'",
            listed, ha_machine.levels[processor_level].name, wanted);
    }
    *level = &ha_machine.levels[number];
    return HA_OK;
}
