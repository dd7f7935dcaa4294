/* SPDX-License-Identifier: MIT */
/* Graphs with thousands of nodes side by side: what stands before and behind them, and
 * their edges, which are in a long list and in a short one. */
#include "cpu_support.h"

#include <stdatomic.h>

enum { WIDTH = 3000 };

static atomic_int ran;
static int ran_at_join;

static void
host_count(void *argument)
{
    (void)argument;
    atomic_fetch_add(&ran, 1);
}

static void
host_join(void *argument)
{
    (void)argument;
    ran_at_join = atomic_load(&ran);
}

static const hipHostNodeParams count_one = {.fn = host_count};
static const hipHostNodeParams join_all = {.fn = host_join};

/* WIDTH nodes behind `before` (NULL: nothing), and their graph. */
static void
add_wide(hipGraph_t graph, const hipGraphNode_t *before, hipGraphNode_t *nodes)
{
    for (int i = 0; i < WIDTH; i++) {
        OK(hipGraphAddHostNode(&nodes[i], graph, before, before != NULL, &count_one));
    }
}

static void
launch_and_check(hipGraph_t graph, int times, int want)
{
    hipGraphExec_t exec;
    OK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    for (int i = 0; i < times; i++) {
        atomic_store(&ran, 0);
        ran_at_join = -1;
        OK(hipGraphLaunch(exec, NULL));
        OK(hipStreamSynchronize(NULL));
        CHECK(atomic_load(&ran) == want);
        CHECK(ran_at_join == want);
    }
    OK(hipGraphExecDestroy(exec));
}

static void
test_one_node_waits_for_thousands(void)
{
    static hipGraphNode_t nodes[WIDTH];
    hipGraph_t graph;
    hipGraphNode_t join;
    OK(hipGraphCreate(&graph, 0));
    add_wide(graph, NULL, nodes);
    OK(hipGraphAddHostNode(&join, graph, nodes, WIDTH, &join_all));
    launch_and_check(graph, 3, WIDTH);
    OK(hipGraphDestroy(graph));
}

/* The nodes are in a child graph twice over, so its ends are those of all of them. */
static void
test_what_follows_a_wide_child_graph_waits_for_all_of_it(void)
{
    static hipGraphNode_t nodes[WIDTH];
    hipGraph_t child, graph;
    hipGraphNode_t children[2], empty, join;
    OK(hipGraphCreate(&child, 0));
    add_wide(child, NULL, nodes);
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddChildGraphNode(&children[0], graph, NULL, 0, child));
    OK(hipGraphAddChildGraphNode(&children[1], graph, NULL, 0, child));
    OK(hipGraphAddEmptyNode(&empty, graph, children, 2));
    const hipGraphNode_t befores[] = {empty, children[0]};
    OK(hipGraphAddHostNode(&join, graph, befores, 2, &join_all));
    launch_and_check(graph, 3, 2 * WIDTH);
    OK(hipGraphDestroy(graph));
    OK(hipGraphDestroy(child));
}

static void
test_an_edge_is_there_once_at_a_wide_node(void)
{
    static hipGraphNode_t nodes[WIDTH], listed[WIDTH];
    hipGraph_t graph;
    hipGraphNode_t first, join;
    size_t count = WIDTH;
    OK(hipGraphCreate(&graph, 0));
    OK(hipGraphAddEmptyNode(&first, graph, NULL, 0));
    add_wide(graph, &first, nodes);
    OK(hipGraphAddHostNode(&join, graph, nodes, WIDTH, &join_all));
    for (int i = 0; i < WIDTH; i += WIDTH / 3) {
        CHECK_HIP(hipGraphAddDependencies(graph, &first, &nodes[i], 1),
                  hipErrorInvalidValue);
        CHECK_HIP(hipGraphAddDependencies(graph, &nodes[i], &join, 1),
                  hipErrorInvalidValue);
    }
    OK(hipGraphRemoveDependencies(graph, &nodes[7], &join, 1));
    OK(hipGraphAddDependencies(graph, &nodes[7], &join, 1));
    OK(hipGraphNodeGetDependencies(join, listed, &count));
    CHECK(count == WIDTH);
    /* In the order in which they were added. */
    for (int i = 0; i < WIDTH; i++) {
        CHECK(listed[i] == nodes[i < 7 ? i : i < WIDTH - 1 ? i + 1 : 7]);
    }
    OK(hipGraphDestroyNode(join));
    count = WIDTH;
    OK(hipGraphNodeGetDependentNodes(nodes[3], listed, &count));
    CHECK(count == 0);
    OK(hipGraphDestroy(graph));
}

int
main(void)
{
    RUN(test_one_node_waits_for_thousands);
    RUN(test_what_follows_a_wide_child_graph_waits_for_all_of_it);
    RUN(test_an_edge_is_there_once_at_a_wide_node);
    return 0;
}
