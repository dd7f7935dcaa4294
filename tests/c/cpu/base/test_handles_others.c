/* SPDX-License-Identifier: MIT */
/* Made-up, stale and wrong-kind handles of graphs, arrays, textures, pools, physical
 * memory, libraries, links and programs, in every call that takes one: the right code,
 * no crash.  Streams, events, modules and functions: test_handles.c.
 * HIPADAPT_SLOW_TESTS=1: a million calls. */
#include "cpu_support.h"

#include "abi/hiprtc.h"

enum kind {
    STREAM,
    EVENT,
    MODULE,
    FUNCTION,
    GRAPH,
    NODE,
    EXEC,
    USER_OBJECT,
    ARRAY,
    MIPMAP,
    TEXTURE,
    SURFACE,
    POOL,
    PHYSICAL,
    LIBRARY,
    KERNEL,
    LINK,
    PROGRAM,
    KINDS
};

static uint64_t living[KINDS];
static uint64_t stale[KINDS];
static uint64_t state = 99;
static char room[4096]; /* what calls may read and write */
static void *memory;

/* ---- calls ---- */

#define H(type) ((type)(uintptr_t)bad)
#define GOOD(type, kind) ((type)(uintptr_t)living[kind])

#define CALL(name, expression)                                                         \
    static int name(uint64_t bad)                                                      \
    {                                                                                  \
        return (int)(expression);                                                      \
    }

CALL(graph_destroy, hipGraphDestroy(H(hipGraph_t)))
CALL(graph_nodes, hipGraphGetNodes(H(hipGraph_t), NULL, (size_t *)room))
CALL(graph_roots, hipGraphGetRootNodes(H(hipGraph_t), NULL, (size_t *)room))
CALL(graph_edges, hipGraphGetEdges(H(hipGraph_t), NULL, NULL, (size_t *)room))
CALL(graph_clone, hipGraphClone((hipGraph_t *)room, H(hipGraph_t)))
CALL(graph_empty, hipGraphAddEmptyNode((hipGraphNode_t *)room, H(hipGraph_t), NULL, 0))
CALL(graph_child,
     hipGraphAddChildGraphNode((hipGraphNode_t *)room, GOOD(hipGraph_t, GRAPH), NULL, 0,
                               H(hipGraph_t)))
CALL(graph_record, hipGraphAddEventRecordNode((hipGraphNode_t *)room, H(hipGraph_t),
                                              NULL, 0, GOOD(hipEvent_t, EVENT)))
CALL(graph_make,
     hipGraphInstantiate((hipGraphExec_t *)room, H(hipGraph_t), NULL, NULL, 0))
CALL(graph_update,
     hipGraphExecUpdate(GOOD(hipGraphExec_t, EXEC), H(hipGraph_t),
                        (hipGraphNode_t *)room, (hipGraphExecUpdateResult *)room))
CALL(graph_dot, hipGraphDebugDotPrint(H(hipGraph_t), "/nowhere/x.dot", 0))
CALL(graph_retain,
     hipGraphRetainUserObject(H(hipGraph_t), GOOD(hipUserObject_t, USER_OBJECT), 1, 0))
CALL(graph_release,
     hipGraphReleaseUserObject(H(hipGraph_t), GOOD(hipUserObject_t, USER_OBJECT), 1))
CALL(node_destroy, hipGraphDestroyNode(H(hipGraphNode_t)))
CALL(node_type, hipGraphNodeGetType(H(hipGraphNode_t), (hipGraphNodeType *)room))
CALL(node_before, hipGraphNodeGetDependencies(H(hipGraphNode_t), NULL, (size_t *)room))
CALL(node_after, hipGraphNodeGetDependentNodes(H(hipGraphNode_t), NULL, (size_t *)room))
CALL(node_kernel,
     hipGraphKernelNodeGetParams(H(hipGraphNode_t), (hipKernelNodeParams *)room))
CALL(node_copy,
     hipGraphMemcpyNodeGetParams(H(hipGraphNode_t), (hipMemcpy3DParms *)room))
