/* SPDX-License-Identifier: MIT */
/* One HIP device of this process: identity, limits, settings, fault.
 *
 * Devices live in one fixed table for the whole life of the runtime, so a pointer to
 * one is always borrowed and never dangles.
 *
 * A *fault* is sticky: once a kernel of the device fails, each call on the device
 * answers the fault's code until hipDeviceReset, and queued work is dropped.
 *
 * Locks: fields marked "pool" need the pool lock (cpu/queue/pool.h); atomics need none;
 * settings are plain atomics because each is a value of its own. */
#ifndef HA_CPU_BASE_DEVICE_H
#define HA_CPU_BASE_DEVICE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/hip.h"

#define HA_FAULT_MESSAGE_BYTES 384

/* Launch limits; hipDeviceProp_t has the same numbers. */
#define HA_MAX_BLOCK_THREADS 1024u
#define HA_MAX_BLOCK_X 1024u
#define HA_MAX_BLOCK_Y 1024u
#define HA_MAX_BLOCK_Z 1024u
#define HA_MAX_GRID_X 2147483647u
#define HA_MAX_GRID_Y 65535u
#define HA_MAX_GRID_Z 65535u
#define HA_MAX_SHARED_BYTES (64u * 1024u)
#define HA_MAX_THREADS_PER_PROCESSOR 2048u
#define HA_MAX_BLOCKS_PER_PROCESSOR 32u
#define HA_REGISTERS_PER_PROCESSOR 65536u
#define HA_STACK_BYTES_MIN (16u * 1024u)
#define HA_STACK_BYTES_DEFAULT (64u * 1024u)
#define HA_STACK_BYTES_MAX (64u * 1024u * 1024u)

/* Elements of arrays, and of memory that is used as a texture. */
#define HA_ARRAY_SIDE_MAX 16384u
#define HA_ARRAY_DEPTH_MAX 8192u
#define HA_LINEAR_TEXTURE_MAX ((size_t)1 << 27)
#define HA_TEXTURE_ALIGN ((size_t)256)

/* gcnArchName: "gfx" is what programs look for; 000 is no AMD target. */
#define HA_ARCH_NAME "gfx000:cpu"

struct ha_queue;

struct ha_device {
    int id;
    int ordinal;                             /* constant: of the machine */
    _Atomic int fault;                       /* hipError_t; 0 = none; set under pool */
    char fault_text[HA_FAULT_MESSAGE_BYTES]; /* pool */
    struct ha_queue *queues;                 /* pool: all streams of the device */
    struct ha_queue *legacy;      /* the default stream; owned, never freed */
    _Atomic uint32_t busy;        /* queues with work; changed under pool */
    uint32_t busy_blocking;       /* pool: of these, blocking ones */
    uint64_t submitted;           /* pool: operations ever submitted */
    uint32_t capturing;           /* pool: blocking streams that are being captured */
    size_t memory_bytes;          /* constant: limit of allocations */
    _Atomic size_t memory_used;   /* bytes allocated on the device */
    _Atomic uint32_t stack_bytes; /* hipLimitStackSize */
    _Atomic uint32_t flags;       /* hipSetDeviceFlags */
    _Atomic uint32_t peers;       /* bit set of devices with peer access */
    _Atomic int cache_config;     /* hipFuncCache_t */
};

/* Fills the table for `ha_config()->device_count` devices. Start lock held. */
void ha_devices_init(void);

/* Borrowed, or NULL if there is no such device. */
struct ha_device *ha_device_get(int id);

/* Back to the settings of a new device. */
void ha_device_reset_settings(struct ha_device *device);

/* Fills every field; the device is honest about being a CPU. */
void ha_device_properties(const struct ha_device *device, hipDeviceProp_t *properties);

/* The value of an attribute; false for what is none. */
bool ha_device_attribute(const struct ha_device *device, hipDeviceAttribute_t attribute,
                         int *value);

#endif
