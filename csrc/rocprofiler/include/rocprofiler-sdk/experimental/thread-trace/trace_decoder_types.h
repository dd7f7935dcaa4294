/* SPDX-License-Identifier: MIT */
/* Records of decoded thread traces.  Times are ticks of a shader engine's clock. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_TRACE_DECODER_TYPES_H
#define ROCPROFILER_SDK_EXPERIMENTAL_TRACE_DECODER_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int64_t rocprofiler_shader_timestamp_t;

typedef enum rocprofiler_thread_trace_decoder_info_t {
    ROCPROFILER_THREAD_TRACE_DECODER_INFO_NONE = 0,
    ROCPROFILER_THREAD_TRACE_DECODER_INFO_DATA_LOST,
    ROCPROFILER_THREAD_TRACE_DECODER_INFO_STITCH_INCOMPLETE,
    ROCPROFILER_THREAD_TRACE_DECODER_INFO_LAST
} rocprofiler_thread_trace_decoder_info_t;

typedef struct rocprofiler_thread_trace_decoder_pc_t {
    size_t addr;      /* within the code object, if there is one */
    size_t marker_id; /* number of the code object, or 0 */
} rocprofiler_thread_trace_decoder_pc_t;

typedef struct rocprofiler_thread_trace_decoder_perfevent_t {
    rocprofiler_shader_timestamp_t timestamp;
    uint16_t event0;
    uint16_t event1;
    uint16_t event2;
    uint16_t event3;
    uint8_t cu;
    uint8_t bank; /* 0: counters 0 to 3; 1: counters 4 to 7 */
} rocprofiler_thread_trace_decoder_perfevent_t;

typedef struct rocprofiler_thread_trace_decoder_occupancy_t {
    rocprofiler_thread_trace_decoder_pc_t pc;
    rocprofiler_shader_timestamp_t timestamp;
    uint8_t start; /* 0: the wave has ended */
    uint8_t cu;
    uint8_t simd;
    uint8_t slot;
    uint32_t reserved;
} rocprofiler_thread_trace_decoder_occupancy_t;

typedef enum rocprofiler_thread_trace_decoder_wstate_type_t {
    ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_EMPTY = 0,
    ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_IDLE,
    ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_EXEC,
    ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_WAIT,
    ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_STALL,
    ROCPROFILER_THREAD_TRACE_DECODER_WSTATE_LAST
} rocprofiler_thread_trace_decoder_wstate_type_t;

typedef struct rocprofiler_thread_trace_decoder_wave_state_t {
    int32_t type; /* rocprofiler_thread_trace_decoder_wstate_type_t */
    int32_t duration;
} rocprofiler_thread_trace_decoder_wave_state_t;

typedef enum rocprofiler_thread_trace_decoder_inst_category_t {
    ROCPROFILER_THREAD_TRACE_DECODER_INST_NONE = 0,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_SMEM,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_SALU,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_VMEM,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_FLAT,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_LDS,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_VALU,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_JUMP,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_NEXT,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_IMMED,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_CONTEXT,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_MESSAGE,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_BVH,
    ROCPROFILER_THREAD_TRACE_DECODER_INST_LAST
} rocprofiler_thread_trace_decoder_inst_category_t;

typedef struct rocprofiler_thread_trace_decoder_inst_t {
    uint8_t category; /* rocprofiler_thread_trace_decoder_inst_category_t */
    uint8_t reserved;
    uint16_t exec;
    int32_t duration;
    rocprofiler_shader_timestamp_t time;
    rocprofiler_thread_trace_decoder_pc_t pc;
} rocprofiler_thread_trace_decoder_inst_t;

typedef struct rocprofiler_thread_trace_decoder_wave_t {
    uint8_t cu;
    uint8_t simd;
    uint8_t wave_id;
    uint8_t contexts;
    uint32_t _rsvd1;
    uint32_t _rsvd2;
    uint32_t _rsvd3;
    rocprofiler_shader_timestamp_t start_timestamp;
    rocprofiler_shader_timestamp_t end_timestamp;
    size_t timeline_size;
    size_t instructions_size;
    rocprofiler_thread_trace_decoder_wave_state_t *timeline_array;
    rocprofiler_thread_trace_decoder_inst_t *instructions_array;
} rocprofiler_thread_trace_decoder_wave_t;

typedef enum rocprofiler_thread_trace_decoder_record_type_t {
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_GFXIP = 0,
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_OCCUPANCY,
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_PERFEVENT,
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_WAVE,
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_INFO,
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_DEBUG,
    ROCPROFILER_THREAD_TRACE_DECODER_RECORD_LAST
} rocprofiler_thread_trace_decoder_record_type_t;

#endif
