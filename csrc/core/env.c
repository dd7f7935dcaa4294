/* SPDX-License-Identifier: MIT */
#include "core/env.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/log.h"

const struct ha_env_entry ha_env_table[HA_ENV_COUNT] = {
    [HA_ENV_PROVIDER] = {"HIPADAPT_PROVIDER", "auto",
                         "Which runtime: auto, amd, cpu or the path of a HIP library."},
    [HA_ENV_CPU_DEVICES] = {"HIPADAPT_CPU_DEVICES", "1",
                            "How many devices the CPU device has, 1 to 16."},
    [HA_ENV_VISIBLE_DEVICES] = {"HIP_VISIBLE_DEVICES", NULL,
                                "Which of them programs see, and in which order: "
                                "numbers and commas, up to the first that is none."},
    [HA_ENV_CPU_EXEC] = {"HIPADAPT_CPU_EXEC", "fast",
                         "fast: vectorised lane loops where proved; reference: never."},
    [HA_ENV_CPU_TARGET] =
        {"HIPADAPT_CPU_TARGET", "native",
         "Level of the processor that kernels are compiled for: "
         "native; x86-64, x86-64-v2, x86-64-v3, x86-64-v4; on aarch64 "
         "armv8-a, armv8.1-a."},
    [HA_ENV_CHECK] =
        {"HIPADAPT_CHECK", NULL,
         "What kernels are checked for on the CPU device: memory, race, "
         "init, sync, nan or all, divided by commas; besides them leaks, strict, "
         "equal, relaxed-warps and quiet."},
    [HA_ENV_CHECK_OUTPUT] = {"HIPADAPT_CHECK_OUTPUT", NULL,
                             "File that findings are appended to as lines of JSON; "
                             "unset: they are shown on stderr."},
    [HA_ENV_CHECK_PROOF] =
        {"HIPADAPT_CHECK_PROOF", "1",
         "0: no launch is proved right from its numbers, so each access that is "
         "checked is observed."},
    [HA_ENV_CHECK_QUARANTINE] =
        {"HIPADAPT_CHECK_QUARANTINE", "256",
         "MiB of freed memory that HIPADAPT_CHECK=memory keeps, to recognise its use."},
    [HA_ENV_CPU_GUARD] =
        {"HIPADAPT_CPU_GUARD", "0",
         "1: each allocation stands alone between forbidden pages, and "
         "kernels ask before each access."},
    [HA_ENV_CPU_LOCKSTEP] = {"HIPADAPT_CPU_LOCKSTEP", "0",
                             "1: the lanes of a warp run in step in all kernels, as on "
                             "a GPU."},
    [HA_ENV_CPU_EXPLAIN] =
        {"HIPADAPT_CPU_EXPLAIN", "0",
         "1: each kernel is explained on stderr when it is first launched; what is "
         "compiled tells more of itself."},
    [HA_ENV_CPU_WARP_SIZE] =
        {"HIPADAPT_CPU_WARP_SIZE", NULL,
         "Lanes of a warp on the CPU device, 32 or 64; unset: what "
         "the program's own kernels were built for, else 32."},
    [HA_ENV_CPU_THREADS] =
        {"HIPADAPT_CPU_THREADS", "0",
         "Worker threads of the CPU device; 0 = one a core that the process "
         "may use, by affinity and CPU quota."},
    [HA_ENV_KERNEL_TIMEOUT] = {"HIPADAPT_KERNEL_TIMEOUT", "600",
                               "Seconds that one launch may run; 0 = no limit."},
    [HA_ENV_COMPILER] = {"HIPADAPT_COMPILER", NULL,
                         "Path of the zig program that compiles kernels."},
    [HA_ENV_COMPILE_TIMEOUT] = {"HIPADAPT_COMPILE_TIMEOUT", "60",
                                "Seconds that one compilation or link may take."},
    [HA_ENV_COMPILE_MEMORY] = {"HIPADAPT_COMPILE_MEMORY", "4096",
                               "MiB of address space of one compiler process."},
    [HA_ENV_CACHE] = {"HIPADAPT_CACHE", "1",
                      "0 turns the cache of compiled kernels off."},
    [HA_ENV_CACHE_DIR] = {"HIPADAPT_CACHE_DIR", NULL,
                          "Folder of the cache; default $XDG_CACHE_HOME/hipadapt."},
    [HA_ENV_CACHE_SIZE] = {"HIPADAPT_CACHE_SIZE", "512",
                           "MiB that the cache may hold before old entries go."},
    [HA_ENV_LOG] = {"HIPADAPT_LOG", "1",
                    "Lines on stderr: 0 none, 1 faults and warnings, 2 notes, 3 all."},
    [HA_ENV_ROCM_PATH] = {"ROCM_PATH", NULL, "Root of a ROCm installation."},
    [HA_ENV_ROCM_HOME] = {"ROCM_HOME", NULL,
                          "Root of a ROCm installation, second choice."},
    [HA_ENV_HOME] = {"HOME", NULL, "Used for the default cache folder."},
    [HA_ENV_XDG_CACHE_HOME] = {"XDG_CACHE_HOME", NULL, "Parent of the cache folder."},
    [HA_ENV_TOOL_LIBRARIES] =
        {"ROCP_TOOL_LIBRARIES", NULL,
         "Profiling tools to load, separated by commas, colons or spaces."},
    [HA_ENV_REGISTER_ENABLED] = {"ROCPROFILER_REGISTER_ENABLED", "1",
                                 "0: no profiling tool sees anything."},
    [HA_ENV_REGISTER_FORCE_LOAD] = {"ROCPROFILER_REGISTER_FORCE_LOAD", "0",
                                    "1: the profiler is there from the start, for "
                                    "tools that come later."},
    [HA_ENV_REGISTER_LIBRARY] =
        {"ROCPROFILER_REGISTER_LIBRARY", NULL,
         "File of the profiler to use in place of the one found."},
    [HA_ENV_PROFILE] = {"HIPADAPT_PROFILE", NULL,
                        "A trace's file, %p is the process: records all of it; "
                        "on-demand: `trace attach` can record it; else it is ready."},
    [HA_ENV_USE_DAEMON] = {"KINETO_USE_DAEMON", NULL,
                           "The same, and requests of dynolog's daemon are taken; by "
                           "presence, even 0."},
    [HA_ENV_PROFILE_SIGNAL] = {"HIPADAPT_PROFILE_SIGNAL", NULL,
                               "Signal that asks for a profile: USR2, or a number."},
    [HA_ENV_PROFILE_CONFIG] = {"HIPADAPT_PROFILE_CONFIG", NULL,
                               "File with the configuration of what a signal asks for; "
                               "it must belong to the user."},
    [HA_ENV_PROFILE_API_NAMES] = {"HIPADAPT_PROFILE_API_NAMES", "hip",
                                  "Names of calls in the trace of a whole program: "
                                  "`hip` or `cuda`."},
    [HA_ENV_KINETO_CONFIG] = {"KINETO_CONFIG", "/etc/libkineto.conf",
                              "File with the base configuration of profile requests."},
    [HA_ENV_IPC_SOCKET_DIR] =
        {"KINETO_IPC_SOCKET_DIR", NULL,
         "Folder of the daemon's sockets; unset: they have abstract names."},
    [HA_ENV_TRACE_DIR] = {"KINETO_ONDEMAND_TRACE_DIR", "/tmp",
                          "Folder below which the daemon's requests may write."},
    [HA_ENV_JOB_ID] = {"SLURM_JOB_ID", "0", "The job that the daemon is told."},
    [HA_ENV_JOB_NAME] = {"PT_PROFILER_JOB_NAME", NULL,
                         "The job that traces name in their metadata."},
    [HA_ENV_JOB_VERSION] = {"PT_PROFILER_JOB_VERSION", NULL, "Its version."},
    [HA_ENV_JOB_ATTEMPT] = {"PT_PROFILER_JOB_ATTEMPT_INDEX", NULL,
                            "How often it was started before."},
    [HA_ENV_RANK] = {"RANK", NULL, "This process's number among several, for traces."},
    [HA_ENV_WORLD_SIZE] = {"WORLD_SIZE", NULL, "How many processes there are."},
    [HA_ENV_OMPI_RANK] = {"OMPI_COMM_WORLD_RANK", NULL, "The number, by Open MPI."},
    [HA_ENV_OMPI_SIZE] = {"OMPI_COMM_WORLD_SIZE", NULL, "How many, by Open MPI."},
    [HA_ENV_PMI_RANK] = {"PMI_RANK", NULL, "The number, by MPICH and its kin."},
    [HA_ENV_PMI_SIZE] = {"PMI_SIZE", NULL, "How many, by MPICH and its kin."},
    [HA_ENV_SLURM_RANK] = {"SLURM_PROCID", NULL, "The number, by Slurm."},
    [HA_ENV_SLURM_SIZE] = {"SLURM_NTASKS", NULL, "How many, by Slurm."},
    [HA_ENV_VERBOSE] = {"HIPADAPT_VERBOSE", NULL,
                        "What there are lines about: none, error, check, "
                        "profile_create, profile_exec, profile, all, or 0, 1, 2."},
    [HA_ENV_VERBOSE_FILE] = {"HIPADAPT_VERBOSE_FILE", NULL,
                             "File that the lines are appended to, %p is the process; "
                             "unset: standard output."},
    [HA_ENV_VERBOSE_TIMESTAMP] = {"HIPADAPT_VERBOSE_TIMESTAMP", "0",
                                  "1: lines begin with the Unix time of the start."},
    [HA_ENV_VERBOSE_TRACKERS] = {"HIPADAPT_VERBOSE_TRACKERS", "records",
                                 "What trackers go by: `records` of the profiler's "
                                 "library where it has them, or `events` of HIP."},
    [HA_ENV_DEBUG_STREAM_EVENTS] = {"HIPADAPT_DEBUG_STREAM_BUFFER_SIZE", "65536",
                                    "Events that wait for the client of a debug stream "
                                    "at most."},
    [HA_ENV_DEBUG_STREAM_BYTES] = {"HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", "134217728",
                                   "Bytes of payload that they have at most."},
    [HA_ENV_DEBUG_STREAM_WATCH] =
        {"HIPADAPT_DEBUG_STREAM_WATCH", "0",
         "1: tensors that kernels and programs send are printed, a line each."},
};

