/* SPDX-License-Identifier: MIT */
/* Tools: how they are found on demand, who declines, and how many there can be. */
/* sources: core rocprofiler */
/* product: profiler */
#include "rocprofiler_support.h"

enum { CLIENTS = 128 }; /* at once */

static atomic_int configured, initialized;
static bool accepts;

static int
count_initialize(rocprofiler_client_finalize_t end, void *data)
{
    (void)end;
    (void)data;
    atomic_fetch_add(&initialized, 1);
    return 0;
}

static rocprofiler_tool_configure_result_t *
answer(rocprofiler_client_id_t *id, int number)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result,
                                                         count_initialize, NULL, NULL};

    (void)number; /* makes the functions differ */
    CHECK(id->name == NULL);
    id->name = "counted";
    atomic_fetch_add(&configured, 1);
    return accepts ? &result : NULL;
}

/* The tool that this program is itself. */
rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
                      rocprofiler_client_id_t *client_id)
{
    (void)version;
    (void)runtime_version;
    (void)priority;
    return answer(client_id, -1);
}

/* clang-format off */
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define SIXTY_FOUR(X, n) \
    EIGHT(X, n##0) EIGHT(X, n##1) EIGHT(X, n##2) EIGHT(X, n##3) \
    EIGHT(X, n##4) EIGHT(X, n##5) EIGHT(X, n##6) EIGHT(X, n##7)
#define ALL(X) SIXTY_FOUR(X, 00) SIXTY_FOUR(X, 01) SIXTY_FOUR(X, 02) SIXTY_FOUR(X, 03)
/* clang-format on */

/* Numbers are octal. */
#define CONFIGURE(n)                                                                   \
    static rocprofiler_tool_configure_result_t *configure_##n(                         \
        uint32_t version, const char *runtime_version, uint32_t priority,              \
        rocprofiler_client_id_t *id)                                                   \
    {                                                                                  \
        (void)version;                                                                 \
        (void)runtime_version;                                                         \
        (void)priority;                                                                \
        return answer(id, n);                                                          \
    }
ALL(CONFIGURE)

#define ENTRY(n) configure_##n,
static const rocprofiler_configure_func_t functions[] = {ALL(ENTRY)};

static int
status_of_initialization(void)
{
    int status = 99;

    OK(rocprofiler_is_initialized(&status));
    return status;
}

static void
force_of_null_finds_the_tool_once(void)
{
    accepts = true;
    OK(rocprofiler_force_configure(NULL));
    CHECK_EQUAL(configured, 1);
    CHECK_EQUAL(initialized, 1);
    OK(rocprofiler_force_configure(NULL));
    CHECK_EQUAL(configured, 1);
    CHECK_STATUS(rocprofiler_force_configure(rocprofiler_configure),
                 ERROR_CONFIGURATION_LOCKED);
    hipadapt_rocprofiler_finalize();
    CHECK_STATUS(rocprofiler_force_configure(NULL), ERROR_FINALIZED);
}

static void
force_of_null_succeeds_where_no_tool_wants(void)
{
    OK(rocprofiler_force_configure(NULL));
    CHECK_EQUAL(configured, 1);
    CHECK_EQUAL(initialized, 0);
    CHECK_EQUAL(status_of_initialization(), 1);
    OK(rocprofiler_force_configure(NULL)); /* who declined isn't asked again */
    CHECK_EQUAL(configured, 1);
    accepts = true; /* but when it is named */
    OK(rocprofiler_force_configure(rocprofiler_configure));
    CHECK_EQUAL(initialized, 1);
}

static int
force_within_initialize(void)
{
    CHECK_STATUS(rocprofiler_force_configure(NULL), ERROR_CONFIGURATION_LOCKED);
    return 0;
}

static void
force_of_null_within_initialize_is_locked(void)
{
    mock_start(force_within_initialize, NULL);
    CHECK_EQUAL(status_of_initialization(), 1);
}

static void
declined_tools_give_their_places_back(void)
{
    const int count = sizeof functions / sizeof *functions;

    for (int i = 0; i < 3 * count; i++) {
        OK(rocprofiler_force_configure(functions[i % count]));
    }
    CHECK_EQUAL(configured, 3 * count + 1); /* and the program */
    accepts = true;
    for (int i = 0; i < CLIENTS; i++) {
        OK(rocprofiler_force_configure(functions[i]));
    }
    CHECK_EQUAL(initialized, CLIENTS);
    CHECK_STATUS(rocprofiler_force_configure(functions[CLIENTS]),
                 ERROR_OUT_OF_RESOURCES);
    CHECK_STATUS(rocprofiler_force_configure(functions[0]), ERROR_CONFIGURATION_LOCKED);
    CHECK_EQUAL(initialized, CLIENTS);
}

int
main(void)
{
    RUN_ALONE(force_of_null_finds_the_tool_once);
    RUN_ALONE(force_of_null_succeeds_where_no_tool_wants);
    RUN_ALONE(force_of_null_within_initialize_is_locked);
    RUN_ALONE(declined_tools_give_their_places_back);
    return 0;
}
