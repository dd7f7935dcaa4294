/* SPDX-License-Identifier: MIT */
/* Marks and ranges in a program, for whoever observes it. */
#ifndef ROCPROFILER_SDK_ROCTX_ROCTX_H
#define ROCPROFILER_SDK_ROCTX_ROCTX_H

#include <rocprofiler-sdk-roctx/defines.h>
#include <rocprofiler-sdk-roctx/types.h>
#include <rocprofiler-sdk-roctx/version.h>

ROCTX_EXTERN_C_INIT

struct hsa_agent_s;
struct ihipStream_t;

/* A point in time. */
ROCTX_API void roctxMarkA(const char *message);
#define roctxMark(message) roctxMarkA(message)

/* Ranges of the calling thread, one in another: answers the depth before the push, and
 * after the pop; negative where nothing is open. */
ROCTX_API int roctxRangePushA(const char *message);
#define roctxRangePush(message) roctxRangePushA(message)
ROCTX_API int roctxRangePop(void);

/* Ranges of the process; any thread may end them. */
ROCTX_API roctx_range_id_t roctxRangeStartA(const char *message);
#define roctxRangeStart(message) roctxRangeStartA(message)
ROCTX_API void roctxRangeStop(roctx_range_id_t id);

/* Requests to tools; 0: passed on. */
ROCTX_API int roctxProfilerPause(roctx_thread_id_t tid);
ROCTX_API int roctxProfilerResume(roctx_thread_id_t tid);

/* Names for threads, agents, devices and streams; 0: passed on. */
ROCTX_API int roctxNameOsThread(const char *name);
ROCTX_API int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
ROCTX_API int roctxNameHipDevice(const char *name, int device_id);
ROCTX_API int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);

ROCTX_API int roctxGetThreadId(roctx_thread_id_t *tid);

ROCTX_EXTERN_C_FINI

#endif