CALL(node_fill, hipGraphMemsetNodeGetParams(H(hipGraphNode_t), (hipMemsetParams *)room))
CALL(node_host, hipGraphHostNodeGetParams(H(hipGraphNode_t), (hipHostNodeParams *)room))
CALL(node_event, hipGraphEventRecordNodeGetEvent(H(hipGraphNode_t), (hipEvent_t *)room))
CALL(node_child, hipGraphChildGraphNodeGetGraph(H(hipGraphNode_t), (hipGraph_t *)room))
CALL(node_enabled, hipGraphNodeGetEnabled(GOOD(hipGraphExec_t, EXEC), H(hipGraphNode_t),
                                          (unsigned *)room))
CALL(exec_destroy, hipGraphExecDestroy(H(hipGraphExec_t)))
CALL(exec_launch, hipGraphLaunch(H(hipGraphExec_t), GOOD(hipStream_t, STREAM)))
CALL(exec_upload, hipGraphUpload(H(hipGraphExec_t), GOOD(hipStream_t, STREAM)))
CALL(exec_flags,
     hipGraphExecGetFlags(H(hipGraphExec_t), (unsigned long long *)(void *)room))
CALL(exec_update,
     hipGraphExecUpdate(H(hipGraphExec_t), GOOD(hipGraph_t, GRAPH),
                        (hipGraphNode_t *)room, (hipGraphExecUpdateResult *)room))
CALL(exec_enabled,
     hipGraphNodeSetEnabled(H(hipGraphExec_t), GOOD(hipGraphNode_t, NODE), 1))
CALL(object_retain, hipUserObjectRetain(H(hipUserObject_t), 1))
CALL(object_release, hipUserObjectRelease(H(hipUserObject_t), 1))
CALL(object_graph,
     hipGraphRetainUserObject(GOOD(hipGraph_t, GRAPH), H(hipUserObject_t), 1, 0))
CALL(array_free, hipFreeArray(H(hipArray_t)))
CALL(array_destroy, hipArrayDestroy(H(hipArray_t)))
CALL(array_info,
     hipArrayGetInfo((struct hipChannelFormatDesc *)room, (struct hipExtent *)room,
                     (unsigned *)room, H(hipArray_t)))
CALL(array_descriptor,
     hipArrayGetDescriptor((HIP_ARRAY_DESCRIPTOR *)room, H(hipArray_t)))
CALL(array_to, hipMemcpyToArray(H(hipArray_t), 0, 0, room, 16, hipMemcpyHostToDevice))
CALL(array_from,
     hipMemcpyFromArray(room, H(hipArray_const_t), 0, 0, 16, hipMemcpyDeviceToHost))
CALL(array_2d,
     hipMemcpy2DToArray(H(hipArray_t), 0, 0, room, 16, 16, 1, hipMemcpyHostToDevice))
CALL(array_htoa, hipMemcpyHtoA(H(hipArray_t), 0, room, 16))
CALL(array_atoh, hipMemcpyAtoH(room, H(hipArray_t), 0, 16))
CALL(mipmap_free, hipFreeMipmappedArray(H(hipMipmappedArray_t)))
CALL(mipmap_destroy, hipMipmappedArrayDestroy(H(hipMipmappedArray_t)))
CALL(mipmap_level,
     hipMipmappedArrayGetLevel((hipArray_t *)room, H(hipMipmappedArray_t), 0))
CALL(texture_destroy, hipDestroyTextureObject(H(hipTextureObject_t)))
CALL(texture_resource,
     hipGetTextureObjectResourceDesc((hipResourceDesc *)room, H(hipTextureObject_t)))
CALL(texture_texture,
     hipGetTextureObjectTextureDesc((hipTextureDesc *)room, H(hipTextureObject_t)))
CALL(texture_driver, hipTexObjectDestroy(H(hipTextureObject_t)))
CALL(surface_destroy, hipDestroySurfaceObject(H(hipSurfaceObject_t)))
CALL(pool_destroy, hipMemPoolDestroy(H(hipMemPool_t)))
CALL(pool_trim, hipMemPoolTrimTo(H(hipMemPool_t), 0))
CALL(pool_get,
     hipMemPoolGetAttribute(H(hipMemPool_t), hipMemPoolAttrUsedMemCurrent, room))
CALL(pool_set,
     hipMemPoolSetAttribute(H(hipMemPool_t), hipMemPoolAttrReleaseThreshold, room))
CALL(pool_malloc, hipMallocFromPoolAsync((void **)room, 64, H(hipMemPool_t),
                                         GOOD(hipStream_t, STREAM)))
