/* SPDX-License-Identifier: MIT */
/* Whether a call runs, is captured or is refused (cpu/submit/door.h), where that
 * changes between the look at the stream and the work: a tool acts while its ticket is
 * made, and another thread captures all the time. */
#include "cpu_support.h"

#include "cpu/entry/activity.h"

/* ---- a profiler's sink ---- */

static int begun;              /* tickets made */
static int ended, never_ran;   /* their ends; those without times */
static void (*on_begin)(void); /* what the tool does meanwhile, or NULL */
static char token;

static void *
begin(void)
{
    begun++;
    if (on_begin != NULL) {
        on_begin();
    }
    return &token;
}

static void
end(void *ticket, uint64_t start, uint64_t stop, enum ha_activity_status status)
{
    CHECK(ticket == &token);
    CHECK(status == (stop != 0 ? HA_ACTIVITY_DONE : HA_ACTIVITY_CANCELLED));
    ended++;
    never_ran += start == 0 && stop == 0;
}

static void *
dispatch_begin(const struct ha_activity_dispatch *dispatch)
{
    (void)dispatch;
    return begin();
}

static void *
copy_begin(const struct ha_activity_copy *copy)
{
    (void)copy;
    return begin();
}

static void *
host_begin(const struct ha_activity_host *host)
{
    (void)host;
    return begin();
}

static int forms;

static void
form(void *ticket, uint64_t what)
{
    (void)ticket;
    CHECK((what & UINT8_MAX) == HA_ACTIVITY_ROWS ||
          (what & UINT8_MAX) == HA_ACTIVITY_REFERENCE);
    forms++;
}

static int depth; /* calls that have several tickets */

static void
together(int begins)
{
    depth += begins ? 1 : -1;
    CHECK(depth == begins);
}

static const struct ha_activity_sink sink = {
    .size = sizeof sink,
    .dispatch_begin = dispatch_begin,
    .dispatch_end = end,
    .copy_begin = copy_begin,
    .copy_end = end,
    .host_begin = host_begin,
    .host_end = end,
    .together = together,
    .dispatch_form = form,
};

static void
watch(void (*action)(void))
{
    begun = ended = never_ran = 0;
    on_begin = action;
    ha_activity_table.subscribe(&sink, HA_WANT_DISPATCH | HA_WANT_COPY | HA_WANT_HOST);
}

static void
unwatch(void)
{
    ha_activity_table.drain();
    ha_activity_table.subscribe(&sink, 0);
    CHECK(ended == begun);
}

/* ---- what the calls work with ---- */

static hipStream_t stream;
static int *memory; /* of the device: two numbers */
static hipFunction_t bump;

static size_t
end_capture(hipGraph_t *graph)
{
    size_t count;
    OK(hipStreamEndCapture(stream, graph));
    OK(hipGraphGetNodes(*graph, NULL, &count));
    return count;
}

static hipError_t
copy(void)
{
    return hipMemcpyAsync(memory, memory + 1, sizeof *memory, hipMemcpyDeviceToDevice,
                          stream);
}

static hipError_t
launch(void)
{
    return hipModuleLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static void
write_two(void *address)
{
    *(int *)address = 2; /* the device's memory is the host's */
}

static hipError_t
call_host(void)
{
    return hipLaunchHostFunc(stream, write_two, memory);
}

static int
number_at(const int *address)
{
    int number;
    OK(hipMemcpy(&number, address, sizeof number, hipMemcpyDeviceToHost));
    return number;
}

static void
test_captured_work_has_no_ticket(void)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    watch(NULL);
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(copy());
    OK(launch());
    OK(call_host());
    CHECK(end_capture(&graph) == 3 && begun == 0);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipGraphLaunch(exec, stream));
    CHECK(end_capture(&graph) == 1 && begun == 0);
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    unwatch();
    CHECK(begun == 3 && never_ran == 0);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
}

static void
test_refused_work_has_no_ticket(void)
{
    hipStream_t living = stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(launch());
    CHECK(end_capture(&graph) == 1);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipStreamCreate(&stream));
    OK(hipStreamDestroy(stream));
    watch(NULL);
    CHECK_HIP(copy(), hipErrorContextIsDestroyed);
    CHECK_HIP(launch(), hipErrorContextIsDestroyed);
    CHECK_HIP(call_host(), hipErrorContextIsDestroyed);
    CHECK_HIP(hipGraphLaunch(exec, stream), hipErrorContextIsDestroyed);
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    CHECK_HIP(hipMemcpyDtoH(&(int){0}, memory, sizeof *memory),
              hipErrorStreamCaptureImplicit);
    CHECK_HIP(hipStreamEndCapture(stream, &(hipGraph_t){NULL}),
              hipErrorStreamCaptureInvalidated);
    unwatch();
    CHECK(begun == 0);
    OK(hipStreamDestroy(stream));
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    stream = living;
}

