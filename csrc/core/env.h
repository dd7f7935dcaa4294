/* SPDX-License-Identifier: MIT */
/* Every environment variable that hipadapt reads stands in one table (core/env.c) with
 * its default and one line of documentation; docs/environment.md is checked against it.
 *
 * Values are read with secure_getenv: a set-uid process sees defaults only.  A value is
 * read when it is asked for, so a caller that must not see it change keeps a copy. */
#ifndef HA_CORE_ENV_H
#define HA_CORE_ENV_H

#include <stdbool.h>
#include <stddef.h>

enum ha_env_name {
    HA_ENV_PROVIDER,
    HA_ENV_CPU_DEVICES,
    HA_ENV_VISIBLE_DEVICES,
    HA_ENV_CPU_EXEC,
    HA_ENV_CPU_TARGET,
    HA_ENV_CHECK,
    HA_ENV_CHECK_OUTPUT,
    HA_ENV_CHECK_PROOF,
    HA_ENV_CHECK_QUARANTINE,
    HA_ENV_CPU_GUARD,
    HA_ENV_CPU_LOCKSTEP,
    HA_ENV_CPU_EXPLAIN,
    HA_ENV_CPU_WARP_SIZE,
    HA_ENV_CPU_THREADS,
    HA_ENV_KERNEL_TIMEOUT,
    HA_ENV_COMPILER,
    HA_ENV_COMPILE_TIMEOUT,
    HA_ENV_COMPILE_MEMORY,
    HA_ENV_CACHE,
    HA_ENV_CACHE_DIR,
    HA_ENV_CACHE_SIZE,
    HA_ENV_LOG,
    HA_ENV_ROCM_PATH,
    HA_ENV_ROCM_HOME,
    HA_ENV_HOME,
    HA_ENV_XDG_CACHE_HOME,
    HA_ENV_TOOL_LIBRARIES,
    HA_ENV_REGISTER_ENABLED,
    HA_ENV_REGISTER_FORCE_LOAD,
    HA_ENV_REGISTER_LIBRARY,
    HA_ENV_PROFILE,
    HA_ENV_USE_DAEMON,
    HA_ENV_PROFILE_SIGNAL,
    HA_ENV_PROFILE_CONFIG,
    HA_ENV_PROFILE_API_NAMES,
    HA_ENV_KINETO_CONFIG,
    HA_ENV_IPC_SOCKET_DIR,
    HA_ENV_TRACE_DIR,
    HA_ENV_JOB_ID,
    HA_ENV_JOB_NAME,
    HA_ENV_JOB_VERSION,
    HA_ENV_JOB_ATTEMPT,
    HA_ENV_RANK,
    HA_ENV_WORLD_SIZE,
    HA_ENV_OMPI_RANK,
    HA_ENV_OMPI_SIZE,
    HA_ENV_PMI_RANK,
    HA_ENV_PMI_SIZE,
    HA_ENV_SLURM_RANK,
    HA_ENV_SLURM_SIZE,
    HA_ENV_VERBOSE,
    HA_ENV_VERBOSE_FILE,
    HA_ENV_VERBOSE_TIMESTAMP,
    HA_ENV_VERBOSE_TRACKERS,
    HA_ENV_DEBUG_STREAM_EVENTS,
    HA_ENV_DEBUG_STREAM_BYTES,
    HA_ENV_DEBUG_STREAM_WATCH,
    HA_ENV_COUNT
};

struct ha_env_entry {
    const char *variable; /* name in the environment */
    const char *fallback; /* value where it is unset; NULL = none */
    const char *doc;      /* one line */
};

/* The table, HA_ENV_COUNT entries in the order of the enum. */
extern const struct ha_env_entry ha_env_table[HA_ENV_COUNT];

/* The value, or the table's default; NULL where there is neither.  An empty value
 * counts as unset.  Borrowed from the environment. */
const char *ha_env(enum ha_env_name name);

/* The value as a decimal number.  Text that is no number, or one outside [min, max], is
 * told once on the log and the table's default is taken. */
long ha_env_long(enum ha_env_name name, long min, long max);

/* Whether a switch is on: the value is none of 0, false, off and no, in any case. False
 * without a value. */
bool ha_env_is_on(enum ha_env_name name);

#endif
