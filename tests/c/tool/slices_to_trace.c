/* SPDX-License-Identifier: MIT */
/* Slices from standard input become a trace, for tests in Python: see
 * tests/unit/tool/slices.py, which writes what is read here. */
/* sources: core tool */
/* product: profiler */
#include "tool/profiler/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct head {
    uint64_t start, end, lost, outside;
    int64_t clock_offset;
    uint32_t pid, cuda_names, devices, pairs;
    int32_t url, process_name, distributed; /* lengths of texts; -1: NULL */
    uint32_t last_pairs;                    /* of the pairs, those known at the end */
};

struct wire {
    uint32_t kind, flow, flow_starts, launches;
    uint32_t thread;
    int32_t device;
    uint64_t start, end, stream, correlation, external, flow_id, form;
    double value;
    int32_t name, work_name, args;
    uint32_t event, work, row;
};

static void
get(void *to, size_t bytes)
{
    if (bytes > 0 && fread(to, bytes, 1, stdin) != 1) {
        fprintf(stderr, "the input ends too soon\n");
        exit(2);
    }
}

static char *
get_text(int32_t bytes)
{
    if (bytes < 0) {
        return NULL;
    }
    char *text = malloc((size_t)bytes + 1);
    get(text, (size_t)bytes);
    text[bytes] = '\0';
    return text;
}

static char *
get_sized_text(void)
{
    int32_t bytes = 0;

    get(&bytes, sizeof bytes);
    return get_text(bytes);
}

static void
need(enum ha_status status)
{
    if (status != HA_OK) {
        fprintf(stderr, "%d: %s\n", (int)status, ha_error_text());
        exit(1);
    }
}

/* One slice or row; false at the end. */
static int
copy_one(struct ha_writer *writer)
{
    struct wire wire;
    struct ha_trace_event event, work;

    if (fread(&wire, sizeof wire, 1, stdin) != 1) {
        return 0;
    }
    get(&event, wire.event ? sizeof event : 0);
    get(&work, wire.work ? sizeof work : 0);
    char *name = get_text(wire.name);
    char *work_name = get_text(wire.work_name);
    char *args = get_text(wire.args);
    if (wire.row) {
        const struct ha_trace_row row = {
            .device = wire.device,
            .thread = wire.thread,
            .stream = wire.stream,
            .name = name,
            .device_name = work_name,
        };
        need(ha_writer_row(writer, &row));
    } else {
        const struct ha_slice slice = {
            .kind = (enum ha_slice_kind)wire.kind,
            .flow = (enum ha_flow)wire.flow,
            .flow_starts = wire.flow_starts != 0,
            .launches = wire.launches != 0,
            .name = name,
            .start = wire.start,
            .end = wire.end,
            .thread = wire.thread,
            .device = wire.device,
            .stream = wire.stream,
            .correlation = wire.correlation,
            .external = wire.external,
            .flow_id = wire.flow_id,
            .form = wire.form,
            .event = wire.event ? &event : NULL,
            .work = wire.work ? &work : NULL,
            .work_name = work_name,
            .args = args,
            .value = wire.value,
        };
        need(ha_writer_slice(writer, &slice));
    }
    free(name);
    free(work_name);
    free(args);
    return 1;
}

int
main(void)
{
    struct head head;
    struct ha_trace_device devices[8] = {{.id = 0}};
    struct ha_trace_pair pairs[16];
    struct ha_writer *writer = NULL;

    get(&head, sizeof head);
    char *url = get_text(head.url);
    char *process = get_text(head.process_name);
    char *distributed = get_text(head.distributed);
    for (uint32_t i = 0; i < head.pairs; i++) {
        pairs[i].key = get_sized_text();
        pairs[i].value = get_sized_text();
    }
    for (uint32_t i = 0; i < head.devices; i++) {
        devices[i] = (struct ha_trace_device){
            .id = (int32_t)i,
            .name = "hipadapt \"CPU\"",
            .memory_bytes = UINT64_C(64) << 30,
            .compute_major = 9,
            .compute_minor = 4,
            .block_threads_max = 1024,
            .multiprocessor_threads_max = 2048,
            .block_registers = 65536,
            .warp_size = 32,
            .block_shared_bytes = 65536,
            .multiprocessors = 8,
            .multiprocessor_shared_bytes = 65536,
        };
    }
    const struct ha_writer_info info = {
        .start = head.start,
        .pid = head.pid,
        .process_name = process,
        .host_name = "host",
        .devices = devices,
        .device_count = head.devices,
        .metadata = pairs,
        .metadata_count = head.pairs - head.last_pairs,
        .hip_runtime_version = 70226015,
        .hip_driver_version = 70226015,
        .sdk_version = "1.2.1",
        .distributed = distributed,
        .clock_offset = head.clock_offset,
        .clock_error = 40,
        .cuda_names = head.cuda_names != 0,
    };
    const struct ha_writer_result result = {
        .end = head.end,
        .lost_events = head.lost,
        .out_of_window_events = head.outside,
        .metadata = pairs + head.pairs - head.last_pairs,
        .metadata_count = head.last_pairs,
    };
    need(ha_writer_open(url, &info, &writer));
    while (copy_one(writer)) {
    }
    need(ha_writer_finish(writer, &result));
    return 0;
}