CALL(pool_device, hipDeviceSetMemPool(0, H(hipMemPool_t)))
CALL(pool_export,
     hipMemPoolExportToShareableHandle(room, H(hipMemPool_t),
                                       hipMemHandleTypePosixFileDescriptor, 0))
CALL(physical_release, hipMemRelease(H(hipMemGenericAllocationHandle_t)))
CALL(physical_properties,
     hipMemGetAllocationPropertiesFromHandle((hipMemAllocationProp *)room,
                                             H(hipMemGenericAllocationHandle_t)))
CALL(physical_map, hipMemMap(memory, 4096, 0, H(hipMemGenericAllocationHandle_t), 0))
CALL(physical_export,
     hipMemExportToShareableHandle(room, H(hipMemGenericAllocationHandle_t),
                                   hipMemHandleTypePosixFileDescriptor, 0))
CALL(library_unload, hipLibraryUnload(H(hipLibrary_t)))
CALL(library_kernel, hipLibraryGetKernel((hipKernel_t *)room, H(hipLibrary_t), "add"))
CALL(library_count, hipLibraryGetKernelCount((unsigned *)room, H(hipLibrary_t)))
CALL(library_list, hipLibraryEnumerateKernels((hipKernel_t *)room, 1, H(hipLibrary_t)))
CALL(kernel_function, hipKernelGetFunction((hipFunction_t *)room, H(hipKernel_t)))
CALL(kernel_name, hipKernelGetName((const char **)(void *)room, H(hipKernel_t)))
CALL(kernel_library, hipKernelGetLibrary((hipLibrary_t *)room, H(hipKernel_t)))
CALL(link_destroy, hipLinkDestroy(H(hipLinkState_t)))
CALL(link_complete,
     hipLinkComplete(H(hipLinkState_t), (void **)room, (size_t *)(room + 64)))
CALL(rtc_link_destroy, hiprtcLinkDestroy(H(hiprtcLinkState)))
CALL(rtc_link_complete,
     hiprtcLinkComplete(H(hiprtcLinkState), (void **)room, (size_t *)(room + 64)))
CALL(program_size, hiprtcGetCodeSize(H(hiprtcProgram), (size_t *)room))
CALL(program_code, hiprtcGetCode(H(hiprtcProgram), room))
CALL(program_log, hiprtcGetProgramLogSize(H(hiprtcProgram), (size_t *)room))
CALL(program_compile, hiprtcCompileProgram(H(hiprtcProgram), 0, NULL))
CALL(program_name, hiprtcAddNameExpression(H(hiprtcProgram), "x"))
CALL(stream_capture, hipStreamBeginCapture(H(hipStream_t), hipStreamCaptureModeGlobal))
CALL(stream_capturing,
     hipStreamIsCapturing(H(hipStream_t), (hipStreamCaptureStatus *)room))
CALL(stream_end, hipStreamEndCapture(H(hipStream_t), (hipGraph_t *)room))
CALL(stream_graph, hipGraphLaunch(GOOD(hipGraphExec_t, EXEC), H(hipStream_t)))
CALL(stream_write, hipStreamWriteValue32(H(hipStream_t), memory, 1, 0))
CALL(stream_wait, hipStreamWaitValue32(H(hipStream_t), memory, 0, 0, 0xffffffffu))
CALL(stream_pool, hipMallocFromPoolAsync((void **)room, 64, GOOD(hipMemPool_t, POOL),
                                         H(hipStream_t)))
CALL(stream_host, hipLaunchHostFunc(H(hipStream_t), (hipHostFn_t)free, NULL))
CALL(stream_array,
     hipMemcpyHtoAAsync(GOOD(hipArray_t, ARRAY), 0, room, 16, H(hipStream_t)))
CALL(event_node,
     hipGraphAddEventRecordNode((hipGraphNode_t *)room, GOOD(hipGraph_t, GRAPH), NULL,
                                0, H(hipEvent_t)))

#define ROW(kind, call, want) {kind, #call, call, want}