/* ---- tools that act ---- */

static void
begin_capture(void)
{
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
}

static void
test_capture_that_begins_meanwhile_gets_the_work(void)
{
    hipGraph_t graph;
    hipError_t (*const calls[])(void) = {copy, launch, call_host};
    for (int i = 0; i < 3; i++) {
        const int before[] = {1, 2};
        OK(hipMemcpy(memory, before, sizeof before, hipMemcpyHostToDevice));
        watch(begin_capture);
        OK(calls[i]());
        CHECK(end_capture(&graph) == 1);
        OK(hipStreamSynchronize(stream));
        unwatch();
        CHECK(begun == 1 && never_ran == 1);
        CHECK(number_at(memory) == 1); /* it did not run */
        OK(hipGraphDestroy(graph));
    }
}

static void
test_graph_launch_is_captured_by_what_begins_meanwhile(void)
{
    hipGraph_t graph, outer;
    hipGraphExec_t exec;
    begin_capture();
    OK(copy());
    CHECK(end_capture(&graph) == 1);
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    watch(begin_capture);
    OK(hipGraphLaunch(exec, stream));
    CHECK(end_capture(&outer) == 1);
    unwatch();
    CHECK(begun == 1 && never_ran == 1);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
    OK(hipGraphDestroy(outer));
}

static void
destroy_stream(void)
{
    OK(hipStreamDestroy(stream));
}

static void
test_stream_that_goes_meanwhile_takes_no_work(void)
{
    hipStream_t living = stream;
    hipError_t (*const calls[])(void) = {copy, launch, call_host};
    for (int i = 0; i < 3; i++) {
        OK(hipStreamCreate(&stream));
        watch(destroy_stream);
        CHECK_HIP(calls[i](), hipErrorContextIsDestroyed);
        unwatch();
        CHECK(begun == 1 && never_ran == 1);
    }
    stream = living;
}

static hipGraphExec_t launched;

static void
destroy_graph(void)
{
    OK(hipGraphExecDestroy(launched));
}

static void
test_graph_that_goes_meanwhile_is_not_launched(void)
{
    hipGraph_t graph;
    begin_capture();
    OK(copy());
    CHECK(end_capture(&graph) == 1);
    OK(hipGraphInstantiate(&launched, graph, NULL, NULL, 0));
    watch(destroy_graph);
    CHECK_HIP(hipGraphLaunch(launched, stream), hipErrorInvalidValue);
    unwatch();
    CHECK(begun == 1 && never_ran == 1);
    OK(copy()); /* the stream was given back */
    OK(hipStreamSynchronize(stream));
    OK(hipGraphDestroy(graph));
}

/* ---- another thread captures ---- */

static _Atomic int over;
static _Atomic int calls_run;
static _Atomic size_t calls_captured;

static void
count_call(void *unused)
{
    (void)unused;
    calls_run++;
}

static void *
capture_again_and_again(void *unused)
{
    size_t count;
    hipGraph_t graph;
    (void)unused;
    while (!over) {
        OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
        sched_yield();
        OK(hipStreamEndCapture(stream, &graph));
        OK(hipGraphGetNodes(graph, NULL, &count));
        calls_captured += count;
        OK(hipGraphDestroy(graph));
        sched_yield();
    }
    return NULL;
}

static void
test_each_call_runs_or_is_captured(void)
{
    pthread_t thread;
    hipEvent_t event;
    int calls = 0;
    OK(hipEventCreate(&event));
    CHECK(pthread_create(&thread, NULL, capture_again_and_again, NULL) == 0);
    while (calls_captured < (size_t)scaled(1000, 10)) {
        hipError_t code = hipLaunchHostFunc(stream, count_call, NULL);
        CHECK(code == hipSuccess || code == hipErrorIllegalState);
        calls += code == hipSuccess;
        code = hipEventRecord(event, stream);
        CHECK(code == hipSuccess || code == hipErrorIllegalState);
    }
    over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    OK(hipStreamSynchronize(stream));
    printf("%d calls: %d run, %zu captured\n", calls, (int)calls_run, calls_captured);
    CHECK(calls_run + (int)calls_captured == calls);
    OK(hipEventDestroy(event));
}

int
main(void)
{
    hipModule_t module;
    OK(hipStreamCreate(&stream));
    OK(hipMalloc((void **)&memory, 2 * sizeof *memory));
    bump = image_function(&module, "bump");
    RUN(test_captured_work_has_no_ticket);
    RUN(test_refused_work_has_no_ticket);
    RUN(test_capture_that_begins_meanwhile_gets_the_work);
    RUN(test_graph_launch_is_captured_by_what_begins_meanwhile);
    RUN(test_stream_that_goes_meanwhile_takes_no_work);
    RUN(test_graph_that_goes_meanwhile_is_not_launched);
    RUN(test_each_call_runs_or_is_captured);
    return 0;
}