const char *
ha_env(enum ha_env_name name)
{
    const char *value = secure_getenv(ha_env_table[name].variable);

    return value != NULL && value[0] != '\0' ? value : ha_env_table[name].fallback;
}

static int
number_of(const char *text, long min, long max, long *result)
{
    char *end = NULL;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < min || value > max) {
        return -1;
    }
    *result = value;
    return 0;
}

long
ha_env_long(enum ha_env_name name, long min, long max)
{
    static atomic_bool told[HA_ENV_COUNT];
    const char *text = ha_env(name);
    long value = min;

    if (text != NULL && number_of(text, min, max, &value) == 0) {
        return value;
    }
    if (text != NULL && !atomic_exchange(&told[name], true)) {
        ha_log(1, "%s='%s' is not a number from %ld to %ld; using %s",
               ha_env_table[name].variable, text, min, max,
               ha_env_table[name].fallback != NULL ? ha_env_table[name].fallback
                                                   : "the smallest");
    }
    if (ha_env_table[name].fallback != NULL) {
        (void)number_of(ha_env_table[name].fallback, min, max, &value);
    }
    return value;
}

bool
ha_env_is_on(enum ha_env_name name)
{
    const char *text = ha_env(name);

    return text != NULL && strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0 &&
           strcasecmp(text, "off") != 0 && strcasecmp(text, "no") != 0;
}