static const struct row {
    enum kind kind;
    const char *name;
    int (*call)(uint64_t bad);
    int want;
} rows[] = {
    ROW(GRAPH, graph_destroy, hipErrorInvalidValue),
    ROW(GRAPH, graph_nodes, hipErrorInvalidValue),
    ROW(GRAPH, graph_roots, hipErrorInvalidValue),
    ROW(GRAPH, graph_edges, hipErrorInvalidValue),
    ROW(GRAPH, graph_clone, hipErrorInvalidValue),
    ROW(GRAPH, graph_empty, hipErrorInvalidValue),
    ROW(GRAPH, graph_child, hipErrorInvalidValue),
    ROW(GRAPH, graph_record, hipErrorInvalidValue),
    ROW(GRAPH, graph_make, hipErrorInvalidValue),
    ROW(GRAPH, graph_update, hipErrorInvalidValue),
    ROW(GRAPH, graph_dot, hipErrorInvalidValue),
    ROW(GRAPH, graph_retain, hipErrorInvalidValue),
    ROW(GRAPH, graph_release, hipErrorInvalidValue),
    ROW(NODE, node_destroy, hipErrorInvalidValue),
    ROW(NODE, node_type, hipErrorInvalidValue),
    ROW(NODE, node_before, hipErrorInvalidValue),
    ROW(NODE, node_after, hipErrorInvalidValue),
    ROW(NODE, node_kernel, hipErrorInvalidValue),
    ROW(NODE, node_copy, hipErrorInvalidValue),
    ROW(NODE, node_fill, hipErrorInvalidValue),
    ROW(NODE, node_host, hipErrorInvalidValue),
    ROW(NODE, node_event, hipErrorInvalidValue),
    ROW(NODE, node_child, hipErrorInvalidValue),
    ROW(NODE, node_enabled, hipErrorInvalidValue),
    ROW(EXEC, exec_destroy, hipErrorInvalidValue),
    ROW(EXEC, exec_launch, hipErrorInvalidValue),
    ROW(EXEC, exec_upload, hipErrorInvalidValue),
    ROW(EXEC, exec_flags, hipErrorInvalidValue),
    ROW(EXEC, exec_update, hipErrorInvalidValue),
    ROW(EXEC, exec_enabled, hipErrorInvalidValue),
    ROW(USER_OBJECT, object_retain, hipErrorInvalidValue),
    ROW(USER_OBJECT, object_release, hipErrorInvalidValue),
    ROW(USER_OBJECT, object_graph, hipErrorInvalidValue),
    ROW(ARRAY, array_free, hipErrorContextIsDestroyed),
    ROW(ARRAY, array_destroy, hipErrorContextIsDestroyed),
    ROW(ARRAY, array_info, hipErrorInvalidHandle),
    ROW(ARRAY, array_descriptor, hipErrorInvalidHandle),
    ROW(ARRAY, array_to, hipErrorInvalidHandle),
    ROW(ARRAY, array_from, hipErrorInvalidHandle),
    ROW(ARRAY, array_2d, hipErrorInvalidHandle),
    ROW(ARRAY, array_htoa, hipErrorInvalidHandle),
    ROW(ARRAY, array_atoh, hipErrorInvalidHandle),
    ROW(MIPMAP, mipmap_free, hipErrorContextIsDestroyed),
    ROW(MIPMAP, mipmap_destroy, hipErrorContextIsDestroyed),
    ROW(MIPMAP, mipmap_level, hipErrorInvalidHandle),
    ROW(TEXTURE, texture_destroy, hipErrorInvalidHandle),
    ROW(TEXTURE, texture_resource, hipErrorInvalidHandle),
    ROW(TEXTURE, texture_texture, hipErrorInvalidHandle),
    ROW(TEXTURE, texture_driver, hipErrorInvalidHandle),
    ROW(SURFACE, surface_destroy, hipErrorInvalidHandle),
    ROW(POOL, pool_destroy, hipErrorInvalidValue),
    ROW(POOL, pool_trim, hipErrorInvalidValue),
    ROW(POOL, pool_get, hipErrorInvalidValue),
    ROW(POOL, pool_set, hipErrorInvalidValue),
    ROW(POOL, pool_malloc, hipErrorInvalidValue),
    ROW(POOL, pool_device, hipErrorInvalidValue),
    ROW(POOL, pool_export, hipErrorInvalidValue),
    ROW(PHYSICAL, physical_release, hipErrorInvalidValue),
    ROW(PHYSICAL, physical_properties, hipErrorInvalidValue),
    ROW(PHYSICAL, physical_map, hipErrorInvalidValue),
    ROW(PHYSICAL, physical_export, hipErrorInvalidValue),
    ROW(LIBRARY, library_unload, hipErrorInvalidHandle),
    ROW(LIBRARY, library_kernel, hipErrorInvalidHandle),
    ROW(LIBRARY, library_count, hipErrorInvalidHandle),
    ROW(LIBRARY, library_list, hipErrorInvalidHandle),
    ROW(KERNEL, kernel_function, hipErrorInvalidHandle),
    ROW(KERNEL, kernel_name, hipErrorInvalidHandle),
    ROW(KERNEL, kernel_library, hipErrorInvalidHandle),
    ROW(LINK, link_destroy, hipErrorInvalidHandle),
    ROW(LINK, link_complete, hipErrorInvalidHandle),
    ROW(LINK, rtc_link_destroy, HIPRTC_ERROR_INVALID_INPUT),
    ROW(LINK, rtc_link_complete, HIPRTC_ERROR_INVALID_INPUT),
    ROW(PROGRAM, program_size, HIPRTC_ERROR_INVALID_PROGRAM),
    ROW(PROGRAM, program_code, HIPRTC_ERROR_INVALID_PROGRAM),
    ROW(PROGRAM, program_log, HIPRTC_ERROR_INVALID_PROGRAM),
    ROW(PROGRAM, program_compile, HIPRTC_ERROR_INVALID_PROGRAM),
    ROW(PROGRAM, program_name, HIPRTC_ERROR_INVALID_PROGRAM),
    ROW(STREAM, stream_capture, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_capturing, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_end, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_graph, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_write, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_wait, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_pool, hipErrorInvalidHandle),
    ROW(STREAM, stream_host, hipErrorContextIsDestroyed),
    ROW(STREAM, stream_array, hipErrorContextIsDestroyed),
    ROW(EVENT, event_node, hipErrorInvalidValue),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- objects ---- */

static void
nothing(void *argument)
{
    (void)argument;
}

#define KEEP(kind, handle) living[kind] = (uint64_t)(uintptr_t)(handle)

static void
make_graphs(void)
{
    hipGraph_t graph;
    hipGraphNode_t node;
    hipGraphExec_t exec;
    hipUserObject_t object;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&node, graph, NULL, 0));
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    OK(hipUserObjectCreate(&object, room, nothing, 1, hipUserObjectNoDestructorSync));
    KEEP(GRAPH, graph);
    KEEP(NODE, node);
    KEEP(EXEC, exec);
    KEEP(USER_OBJECT, object);
}

