/* SPDX-License-Identifier: MIT */
/* How fast traces are written: calls and kernels by turns, with all that is known of
 * them, as the collector gives them.
 *
 *     profile_writer FOLDER SLICES NAMES
 *
 * prints a line for each writer: its name, seconds of this thread's processor, bytes of
 * the file, its events, and the kilobytes of memory that it took.  The peer writes the
 * same lines as .json has, event by event with fprintf. */
#include "tool/text.h"
#include "tool/profiler/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define START UINT64_C(1790857031000000000)
enum { PID = 4711, GAP = 5000, STREAMS = 4 };

static char **names;
static uint64_t name_count;

static double
now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long
resident_KB(void)
{
    char text[256];
    long KB = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        if (strncmp(text, "VmRSS:", 6) == 0) {
            KB = strtol(text + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return KB;
}

static void
make_names(uint64_t count)
{
    name_count = count;
    names = calloc(count, sizeof *names);
    for (uint64_t i = 0; names != NULL && i < count; i++) {
        if (asprintf(&names[i], "vector_add_kernel_%llu(float*, int)",
                     (unsigned long long)i) < 0) {
            abort();
        }
    }
}

/* The call and the kernel of turn `i`. */
static void
make_pair(uint64_t i, struct ha_trace_event *call, struct ha_trace_event *work,
          struct ha_slice pair[2])
{
    uint64_t at = START + i * GAP;

    *call = (struct ha_trace_event){.operation = 219};
    *work = (struct ha_trace_event){
        .device = 0, .stream = 3, .grid = {262144, 1, 1}, .block = {256, 1, 1}};
    pair[0] = (struct ha_slice){
        .kind = HA_SLICE_RUNTIME,
        .name = "hipModuleLaunchKernel",
        .start = at,
        .end = at + 900,
        .thread = PID + 1,
        .device = HA_DEVICE_NONE,
        .correlation = i + 1,
        .external = i / 2 + 1,
        .launches = true,
        .event = call,
    };
    pair[1] = (struct ha_slice){
        .kind = HA_SLICE_KERNEL,
        .name = names[i % name_count],
        .start = at + 1500,
        .end = at + 4321,
        .device = 0,
        .stream = i % STREAMS,
        .correlation = i + 1,
        .external = i / 2 + 1,
        .event = work,
    };
}

static void
say(const char *what, const char *path, double seconds, uint64_t events, long KB)
{
    struct stat info = {.st_size = 0};

    (void)stat(path, &info);
    printf("%s %.6f %lld %llu %ld\n", what, seconds, (long long)info.st_size,
           (unsigned long long)events, KB);
    (void)unlink(path);
}

static void
need(enum ha_status status)
{
    if (status != HA_OK) {
        fprintf(stderr, "profile_writer: %s\n", ha_error_text());
        exit(1);
    }
}

static void
measure(const char *folder, const char *suffix, uint64_t slices)
{
    char path[4096];
    struct ha_trace_event call, work;
    struct ha_slice pair[2];
    struct ha_writer *writer = NULL;
    const struct ha_writer_info info = {.start = START, .pid = PID};
    const struct ha_writer_result result = {.end = START + slices * GAP};

    (void)snprintf(path, sizeof path, "%s/speed%s", folder, suffix);
    long before = resident_KB();
    double begin = now();
    need(ha_writer_open(path, &info, &writer));
    for (uint64_t i = 0; i < slices / 2; i++) {
        make_pair(i, &call, &work, pair);
        need(ha_writer_slice(writer, &pair[0]));
        need(ha_writer_slice(writer, &pair[1]));
    }
    long more = resident_KB() - before;
    need(ha_writer_finish(writer, &result));
    /* A slice is an event of Chrome's, and so is each end of a flow. */
    say(suffix + 1, path, now() - begin, strstr(suffix, "json") ? 2 * slices : slices,
        more);
}

static void
print_time(FILE *file, const char *key, uint64_t ns)
{
    fprintf(file, ",\"%s\":%llu.%03llu", key, (unsigned long long)ns / 1000,
            (unsigned long long)ns % 1000);
}

static void
print_pair(FILE *file, const struct ha_slice pair[2], uint64_t base)
{
    const struct ha_trace_event *event = pair[1].event;
    unsigned long long id = pair[0].correlation;

    fprintf(file,
            "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":%d,"
            "\"tid\":%u",
            pair[0].name, PID, pair[0].thread);
    print_time(file, "ts", pair[0].start - base);
    print_time(file, "dur", pair[0].end - pair[0].start);
    fprintf(file,
            ",\"args\":{\"External id\":%llu,\"correlation\":%llu,\"cid\":%d}},\n"
            "{\"ph\":\"s\",\"id\":%llu,\"pid\":%d,\"tid\":%u",
            (unsigned long long)pair[0].external, id, pair[0].event->operation, id, PID,
            pair[0].thread);
    print_time(file, "ts", pair[0].start - base);
    fprintf(file,
            ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n"
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":%d,\"tid\":%llu",
            pair[1].name, pair[1].device, (unsigned long long)pair[1].stream);
    print_time(file, "ts", pair[1].start - base);
    print_time(file, "dur", pair[1].end - pair[1].start);
    fprintf(file,
            ",\"args\":{\"External id\":%llu,\"correlation\":%llu,\"device\":%d,"
            "\"stream\":%llu,\"kind\":\"Dispatch Kernel\",\"grid\":[%u,%u,%u],"
            "\"block\":[%u,%u,%u],\"shared memory\":%u,\"hsa_queue\":%llu}},\n"
            "{\"ph\":\"f\",\"bp\":\"e\",\"id\":%llu,\"pid\":%d,\"tid\":%llu",
            (unsigned long long)pair[1].external, id, pair[1].device,
            (unsigned long long)pair[1].stream, event->grid[0] / event->block[0],
            event->grid[1], event->grid[2], event->block[0], event->block[1],
            event->block[2], event->shared, (unsigned long long)event->stream, id,
            pair[1].device, (unsigned long long)pair[1].stream);
    print_time(file, "ts", pair[1].start - base);
    fprintf(file, ",\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n");
}

static void
measure_peer(const char *folder, uint64_t slices)
{
    char path[4096];
    struct ha_trace_event call, work;
    struct ha_slice pair[2];
    const uint64_t base = UINT64_C(1790857026000000000);

    (void)snprintf(path, sizeof path, "%s/speed.fprintf", folder);
    double begin = now();
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    for (uint64_t i = 0; i < slices / 2; i++) {
        make_pair(i, &call, &work, pair);
        print_pair(file, pair, base);
    }
    (void)fclose(file);
    say("fprintf", path, now() - begin, 2 * slices, 0);
}

int
main(int count, char **words)
{
    if (count != 4) {
        fprintf(stderr, "profile_writer FOLDER SLICES NAMES\n");
        return 2;
    }
    uint64_t slices = strtoull(words[2], NULL, 10);
    make_names(strtoull(words[3], NULL, 10));
    measure(words[1], ".json", slices);
    measure(words[1], ".pftrace", slices);
    measure(words[1], ".json.gz", slices);
    measure_peer(words[1], slices);
    return 0;
}
