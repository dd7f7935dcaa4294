/* SPDX-License-Identifier: MIT */
#include "tool/profiler/distributed.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/env.h"

/* torchrun's come first: it sets them within what mpirun and srun have started. */
static const struct {
    enum ha_env_name rank;
    enum ha_env_name size;
} launchers[] = {
    {HA_ENV_RANK, HA_ENV_WORLD_SIZE},
    {HA_ENV_OMPI_RANK, HA_ENV_OMPI_SIZE},
    {HA_ENV_PMI_RANK, HA_ENV_PMI_SIZE},
    {HA_ENV_SLURM_RANK, HA_ENV_SLURM_SIZE},
};

/* -1: none, or no number.  These are others' variables, so nothing is said of them. */
static long
number(enum ha_env_name name)
{
    const char *text = ha_env(name);
    char *end;

    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return -1;
    }
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno != 0 || *end != '\0' || value > INT_MAX ? -1 : value;
}

bool
ha_distributed_text(char text[HA_DISTRIBUTED_BYTES])
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        long rank = number(launchers[i].rank), size = number(launchers[i].size);
        if (rank >= 0 && rank < size) {
            (void)snprintf(text, HA_DISTRIBUTED_BYTES,
                           "{\"rank\":%ld,\"world_size\":%ld}", rank, size);
            return true;
        }
    }
    return false;
}