static void
make_arrays(void)
{
    hipArray_t array;
    hipMipmappedArray_t mipmap;
    hipTextureObject_t texture;
    hipSurfaceObject_t surface;
    struct hipChannelFormatDesc format = {32, 0, 0, 0, hipChannelFormatKindFloat};
    OK(hipMallocArray(&array, &format, 16, 16, hipArraySurfaceLoadStore));
    struct hipExtent extent = {16, 16, 0};
    OK(hipMallocMipmappedArray(&mipmap, &format, extent, 2, 0));
    hipResourceDesc resource = {.resType = hipResourceTypeArray};
    hipTextureDesc reading = {.readMode = hipReadModeElementType};
    resource.res.array.array = array;
    OK(hipCreateTextureObject(&texture, &resource, &reading, NULL));
    OK(hipCreateSurfaceObject(&surface, &resource));
    KEEP(ARRAY, array);
    KEEP(MIPMAP, mipmap);
    KEEP(TEXTURE, texture);
    KEEP(SURFACE, surface);
}

static void
make_memory(void)
{
    hipMemPool_t pool;
    hipMemGenericAllocationHandle_t physical;
    size_t granularity;
    hipMemPoolProps pool_props = {.allocType = hipMemAllocationTypePinned,
                                  .location = {hipMemLocationTypeDevice, 0}};
    hipMemAllocationProp props = {.type = hipMemAllocationTypePinned,
                                  .location = {hipMemLocationTypeDevice, 0}};
    OK(hipMemPoolCreate(&pool, &pool_props));
    OK(hipMemGetAllocationGranularity(&granularity, &props,
                                      hipMemAllocationGranularityMinimum));
    OK(hipMemCreate(&physical, granularity, &props, 0));
    KEEP(POOL, pool);
    KEEP(PHYSICAL, physical);
}

