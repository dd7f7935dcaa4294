/* SPDX-License-Identifier: MIT */
/* libroctx64.so.4: marks and ranges.  The functions do nearly nothing by themselves:
 * each goes through a slot of a table that the profiler's library may change. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk-roctx/roctx.h>

#include "core/profiler.h"

static _Thread_local int depth;

static void
mark(const char *message)
{
    (void)message;
}

static int
push(const char *message)
{
    (void)message;
    return depth++;
}

static int
pop(void)
{
    return depth > 0 ? --depth : -1;
}

static roctx_range_id_t
start(const char *message)
{
    static _Atomic roctx_range_id_t next = 1;

    (void)message;
    return atomic_fetch_add(&next, 1);
}

static void
stop(roctx_range_id_t id)
{
    (void)id;
}

static int
get_thread_id(roctx_thread_id_t *tid)
{
    if (tid == NULL) {
        return -1;
    }
    *tid = (roctx_thread_id_t)syscall(SYS_gettid);
    return 0;
}

static int
pause_or_resume(roctx_thread_id_t tid)
{
    (void)tid;
    return 0;
}

static int
name_thread(const char *name)
{
    return name == NULL ? -1 : 0;
}

static int
name_agent(const char *name, const struct hsa_agent_s *agent)
{
    return name == NULL || agent == NULL ? -1 : 0;
}

static int
name_device(const char *name, int device_id)
{
    return name == NULL || device_id < 0 ? -1 : 0;
}

static int
name_stream(const char *name, const struct ihipStream_t *stream)
{
    (void)stream; /* NULL is a stream too */
    return name == NULL ? -1 : 0;
}

static roctxCoreApiTable_t core = {
    sizeof core, mark, push, pop, start, stop, get_thread_id,
};
static roctxControlApiTable_t control = {sizeof control, pause_or_resume,
                                         pause_or_resume};
static roctxNameApiTable_t names = {
    sizeof names, name_thread, name_agent, name_device, name_stream,
};

static uint32_t
version(void)
{
    return 10000 * ROCTX_VERSION_MAJOR + 100 * ROCTX_VERSION_MINOR +
           ROCTX_VERSION_PATCH;
}

/* ---- handing the tables over: at the first call, and when a tool comes later ---- */

static atomic_bool tried;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool registered; /* a profiler has the tables */
static bool busy;
static _Thread_local bool publishing; /* tools run, which may call us */

/* Exported under a name that fits this library's symbol version. */
ROCTX_API void roctxHipadaptPublish(void);

void
roctxHipadaptPublish(void)
{
    void *tables[] = {&core, &control, &names};

    if (publishing) {
        return;
    }
    pthread_mutex_lock(&lock);
    bool mine = !registered && !busy;
    busy = busy || mine;
    pthread_mutex_unlock(&lock);
    if (!mine) {
        return;
    }
    publishing = true;
    bool wanted = ha_profiler_wanted();
    if (wanted) {
        (void)ha_profiler_register("roctx", version, version(), tables, 3);
    }
    publishing = false;
    pthread_mutex_lock(&lock);
    registered = wanted;
    busy = false;
    pthread_mutex_unlock(&lock);
    atomic_store(&tried, true);
}

static void
first_call(void)
{
    if (!atomic_load_explicit(&tried, memory_order_acquire)) {
        roctxHipadaptPublish();
    }
}

/* A slot that the profiler may change meanwhile. */
#define CALL(table, function, arguments)                                               \
    (first_call(), __atomic_load_n(&table.function##_fn, __ATOMIC_ACQUIRE) arguments)

ROCTX_API void
roctxMarkA(const char *message)
{
    CALL(core, roctxMarkA, (message));
}

ROCTX_API int
roctxRangePushA(const char *message)
{
    return CALL(core, roctxRangePushA, (message));
}

ROCTX_API int
roctxRangePop(void)
{
    return CALL(core, roctxRangePop, ());
}

ROCTX_API roctx_range_id_t
roctxRangeStartA(const char *message)
{
    return CALL(core, roctxRangeStartA, (message));
}

ROCTX_API void
roctxRangeStop(roctx_range_id_t id)
{
    CALL(core, roctxRangeStop, (id));
}

/* Of the library's older interface. */
ROCTX_API uint32_t roctx_version_major(void);
ROCTX_API uint32_t roctx_version_minor(void);

uint32_t
roctx_version_major(void)
{
    return 4;
}

uint32_t
roctx_version_minor(void)
{
    return 1;
}

ROCTX_API int
roctxGetThreadId(roctx_thread_id_t *tid)
{
    return CALL(core, roctxGetThreadId, (tid));
}

ROCTX_API int
roctxProfilerPause(roctx_thread_id_t tid)
{
    return CALL(control, roctxProfilerPause, (tid));
}

ROCTX_API int
roctxProfilerResume(roctx_thread_id_t tid)
{
    return CALL(control, roctxProfilerResume, (tid));
}

ROCTX_API int
roctxNameOsThread(const char *name)
{
    return CALL(names, roctxNameOsThread, (name));
}

ROCTX_API int
roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
    return CALL(names, roctxNameHsaAgent, (name, agent));
}

ROCTX_API int
roctxNameHipDevice(const char *name, int device_id)
{
    return CALL(names, roctxNameHipDevice, (name, device_id));
}

ROCTX_API int
roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
    return CALL(names, roctxNameHipStream, (name, stream));
}
