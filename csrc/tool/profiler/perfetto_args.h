/* SPDX-License-Identifier: MIT */
/* Arguments of slices as debug annotations of Perfetto. */
#ifndef HA_TOOL_PROFILER_PERFETTO_ARGS_H
#define HA_TOOL_PROFILER_PERFETTO_ARGS_H

#include "tool/profiler/packet.h"
#include "tool/profiler/slice.h"

/* Names of annotations, in the order in which they are interned from number 1 on. */
#define HA_PERFETTO_KEYS(X)                                                            \
    X(EXTERNAL, "External id")                                                         \
    X(CORRELATION, "correlation")                                                      \
    X(DEVICE, "device")                                                                \
    X(STREAM, "stream")                                                                \
    X(KIND, "kind")                                                                    \
    X(GRID, "grid")                                                                    \
    X(BLOCK, "block")                                                                  \
    X(SHARED, "shared memory")                                                         \
    X(QUEUE, "hsa_queue")                                                              \
    X(STATUS, "status")                                                                \
    X(BYTES, "bytes")                                                                  \
    X(SRC, "src")                                                                      \
    X(DST, "dst")                                                                      \
    X(BANDWIDTH, "memory bandwidth (GB/s)")                                            \
    X(API, "api")                                                                      \
    X(CID, "cid")                                                                      \
    X(RESULT, "result")                                                                \
    X(KERNEL, "kernel")                                                                \
    X(FORM, "form")                                                                    \
    X(WIDTH, "vector width")                                                           \
    X(LEFT, "blocks in reference form")

enum ha_perfetto_key {
    HA_KEY_NONE,
#define HA_KEY(name, text) HA_KEY_##name,
    HA_PERFETTO_KEYS(HA_KEY)
#undef HA_KEY
        HA_KEY_COUNT
};

/* All arguments of a slice; `call` is the call's own name where it is shown under
 * another, else NULL. */
char *ha_perfetto_put_args(char *to, struct ha_packet *packet,
                           const struct ha_slice *slice, const char *call);

/* Members of a JSON object without its brackets. */
char *ha_perfetto_put_members(char *to, int width, const char *members);

/* One annotation whose value is a JSON value, or a string where it isn't. */
char *ha_perfetto_put_pair(char *to, int width, const char *key, const char *value);

#endif