static void
make_code(void)
{
    hipModule_t module;
    hipLibrary_t library;
    hipKernel_t kernel;
    hipLinkState_t link;
    hiprtcProgram program;
    CHECK(hiprtcCreateProgram(&program, "", "x.hip", 0, NULL, NULL) == HIPRTC_SUCCESS);
    KEEP(PROGRAM, program);
    KEEP(FUNCTION, image_function(&module, "empty"));
    KEEP(MODULE, module);
    OK(hipLibraryLoadData(&library, image_bytes, NULL, NULL, 0, NULL, NULL, 0));
    OK(hipLibraryGetKernel(&kernel, library, "empty"));
    OK(hipLinkCreate(0, NULL, NULL, &link));
    KEEP(LIBRARY, library);
    KEEP(KERNEL, kernel);
    KEEP(LINK, link);
}

static void
make_all(void)
{
    hipStream_t stream;
    hipEvent_t event;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    KEEP(STREAM, stream);
    KEEP(EVENT, event);
    make_graphs();
    make_arrays();
    make_memory();
    make_code();
}

#define FREE(kind, destroy, type) OK(destroy((type)(uintptr_t)living[kind]))

static void
free_all(void)
{
    FREE(STREAM, hipStreamDestroy, hipStream_t);
    FREE(EVENT, hipEventDestroy, hipEvent_t);
    FREE(EXEC, hipGraphExecDestroy, hipGraphExec_t);
    FREE(GRAPH, hipGraphDestroy, hipGraph_t); /* its node, too */
    OK(hipUserObjectRelease(GOOD(hipUserObject_t, USER_OBJECT), 1));
    FREE(TEXTURE, hipDestroyTextureObject, hipTextureObject_t);
    FREE(SURFACE, hipDestroySurfaceObject, hipSurfaceObject_t);
    FREE(ARRAY, hipFreeArray, hipArray_t);
    FREE(MIPMAP, hipFreeMipmappedArray, hipMipmappedArray_t);
    FREE(POOL, hipMemPoolDestroy, hipMemPool_t);
    FREE(PHYSICAL, hipMemRelease, hipMemGenericAllocationHandle_t);
    hiprtcProgram program = GOOD(hiprtcProgram, PROGRAM);
    CHECK(hiprtcDestroyProgram(&program) == HIPRTC_SUCCESS);
    FREE(LINK, hipLinkDestroy, hipLinkState_t);
    FREE(LIBRARY, hipLibraryUnload, hipLibrary_t);
    FREE(MODULE, hipModuleUnload, hipModule_t);
    memcpy(stale, living, sizeof stale);
}

/* ---- numbers ---- */

/* Made-up numbers keep away from those that living handles of the kind may have: the
 * next index or the next kernel of the same module. */
static uint64_t
bad_handle(enum kind kind)
{
    uint64_t good = living[kind];
    uint64_t number = (uint64_t)random_next(&state) << 32 | random_next(&state);
    uint64_t made = good;
    while (made == good || made < 4) {
        switch (random_next(&state) % 5) {
        case 0:
            made = number;
            break;
        case 1:
            made = good ^ (UINT64_C(1) << (random_next(&state) % 44 + 16));
            break;
        case 2: /* right tag, any rest */
            made = (number >> 8) | UINT64_C(5) << 56;
            break;
        case 3:
            made = stale[random_next(&state) % KINDS];
            break;
        default:
            made = living[random_next(&state) % KINDS];
        }
        number += 0x9e3779b97f4a7c15u;
    }
    return made;
}

static void
test_bad_handles_give_the_right_code(void)
{
    int calls = scaled(1000000, 10);
    make_all();
    free_all();
    make_all();
    OK(hipMalloc(&memory, 4096));
    for (int i = 0; i < calls; i++) {
        const struct row *row = &rows[(unsigned)i % ROWS];
        uint64_t bad = bad_handle(row->kind);
        int got = row->call(bad);
        if (got != row->want) {
            fprintf(stderr, "%s(0x%llx) is %d, not %d (%s)\n", row->name,
                    (unsigned long long)bad, got, row->want, hipadaptGetErrorText());
            exit(1);
        }
    }
    OK(hipStreamSynchronize(GOOD(hipStream_t, STREAM)));
    OK(hipGraphLaunch(GOOD(hipGraphExec_t, EXEC), GOOD(hipStream_t, STREAM)));
    OK(hipFree(memory));
    free_all();
    OK(hipDeviceSynchronize());
}

int
main(void)
{
    RUN(test_bad_handles_give_the_right_code);
    return 0;
}
