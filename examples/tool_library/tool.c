/* SPDX-License-Identifier: MIT */
/* A tool library for rocprofiler-sdk: it prints the agents of the machine, and the code
 * objects and kernels of the program that it observes.
 *
 *     cc -shared -fPIC -I"$(python -c 'import hipadapt; print(hipadapt.get_include())')" \
 *        -D__HIP_PLATFORM_AMD__ -o libtool.so tool.c
 *     ROCP_TOOL_LIBRARIES=./libtool.so python -m hipadapt demo
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdio.h>
#include <stdlib.h>

/* What rocprofiler_configure was told, for the functions that come later. */
struct tool {
    rocprofiler_client_id_t *client_id;
    rocprofiler_context_id_t context;
    unsigned long code_objects;
    unsigned long kernels;
    unsigned long launches;
};

/* Every call answers a status; this tool gives up when one is bad. */
static void
check(rocprofiler_status_t status, const char *what)
{
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        fprintf(stderr, "[tool] %s: %s\n", what, rocprofiler_get_status_string(status));
        exit(1);
    }
}

static rocprofiler_status_t
on_agents(rocprofiler_agent_version_t version, const void **agents, size_t count,
          void *data)
{
    (void)version;
    (void)data;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_t *agent = agents[i];
        printf("[tool] agent %u: %s %s\n", agent->node_id,
               agent->type == ROCPROFILER_AGENT_TYPE_GPU ? "GPU" : "CPU", agent->name);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static void
on_code_object(const rocprofiler_callback_tracing_record_t *record, struct tool *tool)
{
    const char *what =
        record->phase == ROCPROFILER_CALLBACK_PHASE_LOAD ? "load" : "unload";

    if (record->operation == ROCPROFILER_CODE_OBJECT_LOAD) {
        const rocprofiler_callback_tracing_code_object_load_data_t *data =
            record->payload;
        printf("[tool] code object %s: id %llu, %s\n", what,
               (unsigned long long)data->code_object_id, data->uri);
        tool->code_objects += record->phase == ROCPROFILER_CALLBACK_PHASE_LOAD;
    } else if (record->operation ==
               ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER) {
        const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t
            *data = record->payload;
        printf("[tool] kernel %s: id %llu of code object %llu, %s\n", what,
               (unsigned long long)data->kernel_id,
               (unsigned long long)data->code_object_id, data->kernel_name);
        tool->kernels += record->phase == ROCPROFILER_CALLBACK_PHASE_LOAD;
    }
}

static void
on_event(rocprofiler_callback_tracing_record_t record,
         rocprofiler_user_data_t *user_data, void *callback_data)
{
    struct tool *tool = callback_data;

    (void)user_data;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT) {
        on_code_object(&record, tool);
    } else if (record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE) {
        __atomic_fetch_add(&tool->launches, 1, __ATOMIC_RELAXED);
    }
}

/* Contexts and services can be made here only. */
static int
tool_init(rocprofiler_client_finalize_t finalize, void *tool_data)
{
    struct tool *tool = tool_data;

    (void)finalize; /* at the end of the program is early enough */
    check(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
                                             sizeof(rocprofiler_agent_t), NULL),
          "agents");
    check(rocprofiler_create_context(&tool->context), "context");
    check(rocprofiler_configure_callback_tracing_service(
              tool->context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_event,
              tool),
          "code objects");
    check(rocprofiler_configure_callback_tracing_service(
              tool->context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0,
              on_event, tool),
          "kernels");
    check(rocprofiler_start_context(tool->context), "start");
    return 0;
}

static void
tool_fini(void *tool_data)
{
    struct tool *tool = tool_data;

    printf("[tool] %s: %lu code objects, %lu kernels, %lu launches\n",
           tool->client_id->name, tool->code_objects, tool->kernels, tool->launches);
    fflush(stdout);
}

rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    static struct tool tool;
    static rocprofiler_tool_configure_result_t result = {
        sizeof(rocprofiler_tool_configure_result_t), tool_init, tool_fini, &tool};

    (void)version;
    if (priority > 0) {
        return NULL; /* another tool was asked first: this one does nothing */
    }
    client_id->name = "ExampleTool";
    tool.client_id = client_id;
    printf("[tool] %s with rocprofiler-sdk %s\n", client_id->name, runtime_version);
    return &result;
}
