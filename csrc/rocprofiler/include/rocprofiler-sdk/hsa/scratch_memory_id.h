/* SPDX-License-Identifier: MIT */
/* How scratch memory was allocated. */
#ifndef ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H
#define ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H

/* Flags of an allocation of scratch memory. */
typedef enum rocprofiler_scratch_alloc_flag_t {
    ROCPROFILER_SCRATCH_ALLOC_FLAG_NONE = 0,
    ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE = 1 << 0, /* for one launch */
    ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT = 1 << 1,      /* not the main one */
} rocprofiler_scratch_alloc_flag_t;

#endif
